"""paper.pdf: the tables, figures and verdicts of one scale, and how both PDFs are set.

Prose is in paper/*.typ; every number, table and name comes from a content.json, and figures are svg.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typst

from hypersphere.config.artifacts import Paper
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.files import replacing, write_json
from hypersphere.provenance import manifest
from hypersphere.report import claims, pages, studies, style, words, writer
from hypersphere.report.artifact import Shown
from hypersphere.report.results import Results

SOURCE = "paper/supplement.typ"
SHOWN = ("subject", "where", "printed", "found", "intervals", "reading", "says")
"""What the tables of answers show of a claim."""


def build(plan: Plan) -> None:
    """Write ``results/<scale>/paper/content.json``, from it ``results/<scale>/paper.pdf``, and their manifest."""
    config, folder = plan.config, plan.config.results
    data, pdf = folder / "paper" / "content.json", folder / "paper.pdf"
    write_json(data, content(Results(plan)))
    typeset(config.root, SOURCE, data, pdf)
    manifest.seal(folder / manifest.PAPER, [data, pdf])


def typeset(root: Path, source: str, data: Path, pdf: Path) -> None:
    """Set a PDF from a source of the project and its content. Its time is fixed: equal content is equal bytes."""
    given: dict[str, Any] = {"root": str(root), "ignore_system_fonts": True, "timestamp": 0}
    inputs = {"content": address(root, data)}
    try:
        made = typst.compile(str(root / source), sys_inputs=inputs, font_paths=[str(style.FONTS)], **given)
    except typst.TypstError as error:
        place = " ".join(str(error.diagnostic).split()[:8])
        raise HypersphereError(f"{root / source}: {error} ({place})") from None
    with replacing(pdf) as temporary:
        temporary.write_bytes(bytes(made))


def address(root: Path, file: Path) -> str:
    """A file of the project as Typst finds it."""
    return f"/{file.relative_to(root).as_posix()}"


def content(results: Results) -> dict[str, Any]:
    config, entries, scale = results.config, claims.entries(results), pages.scale(results)
    conditions = f"{scale['seeds']}; device {scale['device']}; torch {scale['torch']}."
    counts: dict[str, Any] = {kind: [] for kind in claims.KINDS}
    for kind, by_origin in claims.verdicts(claim.row for claim in entries).items():
        for origin, numbers in by_origin.items():
            listed = [{"verdict": verdict, "count": str(number)} for verdict, number in numbers.items()]
            counts[kind].append({"origin": origin, "total": str(sum(numbers.values())), "verdicts": listed})
    papers = []
    for paper in config.papers.values():
        measured, studied, missing = pages.document(results, paper.paper)
        names = [artifact.id for artifact in measured]
        own = [claim for claim in entries if claim.row["paper"] == paper.paper]
        found = [claim for claim in own if claim.says != words.NOT_RUN or claim.row["kind"] == "theorem"]
        by = {kind: [one for one in found if one.row["answered_by"] == kind] for kind in claims.KINDS}
        compared = [one for one in by["encoder"] if one.row["kind"] == "comparison" and one.row["artifact"] in names]
        answers = {"comparisons": compared, "studied": by["study"] + by["sentence"], "theorems": by["theorem"]}
        choices = [
            {"scope": "" if key == "all" else paper.label(key), "items": items}
            for key, items in paper.open_choices.items()
        ]
        about: dict[str, Any] = {
            name: [{key: quoted(getattr(one, key)) for key in SHOWN} for one in listed]
            for name, listed in answers.items()
        }
        about |= {"title": paper.title, "choices": choices if names else [], "missing": missing}
        about |= {"shown": shown(results, paper, measured), "studied_shown": shown(results, paper, studied)}
        papers.append(about)
    return {
        "scale": scale | {"line": words.scale_line(config), "conditions": conditions},
        "confidence": words.confidence(config),
        "counts": counts,
        "papers": papers,
    }


def quoted(text: str) -> str:
    """Text with the quotation marks and apostrophes of print."""
    return re.sub(r"(?<=\w)'(?=\w)|(?<=s)'(?= )", "’", re.sub(r'"([^"]*)"', r"“\1”", text))


def shown(results: Results, paper: Paper, ready: Sequence[Shown]) -> list[dict[str, Any]]:
    """Artifacts as JSON. The PDF itself says what its scale is worth and how exact studies are made."""
    config = results.config
    listed = []
    for artifact in ready:
        declared = paper.artifacts[artifact.id]
        notes = [note for note in artifact.notes if note not in (words.scale_note(config), studies.SIZE_NOTICE)]
        about: dict[str, Any] = {"title": declared.title, "original": declared.printed or "", "notes": notes}
        about |= {"alt": " ".join(notes), "inches": artifact.inches}
        if grid := artifact.grid:
            about["grid"] = {
                "head": [[head._asdict() for head in heads] for heads in grid.head],
                "corner": list(grid.corner),
                "sides": list(writer.alignment(grid)),
                "lines": [line._asdict() | {"cells": [cell._asdict() for cell in line.cells]} for line in grid.lines],
            }
        else:
            about["path"] = address(config.root, pages.drawing(config, paper.paper, artifact.id))
        listed.append(about)
    return listed
