"""scorecard.html: every claim, its verdict and the proof behind it, on one page that needs no network."""

import math
from pathlib import Path
from typing import Any

from hypersphere.config import rules
from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import PRINTED
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.files import write_json
from hypersphere.report import claims, notes, pages, words, writer
from hypersphere.report.artifact import Grid, Points, Shown
from hypersphere.report.proofs import Proofs
from hypersphere.report.results import Results, settles

NOTHING = "–"
"""The published number of a claim that prints none."""
DIRECTIONS = {
    "same": "in the printed direction",
    "opposite": "in the opposite direction",
    "no effect": "without an effect",
    "unclear": "without a clear direction",
}
"""What our effect says of a printed one below the published scale, in words."""
WIDTH = 720
"""Pixels: a figure is shown at most 7.2 inches wide, which are 691 pixels of a page."""
QUALITY = 28
"""Of WebP, out of 100: letters and thin lines stay sharp, and colours keep their shades. As many colours in a palette
take twice the bytes; fewer colours draw steps into maps where there are none."""


def build(plan: Plan) -> None:
    """Write ``results/<scale>/scorecard.html`` and ``scorecard.json`` from all results that exist."""
    results = Results(plan)
    pages.render("scorecard.html", context(results), plan.config.results / "scorecard.html")
    write_json(plan.config.results / "scorecard.json", numbers(results))


def context(results: Results) -> dict[str, Any]:
    """The values of the template."""
    config, entries = results.config, claims.entries(results)
    proofs = Proofs(results.plan, pages.ledger(config), frozenset(claim.id for claim in entries))
    papers = [_paper(results, paper, entries, proofs) for paper in config.papers.values()]
    present, chosen = {claim.verdict for claim in entries}, rules.load(config.root)
    directions = {claim.direction for claim in entries}

    def comparable(claim: claims.Entry) -> bool:
        """Whether ours may stand beside the published number: both are effects, or of the same setting."""
        return claims.kind_of(claim) != "encoder" or settles(config) or claim.kind == "comparison"

    return {
        "scale": pages.scale(results) | {"folder": config.results.name},
        "confidence": words.confidence(config),
        "rules": {
            "equivalence": f"{100 * chosen.equivalence:g} %",
            "high": f"{chosen.margin.high:g}",
            "at_least_high": f"{chosen.margin.at_least_high:g}",
            "below_high": f"{chosen.margin.below_high:g}",
            "relative": f"{100 * chosen.margin.relative:g} %",
        },
        "told": list(claims.in_words(entries)),
        "origins": claims.ORIGINS,
        "kinds": claims.KINDS,
        "verdicts": [verdict for verdict in claims.ORDER if verdict in present],
        "directions": {name: saying for name, saying in DIRECTIONS.items() if name in directions},
        "papers": papers,
        "anchors": {f"{paper['id']}-{name}" for paper in papers for name in paper["anchors"]},
        "proofs": proofs,
        "kind_of": claims.kind_of,
        "said": _said,
        "interval_and_direction": lambda claim: "; ".join(
            [f"Welch {claim.interval}" if claim.holm else claim.interval] * (claim.interval != NOTHING)
            + [f"direction: {claim.direction}"] * (claim.direction != "")
        ),
        "beside": lambda claim: claim.published != NOTHING and comparable(claim),
        "published_in_words": lambda claim: (
            f"published: {claim.published}" if claim.published != NOTHING and not comparable(claim) else ""
        ),
        "errata": proofs.errata_by_kind(),
        "runs": len(results.runs),
    }


def _said(claim: claims.Entry) -> list[tuple[str, str]]:
    """What a claim's line leaves out, each with its name. That a reading is as printed goes without saying."""
    found = {
        "Checked": claim.ours if claim.kind == "theorem" else "",
        "Counterexample": claim.counterexample,
        "Sentence": claim.sentence if claim.sentence != claim.subject else "",
        "Other margins": claim.sensitivity,
        "After Holm": f"{claim.holm}, over all comparisons of its table" if claim.holm not in ("", NOTHING) else "",
        "Why not" if claim.verdict == words.NOT_RUN else "Mind": claim.why,
        "Reading": claim.reading if claim.reading != PRINTED else "",
        "Not stated": claim.unstated if claim.verdict != words.NOT_RUN else "",
    }
    return [(name, text) for name, text in found.items() if text]


def _paper(results: Results, paper: Paper, entries: list[claims.Entry], proofs: Proofs) -> dict[str, Any]:
    of_paper = [claim for claim in entries if claim.paper == paper.paper]
    document = pages.document(results, paper.paper)
    names = [artifact.id for artifact in document.measured]
    idle = [claim for claim in of_paper if claim.verdict == words.NOT_RUN]
    claimed, visible = {claim.artifact for claim in of_paper}, document.studied + document.measured
    shown = [_shown(results.config, paper, one, proofs, one.id in claimed) for one in visible]
    return {
        "id": paper.paper,
        "title": paper.title,
        "protocols": list(dict.fromkeys(notes.protocol(results.plan, paper, name) for name in names)),
        "settled": _groups(paper, [claim for claim in of_paper if claim.verdict != words.NOT_RUN]),
        "idle": _groups(paper, idle),
        "idle_count": len(idle),
        "artifacts": [(f"{paper.paper}/{one['artifact']}", one["printed"]) for one in _groups(paper, of_paper)],
        "shown": shown,
        "missing": document.missing,
        "anchors": [one.id for one in visible] + [one.id for one in document.missing],
        "choices": [{"scope": paper.label(key), "items": items} for key, items in paper.open_choices.items()],
    }


def _groups(paper: Paper, shown: list[claims.Entry]) -> list[dict[str, Any]]:
    """Claims by the artifact that prints them, in the order of claims.csv; theorems and identities are one group."""
    groups: dict[str, list[claims.Entry]] = {}
    for claim in shown:
        groups.setdefault("theorems" if claim.kind == "theorem" else claim.artifact, []).append(claim)
    listed = []
    for name, members in groups.items():
        printed, title = "Theorems and identities" if name == "theorems" else name, ""
        if name in paper.artifacts:
            artifact = paper.artifacts[name]
            printed, title = (artifact.printed, artifact.title) if artifact.printed else (artifact.title, "")
        known = {"artifact": name, "anchor": f"{paper.paper}-{name}", "printed": printed, "title": title}
        listed.append(known | {"claims": members})
    return listed


def _shown(config: Config, paper: Paper, artifact: Shown, proofs: Proofs, claimed: bool) -> dict[str, Any]:
    """A table with the alignment of its columns, or a figure with its drawing, and their files."""
    drawn = artifact.grid is None
    long, short = words.scale_note(config), f"Scale {config.scale_name}. {words.short_notice(config)}"
    return {
        **artifact._asdict(),
        "notes": [short if note == long else note for note in artifact.notes],  # the long one is at the page's top
        "table": _table(artifact.grid) if artifact.grid else None,
        "data": picture(pages.drawing(config, paper.paper, artifact.id)) if drawn else "",
        "links": proofs.artifact(paper, artifact.id),
        "answers": claims.address(artifact=f"{paper.paper}/{artifact.id}") if claimed else "",
    }


def _table(grid: Grid) -> dict[str, Any]:
    """The alignment of each column and heading; headings over several columns are centred (``group``)."""
    sides = ["num" if side == "r" else "" for side in writer.alignment(grid)[len(grid.corner) :]]
    head = []
    for depth, heads in enumerate(grid.head):
        last, column, row = depth == len(grid.head) - 1, 0, []
        for heading in heads:
            row.append({**heading._asdict(), "side": sides[column] if last and heading.span == 1 else "group"})
            column += heading.span
        head.append(row)
    return {"head": head, "corner": grid.corner, "lines": grid.lines, "sides": sides}


def picture(svg: Path) -> str:
    """A figure as the address of an image: its svg or a picture of the png beside it, whichever is smaller."""
    ways, png = [pages.embedded("svg+xml", svg.read_bytes())], svg.with_suffix(".png")
    if png.is_file():
        ways.append(pages.webp(png, WIDTH, quality=QUALITY, method=6))
    return min(ways, key=len)


def numbers(results: Results) -> dict[str, Any]:
    """The number of claims for each verdict, and the mean and n of every measured cell, for `dvc metrics`.

    All is under the name of the scale, and a cell names the dataset that stood in for its own, so that no number is
    read without either. Counts are by what answers a claim, and by the claim's origin:
    ``quick: claims: printed: {not run: 40}``, ``quick: embedding_norms: table5: method=simclr;…: {mean: 83.2, n: 5}``.
    """
    found: dict[str, Any] = {}
    names = {"encoder": "claims", "study": "exact studies", "theorem": "theorems", "sentence": "sentences"}
    for kind, entries in claims.apart(claims.entries(results)).items():
        if counts := claims.counts(entries):
            found[names[kind]] = {one.origin: {word: number for word, _, number in one.verdicts} for one in counts}
    for name, paper in results.config.papers.items():
        cells: dict[str, Any] = {}
        for artifact in results.made(name):
            if artifact in paper.measured:
                rows = Points(results, paper, artifact).summary.items()
                known = [(at, row) for at, row in rows if not math.isnan(row["mean"]) or words.whole(row["n_diverged"])]
                cells[artifact] = {at: _cell(row) for at, row in known}
        found |= {name: cells} if cells else {}
    return {results.config.scale_name: found}


def _cell(row: dict[str, Any]) -> dict[str, float | int | str]:
    """The mean over n pretrainings; n = 0 for chance and raw pixels, which are no means of runs."""
    mean = {} if math.isnan(row["mean"]) else {"mean": row["mean"]}
    diverged, on = words.whole(row["n_diverged"]), row["measured_on"]
    stand_in = {"measured_on": on} if on and on != row["dataset"] else {}
    return {**mean, "n": words.whole(row["n"]), **({"diverged": diverged} if diverged else {}), **stand_in}
