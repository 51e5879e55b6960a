"""Sentences that a document says of its own printed numbers, checked on these numbers.

paper/sentences/<paper>.yaml has the cells, relation and threshold of each sentence; paper/claims/<paper>.csv has the
numbers. Nothing is measured: a sentence that its own tables contradict is refuted, however well they are reproduced.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from hypersphere.config import coordinates
from hypersphere.config.claims import Cells, Check, Claim, load, load_sentences
from hypersphere.config.coordinates import Scalar
from hypersphere.errors import HypersphereError
from hypersphere.simulations.study import Answer, Context, Study, counted

ARTIFACT, READING = "artifact", "reading"
"""Keys of a printed number beside its coordinates."""
ROUNDING = 1e-9
"""Printed decimals are exact, their binary differences are not."""
TAKE: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: sum(values) / len(values),
    "range": lambda values: max(values) - min(values),
    "largest": max,
}
COLUMNS = ["claim", "held", "places", "asked", "fails"]


class Printed(NamedTuple):
    """A printed number, with its coordinates and the artifact and reading that it has."""

    at: Mapping[str, Scalar]
    value: float


class Place(NamedTuple):
    """A number that a sentence speaks of: a printed one, a difference, or what is taken of several."""

    name: str
    value: float


def printed(claims: Iterable[Claim]) -> list[Printed]:
    """The printed numbers of a document."""
    return [
        Printed({ARTIFACT: claim.artifact, READING: claim.reading, **claim.coordinates}, claim.reported)
        for claim in claims
        if claim.kind == "value" and claim.reported is not None
    ]


def places(check: Check, numbers: Sequence[Printed]) -> list[Place]:
    """The numbers that a check compares with its threshold."""
    cells = _differences(check, check.cells, numbers)
    if check.take == "each":
        return [Place(coordinates.text(_without_reading(cell.at)), cell.value) for cell in cells]
    taken = _taken(check, cells)
    if check.less is not None:
        others = _taken(check, _differences(check, {**check.cells, **check.less}, numbers))
        if taken.keys() != others.keys():
            raise ValueError("less: has other groups than cells")
        taken = {group: value - others[group] for group, value in taken.items()}
    return [Place(f"{check.take} {group}".strip(), value) for group, value in taken.items()]


def _differences(check: Check, cells: Cells, numbers: Sequence[Printed]) -> list[Printed]:
    """The cells, each less what it is compared with."""
    chosen = _select(cells, numbers)
    if check.minus is None:
        return chosen
    lower_bound = check.relation in ("above", "at least")
    chosen_of = max if lower_bound == (check.against == "all") else min  # the hardest to beat, or the easiest
    compared = []
    for cell in chosen:
        wanted: Cells = {**_without_reading(cell.at), **check.minus}
        alike = [one for one in _select(wanted, numbers) if one.at.keys() - {READING} == wanted.keys()]
        others = [one for one in alike if one is not cell]
        if not others:
            raise ValueError(f"minus: {check.minus} is the cell itself")
        compared.append(cell._replace(value=cell.value - chosen_of(one.value for one in others)))
    return compared


def _select(cells: Cells, numbers: Sequence[Printed]) -> list[Printed]:
    wanted = {key: coordinates.alternatives(value) for key, value in cells.items()}
    found = [one for one in numbers if all(one.at.get(key, "") in values for key, values in wanted.items())]
    if not found:
        raise ValueError(f"cells: no number is printed at {cells}")
    return found


def _taken(check: Check, cells: Sequence[Printed]) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for cell in cells:
        group = coordinates.text({key: cell.at[key] for key in check.by if key in cell.at})
        groups.setdefault(group, []).append(cell.value)
    return {group: float(TAKE[check.take](values)) for group, values in groups.items()}


def _without_reading(at: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {key: value for key, value in at.items() if key != READING}


def holds(check: Check, value: float) -> bool:
    """Whether a number has the relation to the threshold."""
    low, high = check.than[0], check.than[-1]
    return {
        "above": value > low + ROUNDING,
        "at least": value >= low - ROUNDING,
        "below": value < low - ROUNDING,
        "at most": value <= low + ROUNDING,
        "within": abs(value) <= low + ROUNDING,
        "between": low - ROUNDING <= value <= high + ROUNDING,
    }[check.relation]


def sentences(context: Context) -> Study:
    """Every sentence of a document about its own numbers: where it holds, and a place where it fails."""
    file = context.config.sentences_file(context.paper)
    claims = load(context.config.claims_file(context.paper))
    numbers, readings = printed(claims), {claim.id: claim.reading for claim in claims}
    rows: list[dict[str, str | int]] = []
    answers: list[Answer] = []
    for claim, sentence in load_sentences(file).items():
        if claim not in readings:
            raise HypersphereError(f"{file}: {claim}: is no claim of paper/claims/{context.paper}.csv")
        held, failing, total = 0, "", 0
        for at, check in enumerate(sentence.checks):
            try:
                found = places(check, numbers)
            except ValueError as error:
                raise HypersphereError(f"{file}: {claim}.checks.{at}.{error}") from None
            bad = [place for place in found if not holds(check, place.value)]
            held, total = held + len(found) - len(bad), total + len(found)
            failing = failing or (f"{bad[0].name}: {round(bad[0].value, 6):g}" if bad else "")
        needed = sentence.needed(total)
        answers.append(counted(claim, held, total, readings[claim], needed))
        rows.append({"claim": claim, "held": held, "places": total, "asked": sentence.holds, "fails": failing})
    return Study({"sentences": pd.DataFrame(rows, columns=COLUMNS)}, answers)
