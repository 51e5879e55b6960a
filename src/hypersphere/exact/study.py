"""An exact study: a simulation, curve or count that needs no trained encoder. Every scale runs it at published size.

``studies/<study>/compute.py`` of a paper holds a function <study>, which takes a ``Context`` and returns an
``ExactStudy``: a table for each artifact that names the study in its paper.yaml, and answers to claims of its
claims.csv. A study over seeds also has ``SEEDS`` and ``simulate(seeds)``. The first axis of its results is the seed,
and the numbers of a seed do not depend on which other seeds are computed with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from hypersphere.config.claims import PRINTED
from hypersphere.config.project import Config
from hypersphere.provenance import tables

COLUMNS: tables.Columns = {
    **tables.texts("study", "id", "reading", "arm", "place"),
    **tables.numbers("value"),
}
"""Columns of answers.csv, which has one row for each number of an ``ExactNumber``."""


class Context(NamedTuple):
    config: Config
    paper: str


Numbers = Sequence[float] | Float[np.ndarray, "seeds"]


class ExactNumber(NamedTuple):
    """What a study computes for one claim in one reading. statistics/exact_claims.py judges it."""

    id: str
    reading: str
    arms: Mapping[str, Sequence[float]]
    """Numbers by the name of their arm. Each function below makes one kind, with arms of its own."""


class ExactStudy(NamedTuple):
    """The result of an exact study."""

    tables: Mapping[str, pd.DataFrame]
    """The numbers that an artifact shows, by artifact."""
    answers: Sequence[ExactNumber] = ()


def exactly(claim: str, value: float, reading: str = PRINTED) -> ExactNumber:
    """A number without randomness. A value claim is exact if this number rounds to the printed one."""
    return ExactNumber(claim, reading, {"value": [value]})


def over_seeds(claim: str, values: Numbers, reading: str = PRINTED) -> ExactNumber:
    """A number for each seed; infinite for a seed that never converges."""
    return ExactNumber(claim, reading, {"seeds": list(map(float, values))})


def calibrated(claim: str, values: Numbers, reading: str = PRINTED) -> ExactNumber:
    """A number for each seed that the study's inputs were chosen to match: it is measured, but tests nothing."""
    return ExactNumber(claim, reading, {"calibrated": list(map(float, values))})


def between(claim: str, low: float, high: float, reading: str = PRINTED) -> ExactNumber:
    """The range of a number. A printed value outside is refuted. One inside is exact if all of the range rounds to it,
    else inconclusive.
    """
    return ExactNumber(claim, reading, {"low": [low], "high": [high]})


def effect(claim: str, variant: Numbers, baseline: Numbers, reading: str = PRINTED) -> ExactNumber:
    """Two arms over seeds. A comparison that prints no difference claims that the variant has the larger mean."""
    arms = {
        "variant": list(map(float, variant)),
        "baseline": list(map(float, baseline)),
    }
    return ExactNumber(claim, reading, arms)


def counted(
    claim: str,
    held: int,
    places: int,
    reading: str = PRINTED,
    needed: int | None = None,
) -> ExactNumber:
    """A sentence checked at every place of an exact computation.

    One place where it fails refutes it, unless it speaks of fewer: ``needed`` is how many must hold.
    """
    arms = {"held": [float(held)], "places": [float(places)]}
    if needed is not None:
        arms["needed"] = [float(needed)]
    return ExactNumber(claim, reading, arms)


def everywhere(claim: str, holds: Any, reading: str = PRINTED) -> ExactNumber:
    """``counted``, of an array, tensor or column that says for each place whether the sentence holds there."""
    places = np.asarray(holds)
    return counted(claim, int(places.sum()), places.size, reading)


def ending(reading: str) -> str:
    """The end of a claim's id in this reading: ``.n6``, or nothing as printed."""
    return "" if reading == PRINTED else f".{reading.lower()}"


def only(table: pd.DataFrame, /, **values: object) -> pd.DataFrame:
    """The rows that have these values in their columns."""
    for column, value in values.items():
        table = table[table[column] == value]
    return table


def stack(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all tables, one table below the other, numbered anew."""
    return pd.concat(list(tables), ignore_index=True)
