"""A recorded run that was trained again: whether its bytes and its numbers are those of the record.

On another processor training rounds otherwise, and after some steps its numbers are other ones. Records of the run's
seeds say how far they may lie from the recorded ones: roundings set two trainings of one seed apart, and at most
as far as two seeds are.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from hypersphere.config.measures import MEASURES
from hypersphere.config.records import Record, Records
from hypersphere.t_test import spread, t_interval

CONFIDENCE = 0.95
"""That all numbers of a run lie within their bounds, if it was trained as the record says."""
MACHINE = ("python", "packages", "machine", "processor_flags", "instructions")
"""What of an environment decides bytes."""
OF_HISTORY = ("loss", "norm", "return")
"""What training writes of each epoch, and is compared after the last."""
Place = tuple[str, ...]
"""Which number of a run it is: protocol, epoch, target, measure and reading."""


class Verdict(StrEnum):
    """What training a recorded run again has shown."""

    SAME_BYTES = "same bytes"
    SAME_WITHIN_NOISE = "same within the noise of processors"
    DIFFERENT = "different"
    UNBOUNDED = "cannot tell"
    """The bytes differ, and no other seed of the run is recorded, so that nothing bounds the noise."""


class Number(NamedTuple):
    """One number of a run, as it was recorded and now, in the measure's unit; None: it has no value."""

    words: str
    recorded: float | None
    again: float | None
    least: float
    """Half of the last decimal that pages show: a smaller difference is none."""
    noise: float
    """How far the noise of processors sets two trainings apart at most; nan: no records bound it."""

    @property
    def difference(self) -> float:
        """The absolute difference; infinite where only one of the two has a value."""
        if self.recorded is None or self.again is None:
            return 0.0 if self.recorded is self.again else math.inf
        return abs(self.again - self.recorded)

    @property
    def bound(self) -> float:
        """The largest difference that says nothing; nan: not known."""
        return self.noise if math.isnan(self.noise) else max(self.noise, self.least)

    @property
    def within(self) -> bool | None:
        """Whether the difference says nothing; None: not known."""
        if self.difference <= self.least:
            return True
        return None if math.isnan(self.bound) else self.difference <= self.bound


class Comparison(NamedTuple):
    """A record and the record of the same run trained again."""

    verdict: Verdict
    files: list[str]
    """The files of which the bytes differ."""
    statuses: tuple[str, str]
    """How training ended, in the record and now: finished or diverged."""
    numbers: list[Number]
    lost: int
    """Numbers of the record that were not measured again."""
    other: list[str]
    """What the two were made with that was not the same, and decides bytes."""


def compare(record: Record, again: Record, siblings: Sequence[Record]) -> Comparison:
    """Compare two records of one run; ``siblings`` are records of its seeds, one each."""
    differing = sorted(
        name for name, sha256 in record.files.items() if again.files.get(name) != sha256
    )
    other = made_with_other(record, again)
    numbers = numbers_of(record, again, siblings if differing else None)
    lost = len(values(record).keys() - values(again).keys())
    statuses = record.status, again.status
    verdict = _verdict(differing, statuses, numbers, other)
    return Comparison(verdict, differing, statuses, numbers, lost, other)


def _verdict(
    differing: list[str], statuses: tuple[str, str], numbers: list[Number], other: list[str]
) -> Verdict:
    answers = {number.within for number in numbers}
    before, now = statuses
    if False in answers or before != now:
        return Verdict.DIFFERENT
    if not differing:
        return Verdict.SAME_BYTES
    if not other:  # then equal bytes are promised
        return Verdict.DIFFERENT
    return Verdict.UNBOUNDED if answers == {None} else Verdict.SAME_WITHIN_NOISE


def seeds_of(record: Record, known: Records) -> list[Record]:
    """The finished records of the run with any seed, in the record's precision; of several of one seed the first."""
    precision = record.numerics.get("precision")
    found = []
    for several in known.values():
        alike = [
            one
            for one in several
            if one.numerics.get("precision") == precision and one.status == "finished"
        ]
        if alike and alike[0].run.of_seed(record.run.seed).name == record.name:
            found.append(alike[0])
    return found


def processors_of(records: Iterable[Record]) -> int:
    """The number of kinds of processor that made records."""
    return len({tuple(record.environment.get("processor_flags", ())) for record in records})


def made_with_other(record: Record, again: Record) -> list[str]:
    """What decides bytes and is not the same in two records.

    Of numerics and the machine, what only one of the two says is left out: records have not always said the same.
    """
    parts = ["code", "data", "device"]
    other = [name for name in parts if getattr(record, name) != getattr(again, name)]
    if _differing(record.numerics, again.numerics):
        other.append("numerics")
    of_machine = _differing(record.environment, again.environment)
    return other + [name for name in MACHINE if name in of_machine]


def _differing(then: Mapping[str, Any], now: Mapping[str, Any]) -> set[str]:
    """The names of which both say something, and not the same."""
    return {name for name in then.keys() & now.keys() if then[name] != now[name]}


def values(record: Record) -> dict[Place, float | None]:
    """The numbers that training decides: the last row of the history, and the answers of probes after it began."""
    last = record.history[-1]
    found: dict[Place, float | None] = {}
    for name in OF_HISTORY:
        if name in last:
            found["", str(record.epochs), "", name, ""] = last[name]
    for answer in record.evaluations:
        if answer.epoch > 0:
            protocol, epoch, *rest = answer.place
            found[protocol, str(epoch), *rest] = answer.value
    return found


def numbers_of(record: Record, again: Record, siblings: Sequence[Record] | None) -> list[Number]:
    """The numbers that two records of a run share, the most remarkable first.

    None in place of ``siblings``: the weights are the same, and so must be the numbers.
    """
    ours = values(again)
    theirs = values(record)
    shared = [place for place in theirs if place in ours]
    of_seeds = [values(one) for one in siblings or ()]
    numbers = []
    for place in shared:
        noise = 0.0
        if siblings is not None:
            of_place = [one.get(place) for one in of_seeds]
            noise = bound([value for value in of_place if value is not None], len(shared))
        least = 0.0
        if place[3] in MEASURES:
            least = 10.0 ** -MEASURES[place[3]].decimals / 2
        numbers.append(Number(_words(place), theirs[place], ours[place], least, noise))
    return sorted(numbers, key=_remarkable, reverse=True)


def bound(seeds: Sequence[float], together: int) -> float:
    """How far apart two trainings of one setting lie at most, in the values' unit; nan with fewer than two seeds.

    ``seeds`` are the values of n seeds, of standard deviation s. The difference of two lies within
    ``sqrt(2) s t(n - 1)``, here with a confidence of 95 % for ``together`` numbers at once (Bonferroni).
    """
    of_seeds = np.array(seeds, dtype=float)
    deviation = spread(of_seeds)
    if not deviation > 0:
        return deviation
    error = math.sqrt(2) * deviation
    return t_interval(0.0, error, len(of_seeds) - 1, 1 - (1 - CONFIDENCE) / together)[1]


def _words(place: Place) -> str:
    _, epoch, target, measure, reading = place
    on = f" on {target}" if target else ""
    what = f"{measure} {reading}".strip()
    return f"{what} of epoch {epoch}{on}"


def _remarkable(number: Number) -> Any:
    """Numbers outside their bounds come first, and then by how much of the bound the difference is."""
    largest = math.inf if math.isnan(number.bound) else number.bound or math.inf
    return number.within is False, number.within is None, number.difference / largest
