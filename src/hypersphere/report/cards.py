"""The card of a claim: what a reader is told when its line unfolds, from the claim to the command that settles it."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import PRINTED
from hypersphere.config.measures import MEASURES, Measure
from hypersphere.config.project import Config
from hypersphere.config.rules import RUNGS, Answer
from hypersphere.provenance.tables import Row
from hypersphere.report import entries, words
from hypersphere.report.entries import DIRECTIONS, NOTHING, ORIGINS, Entry
from hypersphere.wording import counted

OF_EFFECTS = {
    Answer.FAILS: "ours is less than half of the published effect",
    Answer.OPPOSITE: "ours has the opposite sign",
    Answer.DIRECTION_ONLY: "ours has the published sign and another size",
}
"""What an answer means where a paper publishes a difference."""
OF_TEXTS = {
    ("theorem", Answer.HOLDS): "we met no counterexample on random and extreme inputs",
    ("theorem", Answer.FAILS): "there is a counterexample",
    ("sentence", Answer.BORNE): "the paper’s own table bears it",
    ("sentence", Answer.CONTRADICTED): "the paper’s own table contradicts it",
}
"""What an answer means, by what answers the claim."""
APART = {"larger": "above", "smaller": "below", "equal": "level with"}
"""Published directions, as words between a variant and its baseline."""
DIVERGES = words.number(math.inf, 0)


class Fact(NamedTuple):
    """A line of a card."""

    name: str
    text: str
    badge: str = ""
    """A result, before the text."""
    command: str = ""
    """What to type, before the text."""


class Card(NamedTuple):
    """A claim as a sentence, and the facts about it in the order in which a reader asks for them."""

    sentence: str
    facts: list[Fact]


def of_claim(config: Config, claim: Entry) -> Card:
    """The card of a claim; a fact without anything to tell is left out."""
    row, told = claim.row, sentence(config.papers[claim.row["paper"]], claim)
    facts = [
        Fact("Source", source(row)),
        Fact("In words", row["sentence"] if row["answered_by"] == "encoder" else ""),
        Fact("Published", _published(row)),
        Fact("Ours", _ours(claim)),
        _result(claim),
        *_certainty(claim),
        Fact("What differs", _differs(claim)),
        *_settled_by(row),
    ]
    return Card(told, [fact for fact in facts if fact.text or fact.badge])


def sentence(paper: Paper, claim: Entry) -> str:
    """``On CIFAR-10, SimCLR, cut by 3, is 4.6 points above default in kNN accuracy.``"""
    row = claim.row
    if row["answered_by"] != "encoder" and row["sentence"]:
        return f"{row['sentence'].rstrip('.')}."
    measure, where = MEASURES.get(row["metric"]), entries.point(paper, row)
    begin = f"{'On' if row['dataset'] else 'At'} {where}, " if where else ""
    if row["kind"] == "comparison":
        said = f"{_apart(row, measure)} {entries.baseline(paper, row)}"
    elif entries.published(row) == DIVERGES:
        return f"{begin}{entries.arm(paper, row)}, {DIVERGES}."
    else:
        said = f"at {_with_unit(entries.published(row), measure)}"
    return f"{begin}{entries.arm(paper, row)}, is {said} in {_noun(measure)}."


def _apart(row: Row, measure: Measure | None) -> str:
    """``4.6 points above``; ``compared with`` where nobody says what is larger."""
    if not entries.prints_number(row):
        return APART.get(row["reported"], "compared with")
    decimals = entries.decimals_of(row)
    size = words.number(abs(float(row["reported"])), decimals)
    return f"{_with_unit(size, measure, 'points')} {'below' if float(row['reported']) < 0 else 'above'}"


def _noun(measure: Measure | None) -> str:
    """``linear probe accuracy``, ``embedding norm``."""
    if measure is None:
        return "outcome"
    is_accuracy = measure.guesses is not None and "accuracy" not in measure.label
    return f"{measure.label} accuracy" if is_accuracy else measure.label


def _with_unit(number: str, measure: Measure | None, of_percent: str = "%") -> str:
    unit = measure.unit if measure else ""
    return f"{number} {of_percent if unit == '%' else unit}".rstrip()


def source(row: Row) -> str:
    """``Table 2; Sec. 5.6``, and whose claim it is where no paper publishes it as it stands."""
    whose = "" if row["origin"] == "printed" else ORIGINS[row["origin"]]
    return _joined(row["source"], whose)


def _published(row: Row) -> str:
    """The published number with its interval by the published standard deviations."""
    number = entries.published(row)
    if number == NOTHING or (number in DIRECTIONS and row["answered_by"] != "encoder"):
        return ""
    measure = MEASURES.get(row["metric"])
    points = "points" if row["kind"] == "comparison" else "%"
    shown = number if number in DIRECTIONS else _with_unit(number, measure, points)
    low, high = (row.get(f"reported_{end}", float("nan")) for end in ("low", "high"))
    interval = words.interval(low, high, entries.decimals_of(row), measure)
    return shown if interval == NOTHING else f"{shown}, {interval} by the published standard deviations"


def _ours(claim: Entry) -> str:
    """What we found, its interval, and what it was measured on."""
    row = claim.row
    if not claim.found:
        return ""
    stands_in = row["answered_by"] == "encoder" and row["measured_on"] not in ("", row["dataset"])
    parts = (
        entries.ours(row),
        claim.intervals,
        entries.counterexample(row["counterexample"]),
        f"measured on {row['measured_on']}" if stands_in else "",
        row["repeated"],
    )
    return _joined(*parts)


def _result(claim: Entry) -> Fact:
    """The result, what it means or why there is none, and whether another margin would change it."""
    row, answer = claim.row, Answer.of(claim.row["answer"])
    if answer is Answer.NOT_TESTED:
        return Fact("Result", _joined(answer.result, row["why"]))
    meaning = OF_TEXTS.get((row["answered_by"], answer), "")
    if row["kind"] == "comparison" and entries.prints_number(row):
        meaning = OF_EFFECTS.get(answer, "")
    elif answer is Answer.FAILS and row["reported"] in APART:
        meaning = f"it is not {APART[row['reported']]} the baseline"
    half, double = row.get("verdict_half", ""), row.get("verdict_double", "")
    varies = half and double and (half, double) != (row["verdict"], row["verdict"])
    margins = f"with half the margin: {half}; with twice the margin: {double}" if varies else ""
    return Fact("Result", _joined(meaning, row["why"], margins), badge=answer.result)


def _certainty(claim: Entry) -> Iterator[Fact]:
    """Why the report is as sure as it is, and what other evidence says; of one scale, its verdict."""
    row = claim.row
    if "rung" not in row:
        yield Fact("In claims.csv", row["verdict"])
        return
    if claim.result != "not tested":
        yield Fact("Certainty", _joined(f"{row['certainty']}: {RUNGS[row['rung']]}", row["reasons"]))
    for step in claim.steps[1:]:
        where = f"{RUNGS[step.row['rung']]}, scale {step.row['scale']}"
        yield Fact("Other evidence", _joined(where, step.result, step.found, step.intervals))


def _differs(claim: Entry) -> str:
    """How our setting differs from the published one: the reading, open choices, fields of the run, and the device."""
    row = claim.row
    if claim.result == "not tested":
        return ""
    open_choices = row["answered_by"] == "encoder" and row.get("unstated", "0") != "0"
    parts = (
        "" if claim.reading == PRINTED else f"reading: {claim.reading}",
        f"{counted(row['unstated'], 'choice')} that the paper leaves open" if open_choices else "",
        row.get("differs", ""),
        f"device {row['device']}" if row["device"] else "",
        row["precision"],
    )
    return _joined(*parts)


def _settled_by(row: Row) -> Iterator[Fact]:
    """The command that settles the claim, and what it costs; the report alone knows it."""
    if row.get("settle"):
        yield Fact("To settle it", f"about {row['gpu_hours']:.1f} hours of a GPU", command=row["settle"])


def _joined(*parts: str) -> str:
    """The parts that there are."""
    return "; ".join(filter(None, parts))
