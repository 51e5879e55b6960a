"""An exact study: a simulation, curve or count that needs no trained encoder, at its published size at every scale.

simulations/<study>.py holds one function of that name, from a ``Context`` to a ``Study``: a table for each artifact
that names the study in config/papers/<paper>.yaml, and its answers to the claims of paper/claims/<paper>.csv. A study
over seeds has ``SEEDS`` and ``simulate(seeds)``, whose results have the seed as first axis and do not depend on which
seeds are computed together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from hypersphere.declared.claims import PRINTED
from hypersphere.declared.config import Config

COLUMNS = ["study", "id", "reading", "arm", "place", "value"]
"""Of answers.csv, in which every number of an ``Answer`` is a row."""


@dataclass(frozen=True)
class Context:
    """What a study may look at."""

    config: Config
    paper: str


class Answer(NamedTuple):
    """What a study says of one claim in one reading, for statistics/studies.py to judge."""

    id: str
    reading: str
    arms: Mapping[str, Sequence[float]]
    """The numbers by what they are: see the functions below."""


class Study(NamedTuple):
    """What a study hands over."""

    tables: Mapping[str, pd.DataFrame]
    """By artifact: all that its drawing, or its table, is made from."""
    answers: Sequence[Answer] = ()


def exactly(claim: str, value: float, reading: str = PRINTED) -> Answer:
    """A number that no chance is in: a value claim is exact where it rounds to the printed one."""
    return Answer(claim, reading, {"value": [value]})


def over_seeds(claim: str, values: Sequence[float], reading: str = PRINTED) -> Answer:
    """A number that varies with the seed, one of each; infinite where a seed never gets there (it diverges)."""
    return Answer(claim, reading, {"seeds": list(values)})


def calibrated(claim: str, values: Sequence[float], reading: str = PRINTED) -> Answer:
    """A number by which the study chose its inputs, one a seed: measured, but a test of nothing."""
    return Answer(claim, reading, {"calibrated": list(values)})


def between(claim: str, low: float, high: float, reading: str = PRINTED) -> Answer:
    """A number of which only the range is known: a value claim outside of it is refuted, one inside inconclusive."""
    return Answer(claim, reading, {"low": [low], "high": [high]})


def effect(claim: str, variant: Sequence[float], baseline: Sequence[float], reading: str = PRINTED) -> Answer:
    """Two arms over seeds. A comparison that prints no difference claims that the variant's mean is the larger."""
    return Answer(claim, reading, {"variant": list(variant), "baseline": list(baseline)})


def counted(claim: str, held: int, places: int, reading: str = PRINTED) -> Answer:
    """A sentence held against every place of an exact computation: no counterexample, or refuted by one place."""
    return Answer(claim, reading, {"held": [float(held)], "places": [float(places)]})
