"""Instance discrimination: one view; each image is its own class, with its embedding in a memory bank."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere import prng
from hypersphere.arguments import Fraction, PositiveInt
from hypersphere.methods.base import Batch, Method, Output, Parts
from hypersphere.objectives.geometry import unit
from hypersphere.transfer import send

GIVES = ("z", "index", "bank", "noise")
USES = ("bank",)
VIEWS = 1


class InstanceDiscrimination(Method):
    """Wiring of Wu et al. 2018, Fig. 2 (from memory)."""

    projector: nn.Module
    bank: Float[Tensor, "images d"]
    """Unit vectors: a running average of each image's embeddings."""
    momentum: float
    noise: int
    seen: list[tuple[Tensor, Tensor]]
    """Places [n] and unit vectors [n d] of the passes since the last optimiser step; empty between steps."""

    def forward(self, batch: Batch) -> Output:
        """Loss over the view; the embeddings are the linear layer's outputs."""
        (view,) = batch.views
        z = self.projector(self.encoder(view))
        self.seen.append((batch.places, unit(z.detach())))
        seed, *moment = batch.rng_key
        words = prng.raw(len(batch.places) * self.noise, seed, "noise", *moment)
        # Places drawn uniformly (to within images / 2^64) with replacement; the image itself may be among them.
        places = (words % np.uint64(len(self.bank))).astype(np.int64)
        noise = send(torch.from_numpy(places).reshape(-1, self.noise), z.device)
        loss = self.objective(z=self.gradient(z), index=batch.places, bank=self.bank, noise=noise)
        return Output(loss, z.detach())

    def after_step(self, before: float, after: float) -> None:
        """Update the rows of the step's images. All passes of a step see the bank as it was before the step."""
        for places, embeddings in self.seen:
            self.bank[places] = unit(
                self.momentum * self.bank[places] + (1 - self.momentum) * embeddings
            )
        self.seen.clear()


def instance_discrimination(
    parts: Parts, *, dim: PositiveInt, momentum: Fraction = 0.5, noise: PositiveInt = 4096
) -> Method:
    """A linear layer feature_dim -> dim, and a memory bank with one unit vector per training image.

    The bank starts with vectors uniform on the sphere. It is a buffer: no gradient reaches it.

    Args:
        dim: 128 in the paper.
        momentum: the new embedding is normalised, and so is the sum (authors' code, from memory; the paper replaces
            the row, which is momentum 0).
        noise: number of images drawn anew for each image of a pass, for ``nce_memory_bank``; 4096 in the paper. Drawing
            them for other objectives changes nothing and costs about 10 ms for 256 images.
    """
    bank = parts.unit_vectors(parts.images, dim, "bank")
    projector = nn.Linear(parts.features, dim)
    return InstanceDiscrimination(
        parts, projector=projector, bank=bank, momentum=momentum, noise=noise, seen=[]
    )
