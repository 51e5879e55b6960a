"""Weighted k-nearest-neighbour classification."""

import torch
import torch.nn.functional as F
from jaxtyping import Int
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from hypersphere.probes.features import Features

BLOCK = 1024
"""Queries per similarity matrix; it bounds memory and changes no result."""


def knn(features: Features, *, k: PositiveInt = 200, temperature: PositiveFloat = 0.1) -> Int[Tensor, "m"]:
    """Predict each query by the votes of its k most similar bank images, each weighted exp(cosine / temperature).

    Wu et al. 2018, Sec. 3.4; norms paper, App. C.1 (k = 200 on normalised embeddings).

    Args:
        features: bank and queries; normalised here.
        k: neighbours, or the whole bank where it is smaller.
        temperature: in units of cosine.

    Returns:
        The predicted class of each query; equal votes go to the lower class number.
    """
    bank, queries = F.normalize(features.bank, dim=1), F.normalize(features.queries, dim=1)
    one_hot = F.one_hot(features.bank_labels, features.classes).to(bank.dtype)
    predicted = []
    for block in queries.split(BLOCK):
        similarity, neighbours = (block @ bank.T).topk(min(k, len(bank)), dim=1)
        weight = ((similarity - similarity[:, :1]) / temperature).exp()  # the nearest counts 1: no overflow
        votes = (one_hot[neighbours] * weight[..., None]).sum(dim=1)
        predicted.append(votes.argmax(dim=1))
    return torch.cat(predicted)
