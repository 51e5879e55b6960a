"""Linear probe without seed or schedule: regularised logistic regression, solved to its optimum."""

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from hypersphere.arguments import NonNegativeInt
from hypersphere.datasets.types import CLASS, TEST, TRAIN
from hypersphere.probes.descent import cross_entropy
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult, reading, scored, top_k

MEASURES = ("linear_top1", "linear_top5")
PIXELS = True

PENALTY = 1e-3
"""Penalty on the weights, relative to the mean over images."""
ITERATIONS = 200
"""The most iterations of L-BFGS; usually the optimum is reached before."""
FLOOR = 1e-6
"""Smallest divisor of a dimension, relative to the largest standard deviation."""


def linear(frozen: Frozen, *, digits: NonNegativeInt = 0) -> ProbeResult:
    """Fit softmax regression on standardised features by full-batch L-BFGS in float64, from zero.

    Minimises the mean cross-entropy plus penalty/2 · ||weights||², without penalty on the bias. Three classes or more:
    scikit-learn's LogisticRegression with C = 1 / (penalty · n). Two classes have two columns of weights here and one
    there, their difference, whose square is twice the sum of theirs: C = 2 / (penalty · n). Nothing is random, so a
    rerun gives equal bits.

    Args:
        digits: of an image, each with labels of its own, ``digit_1`` and so on, and a fit of its own; 0: the class.

    Returns:
        ``linear_top1`` and ``linear_top5``, on a biased set also by bias (``scored``); with ``digits``,
        ``linear_top1;label=digit_1`` and so on.
    """
    bank, queries = standardise(frozen.features(TRAIN), frozen.features(TEST))
    if bank.shape[0] < bank.shape[1]:
        # In orthonormal coordinates of the bank's row space, in which the penalty keeps the weights: fewer to fit.
        basis_dn = torch.linalg.qr(bank.T).Q
        bank, queries = bank @ basis_dn, queries @ basis_dn

    def scores(name: str) -> Float64[Tensor, "m c"]:
        labels, classes = frozen.labels(TRAIN, name), frozen.classes(name)
        weights, bias = fit_logistic(bank, labels, classes, PENALTY, ITERATIONS)
        return torch.addmm(bias, queries, weights)

    if not digits:
        return scored(frozen, scores(CLASS), MEASURES)
    top1, top5 = MEASURES
    values: dict[str, float] = {}
    for number in range(1, digits + 1):
        name = f"digit_{number}"
        of_digit, truth = scores(name), frozen.labels(TEST, name)
        values[reading(top1, label=name)] = top_k(of_digit, truth, 1)
        values[reading(top5, label=name)] = top_k(of_digit, truth, 5)
    return ProbeResult(values, n=len(queries))


def fit_logistic(
    bank: Float64[Tensor, "n d"],
    labels: Int[Tensor, "n"],
    classes: int,
    penalty: float,
    iterations: int,
) -> tuple[Float64[Tensor, "d c"], Float64[Tensor, "c"]]:
    """Weights and bias of softmax regression, as ``linear`` fits it."""
    weights = torch.zeros(bank.shape[1], classes, dtype=bank.dtype, device=bank.device)
    bias = torch.zeros(classes, dtype=bank.dtype, device=bank.device)
    minimise(weights, bias, bank, labels, penalty, iterations)
    return weights, bias


def minimise(
    weights: Float64[Tensor, "d c"],
    bias: Float64[Tensor, "c"],
    bank: Float64[Tensor, "n d"],
    labels: Int[Tensor, "n"],
    penalty: float | Float64[Tensor, "d 1"],
    iterations: int,
) -> None:
    """Move weights and bias in place to the least penalised mean cross-entropy; ``penalty`` may differ by feature."""
    optimiser = torch.optim.LBFGS(
        [weights, bias],
        max_iter=iterations,
        tolerance_grad=1e-6,
        tolerance_change=1e-12,
        line_search_fn="strong_wolfe",
    )

    @torch.no_grad()
    def closure() -> Tensor:
        loss, back = cross_entropy(torch.addmm(bias, bank, weights), labels)
        slope = (back.T @ bank).T.contiguous()  # bank.T @ back takes eight times as long
        weights.grad = slope + penalty * weights
        bias.grad = back.sum(dim=0)
        return loss + (penalty * weights.square()).sum() / 2

    optimiser.step(closure)


def standardise(
    bank: Float[Tensor, "n d"], queries: Float[Tensor, "m d"]
) -> tuple[Float64[Tensor, "n d"], Float64[Tensor, "m d"]]:
    """Subtract the bank's mean and divide by its standard deviation, in float64.

    This makes the probe independent of the features' scale: an encoder with cut weights gives features of 1e-12. A
    dimension that is constant over the bank becomes zero in both.
    """
    bank, queries = bank.double(), queries.double()
    constant = (bank == bank[:1]).all(dim=0)
    # by rounding, a constant's is about 1e-16 of it
    std = torch.where(constant, 0, bank.std(dim=0, correction=0))
    scale = torch.where(constant, torch.inf, std.clamp_min(FLOOR * std.max()))
    mean = bank.mean(dim=0)
    return (bank - mean) / scale, (queries - mean) / scale
