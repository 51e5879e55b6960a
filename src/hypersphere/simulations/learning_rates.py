"""Learning rates over training: as the norms paper states them, and as its authors' scheduler gives them.

Stated (App. C.1; Sec. 6 for GradScale): a base rate per 256 images, ten epochs of linear warm-up, then half a cosine.
Authors' code (errata N17, N18, N25 and N41): torch's ``LambdaLR`` multiplies the base rate by what its function
returns, and this one returns a rate, not a factor; the horizon is 512 epochs, whatever epoch is reported; SimSiam's
scheduler counts optimiser steps against a horizon in passes of 128 images, and its gradients are sums over the passes.

CIFAR: 50,000 images an epoch, the last batch left out unless it is full, in both.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from hypersphere.declared.claims import load
from hypersphere.simulations.study import Answer, Context, Study, exactly
from hypersphere.training.optimisation import annealing

Rates = Float[np.ndarray, "steps"]

IMAGES = 50_000
REPORTED = (100, 500)  # epochs of Table S2
WARMUP, WARMUP_GRADSCALE = 10, 100  # App. C.1; Sec. 6
SIMCLR, SIMSIAM = 0.18, 0.12  # App. C.1: per 256 images
GRADSCALE = SIMCLR / 6  # Sec. 6
BATCHES, BATCH_SIMCLR = (256, 512, 1024), 256  # Table S2; App. C.1
ACCURACIES = ["knn_100", "knn_500"]

# The authors' code: configuration of SimCLR and SimSiam, and of GradScale in its example.
AUTHORS_SIMCLR, AUTHORS_SIMSIAM, AUTHORS_GRADSCALE = 0.6, 0.2, 0.1
FLOOR, HORIZON, PASS = 1e-3, 512, 128


class Curve(NamedTuple):
    """A schedule on the gradient of the mean loss of a batch."""

    method: str
    batch: int
    name: str
    rates: Rates
    """At every optimiser step, to the last epoch reported."""
    per_epoch: int
    """Optimiser steps."""

    @property
    def peak(self) -> float:
        """The highest rate."""
        return float(self.rates.max())

    @property
    def warmup(self) -> float:
        """Epochs until the rate is highest, the step that it is highest at being the last of them."""
        return (int(self.rates.argmax()) + 1) / self.per_epoch

    def mass(self, epochs: int) -> float:
        """The area under the curve to the end of an epoch, in epochs at the highest rate."""
        return float(self.rates[: epochs * self.per_epoch].sum() / self.peak / self.per_epoch)


def learning_rates(context: Context) -> Study:
    """The curves of Table S2's runs, and of SimCLR's with and without GradScale."""
    found = {(curve.method, curve.batch, curve.name): curve for curve in curves()}
    return Study({"learning_rates": _table(found.values(), table_s2(context))}, _answers(found))


def table_s2(context: Context) -> dict[int, list[float]]:
    """Printed kNN accuracies (percent) of Table S2's default rows, by batch: at epochs 100 and 500."""
    claims = load(context.config.root / "paper" / "claims" / f"{context.paper}.csv")
    rows = [c for c in claims if (c.artifact, c.variant) == ("tableS2", "default")]
    cells = {(c.coordinates["batch.size"], c.coordinates["epoch"]): c.reported or 0.0 for c in rows}
    return {batch: [cells[batch, epoch] for epoch in REPORTED] for batch in BATCHES}


def stated(base: float, batch: int, warmup: int, epochs: int) -> tuple[Rates, int]:
    """App. C.1: base rate · batch/256, reached by linear warm-up; then a cosine towards 0 at the last epoch.

    Returns:
        The rate at each optimiser step, and the steps of an epoch.
    """
    per_epoch = IMAGES // batch
    steps = per_epoch * epochs
    shape = [annealing(step, steps, warmup / epochs) for step in range(steps)]
    return base * batch / 256 * np.array(shape), per_epoch


def authors(base: float, loaded: int, passes: int, warmup: int, epochs: int) -> tuple[Rates, int]:
    """The rate that the authors' scheduler sets at each optimiser step, and the steps of an epoch.

    The function handed to ``LambdaLR`` rises to the base rate over ``warmup`` epochs of the loader's batches, of
    ``loaded`` images each, then follows a cosine from the first step on, over 512 of them, towards 0.001; the base rate
    multiplies it once more. It is asked once per optimiser step, which takes ``passes`` batches; what is left of them
    at an epoch's end takes no step of its own.
    """
    loader = IMAGES // loaded
    per_epoch = loader // passes
    step = np.arange(per_epoch * epochs)
    cosine = FLOOR + (base - FLOOR) * (1 + np.cos(math.pi * step / (loader * HORIZON))) / 2
    return base * np.where(step > loader * warmup, cosine, base * step / (loader * warmup)), per_epoch


def curves() -> list[Curve]:
    """All curves. Where the authors sum gradients over passes, the rate on the mean is that many times theirs."""
    found = []
    early, late = REPORTED
    for batch in BATCHES:
        passes = batch // PASS
        rates, per_epoch = authors(AUTHORS_SIMSIAM, PASS, passes, WARMUP, late)
        found += [
            Curve("simsiam", batch, "stated", *stated(SIMSIAM, batch, WARMUP, late)),
            Curve("simsiam", batch, "stated, ends early", *stated(SIMSIAM, batch, WARMUP, early)),
            Curve("simsiam", batch, "authors", passes * rates, per_epoch),
        ]
    for method, base, base_authors, warmup in (
        ("simclr", SIMCLR, AUTHORS_SIMCLR, WARMUP),
        ("gradscale", GRADSCALE, AUTHORS_GRADSCALE, WARMUP_GRADSCALE),
    ):
        found += [
            Curve(method, BATCH_SIMCLR, "stated", *stated(base, BATCH_SIMCLR, warmup, late)),
            Curve(method, BATCH_SIMCLR, "authors", *authors(base_authors, BATCH_SIMCLR, 1, warmup, late)),
        ]
    return found


def _table(found: Iterable[Curve], printed: Mapping[int, Sequence[float]]) -> pd.DataFrame:
    """The rate at the first step of every epoch, and a row of numbers for each curve."""
    tables = []
    for curve in found:
        rates = curve.rates[:: curve.per_epoch]
        every = pd.DataFrame({"kind": "rate", "epoch": np.arange(len(rates)), "rate": rates})
        summary = {"kind": "summary", "rate": curve.peak, "warmup": curve.warmup, "mass": curve.mass(REPORTED[0])}
        accuracies = zip(ACCURACIES, printed[curve.batch], strict=True) if curve.method == "simsiam" else ()
        table = pd.concat([every, pd.DataFrame([summary | dict(accuracies)])])
        tables.append(table.assign(method=curve.method, batch=curve.batch, curve=curve.name))
    columns = ["method", "batch", "curve", "kind", "epoch", "rate", "per_256", "warmup", "mass", *ACCURACIES]
    whole = pd.concat(tables, ignore_index=True)
    return whole.assign(per_256=whole["rate"] * 256 / whole["batch"])[columns]


def _answers(found: dict[tuple[str, int, str], Curve]) -> list[Answer]:
    """What the text states of the schedules, in the authors' reading too."""
    default = found["simclr", BATCH_SIMCLR, "stated"], found["simclr", BATCH_SIMCLR, "authors"]
    scaled = found["gradscale", BATCH_SIMCLR, "stated"], found["gradscale", BATCH_SIMCLR, "authors"]
    claim = "norms.learning_rates"
    answers = [exactly(f"{claim}.warmup.simclr.n17", default[1].warmup, "N17")]
    answers += [exactly(f"{claim}.warmup.gradscale.n17", scaled[1].warmup, "N17")]
    answers += [exactly(f"{claim}.peak.simclr.n17", default[1].peak, "N17")]
    answers += [exactly(f"{claim}.peak.simclr.batch512.n17", default[1].peak, "N17")]
    answers += [exactly(f"{claim}.gradscale.n17", scaled[1].peak / default[1].peak, "N17")]
    for batch in BATCHES:
        used = found["simsiam", batch, "authors"]
        answers += [exactly(f"{claim}.warmup.batch{batch}.n41", used.warmup, "N41")]
        answers += [exactly(f"{claim}.peak.batch{batch}.n17", used.peak / (batch // PASS), "N17")]
        answers += [exactly(f"{claim}.peak.batch{batch}.n25", used.peak, "N17, N25")]
    return answers
