"""The page as one HTML file, which needs no network: its script is a convenience, and its pictures are in it."""

import base64
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from PIL import Image

from hypersphere import templating
from hypersphere.config.certainty import GRADES, RUNGS
from hypersphere.config.rules import RESULTS, Answer, Tone, Verdict
from hypersphere.provenance.tables import Row
from hypersphere.report import cards, counts, page, prices, rendering, words, writer
from hypersphere.report.counts import KINDS
from hypersphere.report.entries import ORIGINS
from hypersphere.report.intervals import NARROW
from hypersphere.report.page import Document, Page
from hypersphere.report.proofs import Proofs
from hypersphere.wording import count_of


class Fineness(NamedTuple):
    """How large and how fine pictures are in a page."""

    width: int
    """Pixels."""
    quality: int
    """The quality of WebP, out of 100, at which letters stay sharp."""


FOREST = Fineness(1440, 60)
PHONE = Fineness(720, 60)
"""The fineness of the same drawings for a narrow window."""
ARTIFACT = Fineness(720, 28)
"""The fineness of figures of a scale, which are shown at most 7.2 inches wide. As many colours in a palette take twice
the bytes; fewer colours draw steps into maps where there are none."""


class Filter(NamedTuple):
    """A choice among the claims of a page."""

    name: str
    """The name in the address of the page."""
    label: str
    options: Mapping[Any, str]
    """The words of its values that occur on the page."""


def render(shown: Page, proofs: Proofs, folder: Path) -> str:
    """The text of a page, with the pictures of the page that are in ``folder``."""
    environment = templating.environment(rendering.TEMPLATES)
    environment.filters |= {"anchor": anchor, "address": address}
    claims = [claim.row for claim in shown.entries.values()]
    published = [claim for claim in claims if claim["origin"] == "printed"]
    keys = keys_of(shown)
    values: dict[str, Any] = {
        "page": shown,
        "published": len(published),
        "publishing": len({claim["paper"] for claim in published}),
        "by_kind": counts.by_kind(published),
        "kinds": KINDS,
        "origins": ORIGINS,
        "of_origin": Counter(claim["origin"] for claim in claims),
        "results": RESULTS,
        "results_of": counts.results,
        "tone_of": tone_of,
        "filters": filters(shown, keys),
        "keys": keys,
        "card": partial(cards.of_claim, proofs.config),
        "proofs": proofs,
        "artifacts": {document.id: _artifacts(document, proofs) for document in shown.documents},
        "hours": page.HOURS,
        "shown": _with_anchors(shown),
    }
    if shown.known:
        values |= {
            "size": size(published),
            "front": picture(shown.known.front, folder),
            "pictures": [picture(one, folder) for one in shown.known.pictures],
            "rungs": RUNGS,
            "price_head": prices.HEAD,
            "most_runs": prices.MOST_RUNS,
        }
    return environment.get_template("page.html").render(values).rstrip() + "\n"


def _with_anchors(shown: Page) -> set[str]:
    """The tables and figures that the page has, or says to be missing."""
    found = set[str]()
    for document in shown.documents:
        found |= {f"{document.id}/{one.id}" for one in document.artifacts}
        found |= {f"{document.id}/{one.id}" for one in document.missing}
    return found


def anchor(group: str) -> str:
    """``margins-table2``: the id of a table or figure on the page."""
    return group.replace("/", "-")


def address(chosen: Mapping[str, str]) -> str:
    """The address of a page filtered: ``#?document=margins&result=disagrees``."""
    return f"#?{urlencode({key: value for key, value in chosen.items() if value})}"


def size(published: Sequence[Row]) -> str:
    """How many encoders have the published size, in a sentence."""
    rungs = [claim["rung"] for claim in published if claim["answered_by"] == "encoder"]
    whole = rungs.count("published")
    if whole == 0:
        return "No encoder was trained at the published size."
    return f"Encoders of the published size answer {whole:,} of {count_of(len(rungs), 'claim')} about trained encoders."


def tone_of(question: Row) -> Tone:
    """The colour of a question's result: neutral unless the evidence on its claims may settle them."""
    firm = question["certainty"] in ("high", "moderate")
    return Answer.of(question["outcome"]).tone if firm else "neutral"


# Filters


def keys_of(shown: Page) -> dict[str, dict[str, str]]:
    """What the filters of a page ask for of each claim, by their names; several values are apart by ``|``."""
    questions: dict[str, list[str]] = {}
    for document in shown.documents:
        for question in document.questions:
            for claim in question.claims:
                questions.setdefault(claim.row["id"], []).append(question.row["id"])
    found = {}
    for name, claim in shown.entries.items():
        row = claim.row
        found[name] = {
            "document": row["paper"],
            "result": claim.result,
            "kind": row["answered_by"],
            "rung": row.get("rung", ""),
            "certainty": row.get("certainty", ""),
            "verdict": row["verdict"],
            "origin": row["origin"],
            "question": "|".join(questions.get(name, [])),
            "artifact": claim.group,
        }
    return found


def filters(shown: Page, keys: Mapping[str, Mapping[str, str]]) -> list[Filter]:
    """The filters of a page, with the values that occur on it."""
    tables = dict[str, str]()
    questions = dict[str, str]()
    for document in shown.documents:
        tables |= {group.id: f"{document.title}: {group.printed}" for group in document.groups}
        questions |= {one.row["id"]: one.row["question"] for one in document.questions}
    first = [
        Filter("document", "Paper", shown.titles),
        Filter("result", "Result", _as_they_are(RESULTS)),
        Filter("kind", "Kind", KINDS),
    ]
    origin = Filter("origin", "Origin", ORIGINS)
    if shown.known:
        evidence = Filter("rung", "Evidence", RUNGS)
        certainty = Filter("certainty", "Certainty", _as_they_are(GRADES))
        offered = [*first, evidence, certainty, origin, Filter("question", "Question", questions)]
    else:
        verdict = Filter("verdict", "Verdict", _as_they_are(Verdict))
        offered = [*first, verdict, origin, Filter("artifact", "Table or figure", tables)]
    found = []
    for one in offered:
        present = "|".join(of_claim[one.name] for of_claim in keys.values()).split("|")
        options = {key: text for key, text in one.options.items() if key in set(present)}
        found.append(one._replace(options=options))
    return found


def _as_they_are(words: Iterable[str]) -> dict[str, str]:
    return {word: word for word in words}


# Pictures, tables and figures


class Picture(NamedTuple):
    """A picture inside the page, and its file beside the page."""

    file: str
    data: str
    alt: str
    narrow: str
    """The same drawing for a narrow window; empty where there is none."""


def picture(one: page.Picture, folder: Path) -> Picture | None:
    """A picture with its data; None where its file was not drawn."""
    wide, narrow = folder / f"{one.name}.png", folder / f"{one.name}{NARROW}.png"
    if not wide.is_file():
        return None
    return Picture(
        f"{one.name}.svg",
        webp(wide, FOREST),
        one.alt,
        webp(narrow, PHONE) if narrow.is_file() else "",
    )


def _artifacts(document: Document, proofs: Proofs) -> list[dict[str, Any]]:
    """The tables of a paper with the sides of their columns, its figures with their pictures, and their files."""
    claimed = {group.id for group in document.groups}
    at_the_top = words.scale_note(proofs.config)
    found = []
    for one in document.artifacts:
        group = f"{document.id}/{one.id}"
        about = one._asdict() | {
            "notes": [note for note in one.notes if note != at_the_top],
            "links": proofs.artifact(document.id, one.id),
            "claims": address({"artifact": group}) if group in claimed else "",
        }
        if one.grid:
            about["sides"] = writer.alignment(one.grid)[len(one.grid.corner) :]
        else:
            about["data"] = webp(proofs.picture(document.id, one.id), ARTIFACT)
        found.append(about)
    return found


def webp(file: Path, fineness: Fineness) -> str:
    """A png as an address of WebP, at most as wide as told."""
    written = io.BytesIO()
    with Image.open(file) as image:
        shown = image.convert("RGB")
        shown.thumbnail((fineness.width, image.height), Image.Resampling.LANCZOS, reducing_gap=None)
        shown.save(written, "WEBP", quality=fineness.quality, method=6)
    return f"data:image/webp;base64,{base64.b64encode(written.getvalue()).decode('ascii')}"
