"""Cross-validated logistic regression on frozen embeddings of sentences (LMCL, Table 4)."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.arguments import PositiveInt
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.errors import HypersphereError
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.linear import minimise, standardise
from hypersphere.probes.result import ProbeResult

MEASURES = ("text_accuracy",)
PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4)
INNER = 5
"""Folds within a training part, by which its penalty is chosen."""
CURVATURE = 0.25
"""The most that a class's probability p adds to the curvature along a feature: p (1 - p)."""


def cross_validation(frozen: Frozen, *, folds: PositiveInt = 10, iterations: PositiveInt = 200) -> ProbeResult:
    """Accuracy of logistic regression on frozen sentence embeddings: cross-validated, or by the official division.

    LMCL, Table 4: MR, CR, SUBJ and MPQA by ten folds, TREC and MSRP on their test sets; a task that has a test set is
    fitted on the whole training set. The penalty is always chosen on training examples alone. A pair of sentences is
    represented by |u - v| and u · v (Tai et al. 2015, Sec. 5.2).

    Args:
        folds: of a task without a test set.
        iterations: upper limit of L-BFGS, in each fit.
    """
    train, labels = represented(frozen, TRAIN), frozen.labels(TRAIN)
    if TEST not in frozen.splits:
        found = cross_validated(train, labels, folds=folds, iterations=iterations)
        return ProbeResult({MEASURES[0]: found}, n=len(labels))
    test, truth = represented(frozen, TEST), frozen.labels(TEST)
    return ProbeResult({MEASURES[0]: divided(train, labels, test, truth, iterations=iterations)}, n=len(truth))


def represented(frozen: Frozen, split: str) -> Float[Tensor, "n d"]:
    """An embedding of each sentence of a split, or |u - v| and u · v of each pair."""
    tokens = torch.from_numpy(np.array(frozen.images(split)))
    return of_pairs(frozen.encode(tokens), tokens.shape[1])


def of_pairs(features: Float[Tensor, "n d"], sentences: int) -> Float[Tensor, "n d"]:
    """The features of one sentence as they are; of two, |u - v| and u · v."""
    if sentences > 2:
        raise HypersphereError(f"cross-validation: an example has {sentences} sentences; one or two are allowed")
    if sentences == 1:
        return features
    u, v = features.chunk(2, dim=1)
    return torch.cat([(u - v).abs(), u * v], dim=1)


def divided(
    features: Float[Tensor, "n d"],
    labels: Int[Tensor, "n"],
    queries: Float[Tensor, "m d"],
    truth: Int[Tensor, "m"],
    *,
    penalties: Sequence[float] = PENALTIES,
    iterations: int = 200,
) -> float:
    """Accuracy, percent, on ``queries`` of logistic regression fitted on ``features``.

    The penalty is chosen by cross-validation within ``features``, as in ``cross_validated``.
    """
    right = _right(features, labels, queries, truth, int(labels.max()) + 1, penalties, iterations)
    return 100 * float(right.double().mean())


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
        features: standardised by the training part's mean and standard deviation.
        labels: from 0 on.
        penalties: on the weights, as in the probe ``linear``.
    """
    if folds < 2 or len(labels) - -(-len(labels) // max(folds, 1)) < INNER:
        needs = f"must be at least 2, with {INNER} examples or more in each training part"
        raise HypersphereError(f"cross-validation: folds: {needs} (given: {folds}, of {len(labels)} examples)")
    classes, found = int(labels.max()) + 1, []
    for test in parts(len(labels), folds, "outer"):
        train = np.setdiff1d(np.arange(len(labels)), test)
        of_fold = features[train], labels[train], features[test], labels[test]
        found.append(_right(*of_fold, classes, penalties, iterations))
    return 100 * float(torch.cat(found).double().mean())


def parts(n: int, folds: int, purpose: str) -> list[Int[np.ndarray, "k"]]:
    """Places 0 … n-1 in ``folds`` parts whose sizes differ by at most one."""
    return [np.sort(part) for part in np.array_split(prng.permutation(n, 0, "cross-validation", purpose), folds)]


def _right(
    features: Float[Tensor, "n d"],
    labels: Int[Tensor, "n"],
    queries: Float[Tensor, "m d"],
    truth: Int[Tensor, "m"],
    classes: int,
    penalties: Sequence[float],
    iterations: int,
) -> Bool[Tensor, "m"]:
    """Whether each query is predicted by a classifier fitted on ``features``; folds of them choose its penalty."""
    strongest_first = sorted(penalties, reverse=True)
    hits = dict.fromkeys(strongest_first, 0)
    for test in parts(len(labels), INNER, "inner") if len(penalties) > 1 else ():
        train = np.setdiff1d(np.arange(len(labels)), test)
        bank, held_out = standardise(features[train], features[test])
        for penalty, weights, bias in fits(bank, labels[train], classes, strongest_first, iterations):
            hits[penalty] += int((torch.addmm(bias, held_out, weights).argmax(dim=1) == labels[test]).sum())
    best = max(strongest_first, key=hits.__getitem__)
    bank, asked = standardise(features, queries)
    ((_, weights, bias),) = fits(bank, labels, classes, [best], iterations)
    return torch.addmm(bias, asked, weights).argmax(dim=1) == truth


def fits(
    bank: Float64[Tensor, "n d"], labels: Int[Tensor, "n"], classes: int, penalties: Sequence[float], iterations: int
) -> Iterator[tuple[float, Float64[Tensor, "d c"], Float64[Tensor, "c"]]]:
    """Each penalty, with the weights and bias of softmax regression: the minimum that ``linear.fit_logistic`` seeks.

    It takes a tenth of the steps: L-BFGS moves along the principal directions of ``bank``, each in units of its
    curvature, and begins where the penalty before has ended.

    Args:
        bank: standardised features, of mean zero.
        penalties: on half the squared weights, beside the mean cross-entropy; quickest from the largest on.
    """
    spread, directions = torch.linalg.eigh(bank.T @ bank / len(bank))
    turned = bank @ directions
    weights = torch.zeros(bank.shape[1], classes, dtype=bank.dtype, device=bank.device)
    bias = torch.zeros(classes, dtype=bank.dtype, device=bank.device)
    for penalty in penalties:
        unit = (CURVATURE * spread.clamp_min(0) + penalty).rsqrt()[:, None]
        scaled = weights / unit
        minimise(scaled, bias, turned * unit.T, labels, penalty * unit**2, iterations)
        weights = unit * scaled
        yield penalty, directions @ weights, bias.clone()
