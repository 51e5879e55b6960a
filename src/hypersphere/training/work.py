"""The floating-point operations of a training step, counted by torch on the run's own modules, on tensors without data.

Encoder and heads run forward and backward on torch's device ``meta``. Views, the loss and the optimiser's update are
left out: see docs/cost.md.
"""

import math
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from hypersphere.config import registry
from hypersphere.config.run import Run
from hypersphere.control.environment import Settings
from hypersphere.control.replay import Transitions
from hypersphere.encoders.pixel_convnet import PixelConvnet
from hypersphere.methods.base import Batch, Method, Parts
from hypersphere.methods.curl import Agent
from hypersphere.training.build import build_encoder

NEIGHBOURS = 2
"""Sentences of an example to train on."""


def key(run: Run, size: float) -> tuple[Any, ...]:
    """What decides the operations of a run's pass: its modules, its views, its images and their size."""
    components = run.method.model_dump_json(), run.encoder.model_dump_json()
    return run.kind, *components, len(run.branches), run.batch.micro, size


def flops(run: Run, size: float, classes: int) -> int:
    """The operations of one pass over ``batch.micro`` images or pairs of sentences: a step, or one part of it.

    The run's seed, objective and schedule change nothing here. ``size`` is pixels of its images' side; of a run of
    sentences, their words, on average.
    """
    count = run.batch.micro
    places = torch.zeros(count, dtype=torch.int64)
    with torch.device("meta"):
        # The loss costs nothing, and lets every gradient flow.
        parts = Parts(build_encoder(run), _sum, lambda z: z, images=1, classes=classes, temperature=1.0)
        method: Method = registry.load("methods", run.method.name)(parts, **run.method.parameters)
        method.begin()
        if isinstance(method, Agent):
            return _of_agent(method, count)
        inputs = _sentences(count, size) if run.kind == "text" else torch.empty(count, 3, int(size), int(size))
        views = NEIGHBOURS if run.kind == "text" else len(run.branches)
        return _counted(lambda: method(Batch(torch.stack([inputs] * views), places, places)).loss.backward())


def steps(run: Run, examples: int) -> int:
    """The optimiser steps of a run that has so many training examples.

    An agent has none: it takes an optimiser step after each step of its own, once the random ones are over.
    """
    if run.kind != "control":
        return examples // run.batch.size * run.schedule.epochs
    method: Any = registry.schema("methods", run.method.name).model_validate(run.method.parameters)
    return Settings.of(run.dataset.source).steps * run.schedule.epochs - method.initial + 1


def _of_agent(agent: Agent, count: int) -> int:
    """One update of the critics and the contrastive loss, and the actor's share of one, which is due less often."""
    assert isinstance(agent.encoder, PixelConvnet)
    size = agent.encoder.size
    crops = torch.empty(count, 3 * agent.encoder.frames, size, size)
    actions, rewards = torch.empty(count, agent.actions), torch.empty(count)

    def critics() -> None:
        output = agent(Batch(torch.stack([crops, crops]), rewards.long(), rewards.long()))
        seen = Transitions(crops, crops, crops, actions, rewards)
        (output.loss + agent.critic_loss(output.embeddings, seen, actions)).backward()

    def actor() -> None:
        agent.actor_losses(crops, actions).backward(inputs=list(agent.of_actor))

    return _counted(critics) + _counted(actor) // agent.actor_every


def _counted(step: Any) -> int:
    with FlopCounterMode(display=False) as counter:
        step()
    return int(counter.get_total_flops())


def _sentences(count: int, words: float) -> Tensor:
    """Sentences [n, L] of ``words`` words on average: one word over and over.

    They are on the processor, with data, because their lengths decide the work of a recurrent encoder.
    """
    ends = (torch.arange(count + 1, device="cpu") * words).floor()
    places = torch.arange(math.ceil(words), device="cpu")
    return (places < ends.diff()[:, None]).int()


def _sum(*batches: Tensor, **given: Any) -> Tensor:
    tensors = [value for value in (*batches, *given.values()) if isinstance(value, Tensor) and value.requires_grad]
    return torch.stack([value.sum() for value in tensors]).sum()
