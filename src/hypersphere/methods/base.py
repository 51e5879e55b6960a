"""What every method is made of, sees, and offers to the training loop.

A method is wiring: which network sees which view, which way gradients flow, and what is remembered from step to step.
What is remembered is a buffer or a frozen copy, so that it is part of ``state_dict`` and a run can be resumed; what is
drawn is keyed, so that nothing else need be kept.

Shapes: v views (1 or 2) of n images, d dimensions of an embedding.
"""

import copy
import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from hypersphere import keyed

Objective = Callable[..., Tensor]
GradientTransform = Callable[[Tensor], Tensor]


class Parts(NamedTuple):
    """What a run hands to its method's function, beside the method's own parameters."""

    encoder: nn.Module
    """Maps [n, 3, h, w] to [n, feature_dim]."""
    objective: Objective
    """Of two aligned batches, by position, or of what the method GIVES, by name."""
    gradient: GradientTransform
    """Changes the gradient that reaches embeddings, and not their values."""
    images: int = 0
    """How many there are to train on."""
    classes: int = 0
    seed: int = 0
    temperature: float | None = None
    """The objective's, or its map to logits': None if neither has one."""

    @property
    def features(self) -> int:
        """Length of the encoder's output."""
        return int(self.encoder.feature_dim)  # type: ignore[arg-type]

    def unit_vectors(self, count: int, dim: int, purpose: str) -> Float[Tensor, "count dim"]:
        """Uniform on the sphere, the same for every run of this seed and purpose."""
        generator = torch.Generator().manual_seed(keyed.torch_seed(self.seed, "initial", purpose))
        return nn.functional.normalize(torch.randn(count, dim, generator=generator))


class Batch(NamedTuple):
    """What one forward pass sees."""

    views: Float[Tensor, "v n 3 h w"]
    places: Int[Tensor, "n"]
    """Each image's place in the training set, from 0."""
    labels: Int[Tensor, "n"]
    moment: tuple[int, ...] = (0, 0, 0, 0)
    """Seed, epoch, step and pass: the key of whatever else is drawn."""

    def key(self, purpose: str) -> tuple[int, str, int, int, int]:
        """For the functions of ``keyed``."""
        seed, epoch, step, part = self.moment
        return seed, purpose, epoch, step, part


class Output(NamedTuple):
    """One forward pass."""

    loss: Float[Tensor, ""]
    embeddings: Float[Tensor, "m d"]
    """The vectors that the loss is applied to, before normalisation, of every view that gets a gradient."""


class Method(nn.Module):
    """An encoder, its heads, and how views become a loss. Subclasses map a ``Batch`` to an ``Output``."""

    encoder: nn.Module

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.encoder = parts.encoder
        self.objective = parts.objective
        self.gradient = parts.gradient

    @property
    def head(self) -> nn.Module:
        """Maps the encoder's output [n, feature_dim] to a view's embeddings [n, d], as ``Output`` holds them.

        Put together at each call of the method's own modules (see ``chain``), so that a tensor has one name in the
        method's ``state_dict``; its names in the head's are those of a run's file of heads.

        Raises:
            NotImplementedError: the method does not say what its head is.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say what its head is")

    def begin(self) -> None:
        """Called once, after initial weights are drawn and cut: where frozen copies are made."""

    def after_step(self, fraction: float) -> None:
        """Called after every optimiser step; ``fraction`` of all steps is done. Where targets and memories move."""

    def constant_rate(self) -> Iterator[nn.Parameter]:
        """Parameters whose learning rate is not annealed; none, unless a method says otherwise."""
        return iter(())


def chain(**modules: nn.Module) -> nn.Sequential:
    """One behind the other, under these names; they stay the modules that they are, and none is copied."""
    return nn.Sequential(OrderedDict(modules))


def frozen_copy(module: nn.Module) -> nn.Module:
    """A copy that no gradient reaches and no optimiser moves."""
    return copy.deepcopy(module).requires_grad_(False)


@torch.no_grad()
def follow(target: nn.Module, online: nn.Module, momentum: float) -> None:
    """target = momentum · target + (1 - momentum) · online, parameter by parameter; buffers are the target's own."""
    for kept, moved in zip(target.parameters(), online.parameters(), strict=True):
        kept.lerp_(moved.detach(), 1 - momentum)


def momentum_at(base: float, schedule: Literal["constant", "cosine"], fraction: float) -> float:
    """A target's momentum when ``fraction`` of training is done: ``base``, or from there to 1 along half a cosine.

    Grill et al. 2020, Sec. 3.2: 1 - (1 - base)(cos(pi k/K) + 1)/2.
    """
    return base if schedule == "constant" else 1 - (1 - base) * (math.cos(math.pi * fraction) + 1) / 2
