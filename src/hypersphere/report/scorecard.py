"""scorecard.html: every claim, its verdict and the proof behind it, on one page that needs no network."""

import math
from typing import Any

from hypersphere.config import rules
from hypersphere.config.artifacts import Paper
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.files import write_json, write_text
from hypersphere.provenance import manifest, tables
from hypersphere.report import claims, pages, words, writer
from hypersphere.report.artifact import Points, Shown
from hypersphere.report.proofs import Proofs
from hypersphere.report.results import Results

WIDTH = 720
"""Pixels: a figure is shown at most 7.2 inches wide, which are 691 pixels of a page."""
QUALITY = 28
"""Of WebP, out of 100: letters and thin lines stay sharp, and colours keep their shades. As many colours in a palette
take twice the bytes; fewer colours draw steps into maps where there are none."""
FILTERS = ("document", "verdict", "kind", "origin", "artifact")
COUNTED = {"encoder": "claims", "study": "exact studies", "theorem": "theorems", "sentence": "sentences"}
"""The names of counts in scorecard.json, by what answers the claims."""


def build(plan: Plan) -> None:
    """Write ``results/<scale>/scorecard.{html,json}`` from all results that exist, and their manifest."""
    results, folder = Results(plan), plan.config.results
    page, counts = folder / "scorecard.html", folder / "scorecard.json"
    write_text(page, pages.render("scorecard.html", context(results)))
    write_json(counts, numbers(results))
    manifest.seal(folder / manifest.SCORECARD, [page, counts])


def context(results: Results) -> dict[str, Any]:
    """The values of the template."""
    config, entries = results.config, claims.entries(results)
    proofs = Proofs(results.plan, frozenset(claim.row["id"] for claim in entries), config.results)
    papers = []
    for name, paper in config.papers.items():
        own = [claim for claim in entries if claim.row["paper"] == name]
        claimed, (measured, studied, missing) = {claim.row["artifact"] for claim in own}, pages.document(results, name)
        visible = [*studied, *measured]
        run, idle = (
            pages.groups(config, [claim for claim in own if (claim.says == words.NOT_RUN) is waits])
            for waits in (False, True)
        )
        about: dict[str, Any] = {"id": name, "title": paper.title, "total": len(own), "groups": run, "idle": idle}
        about["shown"] = [_shown(config, paper, one, proofs, one.id in claimed) for one in visible]
        about["missing"] = missing
        about["anchors"] = [f"{name}-{one}" for one in (*(one.id for one in visible), *(one["id"] for one in missing))]
        about["choices"] = [{"scope": paper.label(key), "items": items} for key, items in paper.open_choices.items()]
        papers.append(about)
    return {
        "scale": pages.scale(results) | {"folder": config.results.name},
        "confidence": words.confidence(config),
        "rules": rules.load(config.root),
        "told": list(claims.in_words(claim.row for claim in entries)),
        "choices": pages.choices(config, entries, FILTERS),
        "papers": papers,
        "graded": False,
        "proofs": proofs,
        "errata": proofs.errata_by_kind(),
        "runs": len(results.runs),
    }


def _shown(config: Config, paper: Paper, artifact: Shown, proofs: Proofs, claimed: bool) -> dict[str, Any]:
    """A table with the sides of its columns, or a figure with its picture, and their files."""
    drawn = pages.drawing(config, paper.paper, artifact.id).with_suffix(".png")
    return {
        **artifact._asdict(),
        "notes": [note for note in artifact.notes if note != words.scale_note(config)],  # which is at the page's top
        "sides": writer.alignment(artifact.grid)[len(artifact.grid.corner) :] if artifact.grid else "",
        "data": "" if artifact.grid else pages.webp(drawn, WIDTH, QUALITY),
        "links": proofs.artifact(paper, artifact.id),
        "answers": claims.address(artifact=f"{paper.paper}/{artifact.id}") if claimed else "",
    }


def numbers(results: Results) -> dict[str, Any]:
    """The number of claims for each verdict, and the mean and n of every measured cell, for `dvc metrics`.

    All is under the name of the scale, and a cell names the dataset that stood in for its own, so that no number is
    read without either; n = 0 for chance and raw pixels, which are no means of runs. Counts are by what answers a
    claim, and by the claim's origin: ``quick: claims: printed: {not run: 40}``,
    ``quick: embedding_norms: table5: method=simclr;…: {mean: 83.2, n: 5}``.
    """
    counts = claims.verdicts(tables.rows(results.claims))
    found: dict[str, Any] = {name: counts[kind] for kind, name in COUNTED.items() if counts[kind]}
    for name, paper in results.config.papers.items():
        cells: dict[str, Any] = {}
        for artifact in results.made(name):
            if artifact not in paper.measured:
                continue
            cells[artifact] = {}
            for at, row in Points(results, paper, artifact).summary.items():
                cell: dict[str, float | int | str] = {} if math.isnan(row["mean"]) else {"mean": row["mean"]}
                cell |= words.lost(row)
                if not cell:
                    continue
                if row["measured_on"] not in ("", row["dataset"]):
                    cell["measured_on"] = row["measured_on"]
                cells[artifact][at] = cell | {"n": words.whole(row["n"])}
        found |= {name: cells} if cells else {}
    return {results.config.scale_name: found}
