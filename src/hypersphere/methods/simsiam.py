"""SimSiam: two views, no negatives, a predictor on one side and a stop-gradient on the other."""

from typing import Literal

import torch
from torch import nn

from hypersphere.arguments import PositiveInt
from hypersphere.methods.base import Batch, Method, Output, Parts
from hypersphere.methods.heads import mlp, sizes

GIVES = ("pair",)
BATCH_NORM = True


class SimSiam(Method):
    """Wiring of Chen & He 2021, Alg. 1, one forward pass per view."""

    HEADS = ("projector", "predictor")
    CONSTANT_RATE = ("predictor",)  # Chen & He 2021, Sec. 4.2
    projector: nn.Module
    predictor: nn.Module

    def forward(self, batch: Batch) -> Output:
        """Mean loss of the two directions; the embeddings are the predictor's outputs."""
        z_a, z_b = (self.projector(self.encoder(view)) for view in batch.views)
        p_a, p_b = self.predictor(z_a), self.predictor(z_b)
        loss = (
            self.objective(self.gradient(p_a), z_b.detach())
            + self.objective(self.gradient(p_b), z_a.detach())
        ) / 2
        return Output(loss, torch.cat([p_a, p_b]).detach())


def simsiam(
    parts: Parts,
    *,
    hidden: PositiveInt,
    dim: PositiveInt,
    bottleneck: PositiveInt,
    layers: PositiveInt = 3,
    last_batch_norm: Literal["plain", "affine"] = "plain",
) -> Method:
    """Projector feature_dim -> hidden … -> dim, batch norm throughout; predictor dim -> bottleneck -> dim.

    Args:
        layers: 3 on ImageNet, 2 on CIFAR in the paper.
        last_batch_norm: affine: the projector's last batch norm has scale and shift, so that cut-initialisation cuts
            them (norms authors' code, erratum N22).
    """
    widths = sizes(parts.features, hidden, dim, layers)
    projector = mlp(
        widths, batch_norm=True, last_batch_norm=True, last_affine=last_batch_norm == "affine"
    )
    predictor = mlp([dim, bottleneck, dim], batch_norm=True)
    return SimSiam(parts, projector=projector, predictor=predictor)
