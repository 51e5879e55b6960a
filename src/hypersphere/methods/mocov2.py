"""MoCo v2: each query is matched with its key, a slow target's embedding of the other view, against a queue of keys."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere import prng
from hypersphere.arguments import Fraction, PositiveInt
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Batch, Method, Output, Parts
from hypersphere.methods.heads import mlp, sizes
from hypersphere.methods.momentum import Momentum
from hypersphere.transfer import send

GIVES = ("pair", "queue")
USES = ("queue",)
BATCH_NORM = ("batch_norm",)


class MoCoV2(Momentum):
    """Wiring of He et al. 2020, Alg. 1: queries from the first view, keys from the second, one direction."""

    queue: Float[Tensor, "m d"]
    """Earlier keys as unit vectors, the oldest first."""
    groups: int
    waiting: list[Tensor]
    """Keys of the passes since the last optimiser step; empty between steps, when states are saved."""

    def forward(self, batch: Batch) -> Output:
        """Loss of the queries, which are the embeddings. Their keys join the queue after the step."""
        count = len(batch.places)
        if count % self.groups:
            raise HypersphereError(
                f"method: mocov2: groups {self.groups} does not divide the {count} images of a pass"
            )
        queries = self._in_groups(self.online, batch.views[0])
        with torch.no_grad():
            images = batch.views[1]
            if self.groups > 1:  # the statistics of one group do not depend on the order
                seed, *moment = batch.rng_key
                shuffled = prng.permutation(count, seed, "shuffle", *moment)
                order = send(torch.from_numpy(shuffled), images.device)
                keys = self._in_groups(self.target, images[order])[order.argsort()]
            else:
                keys = self.target(images)
            self.waiting.append(F.normalize(keys))
        loss = self.objective(self.gradient(queries), keys, queue=self.queue)
        return Output(loss, queries.detach())

    def after_step(self, before: float, after: float) -> None:
        """Move the target; add the step's keys to the queue, and drop as many of the oldest."""
        super().after_step(before, after)
        self.queue = torch.cat([self.queue, *self.waiting])[-len(self.queue) :]
        self.waiting.clear()

    def _in_groups(
        self, network: nn.Module, images: Float[Tensor, "n 3 h w"]
    ) -> Float[Tensor, "n d"]:
        """Outputs group by group, so that batch norm sees one group at a time, as on separate devices."""
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
    groups: PositiveInt = 1,
) -> Method:
    """A projector feature_dim -> hidden -> dim, a slow copy of encoder and projector, and a queue of its embeddings.

    He et al. 2020, Sec. 3, with the projector of Chen et al. 2020b (both from memory; defaults from the authors' code).

    Args:
        hidden: feature_dim in the paper.
        dim: 128 in the paper.
        queue: number of keys in the queue, the negatives of every query; 65536 in the paper. The first ones are random
            unit vectors.
        layers: 1 as in MoCo v1.
        groups: number of equal parts of a pass that batch norm sees one at a time; 8 in the paper, one per device. The
            target sees the images in another order, so that a key's group does not reveal its query (shuffling BN, He
            et al. 2020, Sec. 3.3).
    """
    projector = mlp(sizes(parts.features, hidden, dim, layers), batch_norm=batch_norm)
    keys = parts.unit_vectors(queue, dim, "queue")
    return MoCoV2(
        parts, projector=projector, queue=keys, momentum=momentum, groups=groups, waiting=[]
    )
