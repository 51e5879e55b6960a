"""The optimiser and its learning rate, as pure functions of the run and the step."""

import bisect
import math
from typing import Any

import torch
from torch import nn

from hypersphere.declared.recipe import Optimiser, Schedule
from hypersphere.declared.run import Run
from hypersphere.methods.base import Method


def peak_rate(run: Run) -> float:
    """Learning rate at the end of warm-up: the base rate is per 256 images (norms paper, App. C.1)."""
    return run.optimiser.learning_rate * run.batch.size / 256


def fraction_of_peak(schedule: Schedule, step: int, per_epoch: int, passes: int) -> float:
    """The fraction of the peak rate used at optimiser step ``step``, from 0.

    Counted in passes, the horizon has those of the steps alone. The norms authors' loader counts an epoch's last ones
    too, which fill no step: 390 of 128 images against 384 at a batch of 1024 (erratum N41).

    Args:
        schedule: its shape and where it ends.
        step: optimiser steps taken before, over all epochs.
        per_epoch: optimiser steps in an epoch.
        passes: forward passes in an optimiser step.
    """
    stretch = passes if schedule.counted_in == "passes" else 1
    horizon = (schedule.horizon or schedule.epochs) * per_epoch * stretch
    if schedule.shape == "cosine":
        return annealing(step, horizon, schedule.warmup)
    first = round(schedule.warmup * horizon)
    if step < first:
        return (step + 1) / first
    return schedule.factor ** bisect.bisect_right([round(drop * horizon) for drop in schedule.drops], step)


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
    """The update rule over up to four groups: annealed or at a constant rate, with weight decay or without.

    Parameters that want no gradient (a target's) are in none. One that got none in a step stays as it is, undecayed.
    """
    constant = {id(parameter) for parameter in method.constant_rate()}
    bare = _undecayed(method) if optimiser.decay == "weights" else set()
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for parameter in method.parameters():
        if parameter.requires_grad:
            groups.setdefault((id(parameter) in constant, id(parameter) in bare), []).append(parameter)
    listed = [
        {"params": groups[key], "constant": key[0], "weight_decay": 0.0 if key[1] else optimiser.weight_decay}
        for key in sorted(groups)
    ]
    return _rule(optimiser, listed)


def _rule(optimiser: Optimiser, groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    if optimiser.name == "sgd":
        return torch.optim.SGD(groups, lr=0.0, momentum=optimiser.momentum, nesterov=optimiser.nesterov)
    if optimiser.name == "adam":
        return torch.optim.Adam(groups, lr=0.0, betas=optimiser.betas)
    if optimiser.name == "adamw":
        return torch.optim.AdamW(groups, lr=0.0, betas=optimiser.betas)
    from pytorch_optimizer import LARS  # takes a second to import

    # Adapts and decays tensors of two dimensions and more only, which are the ones that decay here. Where a gradient is
    # zero the weight still decays, by rate times trust. It works in place of the gradients, which the next step drops,
    # and the count of steps in its groups decides nothing, so that a resume state can do without it.
    return LARS(
        groups,
        lr=0.0,
        momentum=optimiser.momentum,
        nesterov=optimiser.nesterov,
        trust_coefficient=optimiser.trust,
        foreach=False,
    )


def _undecayed(method: Method) -> set[int]:
    """Biases, and the scales and shifts of normalisations: tensors of one dimension or none.

    The rule of DINO's and MoCo v3's official code (from memory), so that a transformer's class token and position
    embedding, which have three dimensions, decay.
    """
    return {id(parameter) for parameter in method.parameters() if parameter.ndim <= 1}


def moments(optimiser: torch.optim.Optimizer) -> tuple[str, ...]:
    """What the update rule remembers of each parameter that it has moved: the keys of its state."""
    if isinstance(optimiser, torch.optim.Adam):  # AdamW is one too
        return ("step", "exp_avg", "exp_avg_sq")
    return ("momentum_buffer",) if optimiser.defaults["momentum"] else ()


def set_rate(optimiser: torch.optim.Optimizer, peak: float, fraction: float) -> None:
    """Anneal: ``peak · fraction`` for the annealed groups, ``peak`` for those at a constant rate."""
    for group in optimiser.param_groups:
        group["lr"] = peak if group["constant"] else peak * fraction
