"""Two backbones, one for an image's lightness and one for its colour: the encoder of contrastive multiview coding."""

from typing import Literal

import torch
from jaxtyping import Float
from pydantic import PositiveInt
from torch import Tensor, nn

from hypersphere.encoders.cielab import to_unit_lab
from hypersphere.encoders.convnet import plain_network
from hypersphere.encoders.resnet import stemmed_resnet
from hypersphere.encoders.stages import basic_resnet
from hypersphere.errors import HypersphereError


class LabStreams(nn.Module):
    """Maps [n, 3, h, w] to [n, feature_dim]: features of L*, then features of a* and b*.

    The views of an image are its lightness and its colour (Tian et al. 2020). The conversion has no weights, and both
    streams see the same augmented image.
    """

    def __init__(self, lightness: nn.Module, colour: nn.Module) -> None:
        """Combine two backbones that map [n, 1, h, w] and [n, 2, h, w] to features of equal length."""
        super().__init__()
        self.lightness = lightness
        self.colour = colour
        self.stream_dim = int(lightness.feature_dim)  # type: ignore[arg-type]
        self.feature_dim = 2 * self.stream_dim

    def streams(self, images: Float[Tensor, "n 3 h w"]) -> tuple[Float[Tensor, "n d"], Float[Tensor, "n d"]]:
        """Features of L*, and of a* and b*. Images are sRGB in [0, 1]; the backbones see channels in [-1, 1]."""
        lab = to_unit_lab(images)
        return self.lightness(lab[:, :1]), self.colour(lab[:, 1:])

    def forward(self, images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 2d"]:
        """Features of both streams, concatenated."""
        return torch.cat(self.streams(images), dim=1)


def lab_streams(
    *,
    backbone: Literal["convnet", "resnet8", "resnet10", "resnet18", "resnet50"],
    width: PositiveInt = 16,
    stem: Literal["cifar", "max_pool", "imagenet"] = "cifar",
) -> nn.Module:
    """One backbone for L* and one for a*b*. One stream has ``stream_dim`` features, both together ``feature_dim``.

    Args:
        backbone: name of the backbone; each stream has its own weights.
        width: channels of the first stage of convnet, resnet8 and resnet10.
        stem: of resnet18 and resnet50, as in ``resnet``.
    """
    if backbone in ("convnet", "resnet8", "resnet10"):
        if stem != "cifar":
            raise HypersphereError(f"encoder: lab_streams: stem: {backbone} has none; resnet18 and resnet50 have one")
        if backbone == "convnet":
            return LabStreams(plain_network(width, 1), plain_network(width, 2))
        stages = 3 if backbone == "resnet8" else 4
        return LabStreams(*(basic_resnet(stages, width, stride=1, channels=channels) for channels in (1, 2)))
    if width != 16:
        raise HypersphereError(
            f"encoder: lab_streams: width: {backbone}'s is fixed; convnet, resnet8 and resnet10 take one"
        )
    depth: Literal[18, 50] = 18 if backbone == "resnet18" else 50
    return LabStreams(*(stemmed_resnet(depth, stem, channels) for channels in (1, 2)))
