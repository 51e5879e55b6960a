"""Parts that pages share: templates, claims with their filters, artifacts with results and without, errata."""

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from PIL import Image

from hypersphere.config import coordinates
from hypersphere.config.claims import NOT_MADE_YET, Erratum, load_errata, why_not_made
from hypersphere.config.plan import Plan
from hypersphere.config.project import SEVERAL, Config
from hypersphere.config.records import FOLDER
from hypersphere.config.rules import GRADES, RESULTS, RUNGS, Answer, Verdict
from hypersphere.config.validation import either
from hypersphere.provenance.evidence import undeclared
from hypersphere.report import claims, notes, words
from hypersphere.report.artifact import Shown
from hypersphere.report.claims import Entry
from hypersphere.report.results import Results, settles
from hypersphere.report.writer import pipes, show
from hypersphere.wording import counted


def webp(file: Path, width: int, quality: int) -> str:
    """A png as an address of WebP, at most ``width`` pixels wide."""
    written = io.BytesIO()
    with Image.open(file) as image:
        shown = image.convert("RGB")
        shown.thumbnail((width, image.height), Image.Resampling.LANCZOS, reducing_gap=None)
        shown.save(written, "WEBP", quality=quality, method=6)
    return f"data:image/webp;base64,{base64.b64encode(written.getvalue()).decode('ascii')}"


def render(template: str, values: Mapping[str, Any]) -> str:
    """The text of a template, which must be given all that it names. Only in HTML are values escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=template.endswith(".html"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"counted": counted, "pipes": pipes}
    return environment.get_template(template).render(values).rstrip() + "\n"


def choices(config: Config, entries: Sequence[Entry], names: Sequence[str]) -> list[dict[str, Any]]:
    """The filters of a page, by their names in its address, with the words of the values that occur on the page."""
    titles = {name: paper.title for name, paper in config.papers.items()}
    verdicts = {str(verdict): str(verdict) for verdict in Verdict}
    printed = {one["id"]: f"{titles[one['id'].split('/')[0]]}: {one['printed']}" for one in groups(config, entries)}
    offered: dict[str, tuple[str, Mapping[str, str]]] = {
        "document": ("Document", titles),
        "verdict": ("Verdict or result", verdicts | {result: result for result in RESULTS}),
        "kind": ("Kind", claims.KINDS),
        "rung": ("Evidence", {str(rung): heading for rung, heading in RUNGS.items()}),
        "answer": ("Answer", {str(answer): str(answer) for answer in Answer}),
        "certainty": ("Certainty", {grade: grade for grade in GRADES}),
        "origin": ("Origin", claims.ORIGINS),
        "artifact": ("Table or figure", printed),
    }
    found = []
    for name, (label, options) in offered.items():
        if name in names:
            present = {value for entry in entries for value in entry.keys[name].split("|")}
            chosen = {key: text for key, text in options.items() if key in present}
            found.append({"name": name, "label": label, "options": chosen})
    return found


def groups(config: Config, entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Claims by the table or figure that prints them (``margins/table2``), or as a document's theorems and identities.

    The groups have the order of the claims; each has its anchor, its name in print, its title and its claims.
    """
    found: dict[str, dict[str, Any]] = {}
    for entry in entries:
        key = entry.keys["artifact"]
        if key not in found:
            printed, title = printed_as(config, key)
            found[key] = {"id": key, "anchor": key.replace("/", "-"), "printed": printed, "title": title, "claims": []}
        found[key]["claims"].append(entry)
    return list(found.values())


def printed_as(config: Config, key: str) -> tuple[str, str]:
    """``Table 2`` and the title of ``margins/table2``; of what is not printed, the title and nothing."""
    paper, _, name = key.partition("/")
    declared = config.papers[paper].artifacts.get(name)
    if declared is None:
        return "Theorems and identities" if name == "theorems" else name.replace("_", " "), ""
    return (declared.printed, declared.title) if declared.printed else (declared.title, "")


def document(results: Results, paper: str) -> tuple[list[Shown], list[Shown], list[dict[str, str]]]:
    """The artifacts of a paper with results, those of runs and those of exact studies; and the others.

    Of an artifact without results: id, printed name, title and the reason.
    """
    declared, made = results.config.papers[paper], results.made(paper)
    measured, studied, missing = list[Shown](), list[Shown](), list[dict[str, str]]()
    for name, artifact in declared.artifacts.items():
        shown = show(results, paper, name) if name in made else None
        if shown and (shown.grid or drawing(results.config, paper, name).is_file()):
            (measured if name in declared.measured else studied).append(shown)
            continue
        why = "measured, but not drawn yet" if shown else why_not_made(results.plan, paper, name) or NOT_MADE_YET
        missing.append({"id": name, "printed": artifact.printed or "", "title": artifact.title, "reason": why})
    return measured, studied, missing


def scale(results: Results) -> dict[str, Any]:
    """What scorecard and paper say of the scale."""
    config, declared = results.config, results.config.scale.seeds
    if results.plan.records is None:
        seeds = notes.seeds(declared.tables)
        seeds += "" if declared.tables == declared.sweeps else f"; in sweeps {notes.seeds(declared.sweeps)}"
    else:  # all numbers come from records: the seeds that each arm has
        of_arm: dict[tuple[str, str, str], set[int]] = {}
        for cell in results.plan.cells:
            if cell.run and not cell.missing:
                of_arm.setdefault((cell.paper, cell.artifact, cell.text), set()).add(cell.run.seed)
        recorded = sorted(set().union(*of_arm.values()))
        seeds = notes.seeds(recorded, sorted(set(map(len, of_arm.values())))) if recorded else words.NOT_RUN
    return {
        "name": config.scale_name,
        "level": config.scale.level,
        "describe": config.scale.describe,
        "notice": words.notice(config),
        "settles": settles(config),
        "seeds": seeds,
        "device": words.distinct(results.runs["device"]),
        "torch": words.distinct(results.runs["torch"]),
        "uncounted": _uncounted(results.plan),
    }


def _uncounted(plan: Plan) -> list[str]:
    """The records of which the config does not declare something, so that it counts for nothing: what, of each."""
    recorded = [one for several in (plan.records or {}).values() for one in several]
    folder = Path(FOLDER) / plan.config.scale_name
    return list(undeclared(plan, recorded, folder)) if recorded else []


def drawing(config: Config, paper: str, name: str) -> Path:
    """The svg of a figure."""
    return config.results / "figures" / paper / f"{name}.svg"


QUANTITIES = {"all": "every run", "some": "a run", "none": "no run"}
"""How many runs an erratum speaks of, in words."""


def what_is_run(erratum: Erratum) -> str:
    """``every run with variant curv or pos_curv has logits.curve=equation_10``; empty if no field has the choice."""
    said = []
    for one in erratum.runs:
        runs = QUANTITIES[one.by]
        if one.by == "all" and "artifact" not in one.when:
            runs += " of a published table or figure"
        which = []
        for key, given in one.when.items():
            values = [coordinates.show(value) for value in coordinates.alternatives(given)]
            which.append(f"{key} {either(values)}")
        conditions = f" with {' and '.join(which)}" if which else ""
        has = ", ".join(f"{path}={coordinates.show(value)}" for path, value in one.set.items())
        said.append(f"{runs}{conditions} has {has}")
    return "; ".join(said)


def ledger(config: Config) -> list[dict[str, Any]]:
    """The errata with the titles of their documents, in the order of papers; those of several come last."""
    titles, entries = {key: paper.title for key, paper in config.papers.items()}, load_errata(config)
    titles[SEVERAL] = "Across the documents"
    shown = {one.id: one.model_dump() | {"title": titles[one.document], "run": what_is_run(one)} for one in entries}
    return [shown[one.id] for key in titles for one in entries if one.document == key]
