"""The answer to each study's question, by the rule that its plan fixed in words before its first confirmation run.

What fits both yes and no by the plan's words is unclear, and so is what fits neither.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from hypersphere.config import coordinates
from hypersphere.config.coordinates import Coordinates
from hypersphere.config.study import AGAIN, Answers, Counted

Answer = Literal["yes", "no", "unclear", ""]
"""Empty: not all runs are there, or an arm is level with raw pixels or its untrained encoder, so that none is read."""
COUNTED: tuple[Counted, ...] = get_args(Counted)


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

    @property
    def again(self) -> bool:
        """Whether it is an A/A comparison, which is in no family."""
        return self.arm.get("variant") == AGAIN


def called(row: Mapping[str, Any]) -> list[Counted]:
    """What a row of studies.csv is counted as. A direction is read after correction, of an A/A comparison without it.

    None is read before all runs are there, or from an arm that is level with a control.
    """
    if row["n_missing"] or row["level"]:
        return []
    low, high = adjusted(row)
    flags = low > 0, low > 0 and row["effect"] > row["margin"], bool(row["equivalent"]), high < 0
    return [name for name, flag in zip(COUNTED, flags, strict=True) if flag]


def adjusted(row: Mapping[str, Any]) -> tuple[float, float]:
    """The interval after the study's correction; of an A/A comparison, which is in no family, its own."""
    ends = ("low_holm", "high_holm") if row["in_family"] else ("low", "high")
    return float(row[ends[0]]), float(row[ends[1]])


def of_study(name: str, answers: Answers, rows: Sequence[Mapping[str, Any]], declared: int) -> Answer:
    """The answer by the rows of studies.csv of a study's primary comparison, of which ``declared`` are planned."""
    if len(rows) < declared or any(row["n_missing"] or row["level"] for row in rows):
        return ""
    compared = []
    for row in rows:
        arm, against = (coordinates.parse(row[key], name) for key in ("coordinates", "baseline"))
        compared.append(Comparison(arm, against, row["mean"], *adjusted(row), row["margin"], called(row)))
    family = [one for one in compared if not one.again]
    if answers.numbers:
        counts = {key: sum(key in one.called for one in family) for key in COUNTED}
        yes, no = (
            all(low <= counts[key] <= high for key, (low, high) in bounds.items())
            for bounds in (answers.numbers["yes"], answers.numbers["no"])
        )
    else:
        yes, no = RULES[name](family, [one for one in compared if one.again])
    return "unclear" if yes == no else "yes" if yes else "no"


def _sentences(family: Sequence[Comparison], again: Sequence[Comparison]) -> tuple[bool, bool]:
    """Of three tasks; ``against_none`` and ``against_uniform`` are those of + DP (summed)."""
    of_dp = [one for one in family if one.arm["variant"] == "dp_sum"]
    against_none = [one for one in of_dp if one.against["variant"] == "default"]
    against_uniform = {one.arm["target"]: one for one in of_dp if one.against["variant"] == "uniform"}
    helped = [against_uniform[one.arm["target"]].called for one in against_none if "ahead" in one.called]
    better, worse = any("ahead" in one for one in helped), any("behind" in one for one in helped)
    yes = len(helped) >= 2 and better and not worse
    return yes, all("level" in one or "behind" in one for one in helped)


def _confidence(family: Sequence[Comparison], again: Sequence[Comparison]) -> tuple[bool, bool]:
    """Of two methods on two sets, the trained encoder against itself before its training."""
    yes = all("beyond" in one.called and one.mean > one.margin for one in family)
    return yes, all("level" in one.called or "behind" in one.called for one in family)


def _losses(family: Sequence[Comparison], again: Sequence[Comparison]) -> tuple[bool, bool]:
    """Of fifteen losses against tuned NT-Xent."""
    alike = all(one.low <= 0 <= one.high for one in again)
    yes = alike and any("beyond" in one.called for one in family)
    return yes, all(one.high < one.margin for one in family)


RULES: dict[str, Callable[[Sequence[Comparison], Sequence[Comparison]], tuple[bool, bool]]] = {
    "sentences": _sentences,
    "confidence": _confidence,
    "losses": _losses,
}
"""Whether yes and whether no fits the comparisons of a study's family and its A/A ones, where its plan's ``numbers``
cannot say it. The words are the plan's ``answers``."""
