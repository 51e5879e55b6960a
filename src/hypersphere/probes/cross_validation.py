"""Cross-validated logistic regression on frozen embeddings of sentences (LMCL, Table 4)."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere import keyed
from hypersphere.errors import HypersphereError
from hypersphere.probes.linear import fit_logistic, standardise

PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4)
INNER = 5
"""Folds within a training part, by which its penalty is chosen."""


def cross_validated(
    features: Float[Tensor, "n d"],
    labels: Int[Tensor, "n"],
    *,
    folds: int = 10,
    penalties: Sequence[float] = PENALTIES,
    iterations: int = 200,
) -> float:
    """Accuracy, percent, of logistic regression on images or sentences that it was not fitted on, each once.

    The penalty of each fold is the one that predicts best within the fold's training part, by cross-validation in it;
    of equals, the strongest. The fold's own test part is never used for that. Which examples are in which fold is drawn
    by a fixed key.

    Args:
        features: of n examples; standardised by the training part's mean and standard deviation.
        labels: their classes, from 0 on.
        folds: parts of the whole set.
        penalties: on the weights, as in the probe ``linear``.
        iterations: upper limit of L-BFGS.

    Raises:
        HypersphereError: there are fewer than two folds, or a training part would be too small to be divided.
    """
    if folds < 2 or len(labels) - -(-len(labels) // max(folds, 1)) < INNER:
        raise HypersphereError(
            f"cross-validation: folds: {len(labels)} examples cannot be divided into {folds} folds of {INNER} parts"
        )
    classes = int(labels.max()) + 1
    hits = torch.zeros(len(labels), dtype=torch.bool, device=labels.device)
    for test in parts(len(labels), folds, "outer"):
        train = np.setdiff1d(np.arange(len(labels)), test)
        penalty = _best(features[train], labels[train], classes, sorted(penalties, reverse=True), iterations)
        hits[test] = _hits(features, labels, train, test, classes, penalty, iterations)
    return 100 * float(hits.double().mean())


def parts(n: int, folds: int, purpose: str) -> list[Int[np.ndarray, "k"]]:
    """Places 0 … n-1 in ``folds`` parts whose sizes differ by at most one."""
    return [np.sort(part) for part in np.array_split(keyed.permutation(n, 0, "cross-validation", purpose), folds)]


def _best(
    features: Float[Tensor, "n d"], labels: Int[Tensor, "n"], classes: int, penalties: Sequence[float], iterations: int
) -> float:
    if len(penalties) == 1:
        return penalties[0]
    hits = dict.fromkeys(penalties, 0)
    for test in parts(len(labels), INNER, "inner"):
        train = np.setdiff1d(np.arange(len(labels)), test)
        for penalty in penalties:
            hits[penalty] += int(_hits(features, labels, train, test, classes, penalty, iterations).sum())
    return max(penalties, key=hits.__getitem__)


def _hits(
    features: Float[Tensor, "n d"],
    labels: Int[Tensor, "n"],
    train: Int[np.ndarray, "m"],
    test: Int[np.ndarray, "k"],
    classes: int,
    penalty: float,
    iterations: int,
) -> Tensor:
    """Whether each example of ``test`` is predicted by a classifier fitted on ``train``."""
    bank, queries = standardise(features[train], features[test])
    weights, bias = fit_logistic(bank, labels[train], classes, penalty, iterations)
    return torch.addmm(bias, queries, weights).argmax(dim=1) == labels[test]
