"""The double metric paper's "linear evaluation": a perceptron with two layers."""

import torch
from jaxtyping import Float
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor, nn

from hypersphere import keyed
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.declared.registry import Fraction
from hypersphere.probes.descent import fit
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.measured import Measured, top_k

MEASURES = ("mlp_top1",)
PIXELS = True


def mlp(
    frozen: Frozen,
    *,
    hidden: PositiveInt = 512,
    dropout: Fraction = 0.4,
    epochs: PositiveInt = 90,
    learning_rate: PositiveFloat = 0.1,
    batch: PositiveInt = 256,
    drop_every: PositiveInt = 40,
    momentum: Fraction = 0.9,
) -> Measured:
    """Two layers with dropout between them, on raw features: SGD, with the rate divided by 10 every 40 epochs.

    Double metric paper, App. C.1. It does not state the hidden width, the activation, the batch size or a weight decay:
    ours are 512, ReLU, 256 and none. Its training images are augmented; here there is one frozen feature vector per
    image.

    Args:
        frozen: features of the training and of the test set.
        hidden: width between the layers.
        dropout: share of hidden values set to zero, in training only.
        epochs: passes over the training set.
        learning_rate: of the first epochs, per 256 images of a batch.
        batch: images per step; the last, smaller batch is used too.
        drop_every: epochs between two divisions of the rate by 10.
        momentum: of SGD.

    Returns:
        ``mlp_top1``, in percent. Initial weights, the order of images and the dropout are the same for every run.

    Raises:
        NotFiniteError: the scores are not finite, because the rate is too high.
    """

    def rate(passed: float) -> float:
        return learning_rate * batch / 256 * 0.1 ** (passed // drop_every)

    bank, truth = frozen.features(TRAIN), frozen.labels(TEST)
    model = nn.Sequential(
        _layer("first", bank.shape[1], hidden),
        nn.ReLU(),
        KeyedDropout(dropout),
        _layer("second", hidden, frozen.classes()),
    ).to(bank.device)
    fit(
        model,
        bank,
        frozen.labels(TRAIN),
        purpose="mlp",
        epochs=epochs,
        batch=batch,
        momentum=momentum,
        rate=rate,
    )
    with torch.no_grad():
        scores = model.eval()(frozen.features(TEST))
    return Measured({"mlp_top1": top_k(scores, truth, 1)}, n=len(truth))


class KeyedDropout(nn.Module):
    """Dropout that draws on the CPU from its own generator: equal on every device and in every rerun.

    Args:
        share: share of entries set to zero; the others are multiplied by 1 / (1 - share).
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.generator = _generator("dropout")

    def forward(self, hidden: Float[Tensor, "n h"]) -> Float[Tensor, "n h"]:
        """Drop entries in training; the identity in evaluation."""
        if not self.training:
            return hidden
        keep = torch.rand(hidden.shape, generator=self.generator) >= self.share
        return torch.where(keep.to(hidden.device), hidden / (1 - self.share), 0)


def _layer(name: str, inputs: int, outputs: int) -> nn.Linear:
    """A linear layer with keyed weights, uniform within 1/sqrt(inputs) as torch draws them."""
    layer, bound = nn.Linear(inputs, outputs), inputs**-0.5
    nn.init.uniform_(layer.weight, -bound, bound, generator=_generator(f"{name}.weight"))
    nn.init.uniform_(layer.bias, -bound, bound, generator=_generator(f"{name}.bias"))
    return layer


def _generator(purpose: str) -> torch.Generator:
    return torch.Generator().manual_seed(keyed.torch_seed(0, "mlp", purpose))
