"""The double metric paper's "linear evaluation": a perceptron with two layers."""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.arguments import Fraction, PositiveFloat, PositiveInt
from hypersphere.config import registry
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.probes.descent import BATCH, cross_entropy, fit
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult, scored

MEASURES = ("mlp_top1",)
PIXELS = True


def mlp(
    frozen: Frozen,
    *,
    hidden: PositiveInt = 512,
    dropout: Fraction = 0.4,
    epochs: PositiveInt = 90,
    learning_rate: PositiveFloat = 0.1,
    drop_every: PositiveInt = 40,
    momentum: Fraction = 0.9,
) -> ProbeResult:
    """Two layers with dropout between them, on raw features: SGD, with the rate divided by 10 every 40 epochs.

    Double metric paper, App. C.1. It does not state the hidden width, the activation, the batch size or a weight decay:
    ours are 512, ReLU, 256 and none. Its training images are augmented; here there is one frozen feature vector per
    image.

    Args:
        hidden: width between the layers.
        dropout: share of hidden values set to zero, in training only.
        learning_rate: of the first epochs.
        drop_every: epochs between two divisions of the rate by 10.
    """
    fitted = fit_mlp(
        frozen.features(TRAIN),
        frozen.labels(TRAIN),
        frozen.classes(),
        hidden=hidden,
        dropout=dropout,
        epochs=epochs,
        learning_rate=learning_rate,
        drop_every=drop_every,
        momentum=momentum,
    )
    return scored(frozen, fitted.scores(frozen.features(TEST)), MEASURES)


class Perceptron(NamedTuple):
    """Two layers with a ReLU between them; h hidden units, c classes."""

    w1: Float[Tensor, "h d"]
    b1: Float[Tensor, "h"]
    w2: Float[Tensor, "c h"]
    b2: Float[Tensor, "c"]

    def scores(self, features: Float[Tensor, "n d"]) -> Float[Tensor, "n c"]:
        """The score of each class, without dropout."""
        inner = torch.addmm(self.b1, features, self.w1.T).relu()
        return torch.addmm(self.b2, inner, self.w2.T)


def fit_mlp(
    bank: Float[Tensor, "*copies n d"], labels: Int[Tensor, "n"], classes: int, **mlp: Any
) -> Perceptron:
    """Train the perceptron of ``mlp``; parameters that are left out have its defaults.

    ``bank`` may hold several versions of each image, shown in turn by epoch.
    """
    settings: Any = registry.schema("probes", "mlp")(**mlp)
    dropout = settings.dropout

    def rate(passed: float) -> float:
        return float(settings.learning_rate * 0.1 ** (passed // settings.drop_every))

    def generator(purpose: str) -> torch.Generator:
        return torch.Generator().manual_seed(prng.torch_seed(0, "mlp", purpose))

    def drawn(purpose: str, inputs: int, *shape: int) -> Tensor:
        """Uniform, as torch draws the weights and biases of a linear layer."""
        bound = inputs**-0.5
        values = torch.empty(shape).uniform_(-bound, bound, generator=generator(purpose))
        return values.to(bank.device)

    width = bank.shape[-1]
    w1 = drawn("first.weight", width, settings.hidden, width)
    b1 = drawn("first.bias", width, settings.hidden)
    w2 = drawn("second.weight", settings.hidden, classes, settings.hidden)
    b2 = drawn("second.bias", settings.hidden, classes)
    parameters = Perceptron(w1, b1, w2, b2)
    of_dropout = generator("dropout")

    def gradients(features: Float[Tensor, "b d"], labels: Int[Tensor, "b"]) -> tuple[Tensor, ...]:
        inner = torch.addmm(b1, features, w1.T)
        # on the CPU: equal on every device
        is_left = torch.rand(inner.shape, generator=of_dropout) >= dropout
        passes = is_left.to(inner.device) & (inner > 0)
        outer = torch.where(passes, inner / (1 - dropout), 0)
        _, back = cross_entropy(torch.addmm(b2, outer, w2.T), labels)
        below = torch.where(passes, back @ w2 / (1 - dropout), 0)
        return below.T @ features, below.sum(dim=0), back.T @ outer, back.sum(dim=0)

    fit(parameters, gradients, bank, labels, "mlp", settings.epochs, BATCH, settings.momentum, rate)
    return parameters
