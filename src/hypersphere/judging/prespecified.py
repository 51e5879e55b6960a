"""A plan of runs, written before them, and where the runs deviate from it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, model_validator

from hypersphere import files
from hypersphere.config.validation import (
    AsList,
    NonNegativeInt,
    PositiveInt,
    Strict,
    Text,
    validate,
)
from hypersphere.judging.judged import NO_DIFFERENCE, Better, Judged, Question
from hypersphere.judging.runs import Runs
from hypersphere.statistics.effects import PAIRED, Moments, moments

DIGITS = 8
"""Hex digits of a plan's digest."""


class Plan(Strict):
    """What is fixed before the runs."""

    baseline: Text
    arms: Annotated[tuple[Text, ...], AsList, Field(min_length=1)]
    """The arms that are compared with the baseline."""
    runs: Annotated[int, Field(ge=2)]
    """Runs of each arm on each dataset; those without a value count."""
    seeds: Annotated[tuple[NonNegativeInt, ...] | None, AsList] = None
    """The seeds of each arm; None: any."""
    datasets: Annotated[tuple[Text, ...], AsList] = ()
    """The datasets; empty: the table has no column of them."""
    margin: PositiveFloat | None = None
    test: Literal["welch", "paired"] = "welch"
    better: Better = "higher"
    controls: Annotated[tuple[Text, ...], AsList] = ()
    test_size: PositiveInt | None = None
    metric: Text | None = None
    """Which of several metrics is judged."""
    expects: dict[str, Literal["better", "worse", "no difference"]] = Field(default_factory=dict)
    """What the runs are to show of an arm, on every dataset."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.seeds is not None and len(set(self.seeds)) != self.runs:
            raise ValueError(f"seeds: must be {self.runs} different numbers, as runs says")
        for arm, expected in self.expects.items():
            if arm not in self.arms:
                raise ValueError(f"expects: {arm} is not one of arms")
            if expected == NO_DIFFERENCE and self.margin is None:
                raise ValueError("expects: no difference needs a margin")
        return self

    @property
    def question(self) -> Question:
        """How the runs are to be judged."""
        return Question(
            self.baseline,
            self.controls,
            self.margin,
            self.better,
            self.test == PAIRED,
            self.test_size,
            len(self.arms) * max(len(self.datasets), 1),
        )

    @property
    def digest(self) -> str:
        """The plan's name, which changes with whatever it fixes."""
        return files.digest(self.model_dump(mode="json"), DIGITS)


def load(file: Path) -> Plan:
    """Read a plan."""
    return validate(Plan, files.read_yaml(file), file)


def deviations(plan: Plan, runs: Runs) -> list[str]:
    """Where the runs differ from the plan, in sentences; empty: they are as planned."""
    found = list(_of_table(plan, runs))
    for dataset, arms in runs.arms.items():
        planned = [plan.baseline, *plan.arms]
        where = f" on {dataset}" if dataset else ""
        found += [
            f"{arm} was planned{where} and has no runs." for arm in planned if arm not in arms
        ]
        for arm, sample in arms.items():
            if arm in plan.controls:
                continue
            if arm not in planned:
                found.append(f"{arm} has runs{where} and was not planned.")
                continue
            n = moments(sample).n + runs.lost[dataset, arm]
            if n != plan.runs:
                found.append(f"{arm} has {n} runs{where}, and {plan.runs} were planned.")
            elif plan.seeds is not None and not isinstance(sample, Moments):
                found += _of_seeds(plan, runs, arm, {seed for seed, _ in sample.items()}, where)
    return found


def _of_table(plan: Plan, runs: Runs) -> Iterator[str]:
    """Deviations of the table as a whole."""
    datasets = set(plan.datasets) or {""}
    for dataset in sorted(datasets ^ runs.arms.keys()):
        planned = dataset in datasets
        yield (
            f"{dataset} was planned and has no runs." if planned else f"{dataset} was not planned."
        )


def _of_seeds(plan: Plan, runs: Runs, arm: str, seeds: set[object], where: str) -> Iterator[str]:
    """Whether an arm has other seeds; those of lost runs are not known."""
    assert plan.seeds is not None
    if not runs.has_seeds:
        yield f"{arm} has no seeds{where}, and seeds were planned."
    elif others := seeds - set(plan.seeds):
        listed = ", ".join(sorted(map(str, others)))
        yield f"{arm} has seeds{where} that were not planned: {listed}."


def not_shown(plan: Plan, judged: Judged) -> list[str]:
    """What the plan expects and the runs do not show, in sentences."""
    found = []
    for one in judged.effects:
        expected = plan.expects.get(one.arm)
        if expected is not None and one.answer != expected:
            where = f" on {one.dataset}" if one.dataset else ""
            found.append(f"{one.arm} was expected to be {_said(expected)}{where}: {one.answer}.")
    return found


def _said(expected: str) -> str:
    return "equal to the baseline" if expected == NO_DIFFERENCE else f"{expected} than the baseline"
