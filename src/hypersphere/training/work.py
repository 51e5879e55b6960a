"""The work of a training step, counted without training: the run's own modules on tensors that hold no data.

Encoder and heads run forward and backward on torch's device ``meta``. Counted are floating-point operations (of matrix
products and convolutions, two for a multiplication and an addition, by torch's own formulas) and bytes of memory
traffic, as if each operation read its inputs once and wrote its outputs once, in float32. Sentences hold one word over
and over, as many as the dataset's sentences on average. Left out are views, the loss and the optimiser's update: see
docs/cost.md.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

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


@dataclass(frozen=True)
class Work:
    """Floating-point operations, and bytes read and written."""

    flops: int = 0
    bytes: int = 0

    def __add__(self, other: "Work") -> "Work":
        return Work(self.flops + other.flops, self.bytes + other.bytes)

    def __mul__(self, times: int) -> "Work":
        return Work(self.flops * times, self.bytes * times)


class Model(NamedTuple):
    """What a run's model costs."""

    step: Work
    """Of one optimiser step: all its forward and backward passes."""
    encoder: int
    """Bytes of the encoder's file of weights."""
    heads: int
    """Bytes of the heads' file of weights."""

    @property
    def stored(self) -> int:
        """Bytes of one saved state: encoder and heads."""
        return self.encoder + self.heads


class Counter(TorchDispatchMode):
    """Adds up the work of all tensor operations while it is entered."""

    def __init__(self) -> None:
        super().__init__()
        self.work = Work()

    def __torch_dispatch__(
        self, func: Any, types: Iterable[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run an operation, and add its work. Views and allocations move no bytes."""
        out = func(*args, **(kwargs or {}))
        formula = flop_registry.get(func._overloadpacket)
        flops = formula(*args, **(kwargs or {}), out_val=out) if formula else 0
        still = func.is_view or func.overloadpacket.__name__.startswith(("empty", "new_empty"))
        moved = 0 if still else sum(map(_size, (*tree_leaves((args, kwargs)), *tree_leaves(out))))
        self.work += Work(int(flops), moved)
        return out


def _size(value: Any) -> int:
    """Bytes of a tensor; 0 for anything else."""
    return value.numel() * value.element_size() if isinstance(value, Tensor) else 0


class Sides(NamedTuple):
    """The work of an encoder on a number of images or sentences, by direction."""

    forward: Work
    backward: Work


class StandIn(nn.Module):
    """Takes an encoder's place in a method: gives features of the right shape, and notes what the encoder must do.

    A backward pass is noted when a gradient arrives, so that targets and detached outputs cost a forward pass alone.
    """

    def __init__(self, feature_dim: int, forward: Callable[[int], None], backward: Callable[[int], None]) -> None:
        """``forward`` and ``backward`` are called with the number of images or sentences of each pass."""
        super().__init__()
        self.feature_dim = feature_dim
        self.stream_dim = feature_dim // 2
        self.on_forward = forward
        self.on_backward = backward

    def forward(self, inputs: Shaped[Tensor, "n ..."]) -> Float[Tensor, "n d"]:
        """Features without values."""
        count = len(inputs)
        self.on_forward(count)
        features = torch.empty(count, self.feature_dim, requires_grad=torch.is_grad_enabled())
        if features.requires_grad:
            features.register_hook(lambda gradient: self.on_backward(count))
        return features

    def streams(self, images: Float[Tensor, "n 3 h w"]) -> tuple[Tensor, ...]:
        """The two halves of the features, for encoders of two streams."""
        return self(images).chunk(2, dim=1)


@dataclass
class Counting:
    """Counts each combination of method, encoder, input size and batch once, however many runs have it."""

    _models: dict[tuple[Any, ...], Model] = field(default_factory=dict)
    _encoders: dict[tuple[Any, ...], Sides] = field(default_factory=dict)
    _sizes: dict[str, tuple[int, int]] = field(default_factory=dict)

    def of(self, run: Run, size: float, classes: int) -> Model:
        """The work of one optimiser step of a run, and the size of its weights.

        Args:
            run: whose seed, objective and schedule change nothing here.
            size: pixels of its images' side; of a run of sentences, their words, on average.
            classes: of the dataset's main labels.

        Raises:
            HypersphereError: the modules do not fit together, or not the images.
        """
        key = (_text(run.method), _text(run.encoder), len(run.branches), size, classes, run.batch.micro)
        if key not in self._models:
            self._models[key] = self._count(run, size, classes)
        one = self._models[key]
        return one._replace(step=one.step * (run.batch.size // run.batch.micro))

    def _count(self, run: Run, size: float, classes: int) -> Model:
        """One pass over ``batch.micro`` examples."""
        if run.kind == "control":
            return _agent(run)
        forward: list[int] = []
        backward: list[int] = []
        with torch.device("meta"):
            encoder, features = self._encoder_sizes(run)
            method = _method(run, StandIn(features, forward.append, backward.append), classes)
            examples, labels = run.batch.micro, torch.zeros(run.batch.micro, dtype=torch.int64)
            views = NEIGHBOURS if run.kind == "text" else len(run.branches)
            inputs = torch.stack([_inputs(run, size, examples)] * views)
            with Counter() as counter:
                method(Batch(inputs, labels, labels)).loss.backward()
            work = sum((self._encoder(run, size, count).forward for count in forward), counter.work)
            work = sum((self._encoder(run, size, count).backward for count in backward), work)
            encoders = sum(isinstance(module, StandIn) for module in method.encoder.modules())
            return Model(work, encoder * encoders, _stored(method.head))

    def _encoder_sizes(self, run: Run) -> tuple[int, int]:
        """Bytes of one encoder's weights, and the length of its features."""
        if (name := _text(run.encoder)) not in self._sizes:
            encoder = build_encoder(run)
            self._sizes[name] = _stored(encoder), int(encoder.feature_dim)  # type: ignore[arg-type]
        return self._sizes[name]

    def _encoder(self, run: Run, size: float, count: int) -> Sides:
        key = (_text(run.encoder), size, count)
        if key not in self._encoders:
            encoder, inputs = build_encoder(run), _inputs(run, size, count)
            with Counter() as forward:
                features = encoder(inputs)
            gradient = torch.empty_like(features)
            with Counter() as backward:
                features.backward(gradient)
            self._encoders[key] = Sides(forward.work, backward.work)
        return self._encoders[key]


def _inputs(run: Run, size: float, count: int) -> Tensor:
    """Images without data [count, 3, size, size]; or sentences [count, L] of ``size`` words on average.

    Sentences are on the processor, with data, because their lengths decide the work of a recurrent encoder.
    """
    if run.kind == "text":
        ends = (torch.arange(count + 1, device="cpu") * size).floor()
        places = torch.arange(math.ceil(size), device="cpu")
        return (places < ends.diff()[:, None]).int()
    return torch.empty(count, 3, int(size), int(size))


def steps(run: Run, examples: int) -> int:
    """Optimiser steps of a run that has so many training examples.

    An agent has none: it takes an optimiser step after each step of its own, once the random ones are over.
    """
    if run.kind != "control":
        return examples // run.batch.size * run.schedule.epochs
    method: Any = registry.schema("methods", run.method.name).model_validate(run.method.parameters)
    return Settings.of(run.dataset.source).steps * run.schedule.epochs - method.initial + 1


def _agent(run: Run) -> Model:
    """One update of an agent: its critics' and contrastive loss, and its actor's, where it is due each time or less."""
    count = run.batch.micro
    with torch.device("meta"):
        encoder = build_encoder(run)
        assert isinstance(encoder, PixelConvnet)
        agent = _method(run, encoder, classes=1)
        assert isinstance(agent, Agent)
        crops = torch.empty(count, 3 * encoder.frames, encoder.size, encoder.size)
        actions, rewards = torch.empty(count, agent.actions), torch.empty(count)
        seen, places = Transitions(crops, crops, crops, actions, rewards), rewards.long()
        with Counter() as critics:
            output = agent(Batch(torch.stack([crops, crops]), places, places))
            (output.loss + agent.critic_loss(output.embeddings, seen, actions)).backward()
        with Counter() as actor:
            agent.actor_losses(crops, actions).backward(inputs=list(agent.of_actor))
    of_actor = Work(actor.work.flops // agent.actor_every, actor.work.bytes // agent.actor_every)
    return Model(critics.work + of_actor, _stored(encoder), _stored(agent.head))


def _method(run: Run, encoder: nn.Module, classes: int) -> Method:
    """The run's method around ``encoder``, with a loss that costs nothing and lets every gradient flow."""
    parts = Parts(encoder, _sum, lambda z: z, images=1, classes=classes, temperature=1.0)
    method: Method = registry.load("methods", run.method.name)(parts, **run.method.parameters)
    method.begin()
    return method


def _sum(*batches: Tensor, **given: Any) -> Tensor:
    tensors = [value for value in (*batches, *given.values()) if isinstance(value, Tensor) and value.requires_grad]
    return torch.stack([value.sum() for value in tensors]).sum()


def _stored(module: nn.Module) -> int:
    return sum(map(_size, module.state_dict().values()))


def _text(component: Any) -> str:
    return str(component.model_dump_json())
