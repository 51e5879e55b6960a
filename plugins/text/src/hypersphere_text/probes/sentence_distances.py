"""Distances of pairs of sentences: neighbours, and sentences of other places (LMCL, Fig. 5)."""

import numpy as np
import torch

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.types import TEST
from hypersphere.errors import HypersphereError
from hypersphere.probes.distances import of_pairs
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult
from hypersphere.probes.view_pairs import chosen

MEASURES = ("distance",)


def sentence_distances(frozen: Frozen, *, pairs: PositiveInt = 2000) -> ProbeResult:
    """D = (1 - cos) / 2 of f(sentence) and g(next sentence), as in training, on held-out sentences of the corpus.

    Pairs that are ``apart`` are of a sentence and the one after another sentence, in an order that a fixed key decides.

    Returns:
        The means ``distance;pairs=neighbours`` and ``distance;pairs=apart``, and a table as of ``distances``, in which
        ``image`` is the place of a pair in the split.
    """
    tokens = frozen.images(TEST)
    if tokens.ndim != 3 or tokens.shape[1] != 2 or len(tokens) < 2:
        raise HypersphereError(
            f"probe sentence_distances: needs 2 pairs of sentences or more (given: {tokens.shape})"
        )
    places = chosen(len(tokens), pairs)
    embedded = frozen.embed(torch.from_numpy(np.array(tokens[places])))
    of_both = embedded.reshape(len(places), 2, 2, -1)  # by sentence, then by encoder
    return of_pairs(of_both[:, 0, 0], of_both[:, 1, 1], places, ("neighbours", "apart"))
