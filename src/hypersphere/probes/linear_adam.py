"""Linear probe by Adam, as in the code of hard-negative contrastive learning."""

import torch
from torch import Tensor

from hypersphere.arguments import NonNegativeFloat, PositiveFloat, PositiveInt
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.probes.descent import fit_softmax
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult, scored

MEASURES = ("linear_top1", "linear_top5")
PIXELS = True


def linear_adam(
    frozen: Frozen,
    *,
    epochs: PositiveInt = 100,
    learning_rate: PositiveFloat = 1e-3,
    batch: PositiveInt = 512,
    weight_decay: NonNegativeFloat = 1e-6,
) -> ProbeResult:
    """Softmax regression on raw features: Adam from zero at a constant rate, frozen encoder.

    The LMCL paper names no probe. The defaults are those of a method that it compares (Robinson et al. 2021, authors'
    code, image/linear.py at 7b4647f). Three things there are not here: training images are augmented, batch norm is in
    training mode, and weights start at random.

    Args:
        weight_decay: added to the gradient.
    """

    def optimiser(parameters: list[Tensor]) -> torch.optim.Optimizer:
        return torch.optim.Adam(parameters, weight_decay=weight_decay)

    def rate(passed: float) -> float:
        return learning_rate

    bank, labels = frozen.features(TRAIN), frozen.labels(TRAIN)
    weight, bias = fit_softmax(bank, labels, frozen.classes(), "linear_adam", epochs, batch, optimiser, rate)
    return scored(frozen, torch.addmm(bias, frozen.features(TEST), weight.T), MEASURES)
