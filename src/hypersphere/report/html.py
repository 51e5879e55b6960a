"""The page as one HTML file, which needs no network: its script is a convenience, and its pictures are in it."""

import base64
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import jinja2
from PIL import Image

from hypersphere.config.rules import GRADES, RESULTS, RUNGS, Answer, Result, Tone, Verdict
from hypersphere.provenance.tables import Row
from hypersphere.report import cards, counts, page, prices, words, writer
from hypersphere.report.artifact import Shown
from hypersphere.report.counts import KINDS
from hypersphere.report.entries import ORIGINS, Entry
from hypersphere.report.intervals import NARROW
from hypersphere.report.page import Document, Page
from hypersphere.report.proofs import Proofs
from hypersphere.wording import counted

TEMPLATES = Path(__file__).parent / "templates"


class Fineness(NamedTuple):
    """How large and how fine pictures are in a page."""

    width: int
    """Pixels."""
    quality: int
    """Of WebP, out of 100, at which letters stay sharp."""


FOREST = Fineness(1440, 60)
PHONE = Fineness(720, 60)
"""Of the same drawings for a narrow window."""
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
    environment.filters |= {
        "counted": counted,
        "anchor": anchor,
        "address": address,
        "told": told,
        "of_kinds": of_kinds,
    }
    claims = [claim.row for claim in shown.entries.values()]
    published = [claim for claim in claims if claim["origin"] == "printed"]
    listed = shown.known.pictures if shown.known else []
    values = {
        "page": shown,
        "published": len(published),
        "publishing": len({claim["paper"] for claim in published}),
        "size": size(published) if shown.known else "",
        "by_kind": counts.by_kind(published),
        "kinds": KINDS,
        "beside": beside(claims),
        "origins": ORIGINS,
        "results": RESULTS,
        "results_of": counts.results,
        "tone_of": tone_of,
        "filters": filters(shown),
        "keys": partial(keys, asking(shown)),
        "card": partial(cards.of_claim, proofs.config),
        "proofs": proofs,
        "front": picture(shown.known.front, folder) if shown.known else None,
        "pictures": [picture(one, folder) for one in listed],
        "errata": {document.id: list(_errata(document, proofs)) for document in shown.documents},
        "artifacts": {document.id: _artifacts(document, proofs) for document in shown.documents},
        "rungs": RUNGS,
        "hours": page.HOURS,
        "price_head": prices.HEAD,
        "most_runs": prices.MOST_RUNS,
        "shown": _with_anchors(shown),
    }
    return environment.get_template("page.html").render(values).rstrip() + "\n"


def _errata(document: Document, proofs: Proofs) -> Iterator[dict[str, Any]]:
    """The errata of a paper with links to what shows them, the worst kind first."""
    for group in proofs.errata_by_kind(document.errata):
        for _, entries in group["documents"]:
            yield from (entry | {"meaning": group["meaning"]} for entry in entries)


OF_ERRATA: dict[str, str] = {
    "breaks": "breaking an implementation",
    "ambiguous": "leaving something open",
    "claim": "of sentences against their own numbers",
    "typo": "without consequence",
    "extraction": "of the copy that was read",
}
"""What is said of errata by their kind."""


def of_kinds(errata: Sequence[Mapping[str, Any]]) -> str:
    """``12: 2 breaking an implementation, 10 without consequence``."""
    numbers = Counter(erratum["kind"] for erratum in errata)
    listed = ", ".join(
        f"{numbers[kind]} {said}" for kind, said in OF_ERRATA.items() if numbers[kind]
    )
    return f"{len(errata)}: {listed}"


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
    """The address of a page filtered: ``#?document=margins&result=disagrees``."""
    return f"#?{urlencode({key: value for key, value in chosen.items() if value})}"


# Results and their counts


def size(published: Sequence[Row]) -> str:
    """How many encoders have the published size, in a sentence."""
    rungs = [claim["rung"] for claim in published if claim["answered_by"] == "encoder"]
    whole = rungs.count("published")
    if whole == 0:
        return "No encoder was trained at the published size."
    return f"Encoders of the published size answer {whole:,} of {counted(len(rungs), 'claim')} about trained encoders."


def beside(claims: Sequence[Row]) -> dict[str, int]:
    """How many claims there are of each other origin."""
    numbers = Counter(claim["origin"] for claim in claims if claim["origin"] != "printed")
    return {origin: numbers[origin] for origin in ORIGINS if numbers[origin]}


AS_VERBS: dict[Result, str] = {
    "agrees": "agree",
    "agrees in sign only": "agree in sign only",
    "disagrees": "disagree",
    "undecided": "undecided",
    "not tested": "not tested",
}
"""What is said of several claims with a result."""


def told(results: Mapping[Result, int]) -> str:
    """``29 agree, 22 disagree``: the results of some claims, without those that none has."""
    said = []
    for result, number in results.items():
        if number:
            verb = result if number == 1 else AS_VERBS[result]
            said.append(f"{number:,} {verb}")
    return ", ".join(said)


def tone_of(question: Row) -> Tone:
    """The colour of a question's result: neutral unless the evidence on its claims may settle them."""
    firm = question["certainty"] in ("high", "moderate")
    return Answer.of(question["outcome"]).tone if firm else "neutral"


# Filters


def asking(shown: Page) -> dict[str, list[str]]:
    """The questions about each claim."""
    found: dict[str, list[str]] = {}
    for document in shown.documents:
        for question in document.questions:
            for claim in question.claims:
                found.setdefault(claim.row["id"], []).append(question.row["id"])
    return found


def keys(questions: Mapping[str, Sequence[str]], claim: Entry) -> dict[str, str]:
    """What the filters of a page ask for, by their names; several values are apart by ``|``."""
    row = claim.row
    return {
        "document": row["paper"],
        "result": claim.result,
        "kind": row["answered_by"],
        "rung": row.get("rung", ""),
        "certainty": row.get("certainty", ""),
        "verdict": row["verdict"],
        "origin": row["origin"],
        "question": "|".join(questions.get(row["id"], [])),
        "artifact": claim.group,
    }


OF_ONE_SCALE = ("verdict", "artifact")
OF_ALL_EVIDENCE = ("rung", "certainty", "question")


def filters(shown: Page) -> list[Filter]:
    """The filters of a page, with the values that occur on it."""
    tables, questions = dict[str, str](), dict[str, str]()
    for document in shown.documents:
        tables |= {group.id: f"{document.title}: {group.printed}" for group in document.groups}
        questions |= {
            question.row["id"]: question.row["question"] for question in document.questions
        }
    offered = [
        Filter("document", "Paper", shown.titles),
        Filter("result", "Result", _as_they_are(RESULTS)),
        Filter("kind", "Kind", KINDS),
        Filter("rung", "Evidence", {str(rung): heading for rung, heading in RUNGS.items()}),
        Filter("certainty", "Certainty", _as_they_are(GRADES)),
        Filter("verdict", "Verdict", _as_they_are(Verdict)),
        Filter("origin", "Origin", ORIGINS),
        Filter("question", "Question", questions),
        Filter("artifact", "Table or figure", tables),
    ]
    left_out = OF_ONE_SCALE if shown.known else OF_ALL_EVIDENCE
    of_question = asking(shown)
    values = [keys(of_question, claim) for claim in shown.entries.values()]
    found = []
    for one in offered:
        if one.name in left_out:
            continue
        present = set("|".join(of_claim[one.name] for of_claim in values).split("|"))
        found.append(
            one._replace(options={key: text for key, text in one.options.items() if key in present})
        )
    return found


def _as_they_are(listed: Sequence[str] | type[Verdict]) -> dict[str, str]:
    return {str(word): str(word) for word in listed}


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
        shown = image.convert("RGB")
        shown.thumbnail((fineness.width, image.height), Image.Resampling.LANCZOS, reducing_gap=None)
        shown.save(written, "WEBP", quality=fineness.quality, method=6)
    return f"data:image/webp;base64,{base64.b64encode(written.getvalue()).decode('ascii')}"
