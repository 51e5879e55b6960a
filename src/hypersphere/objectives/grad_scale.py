"""GradScale: change an embedding's gradient, but not its value."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class _GradScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, power: float) -> Tensor:
        ctx.save_for_backward(z)
        ctx.power = power
        return z.view_as(z)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (z,) = ctx.saved_tensors
        return gradients[0] * torch.linalg.vector_norm(z, dim=-1, keepdim=True) ** ctx.power, None


def grad_scale(z: Float[Tensor, "n d"], *, power: float) -> Float[Tensor, "n d"]:
    """The identity in the forward pass; the backward pass multiplies row i's gradient by ||z_i||^power.

    Norms paper, Sec. 6 and Listing 2. The gradient of a cosine is proportional to 1/||z||, so power 1 cancels the
    dependence on the norm and power 0 is ordinary training.

    Geometry: for a loss of cosines an embedding's gradient is tangent to its sphere, and a small step turns it by an
    angle that goes with norm^(power - 2): at power 0 long embeddings turn slowest, at power 2 all turn alike.

    Figure: embedding_norms/fig6.

    Numerics: at z = 0 the factor is 0 for p > 0 and 1 for p = 0; for p < 0 it is infinite.
    """
    return _GradScale.apply(z, power)
