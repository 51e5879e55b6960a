"""Linear probe as in the papers: a few epochs of plain SGD."""

import math
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere.arguments import Fraction, PositiveFloat, PositiveInt
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.probes.descent import cross_entropy, fit
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult, scored

MEASURES = ("linear_top1", "linear_top5")
PIXELS = True


def linear_sgd(
    frozen: Frozen,
    *,
    epochs: PositiveInt = 2,
    learning_rate: PositiveFloat = 0.1,
    batch: PositiveInt = 256,
    schedule: Literal["constant", "cosine"] = "constant",
    momentum: Fraction = 0.9,
) -> ProbeResult:
    """Softmax regression on raw features: SGD from zero, frozen encoder.

    The norms paper prints linear probes (Table S3) but no schedule; its authors' code runs two epochs at a constant
    rate, with the encoder in training mode. Here the encoder is frozen and in evaluation mode. The margins paper (App.
    C.1) trains 100 epochs at a rate of 1 with a cosine.

    Args:
        learning_rate: at the first step; not scaled by the batch size.
        schedule: constant, or half a cosine towards 0, updated at each step.
    """

    def rate(passed: float) -> float:
        if schedule == "constant":
            return learning_rate
        return learning_rate * (0.5 * (1 + math.cos(math.pi * passed / epochs)))

    bank = frozen.features(TRAIN)
    weight = torch.zeros(frozen.classes(), bank.shape[1], device=bank.device)
    bias = torch.zeros(frozen.classes(), device=bank.device)

    def gradients(
        features: Float[Tensor, "b d"], labels: Int[Tensor, "b"]
    ) -> tuple[Tensor, Tensor]:
        _, back = cross_entropy(torch.addmm(bias, features, weight.T), labels)
        return back.T @ features, back.sum(dim=0)

    fit(
        (weight, bias),
        gradients,
        bank,
        frozen.labels(TRAIN),
        "linear_sgd",
        epochs,
        batch,
        momentum,
        rate,
    )
    scores = torch.addmm(bias, frozen.features(TEST), weight.T)
    return scored(frozen, scores, MEASURES)
