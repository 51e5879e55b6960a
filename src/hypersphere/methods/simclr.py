"""SimCLR: two views, one projector, every other image in the batch a negative."""

import torch
from jaxtyping import Float
from pydantic import PositiveInt
from torch import Tensor, nn

from hypersphere.methods.base import GradientTransform, Method, Objective, Output
from hypersphere.methods.heads import mlp


class SimCLR(Method):
    """Wiring of Chen et al. 2020, Sec. 2.1, one forward pass per view."""

    def __init__(
        self, encoder: nn.Module, objective: Objective, gradient: GradientTransform, projector: nn.Module
    ) -> None:
        super().__init__(encoder, objective, gradient)
        self.projector = projector

    def forward(self, views: Float[Tensor, "2 n 3 h w"]) -> Output:
        """Loss over both views, and the projector's outputs."""
        z_a, z_b = (self.projector(self.encoder(view)) for view in views)
        loss = self.objective(self.gradient(z_a), self.gradient(z_b))
        return Output(loss, torch.cat([z_a, z_b]).detach())


def simclr(
    encoder: nn.Module,
    objective: Objective,
    gradient: GradientTransform,
    *,
    hidden: PositiveInt,
    dim: PositiveInt,
) -> Method:
    """A two-layer projector without batch norm: feature_dim -> hidden -> dim."""
    projector = mlp([int(encoder.feature_dim), hidden, dim], batch_norm=False)  # type: ignore[arg-type]
    return SimCLR(encoder, objective, gradient, projector)
