"""paper.pdf: prose from paper/reproduction.typ, every number and table from content.json, figures as svg."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import typst

from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import ERRATUM_KINDS
from hypersphere.config.coordinates import of_run
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.run import Run
from hypersphere.config.validation import Strict, not_one_of, validate
from hypersphere.errors import HypersphereError
from hypersphere.files import read_yaml, replacing, write_json
from hypersphere.report import claims, notes, pages, studies, style, words, writer
from hypersphere.report.artifact import Context, Shown
from hypersphere.report.claims import Apart, Entry, apart
from hypersphere.report.kinds import study_figure
from hypersphere.report.results import AGREE, DISAGREE, Results, settles
from hypersphere.wording import counted

SOURCE = "paper/reproduction.typ"
TIMESTAMP = 0
"""Seconds since 1970 in the PDF's metadata: fixed, so that equal content is equal bytes."""
OUTLINE = "paper/outline.yaml"

OUTCOMES = ("held", "failed", "open", "not run")
"""What a claim came to, in short. Below the published scale, what needs trained encoders is open or not run."""
DIRECTIONS = {"same": "the published sign", "opposite": "the opposite sign", "unclear": "an interval across zero"}
ALL = "held", "failed", "stayed open", "was not run"
SOME = "held", "failed", "stayed open", "were not run"


class Part(Strict):
    """One document's place in the paper."""

    short: str
    """How the prose names the document."""
    main: list[str]
    """Its artifacts in the main part, in this order. All others are in the appendix."""
    telling: list[str]
    """Claims that the findings tell in words."""


def build(plan: Plan) -> None:
    """Write ``results/<scale>/paper/content.json`` and, from it, ``results/<scale>/paper.pdf``."""
    config = plan.config
    source = config.root / SOURCE
    data = config.results / "paper" / "content.json"
    write_json(data, content(Results(plan)))
    given: dict[str, Any] = {"root": str(config.root), "ignore_system_fonts": True, "timestamp": TIMESTAMP}
    given["font_paths"] = [str(style.fonts())]
    inputs = {"content": f"/{data.relative_to(config.root).as_posix()}"}
    try:
        try:  # drawings move to where there is room
            pdf = typst.compile(str(source), sys_inputs=inputs, **given)
        except typst.TypstError as error:
            if "internal error" not in str(error):
                raise
            # Typst could not tag drawings that move, so they stay in their place.
            pdf = typst.compile(str(source), sys_inputs=inputs | {"floats": "no"}, **given)
    except typst.TypstError as error:
        place = " ".join(str(error.diagnostic).split()[:8])
        raise HypersphereError(f"{source}: {error} ({place})") from None
    with replacing(config.results / "paper.pdf") as temporary:
        temporary.write_bytes(bytes(pdf))


def content(results: Results) -> dict[str, Any]:
    """All numbers, tables and names in the prose."""
    config, entries, parts = results.config, claims.entries(results), outline(results.config)
    kinds, scale, errors = apart(entries), pages.scale(results), pages.ledger(config)
    measured, studied, stated, _ = kinds
    papers = [_paper(results, paper, parts[name], entries) for name, paper in config.papers.items()]
    conditions = f"{scale['seeds']}; device {scale['device']}; torch {scale['torch']}."
    statements, corrections, studies = of_exact(kinds)
    encoders = words.joined(*of_encoders(kinds, config.scale_name, settles(config)))
    without = printed([*studied, *stated])
    return {
        "scale": scale | {"line": words.scale_line(config), "conditions": conditions},
        "confidence": words.confidence(config),
        "runs": str(len(results.runs)),
        "claims": _counts(measured),
        "studied": _counts(studied),
        "statements": _counts(stated),
        "printed": {"all": str(len(printed(entries))), "without_encoders": str(len(without))},
        "told": {"statements": words.joined(statements, corrections), "studies": studies, "encoders": encoders},
        "matrix": matrix(entries, {name: parts[name].short for name in config.papers}),
        "papers": papers,
        "choices": str(sum(len(items) for paper in config.papers.values() for items in paper.open_choices.values())),
        "missing": str(sum(len(paper["missing"]) for paper in papers)),
        "errata_count": str(sum(len(group["entries"]) for group in errors)),
        "errata": errors,
        "kinds": [{"kind": kind, "meaning": meaning} for kind, meaning in ERRATUM_KINDS.items()],
    }


def _paper(results: Results, paper: Paper, part: Part, entries: list[Entry]) -> dict[str, Any]:
    kinds = apart([claim for claim in entries if claim.paper == paper.paper])
    measured, studied, stated, _ = kinds
    document, config = pages.document(results, paper.paper), results.config
    encoders = of_encoders(kinds, config.scale_name, settles(config))
    names = [artifact.id for artifact in document.measured]
    ready = {artifact.id: artifact for artifact in (*document.measured, *document.studied)}
    main = [ready[name] for name in part.main if name in ready]
    compared = [claim for claim in measured if claim.kind == "comparison" and claim.artifact in names]
    cells = [cell for name in names for cell in results.plan.artifacts.get((paper.paper, name), [])]
    datasets = dict.fromkeys(name for cell in cells for name in words.datasets(cell.coordinates))
    choices = [
        {"scope": "" if key == "all" else paper.label(key), "items": items} for key, items in paper.open_choices.items()
    ]
    drawn = [one.id for one in main if one in document.studied and one.grid is None]
    findings = [study_figure.finding(Context(results, paper, name)) for name in drawn]
    return {
        "id": paper.paper,
        "title": paper.title,
        "short": part.short,
        "told": words.joined(*of_exact(kinds), *encoders),
        "findings": [f"{text}." for text in findings if text],
        "telling": telling(printed([*stated, *studied]), part.telling),
        "failures": failures(kinds),
        "main": _shown(results, paper, main),
        "theorems": [_fields(claim, THEOREM) for claim in stated],
        "datasets": [words.standing(config, paper, {"dataset": name}, ["dataset"]) for name in datasets],
        "protocol": _protocol(results.plan, paper, names),
        "choices": choices if names else [],
        "shown": _shown(results, paper, [one for one in document.measured if one.id not in part.main]),
        "comparisons": [_fields(claim, COMPARISON) for claim in compared if claim.verdict != words.NOT_RUN],
        "studied_shown": _shown(results, paper, [one for one in document.studied if one.id not in part.main]),
        "studied": [_fields(claim, ANSWER) for claim in studied if claim.verdict != words.NOT_RUN],
        "missing": [artifact._asdict() for artifact in document.missing],
    }


THEOREM = ("subject", "source", "reading", "ours", "counterexample", "verdict")
COMPARISON = (
    *("subject", "setting", "dataset", "stand_in", "published", "ours", "interval", "verdict", "direction"),
    *("reading", "sentence", "source"),
)
ANSWER = ("subject", "setting", "dataset", "published", "ours", "interval", "verdict", "reading", "source", "metric")


def _fields(claim: claims.Entry, shown: Sequence[str]) -> dict[str, str]:
    return {key: quoted(getattr(claim, key)) for key in shown}


def _counts(shown: list[claims.Entry]) -> list[dict[str, Any]]:
    """Counts by origin, printed claims first."""
    return [
        {
            "origin": count.origin,
            "total": str(count.total),
            "verdicts": [{"verdict": verdict, "count": str(number)} for verdict, _, number in count.verdicts],
        }
        for count in claims.counts(shown)
    ]


SETTINGS: dict[str, Callable[[Run], str]] = {
    "epochs": lambda run: str(run.schedule.epochs),
    "warm-up": lambda run: f"{100 * run.schedule.warmup:g} %",
    "batch": notes.batch,
    "learning rate": lambda run: f"{run.optimiser.learning_rate:g}".replace("e-0", "e-"),
    "weight decay": lambda run: f"{run.optimiser.weight_decay:g}".replace("e-0", "e-"),
    "objective": lambda run: _components(run.objective, run.logits, run.regulariser),
    "intervention": lambda run: _components(run.initialisation, run.gradient) or "none",
}


def _protocol(plan: Plan, paper: Paper, names: Sequence[str]) -> dict[str, Any]:
    """A row per variant: the settings of its runs at this scale, without sweeps unless it has nothing else."""
    cells = [cell for name in names for cell in notes.measured_cells(plan, paper.paper, name)]
    runs: dict[str, list[tuple[bool, Run]]] = {}
    for cell, run in cells:
        row = ", ".join(paper.label(str(cell.coordinates[key])) for key in ("method", "variant"))
        runs.setdefault(row, []).append((bool(of_run(cell.coordinates)), run))
    rows = []
    for row, swept_runs in runs.items():
        plain = [run for swept, run in swept_runs if not swept] or [run for _, run in swept_runs]
        rows.append([row, *(words.several(map(describe, plain)) for describe in SETTINGS.values())])
    encoders = dict.fromkeys(notes.component(run.encoder) for _, run in cells)
    return {"head": ["Run", *SETTINGS], "rows": rows, "encoders": list(encoders)}


def _components(*parts: Any) -> str:
    return ", ".join(notes.component(part) for part in parts if part is not None)


def _shown(results: Results, paper: Paper, ready: list[Shown]) -> list[dict[str, Any]]:
    """Artifacts as JSON. The paper itself says what its scale is worth and how exact studies are made."""
    config = results.config
    long, short = words.scale_note(config), words.short_notice(config)
    listed = []
    for artifact in ready:
        declared = paper.artifacts[artifact.id]
        notes = [short if note == long else note for note in artifact.notes if note != studies.SIZE_NOTICE]
        about: dict[str, Any] = {"title": declared.title, "original": declared.printed or "", "notes": notes}
        about |= {"alt": artifact.alt, "inches": artifact.inches}
        if grid := artifact.grid:
            about["grid"] = {
                "head": [[head._asdict() for head in heads] for heads in grid.head],
                "corner": list(grid.corner),
                "sides": list(writer.alignment(grid)),
                "lines": [line._asdict() | {"cells": [cell._asdict() for cell in line.cells]} for line in grid.lines],
            }
        else:
            path = pages.drawing(config, paper.paper, artifact.id)
            about["path"] = f"/{path.relative_to(config.root).as_posix()}"
        listed.append(about)
    return listed


def outline(config: Config) -> dict[str, Part]:
    """The part of each document. One that the outline lacks is named by its title, with all of it in the appendix."""
    file = config.root / OUTLINE
    listed = read_yaml(file)
    if not isinstance(listed, dict):
        raise HypersphereError(f"{file}: must map documents to their parts")
    parts = {str(name): validate(Part, given, file, str(name)) for name, given in listed.items()}
    for name, paper in config.papers.items():
        part = parts.setdefault(name, Part(short=f"“{paper.title}”", main=[], telling=[]))
        for artifact in part.main:
            if artifact not in paper.artifacts:
                raise HypersphereError(f"{file}: {name}: main: {not_one_of(artifact, paper.artifacts)}")
    return parts


def outcome(claim: Entry) -> str:
    """One of ``OUTCOMES``."""
    if claim.verdict == words.NOT_RUN:
        return "not run"
    return {"agree": "held", "disagree": "failed"}.get(claim.tone, "open")


def outcomes(claims: Sequence[Entry]) -> dict[str, int]:
    """The number of claims with each outcome."""
    every = [outcome(claim) for claim in claims]
    return {name: every.count(name) for name in OUTCOMES}


def printed(claims: Sequence[Entry]) -> list[Entry]:
    """The claims as a document prints them, without corrections and without those of our own."""
    return [claim for claim in claims if claim.origin == "printed"]


def sentence(claims: Sequence[Entry], noun: str, plural: str) -> str:
    """``Of 13 printed theorems, 8 held and 5 failed.``, ``All 13 printed theorems held.``; empty without claims."""
    total, counts = len(claims), outcomes(claims)
    if not total:
        return ""
    said = [f"{number} {word}" for number, word in zip(counts.values(), SOME, strict=True) if number]
    if len(said) > 1:
        return f"Of {total} {plural}, {_listed(said)}."
    came = dict(zip(OUTCOMES, ALL if total == 1 else SOME, strict=True))[next(name for name in counts if counts[name])]
    return f"The only {noun} {came}." if total == 1 else f"All {total} {plural} {came}."


def _listed(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def of_exact(kinds: Apart) -> list[str]:
    """Theorems and identities as printed and as corrected, and claims that exact studies answer."""
    corrected = [claim for claim in kinds.stated if claim.origin == "corrected"]
    noun = "printed {} on formulas, on small simulations or on the document's own numbers"
    return [
        sentence(printed(kinds.stated), "printed theorem or identity", "printed theorems and identities"),
        sentence(corrected, "statement that an erratum corrects", "statements that errata correct"),
        sentence(printed(kinds.studied), noun.format("claim"), noun.format("claims")),
    ]


def of_encoders(kinds: Apart, scale: str, settles: bool) -> list[str]:
    """Claims that need trained encoders. Only the published scale settles any."""
    claims = printed(kinds.measured)
    if not claims or settles:
        return [sentence(claims, "printed number that needs a trained encoder", "printed numbers of trained encoders")]
    measured = [claim for claim in claims if claim.verdict != words.NOT_RUN]
    needs = "printed number or comparison needs a trained encoder"
    many = "printed numbers and comparisons need trained encoders"
    first = f"{counted(len(claims), needs, many)}; scale {scale} measured {len(measured) or 'none'} and settles none."
    found = [claim.direction for claim in measured if claim.direction]
    said = [f"{found.count(name)} with {meaning}" for name, meaning in DIRECTIONS.items() if name in found]
    return [first, *([f"Measured effects: {_listed(said)}."] if said else [])]


def quoted(text: str) -> str:
    """Text with the quotation marks of print."""
    return re.sub(r'"([^"]*)"', r"“\1”", text)


def telling(claims: Sequence[Entry], ids: Sequence[str]) -> list[dict[str, str]]:
    """What came of some claims: outcome, words, place, and the evidence where one failed or stayed open.

    Those that claims.csv lacks, because only a part was rebuilt, are left out.
    """
    named = {claim.id: claim for claim in claims}
    return [
        {
            "outcome": outcome(claim),
            "claim": quoted(claim.subject.rstrip(".")),
            "source": claim.source,
            "evidence": {"failed": _evidence(claim), "open": claim.verdict}.get(outcome(claim), ""),
        }
        for claim in (named[name] for name in ids if name in named)
    ]


def failures(kinds: Apart) -> list[dict[str, Any]]:
    """A row for each printed claim that failed: the claim, its place, the evidence, and the errata that mend it."""
    others = [
        claim for claim in (*kinds.stated, *kinds.studied) if claim.origin != "printed" and claim.verdict in AGREE
    ]
    return [
        {
            "subject": quoted(claim.subject),
            "source": claim.source,
            "setting": claim.setting if claim.kind != "theorem" else "",
            "evidence": _evidence(claim),
            "mended": ", ".join(dict.fromkeys(one.reading for one in others if one.id.startswith(f"{claim.id}."))),
        }
        for claim in printed([*kinds.stated, *kinds.studied])
        if claim.verdict in DISAGREE
    ]


def _evidence(claim: Entry) -> str:
    """Why a claim failed: a counterexample, the places where it holds, or both numbers."""
    if claim.counterexample:
        return claim.counterexample
    if claim.kind == "theorem":
        return claim.ours
    if claim.published in ("–", ""):
        return f"holds at {claim.ours} places"
    return f"printed {claim.published}, ours {claim.ours}"


def matrix(entries: Sequence[Entry], named: dict[str, str]) -> list[dict[str, Any]]:
    """Printed claims by document and outcome, and a last row for all documents: theorems, studies, encoders.

    ``named`` has the short name of each document.
    """
    rows = [(short, [claim for claim in entries if claim.paper == paper]) for paper, short in named.items()]
    return [
        {
            "name": name,
            "counts": [list(map(str, outcomes(printed(kind)).values())) for kind in reversed(apart(own)[:3])],
        }
        for name, own in (*rows, ("all", list(entries)))
    ]
