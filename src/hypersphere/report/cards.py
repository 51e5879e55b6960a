"""The card of a claim: what a reader is told when its line unfolds, from the claim to the command that settles it.

templates/card.html has its facts in the order in which a reader asks for them; here are those that take thought.
"""

import math

from hypersphere.config.artifacts import Paper
from hypersphere.config.certainty import RUNGS
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.rules import Answer
from hypersphere.provenance.tables import Row
from hypersphere.report import entries, rendering, words
from hypersphere.report.entries import DIRECTIONS, NOTHING, Entry
from hypersphere.report.rendering import Sentences

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


def of_claim(config: Config, claim: Entry) -> str:
    """The card as HTML: a fact without anything to tell is left out."""
    row = claim.row
    return rendering.fill(
        "card.html",
        claim=claim,
        rungs=RUNGS,
        sentence=sentence(config.papers[row["paper"]], claim),
        whose=entries.origin(row),
        published=published_number(row),
        ours=entries.ours(row),
        counterexample=entries.counterexample(row["counterexample"]),
        measured_on=entries.measured_on(row),
        meaning=_meaning(row),
        margins=_margins(row),
    )


SENTENCES = Sentences("""
{% macro claim(row, place, arm, baseline, apart, noun, published) %}
{{ ("On " if row.dataset else "At ") ~ place ~ ", " if place }}
{%- if row.kind == "comparison" %}
{{ arm }}, is {{ apart }} {{ baseline }} in {{ noun }}.
{% elif published == "diverges" %}
{{ arm }} diverges.
{% else %}
for {{ arm }}, the paper publishes {{ published }} ({{ noun }}).
{% endif %}
{% endmacro %}
""")


def sentence(paper: Paper, claim: Entry) -> str:
    """``On CIFAR-10, SimCLR, cut by 3, is 4.6 points above default in kNN accuracy.``"""
    row = claim.row
    if row["answered_by"] != "encoder" and row["sentence"]:
        return f"{row['sentence'].rstrip('.')}."
    place, arm = entries.point(paper, row), entries.arm(paper, row)
    number = entries.published_words(row)
    number = number if number == DIVERGES else _with_unit(number, row)
    baseline = entries.baseline(paper, row)
    text = SENTENCES("claim", row, place, arm, baseline, _apart(row), _noun(row), number)
    return text[0].upper() + text[1:]


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
    return f"{number} {entries.unit_of(row)}".rstrip()


def published_number(row: Row) -> str:
    """The published number with its interval by the published standard deviations; empty where there is no number."""
    number = entries.published_words(row)
    if number in DIRECTIONS and row["answered_by"] == "encoder":
        return number
    if number in (NOTHING, *DIRECTIONS):
        return ""
    shown = _with_unit(number, row)
    interval = entries.interval(row, "reported_{}")
    return f"{shown}, {interval} by the published standard deviations" if interval else shown


def _margins(row: Row) -> str:
    """Whether another margin would change the result; of one scale."""
    half, double = row.get("verdict_half"), row.get("verdict_double")
    if half and double and {half, double} != {row["verdict"]}:
        return f"with half the margin: {half}; with twice the margin: {double}"
    return ""


def _meaning(row: Row) -> str:
    """What a result means; empty where its word says it all."""
    answer = Answer.of(row["answer"])
    if row["kind"] == "comparison" and entries.prints_number(row):
        return OF_EFFECTS.get(answer, "")
    if answer is Answer.FAILS and row["reported"] in APART:
        return f"it is not {APART[row['reported']]} the baseline"
    return OF_TEXTS.get((row["answered_by"], answer), "")
