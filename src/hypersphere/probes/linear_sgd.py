"""Linear probe as the norms authors train it: a few epochs of plain SGD."""

import torch
import torch.nn.functional as F
from jaxtyping import Int
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor, nn

from hypersphere import keyed
from hypersphere.probes.features import Features


def linear_sgd(
    features: Features, *, epochs: PositiveInt = 2, learning_rate: PositiveFloat = 0.1, batch: PositiveInt = 256
) -> Int[Tensor, "m"]:
    """Softmax regression on raw features: SGD with momentum 0.9, constant rate, from zero, frozen encoder.

    The norms paper prints linear probes (Table S3) and no schedule; its authors' code runs two epochs at a constant
    rate. Theirs leaves the encoder in training mode; here it is frozen, evaluation batch norm included.

    Args:
        features: bank (training) and queries (test).
        epochs: passes over the bank.
        learning_rate: constant.
        batch: images per step; the last, smaller batch is used too.

    Returns:
        The predicted class of each query. The order of images is the same for every run (keyed by epoch alone), so
        nothing here adds to the variance between seeds.
    """
    layer = nn.Linear(features.bank.shape[1], features.classes, device=features.bank.device)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    optimiser = torch.optim.SGD(layer.parameters(), lr=learning_rate, momentum=0.9)
    bank = features.bank.clone()  # inference tensors cannot be used in a graph
    for epoch in range(epochs):
        order = torch.from_numpy(keyed.permutation(len(bank), 0, "linear_sgd", epoch)).to(bank.device)
        for index in order.split(batch):
            loss = F.cross_entropy(layer(bank[index]), features.bank_labels[index])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    with torch.no_grad():
        return layer(features.queries).argmax(dim=1)
