"""Cross-validated logistic regression on frozen embeddings of sentences (LMCL, Table 4)."""

import math
from collections.abc import Iterator, Mapping, Sequence

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


def cross_validation(
    frozen: Frozen, *, folds: PositiveInt = 10, iterations: PositiveInt = 200
) -> ProbeResult:
    """Accuracy of logistic regression on frozen sentence embeddings: cross-validated, or by the official division.

    LMCL, Table 4: MR, CR, SUBJ and MPQA by ten folds, TREC and MSRP on their test sets; a task that has a test set is
    fitted on the whole training set. The penalty is always chosen on training examples alone. A pair of sentences is
    represented by |u - v| and u · v (Tai et al. 2015, Sec. 5.2).

    Args:
        folds: of a task without a test set.
        iterations: upper limit of L-BFGS, in each fit.
    """
    features = {}
    for split in frozen.splits:
        tokens = torch.from_numpy(np.array(frozen.images(split)))
        features[split] = of_pairs(frozen.encode(tokens), tokens.shape[1])
    labels = {split: frozen.labels(split) for split in features}
    share = accuracy(features, labels, folds=folds, iterations=iterations)
    return ProbeResult({MEASURES[0]: share}, n=len(labels[TEST if TEST in labels else TRAIN]))


def of_pairs(features: Float[Tensor, "n d"], sentences: int) -> Float[Tensor, "n d"]:
    """The features of one sentence as they are; of two, |u - v| and u · v."""
    if sentences > 2:
        raise HypersphereError(
            f"cross-validation: an example has {sentences} sentences; one or two are allowed"
        )
    if sentences == 1:
        return features
    u, v = features.chunk(2, dim=1)
    return torch.cat([(u - v).abs(), u * v], dim=1)


def accuracy(
    features: Mapping[str, Float[Tensor, "n d"]],
    labels: Mapping[str, Int[Tensor, "n"]],
    *,
    folds: int,
    iterations: int,
    penalties: Sequence[float] = PENALTIES,
) -> float:
    """Accuracy, percent, of logistic regression on examples that it was not fitted on, each once.

    With a split ``test`` it is fitted on all of ``train``; else each fold of ``train`` is predicted from the others.
    The penalty is the one that predicts best within the part to fit on, by cross-validation in it; of equals, the
    strongest. Examples to be tested are never used for that. Which ones are in which fold is drawn by a fixed key.

    Args:
        features: by split; standardised by the mean and standard deviation of what is fitted on.
        labels: by split, from 0 on.
        penalties: on the weights, as in the probe ``linear``.
    """
    bank, truth = features[TRAIN], labels[TRAIN]
    classes = int(truth.max()) + 1
    strongest_first = sorted(penalties, reverse=True)

    def right(
        bank: Float[Tensor, "k d"],
        truth: Int[Tensor, "k"],
        asked: Float[Tensor, "m d"],
        answers: Int[Tensor, "m"],
    ) -> Bool[Tensor, "m"]:
        """Which answers are predicted by all that is known."""
        best = best_penalty(bank, truth, classes, strongest_first, iterations)
        fitted, queries = standardise(bank, asked)
        ((_, weights, bias),) = fits(fitted, truth, classes, [best], iterations)
        return torch.addmm(bias, queries, weights).argmax(dim=1) == answers

    if TEST in features:
        predicted = [right(bank, truth, features[TEST], labels[TEST])]
    else:
        if folds < 2 or len(truth) - math.ceil(len(truth) / folds) < INNER:
            needs = f"must be at least 2, with {INNER} examples or more in each training part"
            raise HypersphereError(
                f"cross-validation: folds: {needs} (given: {folds}, of {len(truth)} examples)"
            )
        predicted = []
        for test in parts(len(truth), folds, "outer"):
            fit = np.setdiff1d(np.arange(len(truth)), test)
            predicted.append(right(bank[fit], truth[fit], bank[test], truth[test]))
    return 100 * float(torch.cat(predicted).double().mean())


def best_penalty(
    bank: Float[Tensor, "n d"],
    truth: Int[Tensor, "n"],
    classes: int,
    strongest_first: Sequence[float],
    iterations: int,
) -> float:
    """The penalty that predicts best, by cross-validation; of equals the first."""
    if len(strongest_first) == 1:
        return strongest_first[0]
    hits = dict.fromkeys(strongest_first, 0)
    for held in parts(len(bank), INNER, "inner"):
        fit = np.setdiff1d(np.arange(len(bank)), held)
        fitted, queries = standardise(bank[fit], bank[held])
        each = fits(fitted, truth[fit], classes, strongest_first, iterations)
        for penalty, weights, bias in each:
            predicted = torch.addmm(bias, queries, weights).argmax(dim=1)
            hits[penalty] += int((predicted == truth[held]).sum())
    return max(strongest_first, key=hits.__getitem__)


def parts(n: int, folds: int, purpose: str) -> list[Int[np.ndarray, "k"]]:
    """Places 0 … n-1 in ``folds`` parts whose sizes differ by at most one."""
    order = prng.permutation(n, 0, "cross-validation", purpose)
    return [np.sort(part) for part in np.array_split(order, folds)]


def fits(
    bank: Float64[Tensor, "n d"],
    labels: Int[Tensor, "n"],
    classes: int,
    penalties: Sequence[float],
    iterations: int,
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
