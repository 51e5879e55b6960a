"""Contrastive multiview coding: lightness and colour of one image are its two views."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere.arguments import NonNegativeInt, PositiveInt
from hypersphere.methods.base import Batch, Method, Output, Parts
from hypersphere.methods.heads import mlp

GIVES = ("pair",)
VIEWS = 1
ENCODERS = ("lab_streams",)


class TwoHeads(nn.ModuleDict):
    """One projector for each half of a feature vector: the head of a method whose views are streams of the encoder."""

    def forward(self, features: Float[Tensor, "n 2f"]) -> Float[Tensor, "n 2d"]:
        """Embedding of an image's lightness, followed by that of its colour; the loss sees them as two views."""
        halves = zip((self["lightness"], self["colour"]), features.chunk(2, dim=1), strict=True)
        return torch.cat([projector(half) for projector, half in halves], dim=1)


class CMC(Method):
    """Wiring of Tian et al. 2020, Sec. 3 (from memory), with two views, L and ab."""

    lightness: nn.Module
    colour: nn.Module

    @property
    def head(self) -> nn.Module:
        """Both projectors, each behind its stream: [n, 2 · dim], one row per image."""
        return TwoHeads({"lightness": self.lightness, "colour": self.colour})

    def forward(self, batch: Batch) -> Output:
        """Loss over the two streams of the view; the embeddings are both projectors' outputs, those of L first."""
        (view,) = batch.views
        features_l, features_ab = self.encoder(view).chunk(2, dim=1)
        z_l, z_ab = self.lightness(features_l), self.colour(features_ab)
        return Output(
            self.objective(self.gradient(z_l), self.gradient(z_ab)), torch.cat([z_l, z_ab]).detach()
        )


def cmc(parts: Parts, *, dim: PositiveInt, hidden: NonNegativeInt = 0) -> Method:
    """A projector for each stream, stream_dim -> dim; the streams share no weights.

    The encoder maps an augmented image to features of its lightness L, followed by those of its colour ab. The original
    draws negatives from memory banks of both views; here the batch provides them (see ``multiview_coding``), and
    nothing is kept between steps.

    Args:
        dim: 128 in the paper.
        hidden: 0: no hidden layer, so linear projectors as in the paper.
    """
    stream = int(parts.encoder.stream_dim)  # type: ignore[arg-type]
    widths = [stream, hidden, dim] if hidden else [stream, dim]
    return CMC(parts, lightness=mlp(widths, batch_norm=False), colour=mlp(widths, batch_norm=False))
