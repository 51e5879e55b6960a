"""A foreign network as the probes take an encoder: images in [0, 1] in, one vector an image out, nothing trained."""

import hashlib

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere.certificate.constructors import OPTION, first_words
from hypersphere.config.recipe import Normalisation
from hypersphere.errors import HypersphereError
from hypersphere.training.build import normalise_input

NORMALISATIONS = {
    "none": None,
    "imagenet": Normalisation(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
    "cifar10": Normalisation(mean=(0.4914, 0.4822, 0.4465), std=(0.247, 0.2435, 0.2616)),
}
"""What is done to pixels in [0, 1] before the network sees them; mean and deviation of red, green and blue."""


class Pooled(nn.Module):
    """Maps [n, 3, h, w] to [n, d]: resized to the network's side, and averaged over places where it leaves any."""

    def __init__(self, network: nn.Module, side: int | None) -> None:
        """Wrap a network; with ``side`` None images keep their size."""
        super().__init__()
        self.network = network
        self.side = side

    def forward(self, images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n d"]:
        """One vector for each image."""
        if self.side is not None and images.shape[-1] != self.side:
            images = resized(images, self.side)
        features = self.network(images)
        if not isinstance(features, Tensor):
            kind = type(features).__name__
            raise HypersphereError(
                f"{OPTION}: must return a tensor for a batch of images (given: {kind})"
            )
        if features.ndim == 4:
            features = features.mean(dim=(2, 3))
        if features.ndim != 2 or len(features) != len(images):
            shape = list(features.shape)
            raise HypersphereError(
                f"{OPTION}: must return one vector for each of {len(images)} images (given: {shape})"
            )
        return features


def resized(images: Float[Tensor, "n c h w"], side: int) -> Float[Tensor, "n c side side"]:
    """Bilinear with antialiasing, as torchvision's ``Resize``."""
    return F.interpolate(images, (side, side), mode="bilinear", antialias=True)


def encoder(network: nn.Module, normalisation: Normalisation | None, side: int | None) -> nn.Module:
    """A network as the probes take it, in evaluation mode."""
    pooled = Pooled(network, side)
    if normalisation is not None:
        normalise_input(pooled, normalisation)
    return pooled.eval()


def width(encoder: nn.Module, name: str, side: int) -> int:
    """The length of the vectors for square images of ``side`` pixels.

    Raises:
        HypersphereError: the network cannot take such images, or does not return vectors.
    """
    try:
        with torch.inference_mode():
            return encoder(torch.zeros(2, 3, side, side)).shape[1]
    except HypersphereError:
        raise
    # a network of somebody else may raise anything
    except Exception as error:
        size = f"{side} x {side} pixels"
        raise HypersphereError(
            f"{OPTION}: {name}: cannot take images of {size} ({first_words(error)}); --size resizes them"
        ) from None


def digest(network: nn.Module) -> str:
    """One sha256 for all parameters and buffers, by which a change of any is noticed."""
    total = hashlib.sha256()
    for name, tensor in sorted(network.state_dict().items()):
        total.update(name.encode())
        total.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
    return total.hexdigest()
