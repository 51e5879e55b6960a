"""Instance discrimination: one view, and every image's last embedding, remembered, as its class."""

import numpy as np
import torch
from jaxtyping import Float, Int
from pydantic import PositiveInt
from torch import Tensor, nn

from hypersphere import keyed
from hypersphere.declared.registry import Fraction
from hypersphere.methods.base import Batch, Method, Output, Parts, chain
from hypersphere.objectives.geometry import unit

GIVES = ("z", "index", "bank", "noise")
USES = ("bank",)
VIEWS = 1


class InstanceDiscrimination(Method):
    """Wiring of Wu et al. 2018, Fig. 2 (from memory)."""

    bank: Float[Tensor, "images d"]
    """Unit vectors: each image's embedding when it was last seen, averaged with those before."""

    def __init__(
        self, parts: Parts, projector: nn.Module, bank: Float[Tensor, "images d"], momentum: float, noise: int
    ) -> None:
        super().__init__(parts)
        self.projector = projector
        self.register_buffer("bank", bank)
        self.momentum = momentum
        self.noise = noise
        self.seen: list[tuple[Tensor, Tensor]] = []
        """Places [n] and unit vectors [n d] of the passes since the last optimiser step: between steps, none."""

    @property
    def head(self) -> nn.Module:
        """The linear layer."""
        return chain(projector=self.projector)

    def forward(self, batch: Batch) -> Output:
        """Loss over the view, and the linear layer's outputs."""
        (view,) = batch.views
        z = self.projector(self.encoder(view))
        self.seen.append((batch.places, unit(z.detach())))
        noise = self._noise(batch).to(z.device)
        loss = self.objective(z=self.gradient(z), index=batch.places, bank=self.bank, noise=noise)
        return Output(loss, z.detach())

    def _noise(self, batch: Batch) -> Int[Tensor, "n m"]:
        """Images drawn uniformly, with replacement, the image itself not left out."""
        words = keyed.raw(len(batch.places) * self.noise, *batch.key("noise"))
        drawn = (words % np.uint64(len(self.bank))).astype(np.int64)  # off uniform by less than images / 2^64
        return torch.from_numpy(drawn).reshape(-1, self.noise)

    @torch.no_grad()
    def after_step(self, fraction: float) -> None:
        """Rows of the images of the step's passes move; all passes have seen the bank as it was before the step."""
        for places, embeddings in self.seen:
            self.bank[places] = unit(self.momentum * self.bank[places] + (1 - self.momentum) * embeddings)
        self.seen.clear()


def instance_discrimination(
    parts: Parts, *, dim: PositiveInt, momentum: Fraction = 0.5, noise: PositiveInt = 4096
) -> Method:
    """A linear layer feature_dim -> dim, and a memory bank of as many unit vectors as there are images.

    The bank begins with vectors uniform on the sphere, and is no parameter: no gradient reaches it.

    Args:
        parts: encoder, objective and the like; the bank has a row for each of its images.
        dim: length of an embedding; 128 in the paper.
        momentum: after each step, the share of a row that stays; the rest is the image's new embedding, normalised, and
            the sum is normalised again (authors' code, from memory; the paper replaces the row, which is 0).
        noise: images drawn anew for each image of a pass, for an objective that asks for some (``nce_memory_bank``);
            4096 in the paper. They are drawn for other objectives too, which costs about 10 ms for 256 images, and
            changes nothing.
    """
    bank = parts.unit_vectors(parts.images, dim, "bank")
    return InstanceDiscrimination(parts, nn.Linear(parts.features, dim), bank, momentum, noise)
