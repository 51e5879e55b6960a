"""A foreign network as an encoder: its input is prepared as torchvision does, its output is one vector an image."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torchvision.transforms import v2

from hypersphere.certificate.encoder import NORMALISATIONS, Pooled, digest, encoder, resized, width
from hypersphere.config.recipe import Normalisation

from ...fixtures import Refused

IMAGES = torch.rand(4, 3, 8, 8, generator=torch.Generator().manual_seed(0))


class Does(nn.Module):
    """A network that is a function."""

    def __init__(self, function: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, images: Tensor) -> object:
        return self.function(images)


@pytest.mark.parametrize("side", [4, 5, 8, 16])
def test_images_are_resized_as_torchvision_does(side: int) -> None:
    torch.testing.assert_close(resized(IMAGES, side), v2.functional.resize(IMAGES, [side, side]))


@pytest.mark.parametrize("name", ["imagenet", "cifar10"])
def test_images_are_normalised_as_torchvision_does(name: str) -> None:
    by = NORMALISATIONS[name]
    assert by is not None
    expected = v2.functional.normalize(IMAGES, [*by.mean], [*by.std]).flatten(1)
    torch.testing.assert_close(encoder(nn.Flatten(), by, None)(IMAGES), expected)
    assert torch.equal(encoder(nn.Flatten(), None, None)(IMAGES), IMAGES.flatten(1))


def test_resizing_comes_before_the_network_and_places_are_averaged() -> None:
    """A mean of pixels survives resizing by whole factors."""
    shown = encoder(Does(lambda images: images), Normalisation(mean=(0, 0, 0), std=(1, 1, 1)), 16)
    assert width(shown, "mine", 8) == 3
    torch.testing.assert_close(shown(IMAGES), IMAGES.mean(dim=(2, 3)), atol=0.02, rtol=0)
    assert torch.equal(Pooled(Does(lambda images: images), 8)(IMAGES), IMAGES.mean(dim=(2, 3)))


def fails(images: Tensor) -> Tensor:
    raise AssertionError("Wrong image height! Expected 224 but got 8!")


@pytest.mark.parametrize(
    ("function", "place"),
    [
        (lambda images: (images, images), ("--model",)),
        (lambda images: images.flatten(1)[0], ("--model",)),
        (lambda images: images.flatten(2), ("--model",)),
        (lambda images: images.flatten(1)[:1], ("--model",)),
        (fails, ("--model", "mine")),
    ],
)
def test_what_gives_no_vectors_is_a_sentence(
    refused: Refused, function: Callable[[Tensor], object], place: tuple[str, ...]
) -> None:
    with refused(*place):
        width(encoder(Does(function), None, None), "mine", 8)


def test_the_digest_sees_every_tensor_and_not_its_layout() -> None:
    network = nn.Sequential(nn.Conv2d(3, 2, 3), nn.BatchNorm2d(2))
    before = digest(network)
    assert digest(network.to(memory_format=torch.channels_last)) == before  # type: ignore[call-overload]
    network[1].num_batches_tracked += 1  # type: ignore[operator]
    assert digest(network) != before
