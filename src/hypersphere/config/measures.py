"""All measured quantities, by name: a row of measures.csv each, here or in a plug-in.

The tables count as part of this module's code.
"""

import math
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from hypersphere.config import registry
from hypersphere.config.validation import one_of, read_table, validate
from hypersphere.errors import HypersphereError

FILE = Path(__file__).with_suffix(".csv")
LARGEST = 3.5e38
"""No value of training or of a probe is larger: they are computed in float32."""
MOST_DECIMALS = 15
"""More decimals than a number in double precision has are none of it."""


class Measure(BaseModel):
    """One measured quantity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    label: str
    unit: str
    decimals: Annotated[int, Field(ge=0, le=MOST_DECIMALS)]
    better: Literal["higher", "lower", "neither"] = "neither"
    guesses: PositiveInt | None = None
    """Classes that a guess may name; chance is this number over the number of classes. None: no chance level."""
    level: float | None = None
    """The result of guessing where it does not depend on the classes: 50 for an area under a ROC curve in percent."""
    margin: Literal["accuracy", "rate", "relative", "none"] = "none"
    """The rule of a printed number's equivalence margin (``verdicts.margin_of``); none: numbers are not judged."""
    low: float = -LARGEST
    """No value is below it."""
    high: float = LARGEST
    """No value is above it."""
    what: str
    # Those that the column ``marks`` names:
    bounded: bool = False
    """Whether its values lie between fixed bounds, so that no axis of it is logarithmic."""
    of_task: bool = False
    """Whether it is of a task apart from the training data, so that it keeps its name on every dataset."""
    of_data: bool = False
    """Whether it is of the data alone, so that no untrained encoder is compared with it."""
    of_baseline: bool = False
    """Whether it compares a run with the artifact's baseline, whose errors it divides by."""
    without_test_set: bool = False
    """Whether it is of no test images (or sentences) and their classes: the return of a policy, say."""
    seen: str = "real images"
    """What an encoder sees whose measure it is, for sentences about its size."""

    @property
    def step(self) -> float:
        """The size of its last decimal, in its unit."""
        return 10.0**-self.decimals

    def within(self, value: float, difference: bool = False) -> float:
        """The nearest number that a value of it, or a difference of two values, can be; nan stays."""
        low = -math.inf if self.low <= -LARGEST else self.low
        high = math.inf if self.high >= LARGEST else self.high
        if difference:
            low, high = low - high, high - low
        return value if math.isnan(value) else min(max(value, low), high)

    def chance(self, classes: int) -> float | None:
        """The result of guessing, in the measure's unit; None where nothing can be guessed."""
        if self.level is not None:
            return self.level
        return None if self.guesses is None else 100 * min(self.guesses, classes) / classes


def read(file: Path) -> dict[str, Measure]:
    """The measures of a table by their names. An empty field has the default."""
    measures = {}
    for row in read_table(file, ("name", "marks", *Measure.model_fields), ("name",)):
        fields = {
            key: text
            for key, text in row.items()
            if key not in ("name", "marks") and (text or key == "unit")
        }
        marks = dict.fromkeys((row.get("marks") or "").split(), True)
        measures[row["name"]] = validate(Measure, fields | marks, file, row["name"])
    return measures


def _all() -> dict[str, Measure]:
    measures = read(FILE)
    for package in registry.packages():
        if (file := package.folder / FILE.name).is_file():
            of_package = read(file)
            for name in of_package.keys() & measures.keys():
                raise HypersphereError(
                    f"{file}: {name} is the name of a measure that is not {package.distribution}'s"
                )
            measures |= of_package
    return measures


MEASURES = _all()
MeasureName = Annotated[str, one_of(lambda: MEASURES)]


def transfer_name(name: str) -> str:
    """The name of a probe's measure on another dataset than the encoder's: ``linear_top1`` -> ``transfer_top1``."""
    return f"transfer_{name.rpartition('_')[2]}"
