"""Distances of pairs of embeddings: two views of an image, and views of two images."""

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import directions
from hypersphere.probes.result import ProbeResult, reading
from hypersphere.probes.view_pairs import view_pairs

MEASURES = ("distance",)


def distances(frozen: Frozen) -> ProbeResult:
    """D = (1 - cos) / 2 of pairs of embeddings, as in LMCL (Sec. 3.1), on augmented test images.

    Positive pairs are two views of an image. Negative ones are a view of an image and the other view of the next one,
    in an order that a fixed key decides: as many as there are positive pairs, and no image with itself.

    Returns:
        The means ``distance;pairs=positive`` and ``distance;pairs=negative``, and a table with one row per pair: pairs,
        image (the place of its first image in the split) and distance.
    """
    return of_pairs(*view_pairs(frozen))


def of_pairs(
    first: Float[Tensor, "n e"],
    second: Float[Tensor, "n e"],
    places: Int[np.ndarray, "n"],
    sorts: tuple[str, str] = ("positive", "negative"),
) -> ProbeResult:
    """Distances of aligned embeddings, and of each in ``first`` with another of ``second``, as ``distances`` has them.

    Args:
        first: of n examples, at least two.
        second: of their partners.
        places: the examples' places in their split, for the table.
        sorts: values of the reading ``pairs``: for partners, and for others.
    """
    order = torch.from_numpy(prng.permutation(len(first), 0, "distances")).to(first.device)
    others = second[order.roll(1)][order.argsort()]
    means, rows = {}, []
    for sort, partners in zip(sorts, (second, others), strict=True):
        apart = distance(first, partners).cpu().numpy()
        means[reading("distance", pairs=sort)] = float(np.mean(apart))
        rows.append(pd.DataFrame({"pairs": sort, "image": places, "distance": apart}))
    return ProbeResult(means, pd.concat(rows, ignore_index=True), n=len(first))


def distance(a: Float[Tensor, "n e"], b: Float[Tensor, "n e"]) -> Float64[Tensor, "n"]:
    """(1 - cos) / 2 of each row of two batches: from 0, one direction, to 1, opposite ones; 1/2 for a zero vector.

    It is a quarter of the squared chord, which loses no digits for near directions.
    """
    a, b = directions(a), directions(b)
    zero = (a == 0).all(dim=1) | (b == 0).all(dim=1)
    return torch.where(zero, 0.5, (a - b).square().sum(dim=1) / 4)
