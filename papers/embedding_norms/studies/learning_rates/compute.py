"""Learning rates over training: as the norms paper states them, and as its authors' scheduler gives them.

Stated (App. C.1; Sec. 6 for GradScale): a base rate per 256 images, ten epochs of linear warm-up, then half a cosine.
Authors' code (errata N17, N18, N25 and N41): torch's ``LambdaLR`` multiplies the base rate by what its function
returns, and this function returns a rate instead of a factor. The horizon is 512 epochs, whichever epoch is reported.
SimSiam's scheduler counts optimiser steps, but its horizon counts passes of 128 images; its gradients sum over passes.

Both: CIFAR has 50,000 images an epoch, and a last batch that is not full is left out.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from hypersphere.exact.study import Context, ExactNumber, ExactStudy, exactly, only
from hypersphere.training.optimisation import annealing

Rates = Float[np.ndarray, "steps"]

IMAGES = 50_000
EPOCHS = 500  # the later one of Table S2
WARMUP = 10  # App. C.1
WARMUP_GRADSCALE = 100  # Sec. 6
SIMCLR = 0.18  # App. C.1: per 256 images
SIMSIAM = 0.12  # the same
GRADSCALE = SIMCLR / 6  # Sec. 6
BATCHES = (256, 512, 1024)  # Table S2
BATCH_SIMCLR = 256  # App. C.1

# The authors' code: configuration of SimCLR and SimSiam, and of GradScale in its example.
AUTHORS_SIMCLR = 0.6
AUTHORS_SIMSIAM = 0.2
AUTHORS_GRADSCALE = 0.1
FLOOR = 1e-3
HORIZON = 512
PASS = 128


def stated(base: float, batch: int, warmup: int, epochs: int) -> tuple[Rates, int]:
    """App. C.1: base rate · batch/256, reached by linear warm-up; then a cosine towards 0 at the last epoch.

    Like ``authors``, it returns the rate at each optimiser step, and the steps of an epoch.
    """
    per_epoch = IMAGES // batch
    steps = per_epoch * epochs
    shape = [annealing(step, steps, warmup / epochs) for step in range(steps)]
    return base * batch / 256 * np.array(shape), per_epoch


def authors(base: float, loaded: int, passes: int, warmup: int, epochs: int) -> tuple[Rates, int]:
    """The rate that the authors' scheduler sets at each optimiser step, and the steps of an epoch.

    The loader's batches have ``loaded`` images, and its epochs are counted in these batches. The function given to
    ``LambdaLR`` rises to the base rate over ``warmup`` epochs. Then it follows a cosine that began at the first step
    and falls towards 0.001 over 512 epochs. The base rate multiplies it once more. It is called once per optimiser
    step, which takes ``passes`` batches; batches left over at an epoch's end make no step.
    """
    loader = IMAGES // loaded
    per_epoch = loader // passes
    step = np.arange(per_epoch * epochs)
    rising = base * step / (loader * warmup)
    falling = (1 + np.cos(math.pi * step / (loader * HORIZON))) / 2
    cosine = FLOOR + (base - FLOOR) * falling
    return base * np.where(step > loader * warmup, cosine, rising), per_epoch


class Schedule(NamedTuple):
    """A method's schedule, as it is stated and in the authors' code."""

    method: str
    batch: int
    passes: int
    warmup: int
    base: float
    authors_base: float


SCHEDULES = (
    *(
        Schedule("simsiam", batch, batch // PASS, WARMUP, SIMSIAM, AUTHORS_SIMSIAM)
        for batch in BATCHES
    ),
    Schedule("simclr", BATCH_SIMCLR, 1, WARMUP, SIMCLR, AUTHORS_SIMCLR),
    Schedule("gradscale", BATCH_SIMCLR, 1, WARMUP_GRADSCALE, GRADSCALE, AUTHORS_GRADSCALE),
)


def learning_rates(context: Context) -> ExactStudy:
    """The curves of Table S2's runs, and of SimCLR's with and without GradScale, as stated and by the authors' code.

    Answers: the text's statements about schedules, in the reading of the authors' code.
    """
    rows = []
    for one in SCHEDULES:
        rates, per_epoch = stated(one.base, one.batch, one.warmup, EPOCHS)
        rows.append(summary(one, "stated", rates, per_epoch))
        rates, per_epoch = authors(
            one.authors_base,
            one.batch // one.passes,
            one.passes,
            one.warmup,
            EPOCHS,
        )
        rows.append(summary(one, "authors", one.passes * rates, per_epoch))
    table = pd.DataFrame(rows)
    return ExactStudy({"learning_rates": table}, answers(table))


def summary(schedule: Schedule, curve: str, rates: Rates, per_epoch: int) -> dict[str, Any]:
    """A curve's highest rate, as it acts on the gradient of a batch's mean loss.

    Where the authors sum over passes, the rate on the mean gradient is that many times theirs. ``warmup``: epochs up to
    and including the step with the highest rate.
    """
    peak = float(rates.max())
    return {
        "method": schedule.method,
        "batch": schedule.batch,
        "curve": curve,
        "rate": peak,
        "per_256": peak * 256 / schedule.batch,
        "warmup": (int(rates.argmax()) + 1) / per_epoch,
    }


def answers(table: pd.DataFrame) -> list[ExactNumber]:
    used = only(table, curve="authors").set_index(["method", "batch"])
    rate = used["rate"].to_dict()
    warmup = used["warmup"].to_dict()
    simclr = ("simclr", BATCH_SIMCLR)
    gradscale = ("gradscale", BATCH_SIMCLR)
    listed = [
        answer("warmup.simclr.n17", warmup[simclr], "N17"),
        answer("warmup.gradscale.n17", warmup[gradscale], "N17"),
        answer("peak.simclr.n17", rate[simclr], "N17"),
        answer("peak.simclr.batch512.n17", rate[simclr], "N17"),
        answer("gradscale.n17", rate[gradscale] / rate[simclr], "N17"),
    ]
    for batch in BATCHES:
        simsiam = ("simsiam", batch)
        listed += [
            answer(f"warmup.batch{batch}.n41", warmup[simsiam], "N41"),
            answer(f"peak.batch{batch}.n17", rate[simsiam] / (batch // PASS), "N17"),
            answer(f"peak.batch{batch}.n25", rate[simsiam], "N17, N25"),
        ]
    return listed


def answer(claim: str, number: float, reading: str) -> ExactNumber:
    return exactly(f"norms.learning_rates.{claim}", number, reading)
