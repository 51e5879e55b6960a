"""Weighted k-nearest-neighbour classification."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Float32, Float64, Int
from torch import Tensor

from hypersphere.arguments import NonNegativeInt, PositiveFloat, PositiveInt
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.errors import HypersphereError
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult, scored

MEASURES = ("knn_top1", "knn_top5")
PIXELS = True
AT_MOST_THE_BANK = "k"
"""The parameter that may not be more than the number of training images, which is checked before any training."""

BLOCK = 2**24
"""Entries of the largest array for one block of queries; it bounds memory and changes no result."""


def knn(
    frozen: Frozen,
    *,
    k: PositiveInt = 200,
    temperature: PositiveFloat = 0.1,
    drop_last: NonNegativeInt = 0,
) -> ProbeResult:
    """Predict each test image by the votes of the k most similar training images, each weighted exp(cosine / t).

    Wu et al. 2018, Sec. 3.4; norms paper, App. C.1 (k = 200 on normalised embeddings). Top-5 ranks classes by votes; of
    equal votes the lower class wins.

    Ties: training images as similar as the k-th share the remaining places equally, so the vote depends on similarities
    and labels, and not on the order of the images. Cosines are computed in float64 and compared as float32, so that
    equal features tie wherever they are in a matrix product.

    Args:
        drop_last: a batch size: bank and test set lose the images after their last whole batch, as in the code of the
            norms paper's authors (256: 9,984 of 10,000 test images). 0: all images.
    """
    batch = drop_last or 1
    bank = _whole_batches(frozen.features(TRAIN), batch)
    queries = _whole_batches(frozen.features(TEST), batch)
    if drop_last and not (len(bank) and len(queries)):
        raise HypersphereError(f"knn: drop_last: {drop_last} leaves no images")
    labels = frozen.labels(TRAIN)[: len(bank)]
    scores = vote(bank, queries, labels, frozen.classes(), k, temperature)
    return scored(frozen, scores, MEASURES)


def _whole_batches(features: Float[Tensor, "n d"], batch: int) -> Float[Tensor, "m d"]:
    """The features without those after the last whole batch."""
    return features[: len(features) // batch * batch]


def vote(
    bank: Float[Tensor, "n d"],
    queries: Float[Tensor, "m d"],
    labels: Int[Tensor, "n"],
    classes: int,
    k: int,
    temperature: float = 0.1,
    leave_out: bool = False,
) -> Float64[Tensor, "m c"]:
    """The bank's votes for each class, for each query; with ``leave_out`` query i is image i, which has no vote."""
    voters = len(bank) - leave_out
    if k > voters:
        raise HypersphereError(f"knn: k: {k} is more than the {voters} images of the bank")
    bank, queries = directions(bank), directions(queries)
    rows = max(1, BLOCK // max(len(bank), k * (classes + 1)))
    scores = []
    for first in range(0, len(queries), rows):
        cosines = (queries[first : first + rows] @ bank.T).float()
        if leave_out:
            cosines[:, first:].fill_diagonal_(-torch.inf)
        scores.append(votes(cosines, labels, classes, k, temperature))
    return torch.cat(scores)


def directions(features: Float[Tensor, "n d"]) -> Float64[Tensor, "n d"]:
    """Unit vectors in float64, also of very short vectors; zero stays zero."""
    features = features.double()
    norms = features.norm(dim=1, keepdim=True)
    return features / torch.where(norms > 0, norms, 1)


def votes(
    cosines: Float32[Tensor, "m n"],
    labels: Int[Tensor, "n"],
    classes: int,
    k: int,
    temperature: float,
) -> Float64[Tensor, "m c"]:
    """Votes for each class, in units of the most similar image's vote; their bits do not depend on the bank's order."""
    top, neighbours = cosines.topk(k, dim=1)
    threshold = top[:, -1:]
    # the nearest has weight 1: no overflow
    weights = ((top - top[:, :1]).double() / temperature).exp()
    # Images more similar than the k-th: sorted by label, then similarity, so that they are always added in one order.
    above = top > threshold
    label = torch.where(above, labels[neighbours], classes)
    order = label.argsort(dim=1, stable=True)
    one_hot = F.one_hot(label.gather(1, order), classes + 1)[..., :classes]
    nearer = (one_hot * weights.gather(1, order)[..., None]).sum(dim=1)
    # Images as similar as the k-th: their number in each class, times the share of a place that each of them gets.
    query, place = (cosines == threshold).nonzero(as_tuple=True)
    cell = query * classes + labels[place]
    tied = torch.bincount(cell, minlength=len(cosines) * classes)
    tied = tied.view(-1, classes).double()
    share = (k - above.sum(dim=1, keepdim=True)) / tied.sum(dim=1, keepdim=True)
    return nearer + tied * share * weights[:, -1:]
