"""Logistic regression for several penalties in turn, on one set of features."""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float64, Int
from torch import Tensor

from hypersphere.probes.descent import cross_entropy

CURVATURE = 0.25
"""The most that a class's probability p adds to the curvature along a feature: p (1 - p)."""


def fits(
    bank: Float64[Tensor, "n d"], labels: Int[Tensor, "n"], classes: int, penalties: Sequence[float], iterations: int
) -> Iterator[tuple[float, Float64[Tensor, "d c"], Float64[Tensor, "c"]]]:
    """Each penalty, with the weights and bias of softmax regression: the minimum that ``linear.fit_logistic`` seeks.

    It takes a tenth of the steps: L-BFGS moves along the principal directions of ``bank``, each in units of its
    curvature, and begins where the penalty before has ended.

    Args:
        bank: standardised features, of mean zero.
        labels: from 0 on.
        classes: how many.
        penalties: on half the squared weights, beside the mean cross-entropy; quickest from the largest on.
        iterations: upper limit of L-BFGS for each.
    """
    spread, directions = torch.linalg.eigh(bank.T @ bank / len(bank))
    turned = bank @ directions
    weights = torch.zeros(bank.shape[1], classes, dtype=bank.dtype, device=bank.device)
    bias = torch.zeros(classes, dtype=bank.dtype, device=bank.device)
    for penalty in penalties:
        unit = (CURVATURE * spread.clamp_min(0) + penalty).rsqrt()[:, None]
        weights = unit * _minimum(turned * unit.T, labels, penalty * unit**2, weights / unit, bias, iterations)
        yield penalty, directions @ weights, bias.clone()


def _minimum(
    bank: Float64[Tensor, "n d"],
    labels: Int[Tensor, "n"],
    penalties: Float64[Tensor, "d 1"],
    weights: Float64[Tensor, "d c"],
    bias: Float64[Tensor, "c"],
    iterations: int,
) -> Float64[Tensor, "d c"]:
    """The best weights from these on, with a penalty for each feature; ``bias`` is changed in place."""
    optimiser = torch.optim.LBFGS(
        [weights, bias], max_iter=iterations, tolerance_grad=1e-6, tolerance_change=1e-12, line_search_fn="strong_wolfe"
    )

    @torch.no_grad()
    def closure() -> Tensor:
        loss, back = cross_entropy(torch.addmm(bias, bank, weights), labels)
        slope = (back.T @ bank).T.contiguous()  # bank.T @ back takes eight times as long
        weights.grad, bias.grad = slope + penalties * weights, back.sum(dim=0)
        return loss + (penalties * weights.square()).sum() / 2

    optimiser.step(closure)
    return weights
