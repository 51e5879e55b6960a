"""Contrastive multiview coding: lightness and colour of one image are its two views."""

import torch
from jaxtyping import Float
from pydantic import NonNegativeInt, PositiveInt
from torch import Tensor, nn

from hypersphere.methods.base import Batch, Method, Output, Parts
from hypersphere.methods.heads import mlp

GIVES = ("pair",)
VIEWS = 1
ENCODERS = ("lab_streams",)


class TwoHeads(nn.Module):
    """A projector for either half of a feature vector: the head of a method whose views are streams of the encoder."""

    def __init__(self, lightness: nn.Module, colour: nn.Module) -> None:
        super().__init__()
        self.lightness = lightness
        self.colour = colour

    def forward(self, features: Float[Tensor, "n 2f"]) -> Float[Tensor, "n 2d"]:
        """Embeddings of an image's lightness, and behind them those of its colour, which the loss sees apart."""
        features_l, features_ab = features.chunk(2, dim=1)
        return torch.cat([self.lightness(features_l), self.colour(features_ab)], dim=1)


class CMC(Method):
    """Wiring of Tian et al. 2020, Sec. 3 (from memory), with two views, L and ab."""

    def __init__(self, parts: Parts, lightness: nn.Module, colour: nn.Module) -> None:
        super().__init__(parts)
        self.lightness = lightness
        self.colour = colour

    @property
    def head(self) -> nn.Module:
        """Both projectors, each behind its stream: [n, 2 · dim], a row for an image."""
        return TwoHeads(self.lightness, self.colour)

    def forward(self, batch: Batch) -> Output:
        """Loss over the two streams of the view, and both projectors' outputs, L's first."""
        (view,) = batch.views
        features_l, features_ab = self.encoder.streams(view)  # type: ignore[operator]
        z_l, z_ab = self.lightness(features_l), self.colour(features_ab)
        return Output(self.objective(self.gradient(z_l), self.gradient(z_ab)), torch.cat([z_l, z_ab]).detach())


def cmc(parts: Parts, *, dim: PositiveInt, hidden: NonNegativeInt = 0) -> Method:
    """A projector for each stream, stream_dim -> dim; the streams share nothing.

    The encoder's ``streams`` maps an augmented image to features of its lightness L and of its colour ab. The original
    draws its negatives from memory banks of both views; here they are the batch's (see ``multiview_coding``), so that
    nothing is kept between steps.

    Args:
        parts: encoder, objective and the like.
        dim: length of an embedding; 128 in the paper.
        hidden: width of a hidden layer with ReLU in each projector; 0: none, so that the projectors are linear, as in
            the paper.
    """
    stream = int(parts.encoder.stream_dim)  # type: ignore[arg-type]
    widths = [stream, hidden, dim] if hidden else [stream, dim]
    return CMC(parts, mlp(widths, batch_norm=False), mlp(widths, batch_norm=False))
