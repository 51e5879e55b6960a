"""The base class of methods, their parts, their input and their output.

A method is wiring: which network sees which view, where gradients flow, and what stays from step to step. All that
stays is a buffer or a frozen copy, so that it is in ``state_dict`` and a run can be resumed. Random draws have keys, so
that no generator has to be stored.

Shapes: v views (1 or 2) of n images, d dimensions of an embedding.
"""

import copy
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from hypersphere import prng

Objective = Callable[..., Tensor]


class Parts(NamedTuple):
    """Arguments of a method's function that come from the rest of the run, not from the method's own parameters."""

    encoder: nn.Module
    """Maps [n, 3, h, w] to [n, feature_dim]."""
    objective: Objective
    """Takes two aligned batches by position, or the tensors that the method GIVES by name."""
    gradient: Callable[[Tensor], Tensor]
    """Changes the gradients of embeddings, not their values."""
    images: int = 0
    """Number of training images."""
    classes: int = 0
    seed: int = 0
    temperature: float | None = None
    """Temperature of the logits or of the objective; None if neither has one."""

    @property
    def features(self) -> int:
        """Length of the encoder's output."""
        return int(self.encoder.feature_dim)  # type: ignore[arg-type]

    def unit_vectors(self, count: int, dim: int, purpose: str) -> Float[Tensor, "count dim"]:
        """Random vectors, uniform on the sphere; equal for all runs of one seed and purpose."""
        generator = torch.Generator().manual_seed(prng.torch_seed(self.seed, "initial", purpose))
        return nn.functional.normalize(torch.randn(count, dim, generator=generator))


class Batch(NamedTuple):
    """Input of one forward pass."""

    views: Float[Tensor, "v n 3 h w"]
    places: Int[Tensor, "n"]
    """Each image's place in the training set, from 0."""
    labels: Int[Tensor, "n"]
    rng_key: tuple[int, ...] = (0, 0, 0, 0)
    """Seed, epoch, step and pass: they key the method's random draws."""


class Output(NamedTuple):
    """Result of one forward pass."""

    loss: Float[Tensor, ""]
    embeddings: Float[Tensor, "m d"]
    """Vectors that enter the loss, before normalisation, of every view that gets a gradient."""


class Method(nn.Module):
    """An encoder with its heads, which maps a ``Batch`` to an ``Output``: subclasses define ``forward``.

    Args:
        members: modules, tensors (which become buffers) and settings, each under the name that the subclass declares.
    """

    HEADS: tuple[str, ...] = ("projector",)
    """Names of the modules that lead from the encoder's output to the embeddings, in order."""
    CONSTANT_RATE: tuple[str, ...] = ()
    """Names of the modules whose learning rate is not annealed."""
    encoder: nn.Module

    def __init__(self, parts: Parts, **members: Any) -> None:
        super().__init__()
        self.encoder, self.objective, self.gradient = parts.encoder, parts.objective, parts.gradient
        for name, member in members.items():
            if isinstance(member, Tensor) and not isinstance(member, nn.Parameter):
                self.register_buffer(name, member)
            else:
                setattr(self, name, member)

    @property
    def head(self) -> nn.Module:
        """Maps the encoder's output [n, feature_dim] to a view's embeddings [n, d], as in ``Output``.

        It is chained anew at each call (see ``chain``), so that a tensor has one name in the method's ``state_dict``.
        Tensors in a run's file of heads have their names in this module.
        """
        return chain(**{name: self.get_submodule(name) for name in self.HEADS})

    def begin(self) -> None:
        """Make frozen copies. Called once, after the initial weights are drawn and cut."""

    def after_step(self, before: float, after: float) -> None:
        """Move targets and memories. Called after every optimiser step.

        Args:
            before: share of the schedule's steps that were done before this step; 0 at the first step.
            after: share of the schedule's steps that are done after this step.
        """


def chain(**modules: nn.Module) -> nn.Sequential:
    """The modules one behind the other, under these names. They are shared, not copied."""
    return nn.Sequential(OrderedDict(modules))


def frozen_copy(module: nn.Module) -> nn.Module:
    """A copy whose parameters take no gradient, so that no optimiser moves it."""
    return copy.deepcopy(module).requires_grad_(False)


@torch.no_grad()
def follow(target: nn.Module, online: nn.Module, momentum: float) -> None:
    """target = momentum · target + (1 - momentum) · online, parameter by parameter; buffers stay as they are."""
    for slow, fast in zip(target.parameters(), online.parameters(), strict=True):
        slow.lerp_(fast.detach(), 1 - momentum)
