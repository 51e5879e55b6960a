"""The share of images whose two views have embeddings on opposite halves of the sphere."""

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.types import TRAIN
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult
from hypersphere.probes.view_pairs import view_pairs

MEASURES = ("opposite_halves",)
RUN = True


def opposite_halves(frozen: Frozen, *, most: PositiveInt = 10_000) -> ProbeResult:
    """Pairs of views whose angle is above a right one: norms paper, Table S1.

    Both embeddings are the head's output; the paper does not say which are compared where a predictor sees one view
    only. A zero embedding is on no half.

    Args:
        most: training images, at most.

    Returns:
        ``opposite_halves``: the share of images.
    """
    pairs = view_pairs(frozen, TRAIN, most)
    products = (pairs.first.double() * pairs.second.double()).sum(dim=1)
    return ProbeResult({"opposite_halves": 100 * (products < 0).double().mean().item()}, n=len(products))
