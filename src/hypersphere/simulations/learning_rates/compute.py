"""Learning rates over training: as the norms paper states them, and as its authors' scheduler gives them.

Stated (App. C.1; Sec. 6 for GradScale): a base rate per 256 images, ten epochs of linear warm-up, then half a cosine.
Authors' code (errata N17, N18, N25 and N41): torch's ``LambdaLR`` multiplies the base rate by what its function
returns, and this function returns a rate instead of a factor. The horizon is 512 epochs, whichever epoch is reported.
SimSiam's scheduler counts optimiser steps, but its horizon counts passes of 128 images; its gradients sum over passes.

Both: CIFAR has 50,000 images an epoch, and a last batch that is not full is left out.
"""

import math

import numpy as np
import pandas as pd
from jaxtyping import Float

from hypersphere.simulations.study import Context, ExactStudy, exactly
from hypersphere.training.optimisation import annealing

Rates = Float[np.ndarray, "steps"]

IMAGES = 50_000
EPOCHS = 500  # the later one of Table S2
WARMUP, WARMUP_GRADSCALE = 10, 100  # App. C.1; Sec. 6
SIMCLR, SIMSIAM = 0.18, 0.12  # App. C.1: per 256 images
GRADSCALE = SIMCLR / 6  # Sec. 6
BATCHES, BATCH_SIMCLR = (256, 512, 1024), 256  # Table S2; App. C.1

# The authors' code: configuration of SimCLR and SimSiam, and of GradScale in its example.
AUTHORS_SIMCLR, AUTHORS_SIMSIAM, AUTHORS_GRADSCALE = 0.6, 0.2, 0.1
FLOOR, HORIZON, PASS = 1e-3, 512, 128


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
    cosine = FLOOR + (base - FLOOR) * (1 + np.cos(math.pi * step / (loader * HORIZON))) / 2
    return base * np.where(step > loader * warmup, cosine, base * step / (loader * warmup)), per_epoch


def learning_rates(context: Context) -> ExactStudy:
    """The curves of Table S2's runs, and of SimCLR's with and without GradScale.

    A row is a schedule, as it acts on the gradient of a batch's mean loss: where the authors sum over passes, the rate
    on the mean gradient is that many times theirs. ``warmup``: epochs up to and including the step with the highest
    rate. Answers: the text's statements about schedules, in the reading of the authors' code.
    """
    settings = [
        *(("simsiam", batch, batch // PASS, WARMUP, SIMSIAM, AUTHORS_SIMSIAM) for batch in BATCHES),
        ("simclr", BATCH_SIMCLR, 1, WARMUP, SIMCLR, AUTHORS_SIMCLR),
        ("gradscale", BATCH_SIMCLR, 1, WARMUP_GRADSCALE, GRADSCALE, AUTHORS_GRADSCALE),
    ]
    rows = []
    for method, batch, passes, warmup, base, base_authors in settings:
        theirs, per_epoch = authors(base_authors, batch // passes, passes, warmup, EPOCHS)
        schedules = {"stated": stated(base, batch, warmup, EPOCHS), "authors": (passes * theirs, per_epoch)}
        for name, (rates, per_epoch) in schedules.items():
            peak = float(rates.max())
            rows.append((method, batch, name, peak, peak * 256 / batch, (int(rates.argmax()) + 1) / per_epoch))
    table = pd.DataFrame(rows, columns=["method", "batch", "curve", "rate", "per_256", "warmup"])
    used = table[table["curve"] == "authors"].set_index(["method", "batch"])
    rate, until = used["rate"].to_dict(), used["warmup"].to_dict()
    plain, scaled = ("simclr", BATCH_SIMCLR), ("gradscale", BATCH_SIMCLR)
    found = {
        "warmup.simclr.n17": (until[plain], "N17"),
        "warmup.gradscale.n17": (until[scaled], "N17"),
        "peak.simclr.n17": (rate[plain], "N17"),
        "peak.simclr.batch512.n17": (rate[plain], "N17"),
        "gradscale.n17": (rate[scaled] / rate[plain], "N17"),
    }
    for batch in BATCHES:
        found[f"warmup.batch{batch}.n41"] = until["simsiam", batch], "N41"
        found[f"peak.batch{batch}.n17"] = rate["simsiam", batch] / (batch // PASS), "N17"
        found[f"peak.batch{batch}.n25"] = rate["simsiam", batch], "N17, N25"
    answers = [exactly(f"norms.learning_rates.{name}", *value) for name, value in found.items()]
    return ExactStudy({"learning_rates": table}, answers)
