"""Parts that pages share: templates, artifacts with results, artifacts that were not run, errata."""

import base64
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from PIL import Image

from hypersphere.config.claims import NOT_MADE_YET, load_errata, why_not_made
from hypersphere.config.project import SEVERAL, Config
from hypersphere.files import write_text
from hypersphere.report import notes, words
from hypersphere.report.artifact import Shown
from hypersphere.report.claims import Entry
from hypersphere.report.results import Results, settles
from hypersphere.report.writer import show
from hypersphere.wording import counted

NOT_DRAWN = "measured, but not drawn yet"


def webp(file: Path, width: int | None = None, **quality: Any) -> str:
    """A png as an address of WebP, at most ``width`` pixels wide.

    Without a ``quality`` nothing is lost: letters stay sharp, in a third of the bytes.
    """
    written = io.BytesIO()
    with Image.open(file) as image:
        shown = image.convert("RGB")
        if width is not None:
            wide = min(width, image.width)
            shown = shown.resize((wide, round(image.height * wide / image.width)), Image.Resampling.LANCZOS)
        shown.save(written, "WEBP", **(quality or {"lossless": True, "method": 4}))
    return embedded("webp", written.getvalue())


def embedded(kind: str, content: bytes) -> str:
    """A picture as the address of an image, in the page itself."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


def render(template: str, values: Mapping[str, Any], file: Path) -> None:
    """Write a page from a template, which must be given all that it names."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["counted"] = counted
    write_text(file, environment.get_template(template).render(values).rstrip() + "\n")


class Choice(NamedTuple):
    """A filter of a page's claims."""

    name: str
    """The key in the page's address."""
    label: str
    every: str
    """What it says where nothing is chosen."""
    of: Callable[[Entry], str]
    """What a claim has of it; several values are apart by ``|``."""
    options: Mapping[str, str]
    """Words by value."""
    within: Mapping[str, str] = {}
    """The heading of a value among the options, if they have headings."""


def choices(entries: Sequence[Entry], offered: Sequence[Choice]) -> list[Choice]:
    """The filters with what occurs on the page."""
    found = []
    for one in offered:
        present = {value for entry in entries for value in one.of(entry).split("|")}
        found.append(one._replace(options={key: text for key, text in one.options.items() if key in present}))
    return found


def document_of(entry: Entry) -> str:
    """The document of a claim."""
    return str(entry.row["paper"])


def table_of(entry: Entry) -> str:
    """``margins/table2``; theorems and identities of a document are one group."""
    row = entry.row
    return f"{row['paper']}/{'theorems' if row['kind'] == 'theorem' else row['artifact']}"


class Group(NamedTuple):
    """Claims of one table or figure, or the theorems and identities of a document."""

    id: str
    """``margins/table2``"""
    printed: str
    title: str
    claims: list[Entry]

    @property
    def anchor(self) -> str:
        """``margins-table2``"""
        return self.id.replace("/", "-")


def groups(config: Config, entries: Iterable[Entry]) -> list[Group]:
    """Claims by what prints them, in the given order."""
    found: dict[str, Group] = {}
    for entry in entries:
        key = table_of(entry)
        if key not in found:
            found[key] = Group(key, *printed_as(config, key), [])
        found[key].claims.append(entry)
    return list(found.values())


def printed_as(config: Config, key: str) -> tuple[str, str]:
    """``Table 2`` and the title of ``margins/table2``; of what is not printed, the title and nothing."""
    paper, _, name = key.partition("/")
    declared = config.papers[paper].artifacts.get(name)
    if declared is None:
        return "Theorems and identities" if name == "theorems" else name.replace("_", " "), ""
    return (declared.printed, declared.title) if declared.printed else (declared.title, "")


class Document(NamedTuple):
    """The artifacts of one paper."""

    measured: list[Shown]
    """Made from runs."""
    studied: list[Shown]
    """Made from exact studies."""
    missing: list[dict[str, str]]
    """All others: id, printed name, title and the reason."""


def document(results: Results, paper: str) -> Document:
    """The artifacts of a paper: those with results, and those without."""
    declared, made = results.config.papers[paper], results.made(paper)
    visible: dict[str, Shown] = {}
    for name in made:
        shown = show(results, paper, name)
        if shown.grid or drawing(results.config, paper, name).is_file():
            visible[name] = shown
    missing = []
    for name, artifact in declared.artifacts.items():
        if name not in visible:
            reason = NOT_DRAWN if name in made else why_not_made(results.plan, paper, name) or NOT_MADE_YET
            about = {"id": name, "printed": artifact.printed or "", "title": artifact.title, "reason": reason}
            missing.append(about)
    measured = [shown for name, shown in visible.items() if name in declared.measured]
    return Document(measured, [shown for name, shown in visible.items() if name in declared.studied], missing)


def scale(results: Results) -> dict[str, Any]:
    """What scorecard and paper say of the scale."""
    config, plan = results.config, results.plan
    seeds = config.scale.seeds
    if plan.records is None:
        sweeps = "" if seeds.tables == seeds.sweeps else f"; in sweeps {notes.seeds(seeds.sweeps)}"
        said = f"{notes.seeds(seeds.tables)}{sweeps}"
    else:  # all numbers come from records
        recorded = sorted({run.seed for run in plan.runs.values()})
        said = notes.seeds(recorded, sorted({1, len(recorded)})) if recorded else words.NOT_RUN
    return {
        "name": config.scale_name,
        "level": config.scale.level,
        "describe": config.scale.describe,
        "notice": words.notice(config),
        "settles": settles(config),
        "seeds": said,
        "device": words.distinct(results.runs["device"]),
        "torch": words.distinct(results.runs["torch"]),
    }


def drawing(config: Config, paper: str, name: str) -> Path:
    """The svg of a figure."""
    return config.results / "figures" / paper / f"{name}.svg"


def ledger(config: Config) -> list[dict[str, Any]]:
    """The errata by document, in the order of config/papers. Errata of several documents come last."""
    entries = load_errata(config)
    titles = {key: paper.title for key, paper in config.papers.items()} | {SEVERAL: "Across the documents"}
    listed = {
        title: [entry.model_dump() for entry in entries if entry.document == key] for key, title in titles.items()
    }
    return [{"title": title, "entries": group} for title, group in listed.items() if group]
