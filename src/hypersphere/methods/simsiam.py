"""SimSiam: two views, no negatives, a predictor on one side and a stop-gradient on the other."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from pydantic import PositiveInt
from torch import Tensor, nn

from hypersphere.methods.base import GradientTransform, Method, Objective, Output
from hypersphere.methods.heads import mlp


class SimSiam(Method):
    """Wiring of Chen & He 2021, Alg. 1, one forward pass per view."""

    def __init__(
        self,
        encoder: nn.Module,
        objective: Objective,
        gradient: GradientTransform,
        projector: nn.Module,
        predictor: nn.Module,
    ) -> None:
        super().__init__(encoder, objective, gradient)
        self.projector = projector
        self.predictor = predictor

    def forward(self, views: Float[Tensor, "2 n 3 h w"]) -> Output:
        """Symmetric loss, and the predictor's outputs."""
        z_a, z_b = (self.projector(self.encoder(view)) for view in views)
        p_a, p_b = self.predictor(z_a), self.predictor(z_b)
        loss = (self.objective(self.gradient(p_a), z_b.detach()) + self.objective(self.gradient(p_b), z_a.detach())) / 2
        return Output(loss, torch.cat([p_a, p_b]).detach())

    def constant_rate(self) -> Iterator[nn.Parameter]:
        """The predictor's learning rate stays at its peak (Chen & He 2021, Sec. 4.2)."""
        return self.predictor.parameters()


def simsiam(
    encoder: nn.Module,
    objective: Objective,
    gradient: GradientTransform,
    *,
    hidden: PositiveInt,
    dim: PositiveInt,
    bottleneck: PositiveInt,
) -> Method:
    """Projector feature_dim -> hidden -> hidden -> dim, batch norm throughout; predictor dim -> bottleneck -> dim."""
    features = int(encoder.feature_dim)  # type: ignore[arg-type]
    projector = mlp([features, hidden, hidden, dim], batch_norm=True, last_batch_norm=True)
    predictor = mlp([dim, bottleneck, dim], batch_norm=True)
    return SimSiam(encoder, objective, gradient, projector, predictor)
