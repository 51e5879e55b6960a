"""The share of images whose two views have embeddings on opposite halves of the sphere."""

from hypersphere.datasets.types import TRAIN
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult
from hypersphere.probes.view_pairs import view_pairs

MEASURES = ("opposite_halves",)


def opposite_halves(frozen: Frozen) -> ProbeResult:
    """The share of pairs of views whose angle is above a right one: norms paper, Table S1.

    Both embeddings are the head's output; the paper does not say which are compared where a predictor sees one view
    only. A zero embedding is on no half.
    """
    first, second, _ = view_pairs(frozen, TRAIN, 10_000)
    products = (first.double() * second.double()).sum(dim=1)
    return ProbeResult(
        {"opposite_halves": 100 * (products < 0).double().mean().item()}, n=len(products)
    )
