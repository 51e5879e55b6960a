"""The optimiser and its learning rate, as pure functions of the run and the step."""

import math

import torch

from hypersphere.methods.base import Method
from hypersphere.spec import Optimiser, Run


def peak_rate(run: Run) -> float:
    """Learning rate at the end of warm-up: the base rate is per 256 images (norms paper, App. C.1)."""
    return run.optimiser.learning_rate * run.batch.size / 256


def annealing(step: int, steps: int, warmup: float) -> float:
    """The fraction of the peak rate used at optimiser step ``step``, from 0, of ``steps``.

    Linear from 1/w to 1 over the first w = round(warmup · steps) steps, then half a cosine towards 0, which the step
    after the last would reach.
    """
    first = round(warmup * steps)
    if step < first:
        return (step + 1) / first
    return 0.5 * (1 + math.cos(math.pi * (step - first) / max(1, steps - first)))


def build(method: Method, optimiser: Optimiser) -> torch.optim.Optimizer:
    """Stochastic gradient descent over two groups: annealed parameters, and those at a constant rate.

    Weight decay is on every parameter, as torch's SGD does it and the papers do not say otherwise.
    """
    constant = list(method.constant_rate())
    skip = {id(parameter) for parameter in constant}
    annealed = [parameter for parameter in method.parameters() if id(parameter) not in skip]
    groups = [{"params": annealed, "constant": False}, {"params": constant, "constant": True}]
    return torch.optim.SGD(
        [group for group in groups if group["params"]],
        lr=0.0,
        momentum=optimiser.momentum,
        weight_decay=optimiser.weight_decay,
        nesterov=optimiser.nesterov,
    )


def set_rate(optimiser: torch.optim.Optimizer, peak: float, fraction: float) -> None:
    """Anneal: ``peak · fraction`` for the annealed group, ``peak`` for the constant one."""
    for group in optimiser.param_groups:
        group["lr"] = peak if group["constant"] else peak * fraction
