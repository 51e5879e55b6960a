"""Studies: our own questions, each with its arms, grids, seeds and analysis fixed before it is run.

A study is declared in a document of ours, like a paper's artifacts, and is turned into artifacts of runs:

- ``<study>_tuning``: every arm at every value of the tuned fields, on the tuning seeds: what is chosen from;
- ``<study>``: every arm at its own best values, on the confirmation seeds: the primary comparison;
- ``<study>_printed``: the same arms at the values that their document prints;
- ``<study>_curves``: further measures of the tuning runs, along the grid;
- ``<study>_checks``: further measures of the confirmed arms: what the intervention is for, and other probes; and
  ``further`` arms, which are outside the family of the primary comparison.

``hypersphere select`` writes the best values of each arm into ``config/selected/<document>/<study>.csv``.
"""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

from pydantic import AfterValidator, Field, PositiveFloat, model_validator

from hypersphere import files
from hypersphere.config import coordinates
from hypersphere.config.coordinates import Contrast, Coordinates, Scalar
from hypersphere.config.measures import MEASURES, MeasureName
from hypersphere.config.validation import AsList, NonNegativeInt, Strict, each_once
from hypersphere.errors import HypersphereError

TIMES = ".times"
"""The end of a path into a run whose value multiplies the declared one: ``optimiser.learning_rate.times``."""
BEST = "best"
"""Stands for the value of a tuned field that was selected for an arm."""
TUNING, CURVES, PRINTED, CHECKS = "_tuning", "_curves", "_printed", "_checks"
"""What a study's name is followed by in the ids of its artifacts."""
AGAIN = "again"
"""The variant of an A/A arm: the baseline once more, with seeds of its own."""
COLUMNS = ("arm", "value", "mean", "std", "n", "diverged", "chosen")


Product = dict[str, Scalar | list[Scalar]]
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


Counted = Literal["ahead", "beyond", "level", "behind"]
"""What the arms of a study are counted as: the corrected interval lies above zero (``beyond``: and the estimate is
above the margin), the arm is equivalent, or the corrected interval lies below zero. An arm can be ahead and level."""
COUNTED: tuple[Counted, ...] = get_args(Counted)
Bounds = Annotated[tuple[NonNegativeInt, NonNegativeInt], AsList]
"""The least and the greatest number."""


class Answers(Strict):
    """What would count as an answer, stated before the first confirmation run."""

    yes: str
    no: str
    unclear: str
    numbers: dict[Literal["yes", "no"], dict[Counted, Bounds]] = Field(default_factory=dict)
    """The same in numbers of arms, where numbers can say it: an answer is given if all of its numbers lie within their
    bounds. Where they cannot, ``statistics/answers.py`` has the rule of the study."""
    level_arms: Literal["no answer", "left out"] = "no answer"
    """What follows if an arm of a comparison is level with raw pixels or its untrained encoder: the study has no
    answer, or that comparison alone is left out."""


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
    test: Literal["welch", "dunnett", "paired"] = "welch"
    """The test of an arm against its baseline. welch, paired (over shared seeds): Holm over all comparisons of the
    study but the A/A ones; dunnett: simultaneous, against one shared baseline."""
    direction: Literal["larger", "smaller"] = "larger"
    """What the question supposes of an arm: its measure is larger or smaller than its baseline's."""
    margin: PositiveFloat
    """Equivalence margin, in the measure's unit: two one-sided tests within it say that there is no effect."""
    answers: Answers
    hours: PositiveFloat
    """Expected cost in hours of one core."""
    scale: str = "laptop"
    """The only scale at which it is made."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if MEASURES[self.measure].better != "higher":
            raise ValueError(
                f"measure: of {self.measure} more is not better, so nothing can be tuned or compared by it"
            )
        for field, groups in (("arms", self.arms), ("further", self.further)):
            for at, group in enumerate(groups):
                self._check_group(f"{field}.{at}", group, needs_again=field == "arms")
        if self.tuned and self.at:
            raise ValueError("at: a study that tunes has one primary number, by which it chooses; leave it out")
        again = any(arm.get("variant") == AGAIN for arm, _ in self._each())
        for field, seeds, needed in (("tuning", self.seeds.tuning, self.tuned), ("again", self.seeds.again, again)):
            if bool(seeds) != bool(needed):
                what = "a tuned field" if field == "tuning" else f"an arm '{AGAIN}'"
                raise ValueError(f"seeds.{field}: seeds and {what} belong together; one is given without the other")
        if self.further and not self.checks:
            raise ValueError("checks: further arms are measured by these alone; list at least one measure")
        return self

    def _check_group(self, where: str, group: Product | list[Product], needs_again: bool) -> None:
        arms = self._arms_of(group)
        if len(arms) < 2:
            raise ValueError(f"{where}: needs a baseline and at least one arm to compare with it")
        if arms[0].get("variant") == AGAIN:
            raise ValueError(f"{where}: its first arm is its baseline, which cannot be '{AGAIN}'")
        runs = {coordinates.text({k: v for k, v in arm.items() if k not in coordinates.READINGS}) for arm in arms}
        if needs_again and len(runs) > 1 and not any(arm.get("variant") == AGAIN for arm in arms):
            raise ValueError(f"{where}.variant: lists no '{AGAIN}', so that the study has no A/A control there")
        for product in _products(group):
            grids = self._grids(product)
            if first := [key for key in [*self.tuned][:1] if key not in grids]:
                raise ValueError(f"{where}: {first[0]}: every arm needs a grid of this field")
            for key, grid in grids.items():
                if len(grid) < 2 or list(grid) != sorted(set(grid), key=float):
                    raise ValueError(f"{where}: {key}: the grid must list two values or more, rising")

    def _grids(self, product: Product) -> dict[str, list[Scalar]]:
        """The grid of each field that is tuned for the arms of a product."""
        grids = {key: coordinates.alternatives(product.get(key, grid)) for key, grid in self.tuned.items()}
        return {key: grid for key, grid in grids.items() if grid}

    def _arms_of(self, group: Product | list[Product]) -> list[dict[str, Scalar]]:
        return coordinates.points(
            [{key: value for key, value in product.items() if key not in self.tuned} for product in _products(group)]
        )

    def _each(self) -> list[tuple[dict[str, Scalar], dict[str, list[Scalar]]]]:
        """Every arm, with its own grids, once."""
        found: dict[str, tuple[dict[str, Scalar], dict[str, list[Scalar]]]] = {}
        for group in [*self.arms, *self.further]:
            for product in _products(group):
                for arm in self._arms_of(product):
                    found.setdefault(coordinates.text(arm), (arm, self._grids(product)))
        return list(found.values())

    def grids(self) -> dict[str, dict[str, list[Scalar]]]:
        """The grid of each tuned field, by arm (its coordinates as text). A/A arms are their baseline's, not tuned."""
        return {coordinates.text(arm): grids for arm, grids in self._each() if arm.get("variant") != AGAIN}

    def arm(self, point: Coordinates) -> str:
        """The arm of a cell whose values are selected, as text. An A/A arm has its baseline's values."""
        for group in [*self.arms, *self.further]:
            arms = self._arms_of(group)
            for arm in arms:
                if all(point.get(key) == value for key, value in arm.items()):
                    return coordinates.text(arms[0] if arm.get("variant") == AGAIN else arm)
        raise KeyError(coordinates.text(point))

    @property
    def digest(self) -> str:
        """What a record says of the plan that it was made under: all that is declared here.

        A field that is added later, and that a plan leaves out, does not change that plan's digest.
        """
        return files.digest(self.model_dump(mode="json", exclude_defaults=True), 8)

    def artifacts(self, name: str) -> dict[str, dict[str, Any]]:
        """The artifacts of runs, by id, as a document's YAML would declare them."""
        groups, further = ([self._arms_of(group) for group in of] for of in (self.arms, self.further))
        every = [arm for arms in groups for arm in arms]
        checked = [arm for arm, _ in self._each()]
        also = [contrast.model_dump() for contrast in self.also]
        shared: dict[str, Any] = {"plan": name, "made_at": [self.scale], "test": self.test, "margin": self.margin}
        confirmed = shared | {
            "draw": "table",
            "also": _contrasts(groups) + also,
            "seeds": self.seeds.confirmation,
            "seeds_of": {AGAIN: self.seeds.again} if self.seeds.again else {},
        }
        primary = {"measure": self.measure, "by": self.by}
        best = dict.fromkeys([*self.tuned][:1], BEST)  # one stands for all selected values of an arm
        printed = {key: 1 for key in self.tuned if key.endswith(TIMES)}
        found: dict[str, dict[str, Any]] = {}
        if self.tuned:
            union = {
                key: sorted({v for grid in self.grids().values() for v in grid.get(key, [])}, key=float)
                for key in self.tuned
            }
            x, *others = union
            panels = [{key: union[key] for key in others if key in own} for own in self._panels()]
            of_groups, lines, absent = _side_by_side([*groups, *further])
            along = {
                **{"draw": "lines", "lines": lines, "x": {x: union[x]}, "seeds": self.seeds.tuning},
                **{"left_out": self._outside(union) + absent, "plan": name, "made_at": [self.scale], **primary},
            }
            by_group = [{**group, **panel} for group in of_groups for panel in panels]
            found[name + TUNING] = along | {"title": f"{self.title}: tuning", "panels": by_group}
            if self.curves:
                of_curves = [{**panel, **curve} for panel in by_group for curve in self.curves]
                found[name + CURVES] = along | {
                    **{"title": f"{self.title}: other measures along the grid", "panels": of_curves},
                    **{"measure": None, "by": None},
                }
        if best or self.at:
            columns: Any = [{**best, **place} for place in self.at or [{}]]
            shown = {**primary, "columns": columns}
        else:
            shown = {"by": self.by, "columns": {"measure": self.measure}}
        found[name] = confirmed | shown | {"title": self.title, "rows": every}
        if printed:
            title = f"{self.title}: as printed"
            found[name + PRINTED] = confirmed | primary | {"title": title, "rows": every, "columns": printed}
        if self.checks:
            shown = {"rows": checked, "columns": self.checks, "fixed": best, "left_out": self.left_out}
            family = {"also": _contrasts([*groups, *further]) + also}
            found[name + CHECKS] = confirmed | shown | family | {"title": f"{self.title}: checks"}
        return found

    def _outside(self, union: Mapping[str, list[Scalar]]) -> list[dict[str, Scalar | list[Scalar]]]:
        """The cells of the tuning artifact that are in no arm's own grid."""
        outside: list[dict[str, Scalar | list[Scalar]]] = []
        for arm, grids in self._each():
            for key, values in union.items():
                if others := [value for value in values if value not in grids.get(key, [])]:
                    outside.append({**arm, key: others})
        return outside

    def _panels(self) -> list[set[str]]:
        """The sets of fields that arms tune, each once: some have a temperature of the loss, some of the logits."""
        found: list[set[str]] = []
        for grids in self.grids().values():
            found += [] if set(grids) in found else [set(grids)]
        return found


def _side_by_side(
    groups: list[list[dict[str, Scalar]]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Groups of arms as panels of lines: what the arms of a group share, what tells them apart, and the pairs of a
    panel and a line that are no arm. A/A arms are not among them."""
    same = [{key for key in arms[0] if all(arm.get(key) == arms[0][key] for arm in arms)} for arms in groups]
    keys = set.intersection(*same)
    arms = [arm for group in groups for arm in group if arm.get("variant") != AGAIN]
    panels = {coordinates.text(one): one for arm in arms if (one := {k: v for k, v in arm.items() if k in keys})}
    lines = {coordinates.text(one): one for arm in arms if (one := {k: v for k, v in arm.items() if k not in keys})}
    known = {coordinates.text(arm) for arm in arms}
    if any(not arm.keys() - keys for arm in arms):
        raise ValueError("arms: one has nothing that tells it from the others of its group")
    pairs = [{**panel, **line} for panel in panels.values() for line in lines.values()]
    return [*panels.values()], [*lines.values()], [one for one in pairs if coordinates.text(one) not in known]


def _products(group: Product | list[Product]) -> list[Product]:
    return group if isinstance(group, list) else [group]


def _contrasts(groups: list[list[dict[str, Scalar]]]) -> list[dict[str, Any]]:
    """Each arm of each group against the group's first."""
    return [
        {"of": arm, "against": {key: arms[0][key] for key in arm if arms[0].get(key) != arm[key]}}
        for arms in groups
        for arm in arms[1:]
    ]


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
    chosen: bool


Selection = dict[str, dict[str, Scalar]]
"""The selected value of each tuned field, by arm (its coordinates as text)."""


def selection_file(root: Path, paper: str, study: str) -> Path:
    """config/selected/<document>/<study>.csv."""
    return root / "config" / "selected" / paper / f"{study}.csv"


def write_selection(path: Path, curve: list[Tried]) -> None:
    """Write the curve that was chosen from, with the choice marked."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for one in curve:
        numbers = ("" if value != value else f"{value:.4f}" for value in (one.mean, one.std))
        rows.writerow([one.arm, one.value, *numbers, one.n, one.diverged, "yes" if one.chosen else ""])
    files.write_text(path, text.getvalue())


def read_curve(path: Path, study: Study) -> list[Tried]:
    """The curves that the values of a study's arms were chosen from, as ``write_selection`` wrote them; checked."""
    grids, found = study.grids(), list[Tried]()
    for at, row in enumerate(csv.DictReader(io.StringIO(files.read_text(path))), start=2):
        where = f"{path}: line {at}"
        if set(row) != set(COLUMNS) or None in row.values():
            raise HypersphereError(f"{where}: must have the columns {', '.join(COLUMNS)}")
        if row["arm"] not in grids:
            raise HypersphereError(f"{where}: arm: '{row['arm']}' is no arm of the study")
        values, grid = coordinates.parse(row["value"], f"{where}: value"), grids[row["arm"]]
        if values.keys() != grid.keys() or any(value not in grid[key] for key, value in values.items()):
            raise HypersphereError(f"{where}: value: '{row['value']}' is not in the grid of this arm")
        if row["chosen"] not in ("", "yes"):
            raise HypersphereError(f"{where}: chosen: must be yes or empty (given: '{row['chosen']}')")
        try:
            mean, std = (float(row[name] or "nan") for name in ("mean", "std"))
            counts = int(row["n"]), int(row["diverged"])
        except ValueError as error:
            raise HypersphereError(f"{where}: {error}") from None
        if row["chosen"] and any(one.chosen and one.arm == row["arm"] for one in found):
            raise HypersphereError(f"{where}: chosen: this arm has two chosen values")
        if row["chosen"] and counts[0] < len(study.seeds.tuning):
            raise HypersphereError(f"{where}: n: no {len(study.seeds.tuning)} tuning runs support the chosen value")
        found.append(Tried(row["arm"], row["value"], mean, std, *counts, row["chosen"] == "yes"))
    return found


def read_selection(path: Path, study: Study) -> Selection:
    """The selected values of a study; none if the file does not exist."""
    if not path.is_file():
        return {}
    chosen = {one.arm: coordinates.parse(one.value, str(path)) for one in read_curve(path, study) if one.chosen}
    if lacking := [arm for arm in study.grids() if arm not in chosen]:
        raise HypersphereError(f"{path}: arm: {lacking[0]} has no chosen value; `hypersphere select` writes the file")
    return chosen
