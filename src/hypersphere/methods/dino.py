"""DINO: a student and a teacher that follows it, no negatives, the teacher's outputs centred and sharpened."""

from typing import Literal

import torch
from jaxtyping import Bool, Float
from pydantic import PositiveInt
from torch import Tensor, nn

from hypersphere.declared.registry import Fraction
from hypersphere.methods.base import Batch, Method, Output, Parts, chain
from hypersphere.methods.heads import mlp, sizes
from hypersphere.methods.momentum import Momentum
from hypersphere.objectives.geometry import cosines

GIVES = ("student", "teacher", "centre")


class Prototypes(nn.Linear):
    """A linear layer without bias, of a normalised input, weight-normalised with all norms held at 1."""

    def forward(self, z: Float[Tensor, "n d"]) -> Float[Tensor, "n k"]:
        """Cosines of the input with the rows; a zero vector counts as cosine 0."""
        return cosines(z, self.weight)


class DINO(Momentum):
    """Wiring of Caron et al. 2021, Algorithm 1, one forward pass per view. The target is the teacher."""

    centre: Float[Tensor, "k"]
    """A running mean of the teacher's outputs."""
    frozen: Bool[Tensor, ""]
    """Whether the prototypes get no gradient yet."""

    def __init__(
        self,
        parts: Parts,
        projector: nn.Module,
        prototypes: Prototypes,
        *,
        momentum: float,
        momentum_schedule: Literal["constant", "cosine"],
        centre_momentum: float,
        freeze: float,
    ) -> None:
        super().__init__(parts, projector, momentum, momentum_schedule)
        self.prototypes = prototypes
        self.centre_momentum = centre_momentum
        self.freeze = freeze
        self.register_buffer("centre", torch.zeros(prototypes.out_features))
        self.register_buffer("frozen", torch.tensor(freeze > 0))
        self.means: list[Tensor] = []
        """Of the teacher's outputs, [k], in each pass since the last optimiser step: between steps, none."""

    @property
    def online(self) -> nn.Module:
        """Encoder, projector and prototypes; put together at each call."""
        return chain(encoder=self.encoder, projector=self.projector, prototypes=self.prototypes)

    def forward(self, batch: Batch) -> Output:
        """Mean of the two directions, and the student's bottleneck vectors."""
        z_a, z_b = (self.projector(self.encoder(view)) for view in batch.views)
        rows = self.prototypes.weight
        if self.freeze and self.frozen:  # in this order: looking at a buffer waits for the device
            rows = rows.detach()
        s_a, s_b = (cosines(self.gradient(z), rows) for z in (z_a, z_b))
        with torch.no_grad():
            t_a, t_b = (self.target(view) for view in batch.views)
        self.means.append(torch.cat([t_a, t_b]).mean(dim=0))
        losses = [self.objective(student=s, teacher=t, centre=self.centre) for s, t in ((s_a, t_b), (s_b, t_a))]
        return Output(torch.stack(losses).mean(), torch.cat([z_a, z_b]).detach())

    def after_step(self, fraction: float) -> None:
        """The teacher follows the student, and the centre the teacher's outputs in all passes of the step."""
        super().after_step(fraction)
        self.centre.lerp_(torch.stack(self.means).mean(dim=0), 1 - self.centre_momentum)
        self.means.clear()
        self.frozen.fill_(fraction < self.freeze)


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
    freeze_last_layer: Fraction = 0.0,
) -> Method:
    """Projector feature_dim -> hidden … -> bottleneck with GELU, and cosines of its output with the prototypes.

    That is the paper's head: the bottleneck is normalised, and the last layer, without bias, is weight-normalised with
    all norms held at 1, so that cutting it changes no output and no embedding. Left out: small crops beside the two
    full-size ones (multi-crop), the teacher's rising temperature (the objective's is constant), and the authors'
    truncated normal as initial weights (from memory).

    Args:
        parts: encoder, objective and the like.
        hidden: width of the projector's hidden layers; 2048 in the paper.
        bottleneck: length of an embedding; 256 in the paper.
        prototypes: outputs, k; 65536 in the paper.
        layers: linear layers of the projector, the last one not counted.
        batch_norm: whether batch norm stands before each GELU; not so for a transformer.
        momentum: of the teacher, at the start if it is scheduled.
        momentum_schedule: to 1 along half a cosine, or constant.
        centre_momentum: the share of the centre that stays in each step.
        freeze_last_layer: the share of training, from its start, during which the prototypes do not move; one epoch's
            worth in the authors' code (from memory).
    """
    projector = mlp(sizes(parts.features, hidden, bottleneck, layers), batch_norm=batch_norm, activation=nn.GELU)
    return DINO(
        parts,
        projector,
        Prototypes(bottleneck, prototypes, bias=False),
        momentum=momentum,
        momentum_schedule=momentum_schedule,
        centre_momentum=centre_momentum,
        freeze=freeze_last_layer,
    )
