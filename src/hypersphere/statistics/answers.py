"""The answer to each study's question, by the rule that its plan fixed in words before its first confirmation run.

What fits both yes and no by the plan's words is unclear, and so is what fits neither.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hypersphere import files
from hypersphere.config import coordinates
from hypersphere.config.coordinates import Coordinates
from hypersphere.config.rules import Rules
from hypersphere.config.study import COUNTED, Answers, Bounds, Counted, Decided
from hypersphere.statistics.effects import Arms

Answer = Decided | Literal["unclear", ""]
"""Empty: the study is not finished."""


class Comparison(NamedTuple):
    """An arm against another, at one place (``at``) of its study."""

    arm: Coordinates
    against: Coordinates
    mean: float
    """The arm's own mean."""
    low: float
    """The interval after the study's correction; of an A/A comparison, its own."""
    high: float
    margin: float
    called: Sequence[Counted]


Family = Sequence[Comparison]
Rule = Callable[[Family, Family, Arms, Rules], tuple[bool, bool]]
"""Whether yes and whether no fits a study's comparisons: those of its family, and the A/A ones. It may read the values
of every cell, too."""


def rule_of(answers: Answers, file: Path, study: str) -> Rule:
    """The rule of a study: its numbers of arms, or the function of its name in ``file``, its document's answers.py."""
    if answers.numbers:
        return functools.partial(by_numbers, answers.numbers)
    defined: dict[str, Any] = {"__name__": f"{file.parent.name}.{file.stem}"}
    exec(compile(files.read_text(file), str(file), "exec"), defined)
    rule: Rule = defined[study]
    return rule


def by_numbers(
    numbers: Mapping[Decided, Mapping[Counted, Bounds]],
    family: Family,
    again: Family,
    values: Arms,
    rules: Rules,
) -> tuple[bool, bool]:
    """Whether yes and whether no fits by the bounds on how many comparisons of the family are counted as what."""
    counts = {key: sum(key in one.called for one in family) for key in COUNTED}
    fits = {
        answer: all(low <= counts[key] <= high for key, (low, high) in bounds.items())
        for answer, bounds in numbers.items()
    }
    return fits.get("yes", False), fits.get("no", False)


def called(row: Mapping[str, Any]) -> list[Counted]:
    """What a row of studies.csv is counted as. A direction is read after correction, of an A/A comparison without it.

    Nothing is read before the study is finished, or where neither arm is shown to be above its controls.
    """
    if not row["finished"] or row["floored"] == "both":
        return []
    low, high = adjusted(row)
    flags = low > 0, low > 0 and row["effect"] > row["margin"], bool(row["equivalent"]), high < 0
    return [name for name, flag in zip(COUNTED, flags, strict=True) if flag]


def adjusted(row: Mapping[str, Any]) -> tuple[float, float]:
    """The interval after the study's correction; of an A/A comparison, which is in no family, its own."""
    ends = ("low_holm", "high_holm") if row["in_family"] else ("low", "high")
    return float(row[ends[0]]), float(row[ends[1]])


def of_study(rule: Rule, rows: Sequence[Mapping[str, Any]], values: Arms, rules: Rules) -> Answer:
    """The answer by the rows of studies.csv of a finished study's primary comparison.

    ``values`` has those of every cell of the rows.
    """
    family, again = list[Comparison](), list[Comparison]()
    for row in rows:
        arm, against = (
            coordinates.parse(row[key], "studies.csv") for key in ("coordinates", "baseline")
        )
        one = Comparison(arm, against, row["mean"], *adjusted(row), row["margin"], called(row))
        (family if row["in_family"] else again).append(one)
    yes, no = rule(family, again, values, rules)
    return "unclear" if yes == no else "yes" if yes else "no"
