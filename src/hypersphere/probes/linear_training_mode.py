"""Linear probe of an encoder whose weights are frozen and whose batch norm is not: the norms authors' code."""

import math

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from hypersphere import prng
from hypersphere.arguments import PositiveFloat, PositiveInt
from hypersphere.augmentations.ops import to_float
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.probes.descent import BATCH, cross_entropy
from hypersphere.probes.frozen import BLOCK, Frozen
from hypersphere.probes.result import ProbeResult, scored

MEASURES = ("linear_top1", "linear_top5")


@torch.no_grad()
def linear_training_mode(
    frozen: Frozen, *, epochs: PositiveInt = 2, learning_rate: PositiveFloat = 0.1
) -> ProbeResult:
    """Softmax regression by SGD from zero, on features of the encoder in training mode.

    So batch norm divides by each batch's own deviation, and its running statistics drift. The norms paper prints linear
    probes (Table S3) but no protocol; this is its authors' code. They report the epoch of lowest training loss. Test
    images are encoded in evaluation mode, by the statistics of that moment: our reading. The rate is constant, and a
    last batch of a single image is left out.
    """
    network = frozen.copy()
    images, labels = frozen.images(TRAIN), frozen.labels(TRAIN)
    tested = frozen.images(TEST)

    def encoded(some: UInt8[np.ndarray, "n h w 3"]) -> Float[Tensor, "n d"]:
        pixels = torch.from_numpy(np.array(some)).to(frozen.device)
        output: Tensor = network(to_float(pixels))
        return output.float()

    weight = torch.zeros(frozen.classes(), frozen.features(TEST).shape[1], device=frozen.device)
    bias = torch.zeros(frozen.classes(), device=frozen.device)
    optimiser = torch.optim.SGD([weight, bias], lr=learning_rate, momentum=0.9)
    lowest = math.inf
    best = torch.full((len(tested), frozen.classes()), math.nan, device=frozen.device)
    for epoch in range(epochs):
        network.train()
        order = torch.from_numpy(prng.permutation(len(images), 0, "linear_training_mode", epoch))
        losses = []
        for index in order.split(BATCH):
            if len(index) == 1 < len(order):
                continue
            features = encoded(images[index.numpy()])
            scores = torch.addmm(bias, features, weight.T)
            loss, back = cross_entropy(scores, labels[index.to(labels.device)])
            weight.grad = back.T @ features
            bias.grad = back.sum(dim=0)
            optimiser.step()
            losses.append(loss.item() * len(index))
        if sum(losses) < lowest:
            network.eval()
            blocks = [encoded(tested[i : i + BLOCK]) for i in range(0, len(tested), BLOCK)]
            lowest = sum(losses)
            best = torch.addmm(bias, torch.cat(blocks), weight.T)
    return scored(frozen, best, MEASURES)
