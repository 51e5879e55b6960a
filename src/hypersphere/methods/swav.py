"""SwAV: two views, prototypes instead of negatives; each view predicts the other's code."""

import torch
from torch import nn

from hypersphere.arguments import PositiveInt
from hypersphere.methods.base import Batch, Method, Output, Parts
from hypersphere.methods.heads import mlp, sizes
from hypersphere.objectives.geometry import unit

GIVES = ("scores_a", "scores_b")
BATCH_NORM = ("batch_norm",)


class SwAV(Method):
    """Wiring of Caron et al. 2020, Sec. 3.1, one forward pass per view."""

    projector: nn.Module
    prototypes: nn.Linear

    def forward(self, batch: Batch) -> Output:
        """Loss over both views' cosines with the prototypes; the embeddings are the projector's outputs."""
        z_a, z_b = (self.projector(self.encoder(view)) for view in batch.views)
        scores_a, scores_b = (unit(self.gradient(z)) @ self.prototypes.weight.T for z in (z_a, z_b))
        return Output(
            self.objective(scores_a=scores_a, scores_b=scores_b), torch.cat([z_a, z_b]).detach()
        )

    @torch.no_grad()
    def begin(self) -> None:
        """Normalise the prototypes."""
        self.prototypes.weight.copy_(unit(self.prototypes.weight))

    def after_step(self, before: float, after: float) -> None:
        """Normalise the prototypes again, because the optimiser's step changes their norms."""
        self.begin()


def swav(
    parts: Parts,
    *,
    hidden: PositiveInt,
    dim: PositiveInt,
    prototypes: PositiveInt,
    layers: PositiveInt = 2,
    batch_norm: bool = True,
) -> Method:
    """Projector feature_dim -> hidden -> dim, normalised, and its cosines with the prototypes.

    Of the paper and its code (from memory) these are missing: small crops beside the two full-size ones (multi-crop);
    the queue of earlier features for batches smaller than the number of prototypes; prototypes that do not move in the
    first epoch.

    Prototypes are a linear layer without bias whose rows are normalised after each step, without gradient;
    cut-initialisation does not change them.

    Args:
        hidden: 2048 in the paper.
        dim: 128 in the paper.
        prototypes: their number, k; 3000 in the paper.
    """
    projector = mlp(sizes(parts.features, hidden, dim, layers), batch_norm=batch_norm)
    return SwAV(parts, projector=projector, prototypes=nn.Linear(dim, prototypes, bias=False))
