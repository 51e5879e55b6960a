"""Linear probe on augmented images by Adam: the code of debiased and of hard-negative contrastive learning."""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.arguments import NonNegativeFloat, PositiveFloat, PositiveInt
from hypersphere.augmentations.draws import draw
from hypersphere.augmentations.ops import make_views, to_float
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.probes.descent import cross_entropy
from hypersphere.probes.frozen import BLOCK, Frozen
from hypersphere.probes.result import ProbeResult, scored

MEASURES = ("linear_top1", "linear_top5")


@torch.no_grad()
def linear_augmented(
    frozen: Frozen,
    *,
    epochs: PositiveInt = 100,
    batch: PositiveInt = 512,
    learning_rate: PositiveFloat = 1e-3,
    weight_decay: NonNegativeFloat = 1e-6,
) -> ProbeResult:
    """Softmax regression by Adam from zero, on features of a new view of each image in each epoch.

    The LMCL paper takes over settings of debiased (Chuang et al. 2020) and of hard-negative contrastive learning
    (Robinson et al. 2021), whose code this is: views as in pretraining, and an encoder in training mode, so that batch
    norm divides by each batch's own deviation and its running statistics drift. Test images are plain, and encoded in
    evaluation mode. A last batch of a single image is left out.
    """
    network, labels = frozen.copy(), frozen.labels(TRAIN)
    weight = torch.zeros(frozen.classes(), frozen.features(TEST).shape[1], device=frozen.device)
    bias = torch.zeros(frozen.classes(), device=frozen.device)
    optimiser = torch.optim.Adam([weight, bias], lr=learning_rate, weight_decay=weight_decay)
    network.train()
    for epoch in range(epochs):
        for index, views in _views(frozen, epoch, batch):
            features = network(views).float()
            scores = torch.addmm(bias, features, weight.T)
            _, back = cross_entropy(scores, labels[index.to(labels.device)])
            weight.grad = back.T @ features
            bias.grad = back.sum(dim=0)
            optimiser.step()
    network.eval()
    tested = torch.from_numpy(np.array(frozen.images(TEST)))
    blocks = [network(to_float(some.to(frozen.device))).float() for some in tested.split(BLOCK)]
    return scored(frozen, torch.addmm(bias, torch.cat(blocks), weight.T), MEASURES)


def _views(
    frozen: Frozen, epoch: int, batch: int
) -> Iterator[tuple[Int[Tensor, "n"], Float[Tensor, "n 3 h w"]]]:
    """The places of each batch's images, and a view of each, as the first ones of pretraining are augmented."""
    images, first = frozen.images(TRAIN), frozen.run.branches[:1]
    drawn = draw(first, len(images), images.shape[1], 0, epoch)
    order = torch.from_numpy(prng.permutation(len(images), 0, "linear_augmented", epoch))
    for index in order.split(batch):
        if len(index) > 1 or len(order) == 1:
            pixels = torch.from_numpy(np.array(images[index.numpy()])).to(frozen.device)
            (view,) = make_views(pixels, drawn.take(index), first)
            yield index, view
