"""MoCo v2: each query must find its key, a slow target's embedding of the other view, among a queue of older keys."""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import PositiveInt
from torch import Tensor, nn

from hypersphere import keyed
from hypersphere.declared.registry import Fraction
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Batch, Method, Output, Parts
from hypersphere.methods.heads import mlp, sizes
from hypersphere.methods.momentum import Momentum

GIVES = ("pair", "queue")
USES = ("queue",)


class MoCoV2(Momentum):
    """Wiring of He et al. 2020, Alg. 1: queries from the first view, keys from the second, one direction."""

    queue: Float[Tensor, "m d"]
    """Unit vectors, the oldest first."""

    def __init__(
        self,
        parts: Parts,
        projector: nn.Module,
        queue: Float[Tensor, "m d"],
        *,
        momentum: float,
        groups: int,
        shuffled: bool,
    ) -> None:
        super().__init__(parts, projector, momentum)
        self.register_buffer("queue", queue)
        self.groups = groups
        self.shuffled = shuffled
        self.waiting: list[Tensor] = []
        """Keys of the passes since the last optimiser step: between steps, when states are saved, none."""

    def forward(self, batch: Batch) -> Output:
        """Loss of the queries, and they themselves; their keys wait to join the queue.

        Raises:
            HypersphereError: the pass cannot be split into equal groups.
        """
        count = len(batch.places)
        if count % self.groups:
            raise HypersphereError(f"method: mocov2: groups {self.groups} does not divide the {count} images of a pass")
        queries = self._in_groups(self.online, batch.views[0])
        with torch.no_grad():
            keys = self._keys(batch)
            self.waiting.append(F.normalize(keys))
        loss = self.objective(self.gradient(queries), keys, queue=self.queue)
        return Output(loss, queries.detach())

    def after_step(self, fraction: float) -> None:
        """The target follows; the step's keys join the queue, and as many of the oldest leave."""
        super().after_step(fraction)
        self.queue = torch.cat([self.queue, *self.waiting])[-len(self.queue) :]
        self.waiting.clear()

    def _keys(self, batch: Batch) -> Float[Tensor, "n d"]:
        """In the order of the batch, in whichever order they were put into groups."""
        images = batch.views[1]
        if not self.shuffled or self.groups == 1:  # one group's statistics do not depend on an order
            return self._in_groups(self.target, images)
        order = torch.from_numpy(keyed.permutation(len(images), *batch.key("shuffle"))).to(images.device)
        return self._in_groups(self.target, images[order])[order.argsort()]

    def _in_groups(self, network: nn.Module, images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n d"]:
        """Batch norm sees a group at a time, as if each were on a device of its own."""
        return torch.cat([network(group) for group in images.chunk(self.groups)])


def mocov2(
    parts: Parts,
    *,
    hidden: PositiveInt,
    dim: PositiveInt,
    queue: PositiveInt,
    layers: PositiveInt = 2,
    batch_norm: bool = False,
    momentum: Fraction = 0.999,
    batch_norm_over: Literal["batch", "split", "shuffled"] = "shuffled",
    groups: PositiveInt = 1,
) -> Method:
    """A projector feature_dim -> hidden -> dim, a slow target of both networks, and a queue of its embeddings.

    He et al. 2020, Sec. 3; the projector is of Chen et al. 2020b (both from memory; defaults from the authors' code).

    Args:
        parts: encoder, objective and the like.
        hidden: width of the projector's hidden layers; the encoder's in the paper.
        dim: length of an embedding; 128 in the paper.
        queue: keys that are kept, the negatives of every query; 65536 in the paper. They start as random unit vectors.
        layers: linear layers of the projector; 1 is MoCo v1's.
        batch_norm: whether batch norm stands before each ReLU of the projector.
        momentum: share of itself that the target keeps in a step.
        batch_norm_over: batch: batch norm sees all images of a pass together. split: both networks see them in
            ``groups``, as on so many devices. shuffled: the same, and the target sees them in another order, so that a
            key's group does not tell which query it belongs to (shuffling BN, He et al. 2020, Sec. 3.3).
        groups: equal parts of a pass; 1 is ``batch``, whatever ``batch_norm_over`` says. 8 in the paper, one a device.

    Raises:
        HypersphereError: more than one group of ``batch``.
    """
    if batch_norm_over == "batch" and groups > 1:
        raise HypersphereError(
            f"method: mocov2: groups {groups} is of batch_norm_over: split or shuffled (given: batch)"
        )
    projector = mlp(sizes(parts.features, hidden, dim, layers), batch_norm=batch_norm)
    return MoCoV2(
        parts,
        projector,
        parts.unit_vectors(queue, dim, "queue"),
        momentum=momentum,
        groups=groups,
        shuffled=batch_norm_over == "shuffled",
    )
