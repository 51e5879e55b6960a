"""The card of a claim: what a reader is told when its line unfolds, from the claim to the command that settles it."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import PRINTED
from hypersphere.config.measures import MEASURES
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
    row = claim.row
    in_words = row["sentence"] if row["answered_by"] == "encoder" else ""
    facts = [
        Fact("Source", source(row)),
        Fact("In words", in_words),
        Fact("Published", _published(row)),
        Fact("Ours", _ours(claim)),
        _result(claim),
        *_certainty(claim),
        Fact("What differs", _differs(claim)),
        _settled_by(row),
    ]
    told = sentence(config.papers[row["paper"]], claim)
    return Card(told, [fact for fact in facts if fact.text or fact.badge])


def sentence(paper: Paper, claim: Entry) -> str:
    """``On CIFAR-10, SimCLR, cut by 3, is 4.6 points above default in kNN accuracy.``"""
    row = claim.row
    if row["answered_by"] != "encoder" and row["sentence"]:
        return f"{row['sentence'].rstrip('.')}."
    where = entries.point(paper, row)
    arm = entries.arm(paper, row)
    published = entries.published(row)
    if row["kind"] == "comparison":
        said = f"{arm}, is {_apart(row)} {entries.baseline(paper, row)} in {_noun(row)}"
    elif published == DIVERGES:
        said = f"{arm} diverges"
    else:
        said = f"for {arm}, the paper publishes {_with_unit(published, row)} ({_noun(row)})"
    if where:
        preposition = "On" if row["dataset"] else "At"
        return f"{preposition} {where}, {said}."
    return f"{said[0].upper()}{said[1:]}."


def _apart(row: Row) -> str:
    """``4.6 points above``; ``compared with`` where nobody says what is larger."""
    if not entries.prints_number(row):
        return APART.get(row["reported"], "compared with")
    difference = float(row["reported"])
    size = words.number(abs(difference), entries.decimals_of(row))
    side = "below" if difference < 0 else "above"
    return f"{_with_unit(size, row)} {side}"


def _noun(row: Row) -> str:
    """``linear probe accuracy``, ``embedding norm``."""
    measure = MEASURES.get(row["metric"])
    if measure is None:
        return "outcome"
    is_accuracy = measure.guesses is not None and "accuracy" not in measure.label
    return f"{measure.label} accuracy" if is_accuracy else measure.label


def _with_unit(number: str, row: Row) -> str:
    """``4.6 points`` of a difference, ``89.4 %`` of a value."""
    measure = MEASURES.get(row["metric"])
    unit = measure.unit if measure else ""
    if unit == "%" and row["kind"] == "comparison":
        unit = "points"
    return f"{number} {unit}".rstrip()


def source(row: Row) -> str:
    """``Table 2; Sec. 5.6``, and whose claim it is where no paper publishes it as it stands."""
    whose = "" if row["origin"] == "printed" else ORIGINS[row["origin"]]
    return _joined(row["source"], whose)


def _published(row: Row) -> str:
    """The published number with its interval by the published standard deviations."""
    number = entries.published(row)
    if number == NOTHING:
        return ""
    if number in DIRECTIONS:
        return number if row["answered_by"] == "encoder" else ""
    shown = _with_unit(number, row)
    low, high = row.get("reported_low", math.nan), row.get("reported_high", math.nan)
    interval = words.interval(low, high, entries.decimals_of(row), MEASURES.get(row["metric"]))
    return (
        shown
        if interval == NOTHING
        else f"{shown}, {interval} by the published standard deviations"
    )


def _ours(claim: Entry) -> str:
    """What we found, its interval, and what it was measured on."""
    row = claim.row
    if not claim.found:
        return ""
    failed = entries.counterexample(row["counterexample"])
    return _joined(
        entries.ours(row), claim.intervals, failed, entries.measured_on(row), row["repeated"]
    )


def _result(claim: Entry) -> Fact:
    """The result, what it means or why there is none, and whether another margin would change it."""
    row, margins = claim.row, ""
    if claim.result == "not tested":
        return Fact("Result", _joined(claim.result, row["why"]))
    half, double = row.get("verdict_half"), row.get("verdict_double")
    if half and double and {half, double} != {row["verdict"]}:
        margins = f"with half the margin: {half}; with twice the margin: {double}"
    return Fact("Result", _joined(_meaning(row), row["why"], margins), badge=claim.result)


def _meaning(row: Row) -> str:
    """What a result means; empty where its word says it all."""
    answer = Answer.of(row["answer"])
    if row["kind"] == "comparison" and entries.prints_number(row):
        return OF_EFFECTS.get(answer, "")
    if answer is Answer.FAILS and row["reported"] in APART:
        return f"it is not {APART[row['reported']]} the baseline"
    return OF_TEXTS.get((row["answered_by"], answer), "")


def _certainty(claim: Entry) -> Iterator[Fact]:
    """Why the report is as sure as it is, and what other evidence says; of one scale, its verdict."""
    row = claim.row
    if "rung" not in row:
        yield Fact("In claims.csv", row["verdict"])
    elif claim.result != "not tested":
        evidence = RUNGS[row["rung"]]
        yield Fact("Certainty", _joined(f"{row['certainty']}: {evidence}", row["reasons"]))
    for step in claim.steps[1:]:
        evidence, scale = RUNGS[step.row["rung"]], step.row["scale"]
        yield Fact(
            "Other evidence", _joined(evidence, scale, step.result, step.found, step.intervals)
        )


def _differs(claim: Entry) -> str:
    """How our setting differs from the published one: the reading, open choices, fields of the run, and the device."""
    row, said = claim.row, list[str]()
    if claim.result == "not tested":
        return ""
    if claim.reading != PRINTED:
        said.append(f"reading: {claim.reading}")
    if row["answered_by"] == "encoder" and row.get("unstated", "0") != "0":
        said.append(f"{counted(row['unstated'], 'choice')} that the paper leaves open")
    said.append(row.get("differs", ""))
    if row["device"]:
        said.append(f"device {row['device']}")
    return _joined(*said, row["precision"])


def _settled_by(row: Row) -> Fact:
    """The command that settles the claim, and what it costs; the report alone knows it."""
    command, hours = row.get("settle", ""), row.get("gpu_hours")
    return Fact(
        "To settle it", f"about {hours:.1f} hours of a GPU" if command else "", command=command
    )


def _joined(*parts: str) -> str:
    """The parts that there are."""
    return "; ".join(filter(None, parts))
