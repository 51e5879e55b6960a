"""The page as one HTML file, which needs no network: its script is a convenience, and its pictures are in it."""

import base64
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import jinja2
from PIL import Image

from hypersphere.config.rules import GRADES, RESULTS, RUNGS, Answer, Verdict
from hypersphere.report import page, prices, words, writer
from hypersphere.report.artifact import Shown
from hypersphere.report.counts import KINDS
from hypersphere.report.entries import ORIGINS, Entry
from hypersphere.report.page import Document, Group, Page
from hypersphere.report.proofs import Proofs
from hypersphere.wording import counted

TEMPLATES = Path(__file__).parent / "templates"
FEW = 12
"""Claims of a question that are seen at once; more are folded."""


class Fineness(NamedTuple):
    """How large and how fine pictures are in a page."""

    width: int
    """Pixels."""
    quality: int
    """Of WebP, out of 100, at which letters stay sharp."""


FOREST = Fineness(1440, 60)
ARTIFACT = Fineness(720, 28)
"""Of figures of a scale, which are shown at most 7.2 inches wide. As many colours in a palette take twice the bytes;
fewer colours draw steps into maps where there are none."""


class Filter(NamedTuple):
    """A choice among the claims of a page."""

    name: str
    """In the address of the page."""
    label: str
    options: Mapping[str, str]
    """The words of its values that occur on the page."""


def render(shown: Page, proofs: Proofs, folder: Path) -> str:
    """The text of a page, with the pictures of the page that are in ``folder``."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"counted": counted, "anchor": anchor, "address": address}
    values = {
        "page": shown,
        "filters": filters(shown),
        "keys": keys,
        "proofs": proofs,
        "errata": proofs.errata_by_kind(shown.errata),
        "pictures": _pictures(shown, folder),
        "artifacts": {document.id: _artifacts(document, proofs) for document in shown.documents},
        "rungs": RUNGS,
        "hours": page.HOURS,
        "price_head": prices.HEAD,
        "most_runs": prices.MOST_RUNS,
        "few": FEW,
        "printed": sum(claim.row["origin"] == "printed" for claim in shown.entries.values()),
        "printing": _printing(shown),
        "shown": _with_anchors(shown),
        "open_claim": open_claim,
    }
    return environment.get_template("page.html").render(values).rstrip() + "\n"


def _printing(shown: Page) -> list[str]:
    """The titles of documents with printed claims."""
    ids = {claim.row["paper"] for claim in shown.entries.values() if claim.row["origin"] == "printed"}
    return [title for name, title in shown.titles.items() if name in ids]


def _with_anchors(shown: Page) -> set[str]:
    """The tables and figures that the page has, or says to be missing."""
    found = set[str]()
    for document in shown.documents:
        names = [*(one.id for one in document.artifacts), *(one.id for one in document.missing)]
        found |= {f"{document.id}/{name}" for name in names}
    return found


def anchor(group: str) -> str:
    """``margins-table2``: the id of a table or figure on the page."""
    return group.replace("/", "-")


def address(chosen: Mapping[str, str]) -> str:
    """The address of a page filtered: ``#?document=margins&verdict=refuted``."""
    return f"#?{urlencode({key: value for key, value in chosen.items() if value})}"


# Filters


def keys(claim: Entry) -> dict[str, str]:
    """What the filters of a page ask for, by their names; several values are apart by ``|``."""
    row = claim.row
    return {
        "document": row["paper"],
        "kind": row["answered_by"],
        "rung": row.get("rung", ""),
        "answer": row["answer"],
        "certainty": row.get("certainty", ""),
        "verdict": f"{row['verdict']}|{Answer.of(row['answer']).result}",
        "origin": row["origin"],
        "artifact": claim.group,
    }


OF_ONE_SCALE = ("verdict", "artifact")
OF_ALL_EVIDENCE = ("rung", "answer", "certainty")


def filters(shown: Page) -> list[Filter]:
    """The filters of a page, with the values that occur on it."""
    printed = {}
    for document in shown.documents:
        for group in (*document.groups, *document.waiting):
            printed[group.id] = f"{document.title}: {group.printed}"
    offered = [
        Filter("document", "Document", shown.titles),
        Filter("verdict", "Verdict or result", _as_they_are(Verdict) | _as_they_are(RESULTS)),
        Filter("kind", "Kind", KINDS),
        Filter("rung", "Evidence", {str(rung): heading for rung, heading in RUNGS.items()}),
        Filter("answer", "Answer", _as_they_are(Answer)),
        Filter("certainty", "Certainty", _as_they_are(GRADES)),
        Filter("origin", "Origin", ORIGINS),
        Filter("artifact", "Table or figure", printed),
    ]
    left_out = OF_ONE_SCALE if shown.known else OF_ALL_EVIDENCE
    values = [keys(claim) for claim in shown.entries.values()]
    found = []
    for one in offered:
        if one.name in left_out:
            continue
        present = set("|".join(of_claim[one.name] for of_claim in values).split("|"))
        found.append(one._replace(options={key: text for key, text in one.options.items() if key in present}))
    return found


def _as_they_are(words: Sequence[str] | type[Answer] | type[Verdict]) -> dict[str, str]:
    return {str(word): str(word) for word in words}


# Pictures, tables and figures


class Picture(NamedTuple):
    """A picture inside the page, and its file beside the page."""

    file: str
    data: str
    alt: str


def _pictures(shown: Page, folder: Path) -> list[Picture]:
    listed = shown.known.pictures if shown.known else []
    return [Picture(f"{one.name}.svg", webp(folder / f"{one.name}.png", FOREST), one.alt) for one in listed]


def _artifacts(document: Document, proofs: Proofs) -> list[dict[str, Any]]:
    """The tables of a document with the sides of their columns, its figures with their pictures, and their files."""
    claimed = {group.id for group in (*document.groups, *document.waiting)}
    at_the_top, found = words.scale_note(proofs.config), []
    for one in document.artifacts:
        group = f"{document.id}/{one.id}"
        found.append(
            {
                **one._asdict(),
                "notes": [note for note in one.notes if note != at_the_top],
                "sides": _sides(one),
                "data": "" if one.grid else webp(proofs.picture(document.id, one.id), ARTIFACT),
                "links": proofs.artifact(document.id, one.id),
                "claims": address({"artifact": group}) if group in claimed else "",
            }
        )
    return found


def _sides(table: Shown) -> str:
    return writer.alignment(table.grid)[len(table.grid.corner) :] if table.grid else ""


def webp(file: Path, fineness: Fineness) -> str:
    """A png as an address of WebP, at most as wide as told."""
    written = io.BytesIO()
    with Image.open(file) as image:
        picture = image.convert("RGB")
        picture.thumbnail((fineness.width, image.height), Image.Resampling.LANCZOS, reducing_gap=None)
        picture.save(written, "WEBP", quality=fineness.quality, method=6)
    return f"data:image/webp;base64,{base64.b64encode(written.getvalue()).decode('ascii')}"


def open_claim(group: Group) -> Entry | None:
    """The first claim of a group that a command would settle; None of one scale, where no claim has a command."""
    return next((claim for claim in group.claims if claim.row.get("settle")), None)
