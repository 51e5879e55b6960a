"""SimCLR: two views, one projector; every other image in the batch is a negative."""

from typing import Literal

import torch
from torch import nn

from hypersphere.arguments import PositiveInt
from hypersphere.methods.base import Batch, Method, Output, Parts
from hypersphere.methods.heads import mlp, sizes

GIVES = ("pair", "labels")
BATCH_NORM = ("batch_norm", "last_batch_norm")


class SimCLR(Method):
    """Wiring of Chen et al. 2020, Sec. 2.1."""

    projector: nn.Module
    together: bool

    def forward(self, batch: Batch) -> Output:
        """Loss over both views; the embeddings are the projector's outputs."""
        if self.together:
            z = self.projector(self.encoder(batch.views.flatten(0, 1)))
            z_a, z_b = z.chunk(2)
        else:
            z_a, z_b = (self.projector(self.encoder(view)) for view in batch.views)
        loss = self.objective(self.gradient(z_a), self.gradient(z_b), labels=batch.labels)
        return Output(loss, torch.cat([z_a, z_b]).detach())


def simclr(
    parts: Parts,
    *,
    hidden: PositiveInt,
    dim: PositiveInt,
    layers: PositiveInt = 2,
    batch_norm: bool = False,
    last_batch_norm: bool = False,
    bias: bool = True,
    forward: Literal["per_view", "both_views"] = "per_view",
) -> Method:
    """A projector feature_dim -> hidden -> dim.

    Args:
        dim: 3 in the double metric paper's Table 6.
        layers: 2 in the paper's main text.
        batch_norm: margins paper, App. C.1.
        forward: per_view: one pass per view, so that batch norm sees one view at a time (norms authors' code, erratum
            N44). both_views: one pass over both (the original).
    """
    projector = mlp(
        sizes(parts.features, hidden, dim, layers),
        batch_norm=batch_norm,
        last_batch_norm=last_batch_norm,
        bias=bias,
    )
    return SimCLR(parts, projector=projector, together=forward == "both_views")
