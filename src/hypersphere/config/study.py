"""Studies: our own questions, each with its arms, grids, seeds and analysis fixed before it is run.

A study is declared in a document of ours, like a paper's artifacts, and is turned into artifacts of runs:

- ``<study>_tuning``: every arm at every value of the tuned fields, on the tuning seeds: what is chosen from;
- ``<study>``: every arm at its own best values, on the confirmation seeds: the primary comparison;
- ``<study>_printed``: the same arms at the values that their document prints;
- ``<study>_curves``: further measures of the tuning runs, along the grid;
- ``<study>_checks``: further measures of the confirmed arms: what the intervention is for, and other probes; and
  ``further`` arms, which are outside the family of the primary comparison.

``hypersphere select`` writes the best values of each arm into ``papers/<id>/selected/<study>.csv``.
"""

import csv
import io
import math
from functools import cached_property
from itertools import chain, product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

from pydantic import AfterValidator, Field, PositiveFloat, model_validator

from hypersphere import files
from hypersphere.config import coordinates
from hypersphere.config.coordinates import (
    Contrast,
    Coordinates,
    Scalar,
    covers,
    text,
    without_readings,
)
from hypersphere.config.measures import MEASURES, MeasureName
from hypersphere.config.validation import (
    AsList,
    NonNegativeInt,
    Strict,
    Text,
    each_once,
    read_table,
)
from hypersphere.errors import HypersphereError

TIMES = ".times"
"""The end of a path into a run whose value multiplies the declared one: ``optimiser.learning_rate.times``."""
BEST = "best"
"""Stands for the value of a tuned field that was selected for an arm."""
TUNING, CURVES, PRINTED, CHECKS = "_tuning", "_curves", "_printed", "_checks"
"""What a study's name is followed by in the ids of its artifacts."""
AGAIN = "again"
"""The variant of an A/A arm: the baseline once more, with seeds of its own."""


Product = dict[str, Scalar | list[Scalar]]
Point = dict[str, Scalar]
Declared = dict[str, Any]
"""An artifact, or a part of one, as a document's YAML declares it."""
SeedList = Annotated[list[NonNegativeInt], Field(min_length=1), AfterValidator(each_once)]


class StudySeeds(Strict):
    """The seeds of a study; no two lists share one."""

    tuning: SeedList = Field(default_factory=list)
    """The seeds of the tuning runs; empty where nothing is tuned."""
    confirmation: SeedList
    again: SeedList = Field(default_factory=list)
    """The seeds of the A/A arms, if there are any."""

    @model_validator(mode="after")
    def _apart(self) -> Self:
        every = [*self.tuning, *self.confirmation, *self.again]
        if len(set(every)) != len(every):
            raise ValueError("tuning, confirmation and again must have no seed in common")
        return self


class Arm(NamedTuple):
    """An arm of a study: its coordinates, as text too, and the grid of each field that is tuned for it."""

    text: str
    point: Point
    grids: dict[str, list[Scalar]]
    again: bool
    """Whether it is an A/A arm, which has its baseline's values."""


Counted = Literal["ahead", "beyond", "level", "behind"]
"""What the arms of a study are counted as: the corrected interval lies above zero (``beyond``: and the estimate is
above the margin), the arm is equivalent, or the corrected interval lies below zero. An arm can be ahead and level."""
COUNTED: tuple[Counted, ...] = get_args(Counted)
Bounds = Annotated[tuple[NonNegativeInt, NonNegativeInt], AsList]
"""The least and the greatest number."""
Decided = Literal["yes", "no"]
Edge = Literal["lowest", "highest"]
FEWEST = 3
"""Values that a grid has at least, so that one of them is not at an edge."""
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]


class Answers(Strict):
    """What would count as an answer, stated before the first confirmation run."""

    yes: str
    no: str
    unclear: str
    numbers: dict[Decided, dict[Counted, Bounds]] = Field(default_factory=dict)
    """Yes and no in numbers of arms, where numbers can say it: an answer is given if all of its numbers lie within
    their bounds. Where they cannot, the function of the study's name in answers.py, beside paper.yaml, is the rule."""

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        for answer, counts in self.numbers.items():
            for counted, (least, greatest) in counts.items():
                if least > greatest:
                    raise ValueError(
                        f"numbers.{answer}.{counted}: the least is above the greatest number of arms"
                    )
        return self


class Withdrawn(Strict):
    """A study that was given up before its first run."""

    question: Text
    reason: Text


class Study(Strict):
    """One question, and everything that decides how it is answered."""

    question: str
    title: str
    arms: list[Product | list[Product]] = Field(min_length=1)
    """Groups of arms, each a product of lists, or several. The first arm of a group is the baseline of its others. A
    variant ``again`` is the group's A/A arm; a group that compares readings of the same runs needs none. A tuned field
    in a product replaces the study's grid for its arms."""
    further: list[Product | list[Product]] = Field(default_factory=list)
    """Groups that are measured by the checks alone, outside the family of the primary comparison. The baseline of one
    may be an arm of the study."""
    also: list[Contrast] = Field(default_factory=list)
    """Comparisons of arms beside those with a baseline, in the same family."""
    tuned: dict[str, list[Scalar]] = Field(default_factory=dict)
    """The grid of each tuned field, by its path into the run, in rising order; empty: only the arms that give a grid
    of their own have this field. All arms have the first one."""
    measure: MeasureName
    """The primary measure: what is tuned and confirmed."""
    by: str | None = None
    """The protocol of the primary measure, if several give it."""
    at: list[Product] = Field(default_factory=list)
    """Where it is measured, if not on the test images alone: ``target``, ``label``. Each is a part of the family."""
    checks: list[dict[str, Scalar | list[Scalar]]] = Field(default_factory=list)
    """Coordinates of further measures of the confirmed arms: ``measure``, ``by``, ``epoch`` …"""
    curves: list[dict[str, Scalar | list[Scalar]]] = Field(default_factory=list)
    """Coordinates of further measures of the tuning runs, along the grid."""
    left_out: list[dict[str, Scalar | list[Scalar]]] = Field(default_factory=list)
    """Checks that are not made: those with one of these values of each key."""
    seeds: StudySeeds
    test: Literal["welch", "paired"] = "welch"
    """The test of an arm against its baseline, with Holm's correction over all comparisons of the study but the A/A
    ones; paired: over shared seeds."""
    direction: Literal["larger", "smaller"] = "larger"
    """What the question supposes of an arm: its measure is larger or smaller than its baseline's."""
    margin: PositiveFloat
    """Equivalence margin, in the measure's unit: two one-sided tests within it say that there is no effect."""
    answers: Answers
    hours: PositiveFloat
    """Expected cost in hours of one core."""
    scale: str = "laptop"
    """The only scale at which it is made."""
    earlier: dict[Digest, Text] = Field(default_factory=dict)
    """Digests that records of this study carry from before something that decides was changed: for each a sentence that
    says what was, and why these records still count."""
    closed: Text | None = None
    """Why no more runs of it are made: what is recorded is shown as estimates, and it has no answer."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if MEASURES[self.measure].better != "higher":
            raise ValueError(
                f"measure: of {self.measure} more is not better, so nothing can be tuned or compared by it"
            )
        for at, arms in enumerate(self._in_study):
            self._check_arms(arms, f"arms.{at}")
            _check_control(arms, f"arms.{at}")
        for at, arms in enumerate(self.groups[len(self.arms) :]):
            self._check_arms(arms, f"further.{at}")
        if self.tuned and self.at:
            raise ValueError(
                "at: a study that tunes has one primary number, by which it chooses; leave it out"
            )
        self._check_seeds("tuning", self.seeds.tuning, bool(self.tuned), "a tuned field")
        again = any(arm.again for arm in self.every_arm)
        self._check_seeds("again", self.seeds.again, again, f"an arm '{AGAIN}'")
        if self.further and not self.checks:
            raise ValueError(
                "checks: further arms are measured by these alone; list at least one measure"
            )
        return self

    def _check_arms(self, arms: list[Arm], where: str) -> None:
        """Check the baseline of a group and the grids of its arms."""
        if len(arms) < 2:
            raise ValueError(f"{where}: needs a baseline and at least one arm to compare with it")
        if arms[0].again:
            raise ValueError(f"{where}: its first arm is its baseline, which cannot be '{AGAIN}'")
        first_tuned = next(iter(self.tuned), None)
        for arm in arms:
            if first_tuned is not None and first_tuned not in arm.grids:
                raise ValueError(f"{where}: {first_tuned}: every arm needs a grid of this field")
            for key, grid in arm.grids.items():
                self._check_grid(grid, f"{where}: {key}")

    def _check_grid(self, grid: list[Scalar], where: str) -> None:
        if len(grid) < 2 or list(grid) != sorted(set(grid), key=float):
            raise ValueError(f"{where}: the grid must list its values once each, rising")
        if len(grid) < FEWEST and self.closed is None:
            raise ValueError(
                f"{where}: each of {len(grid)} values is an edge of the grid, at which none can be chosen; list "
                f"{FEWEST} or more"
            )

    def _check_seeds(self, field: str, seeds: list[int], needed: bool, what: str) -> None:
        if bool(seeds) != needed:
            raise ValueError(
                f"seeds.{field}: seeds and {what} belong together; one is given without the other"
            )

    @cached_property
    def groups(self) -> list[list[Arm]]:
        """The arms of each group: first the groups of the study, then the further ones."""
        return [self._arms(group) for group in (*self.arms, *self.further)]

    @property
    def _in_study(self) -> list[list[Arm]]:
        """The arms of each group of the primary comparison."""
        return self.groups[: len(self.arms)]

    def _arms(self, group: Product | list[Product]) -> list[Arm]:
        """The arms of one group."""
        arms = []
        for several in group if isinstance(group, list) else [group]:
            fixed = {key: value for key, value in several.items() if key not in self.tuned}
            grids = self._own_grids(several)
            for point in coordinates.points(fixed):
                arms.append(Arm(text(point), point, grids, point.get("variant") == AGAIN))
        each_once([arm.text for arm in arms])
        return arms

    def _own_grids(self, several: Product) -> dict[str, list[Scalar]]:
        """The grid of each tuned field of a product's arms: its own, or the study's."""
        grids = {}
        for key, grid in self.tuned.items():
            if own := coordinates.alternatives(several.get(key, grid)):
                grids[key] = own
        return grids

    @cached_property
    def every_arm(self) -> list[Arm]:
        """Every arm once."""
        first: dict[str, Arm] = {}
        for arm in chain.from_iterable(self.groups):
            first.setdefault(arm.text, arm)
        return list(first.values())

    def grids(self) -> dict[str, dict[str, list[Scalar]]]:
        """The grid of each tuned field, by arm (its coordinates as text). A/A arms are their baseline's, not tuned."""
        return {arm.text: arm.grids for arm in self.every_arm if not arm.again}

    def arm(self, point: Coordinates) -> str:
        """The arm of a cell whose values are selected, as text. An A/A arm has its baseline's values."""
        for arms in self.groups:
            for arm in arms:
                if covers(arm.point, point):
                    return arms[0].text if arm.again else arm.text
        raise KeyError(text(point))

    def edges(self, arm: str, values: Coordinates) -> dict[str, Edge]:
        """The tuned fields of which an arm's value ends its grid, so that a better one may lie beyond."""
        edges: dict[str, Edge] = {}
        for key, grid in self.grids()[arm].items():
            if values[key] == grid[0]:
                edges[key] = "lowest"
            elif values[key] == grid[-1]:
                edges[key] = "highest"
        return edges

    @property
    def digest(self) -> str:
        """Digest of the plan: of all that is declared here but its history (``deciding`` has what else decides).

        A field that is added later, and that a plan leaves out, does not change that plan's digest.
        """
        declared = self.model_dump(
            mode="json", exclude_defaults=True, exclude={"earlier", "closed"}
        )
        return files.digest(declared, 8)

    def artifacts(self, name: str) -> dict[str, Declared]:
        """The artifacts of runs, by id, as a document's YAML would declare them."""
        parts = {
            TUNING: self._tuning,
            CURVES: self._curves,
            "": self._confirmed,
            PRINTED: self._as_printed,
            CHECKS: self._checked,
        }
        shared = {"plan": name, "made_at": [self.scale]}
        return {name + end: {**shared, **part} for end, part in parts.items() if part}

    @property
    def _tuning(self) -> Declared:
        """The primary measure of every arm along its grid."""
        if not self.tuned:
            return {}
        title = f"{MEASURES[self.measure].label} by {self._tried} ({self.title})"
        return {**self._along_the_grid, "measure": self.measure, "by": self.by, "title": title}

    @property
    def _curves(self) -> Declared:
        """Further measures of the tuning runs."""
        if not (self.tuned and self.curves):
            return {}
        along = self._along_the_grid
        panels = [{**panel, **curve} for panel, curve in product(along["panels"], self.curves)]
        title = f"Other measures by {self._tried} ({self.title})"
        return {**along, "title": title, "panels": panels}

    @property
    def _confirmed(self) -> Declared:
        """The primary comparison."""
        columns: Declared = {"columns": {"measure": self.measure}}
        if self._best or self.at:
            places = [{**self._best, **place} for place in self.at or [{}]]
            columns = {"measure": self.measure, "columns": places}
        return {**self._of_arms, **columns, "by": self.by, "title": self.title}

    @property
    def _as_printed(self) -> Declared:
        """The primary comparison at the values that documents print."""
        printed = {key: 1 for key in self.tuned if key.endswith(TIMES)}
        if not printed:
            return {}
        title = f"{self.title}: as published"
        shown = {"measure": self.measure, "by": self.by, "columns": printed}
        return {**self._of_arms, **shown, "title": title}

    @property
    def _checked(self) -> Declared:
        """Further measures of every arm."""
        if not self.checks:
            return {}
        return {
            **self._of_arms,
            "rows": [arm.point for arm in self.every_arm],
            "columns": self.checks,
            "fixed": self._best,
            "left_out": self.left_out,
            "also": self._comparisons(self.groups),
            "title": f"{self.title}: checks",
        }

    @property
    def _tried(self) -> str:
        """The tuned field of the axis x, in words."""
        path = next(iter(self.tuned)).removesuffix(TIMES)
        return path.rpartition(".")[2].replace("_", " ")

    @property
    def _best(self) -> dict[str, str]:
        """The selected values of an arm, for all of which the first tuned field stands."""
        return dict.fromkeys([*self.tuned][:1], BEST)

    @property
    def _of_arms(self) -> Declared:
        """What the tables of confirmed arms share: the primary comparison's arms and seeds."""
        return {
            "draw": "table",
            "test": self.test,
            "margin": self.margin,
            "rows": [arm.point for arm in chain.from_iterable(self._in_study)],
            "also": self._comparisons(self._in_study),
            "seeds": self.seeds.confirmation,
            "seeds_of": {AGAIN: self.seeds.again} if self.seeds.again else {},
        }

    def _comparisons(self, groups: list[list[Arm]]) -> list[Declared]:
        """Each arm of each group against the group's first, and what is compared besides."""
        contrasts: list[Declared] = []
        for baseline, *others in groups:
            for arm in others:
                differing = dict(baseline.point.items() - arm.point.items())
                against = {key: differing[key] for key in arm.point if key in differing}
                contrasts.append({"of": arm.point, "against": against})
        return contrasts + [contrast.model_dump() for contrast in self.also]

    @cached_property
    def _along_the_grid(self) -> Declared:
        """Panels, lines and values of the tuning artifact, with the cells that are in no arm's own grid.

        A panel shows what each group shares within itself, and lines are what tells arms apart. A/A arms are not shown.
        """
        arms = [arm for arm in self.every_arm if not arm.again]
        values = {key: self._values(arms, key) for key in self.tuned}
        panels, lines = self._panels_and_lines(arms)
        left_out: list[Declared] = []
        for arm in self.every_arm:
            for key, listed in values.items():
                outside = [value for value in listed if value not in arm.grids.get(key, [])]
                if outside:
                    left_out.append({**arm.point, key: outside})
        shown = {arm.text for arm in arms}
        for panel, line in product(panels, lines):
            if text({**panel, **line}) not in shown:
                left_out.append({**panel, **line})
        x, *others = values
        other_grids: list[Declared] = []
        for arm in arms:
            grids = {key: values[key] for key in others if key in arm.grids}
            if grids not in other_grids:
                other_grids.append(grids)
        return {
            "draw": "lines",
            "seeds": self.seeds.tuning,
            "panels": [{**panel, **grids} for panel, grids in product(panels, other_grids)],
            "lines": lines,
            "x": {x: values[x]},
            "left_out": left_out,
        }

    def _values(self, arms: list[Arm], tuned: str) -> list[Scalar]:
        """All values of a tuned field, of any of the arms, rising."""
        values = chain.from_iterable(arm.grids.get(tuned, []) for arm in arms)
        return sorted(set(values), key=float)

    def _panels_and_lines(self, arms: list[Arm]) -> tuple[list[Point], list[Point]]:
        """What the arms of each group share, each once, and what tells them apart, each once."""
        shared = set(arms[0].point)
        for group in self.groups:
            common = set.intersection(*(set(arm.point.items()) for arm in group))
            shared &= dict(common).keys()
        panels: dict[str, Point] = {}
        lines: dict[str, Point] = {}
        for arm in arms:
            panel = {key: value for key, value in arm.point.items() if key in shared}
            line = {key: value for key, value in arm.point.items() if key not in shared}
            if not line:
                raise ValueError("arms: one has nothing that tells it from the others of its group")
            lines[text(line)] = line
            if panel:
                panels[text(panel)] = panel
        return list(panels.values()), list(lines.values())


def _check_control(arms: list[Arm], where: str) -> None:
    """Check that a group of several runs has an A/A arm."""
    runs = {without_readings(arm.point) for arm in arms}
    if len(runs) > 1 and not any(arm.again for arm in arms):
        raise ValueError(
            f"{where}.variant: lists no '{AGAIN}', so that the study has no A/A control there"
        )


class Tried(NamedTuple):
    """One value of an arm's grid: what the tuning runs gave."""

    arm: str
    value: str
    """The values of the tuned fields: ``optimiser.learning_rate.times=0.1``."""
    mean: float
    std: float
    n: int
    """Finished tuning runs."""
    diverged: int
    """Tuning runs without a value: the run diverged, or its measure is undefined."""
    chosen: bool


Selection = dict[str, dict[str, Scalar]]
"""The selected value of each tuned field, by arm (its coordinates as text)."""


def selection_file(folder: Path, study: str) -> Path:
    """papers/<id>/selected/<study>.csv, of the paper in ``folder``."""
    return folder / "selected" / f"{study}.csv"


def write_selection(path: Path, curve: list[Tried]) -> None:
    """Write the curve that was chosen from, with the choice marked."""
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(Tried._fields)
    for one in curve:
        written = one._asdict()
        for column in ("mean", "std"):
            value = written[column]
            written[column] = "" if math.isnan(value) else f"{value:.4f}"
        written["chosen"] = "yes" if one.chosen else ""
        rows.writerow(written.values())
    files.write_text(path, table.getvalue())


def read_selection(path: Path, study: Study) -> Selection:
    """The selected values of a study, from the checked file of ``write_selection``; none if it does not exist."""
    grids = study.grids()
    chosen = Selection()
    if not path.is_file():
        return chosen
    for at, row in enumerate(read_table(path, Tried._fields), start=2):
        where = f"{path}: line {at}"
        arm = row["arm"]
        if arm not in grids:
            raise HypersphereError(f"{where}: arm: '{arm}' is not an arm of the study")
        grid = grids[arm]
        values = coordinates.parse(row["value"], f"{where}: value")
        if values.keys() != grid.keys() or not covers(grid, values):
            raise HypersphereError(
                f"{where}: value: '{row['value']}' is not in the grid of this arm"
            )
        try:
            n = int(row["n"])
        except ValueError as error:
            raise HypersphereError(f"{where}: {error}") from None
        if row["chosen"] != "yes":
            continue
        if arm in chosen:
            raise HypersphereError(f"{where}: chosen: this arm has two chosen values")
        if n < len(study.seeds.tuning):
            raise HypersphereError(
                f"{where}: n: no {len(study.seeds.tuning)} tuning runs support the chosen value"
            )
        for key in study.edges(arm, values) if study.closed is None else ():
            raise HypersphereError(
                f"{where}: chosen: {key} is at an edge of its grid; extend the grid"
            )
        chosen[arm] = values
    for arm in grids:
        if arm not in chosen:
            raise HypersphereError(
                f"{path}: arm: {arm} has no chosen value; `hypersphere select` writes the file"
            )
    return chosen
