"""The optimiser and its learning rate, as pure functions of the run and the step."""

import bisect
import math
from collections import defaultdict

import torch
from torch import nn

from hypersphere.config.recipe import Optimiser, Schedule
from hypersphere.config.run import Run
from hypersphere.methods.base import Method


def peak_rate(run: Run) -> float:
    """Learning rate at the end of warm-up; scaled linearly, the base rate is per 256 images (norms paper, App. C.1)."""
    rate = run.optimiser.learning_rate
    return rate * run.batch.size / 256 if run.optimiser.scaling == "linear" else rate


def fraction_of_peak(schedule: Schedule, step: int, per_epoch: int, passes: int) -> float:
    """The learning rate at optimiser step ``step``, counted from 0, as a fraction of the peak rate.

    A horizon counted in passes counts only the passes that belong to a step. The norms authors' loader also counts an
    epoch's last passes, which fill no step: 390 of 128 images instead of 384 at a batch of 1024 (erratum N41).
    An epoch has ``per_epoch`` optimiser steps, and each of these ``passes`` forward passes.
    """
    stretch = passes if schedule.counted_in == "passes" else 1
    horizon = (schedule.horizon or schedule.epochs) * per_epoch * stretch
    if schedule.shape == "cosine":
        return annealing(step, horizon, schedule.warmup)
    first = round(schedule.warmup * horizon)
    if step < first:
        return (step + 1) / first
    drops = [round(drop * horizon) for drop in schedule.drops]
    return schedule.factor ** bisect.bisect_right(drops, step)


def annealing(step: int, steps: int, warmup: float) -> float:
    """The learning rate at optimiser step ``step`` of ``steps``, counted from 0, as a fraction of the peak rate.

    Linear from 1/w to 1 over the first w = round(warmup · steps) steps, then half a cosine that would reach 0 one step
    after the last.
    """
    first = round(warmup * steps)
    if step < first:
        return (step + 1) / first
    return 0.5 * (1 + math.cos(math.pi * (step - first) / max(1, steps - first)))


def build(method: Method, optimiser: Optimiser) -> torch.optim.Optimizer:
    """The torch optimiser with up to four parameter groups: annealed or constant rate, with or without weight decay.

    Frozen parameters (a target network's) are in no group. A parameter without gradient in a step is neither moved nor
    decayed in it. With ``decay: weights``, biases and the scales and shifts of normalisations do not decay: tensors of
    one dimension or none. This is the rule of DINO's and MoCo v3's official code (from memory): a transformer's class
    token and position embedding have three dimensions and decay.
    """
    by_kind: dict[tuple[bool, bool], list[nn.Parameter]] = defaultdict(list)
    for name, parameter in method.named_parameters():
        if parameter.requires_grad:
            constant = name.startswith(tuple(f"{module}." for module in method.CONSTANT_RATE))
            undecayed = optimiser.decay == "weights" and parameter.ndim <= 1
            by_kind[constant, undecayed].append(parameter)
    groups = []
    for (constant, undecayed), parameters in sorted(by_kind.items()):
        decay = 0.0 if undecayed else optimiser.weight_decay
        groups.append({"params": parameters, "constant": constant, "weight_decay": decay})
    # Fused: one call for all parameters, because for small ones the calls take longer than the arithmetic. SGD is not
    # fused: it fails where a parameter gets its first gradient later than others.
    if optimiser.name == "sgd":
        return torch.optim.SGD(
            groups, lr=0.0, momentum=optimiser.momentum, nesterov=optimiser.nesterov
        )
    if optimiser.name == "adam":
        return torch.optim.Adam(groups, lr=0.0, betas=optimiser.betas, fused=True)
    if optimiser.name == "adamw":
        return torch.optim.AdamW(groups, lr=0.0, betas=optimiser.betas, fused=True)
    # One kernel for all tensors, where a kernel takes longer to start than to run.
    on_gpu = next(method.parameters()).is_cuda
    from pytorch_optimizer import LARS  # takes a second to import

    # LARS adapts and decays only tensors of two or more dimensions, the same ones that ``decay: weights`` lets decay. A
    # weight whose gradient is zero still decays, by rate times trust. LARS overwrites the gradients, which the next
    # step drops. It never reads the count of steps in its groups, so the resume state does not store it.
    return LARS(
        groups,
        lr=0.0,
        momentum=optimiser.momentum,
        nesterov=optimiser.nesterov,
        trust_coefficient=optimiser.trust,
        foreach=on_gpu,
    )


def set_rate(optimiser: torch.optim.Optimizer, peak: float, fraction: float) -> None:
    """Set the rate to ``peak · fraction`` in annealed groups, and to ``peak`` in groups of constant rate."""
    for group in optimiser.param_groups:
        group["lr"] = peak if group["constant"] else peak * fraction
