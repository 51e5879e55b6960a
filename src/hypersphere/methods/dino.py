"""DINO: a student, a teacher that follows it, no negatives; the teacher's outputs are centred and sharpened."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere.arguments import Fraction, PositiveInt
from hypersphere.methods.base import Batch, Method, Output, Parts
from hypersphere.methods.heads import mlp, sizes
from hypersphere.methods.momentum import Momentum
from hypersphere.objectives.geometry import cosines

GIVES = ("student", "teacher", "centre")
BATCH_NORM = ("batch_norm",)


class Prototypes(nn.Linear):
    """A linear layer without bias whose input and rows are normalised to length 1."""

    def forward(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n k"]:
        """Cosines of the input with the layer's rows; a zero vector has cosine 0."""
        return cosines(z, self.weight)


class DINO(Momentum):
    """Wiring of Caron et al. 2021, Algorithm 1, one forward pass per view. The target is the teacher."""

    FOLLOWED = ("encoder", "projector", "prototypes")
    centre: Float[Tensor, "k"]
    """A running mean of the teacher's outputs."""
    projector: nn.Module
    prototypes: Prototypes
    centre_momentum: float
    means: list[Tensor]
    """Mean of the teacher's outputs, [k], of each pass since the last optimiser step; empty between steps."""

    def forward(self, batch: Batch) -> Output:
        """Mean loss of the two directions; the embeddings are the student's bottleneck vectors."""
        z_a, z_b = (self.projector(self.encoder(view)) for view in batch.views)
        s_a, s_b = (self.prototypes(self.gradient(z)) for z in (z_a, z_b))
        with torch.no_grad():
            t_a, t_b = (self.target(view) for view in batch.views)
        # The outputs may be bfloat16; the centre is float32.
        self.means.append(torch.cat([t_a, t_b]).to(self.centre).mean(dim=0))
        losses = [
            self.objective(student=s, teacher=t, centre=self.centre)
            for s, t in ((s_a, t_b), (s_b, t_a))
        ]
        return Output(torch.stack(losses).mean(), torch.cat([z_a, z_b]).detach())

    def after_step(self, before: float, after: float) -> None:
        """Move the teacher towards the student, and the centre towards the teacher's mean output in the step."""
        super().after_step(before, after)
        self.centre.lerp_(torch.stack(self.means).mean(dim=0), 1 - self.centre_momentum)
        self.means.clear()


def dino(
    parts: Parts,
    *,
    hidden: PositiveInt,
    bottleneck: PositiveInt,
    prototypes: PositiveInt,
    layers: PositiveInt = 3,
    batch_norm: bool = False,
    momentum: Fraction = 0.996,
    momentum_schedule: Literal["constant", "cosine"] = "cosine",
    centre_momentum: Fraction = 0.9,
) -> Method:
    """Projector feature_dim -> hidden … -> bottleneck with GELU, and cosines of its output with the prototypes.

    This is the paper's head: the bottleneck is normalised, and the last layer has no bias and rows of norm 1, so
    cut-initialisation of that layer changes no output and no embedding. Of the paper and its code (from memory) these
    are missing: small crops beside the two full-size ones (multi-crop); one pass over both full-size crops, so that
    batch norm sees them together; the teacher's rising temperature (the objective's is constant); a weight decay that
    rises from 0.04 to 0.4 along a cosine; gradients clipped to norm 3 for each parameter; a last layer that is frozen
    in the first epoch; initial weights from a truncated normal.

    Args:
        hidden: 2048 in the paper.
        bottleneck: length of an embedding; 256 in the paper.
        prototypes: number of outputs, k; 65536 in the paper.
        layers: without the prototypes.
        batch_norm: off for a transformer.
        centre_momentum: weight of the old centre in each update.
    """
    projector = mlp(
        sizes(parts.features, hidden, bottleneck, layers), batch_norm=batch_norm, activation=nn.GELU
    )
    return DINO(
        parts,
        projector=projector,
        prototypes=Prototypes(bottleneck, prototypes, bias=False),
        centre=torch.zeros(prototypes),
        means=[],
        momentum=momentum,
        momentum_schedule=momentum_schedule,
        centre_momentum=centre_momentum,
    )
