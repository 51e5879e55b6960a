"""The floating-point operations of a training step, counted by torch on the run's own modules, on tensors without data.

Encoder and heads run forward and backward on torch's device ``meta``. Views, the loss and the optimiser's update are
left out: see docs/cost.md. A trainer whose runs are not steps on views of images has functions ``flops`` or ``steps``
of its own, of the same meaning.
"""

import importlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from hypersphere.config import registry
from hypersphere.config.run import Run
from hypersphere.methods.base import Batch, Method
from hypersphere.training.build import assemble


def key(run: Run, size: float) -> tuple[Any, ...]:
    """What decides the operations of a run's pass: its modules, its views, its images and their size."""
    return (
        run.kind,
        run.method.model_dump_json(),
        run.encoder.model_dump_json(),
        len(run.branches),
        run.batch.micro,
        run.batch.parts > 1,
        run.views.side or size,
    )


def flops(run: Run, size: float, classes: int) -> int:
    """The operations of one pass over ``batch.micro`` images or pairs of sentences: a step, or its share.

    An encoder that takes parts, however many, passes forward twice: its activations are computed anew for the backward
    pass.

    The run's seed, objective and schedule change nothing here. ``size`` is pixels of its images' side; of a run of
    sentences, their words, on average.
    """
    count = run.batch.micro
    if run.batch.parts > 2:  # two take less time to count
        run = run.model_copy(update={"batch": run.batch.model_copy(update={"parts": 2})})
    with torch.device("meta"):
        method = assemble(run, images=1, classes=classes)
        method.objective = plain_sum
        method.begin()
        if of_trainer := _of_trainer(run, "flops"):
            return int(of_trainer(method, count, size))
        side = run.views.side or int(size)
        return of_views(method, torch.empty(len(run.branches), count, 3, side, side))


def steps(run: Run, examples: int) -> int:
    """The optimiser steps of a run that has so many training examples."""
    if of_trainer := _of_trainer(run, "steps"):
        return int(of_trainer(run))
    return examples // run.batch.size * run.schedule.epochs


def of_views(method: Method, views: Tensor) -> int:
    """The operations of a method's forward and backward pass over views [v, n, …]."""
    places = torch.zeros(views.shape[1], dtype=torch.int64)
    return counted(lambda: method(Batch(views, places, places)).loss.backward())


def counted(step: Callable[[], object]) -> int:
    """The operations of a step."""
    with FlopCounterMode(display=False) as counter:
        step()
    return int(counter.get_total_flops())


def _of_trainer(run: Run, name: str) -> Callable[..., int] | None:
    trainer = importlib.import_module(registry.module_name("trainers", run.kind))
    return getattr(trainer, name, None)


def plain_sum(*batches: Tensor, **given: Any) -> Tensor:
    """A loss that costs nothing, and through which every gradient flows."""
    sums = []
    for value in (*batches, *given.values()):
        if isinstance(value, Tensor) and value.requires_grad:
            sums.append(value.sum())
    return torch.stack(sums).sum()
