"""What every method offers to the training loop."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, nn

Objective = Callable[..., Tensor]
GradientTransform = Callable[[Tensor], Tensor]


class Output(NamedTuple):
    """One forward pass."""

    loss: Float[Tensor, ""]
    embeddings: Float[Tensor, "views*n d"]
    """The vectors that the loss is applied to, before normalisation."""


class Method(nn.Module):
    """An encoder, its heads, and how views become a loss.

    Subclasses map views [v, n, 3, h, w] to an ``Output``.
    """

    encoder: nn.Module

    def __init__(self, encoder: nn.Module, objective: Objective, gradient: GradientTransform) -> None:
        super().__init__()
        self.encoder = encoder
        self.objective = objective
        self.gradient = gradient

    def constant_rate(self) -> Iterator[nn.Parameter]:
        """Parameters whose learning rate is not annealed; none, unless a method says otherwise."""
        return iter(())
