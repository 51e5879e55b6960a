"""Regions of images: known ones are found, numbers and pictures belong together."""

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from hypersphere.encoders.resnet8 import resnet8
from hypersphere.errors import HypersphereError
from hypersphere.probes.feature_maps import maps_after, resized, tinted
from hypersphere.probes.local_features import CLUSTERS, COLOURS, OPAQUE, local_features
from hypersphere.probes.result import NotFiniteError

CPU = torch.device("cpu")


def halves(n: int = 3) -> np.ndarray:
    """Images that are red at the left and blue at the right, with a little noise."""
    images = np.random.default_rng(0).integers(0, 3, (n, 6, 6, 3), dtype=np.uint8)
    images[:, :, :4, 0] += 200
    images[:, :, 4:, 2] += 200
    return images


def world(images: np.ndarray, **parts: nn.Module) -> Any:
    return SimpleNamespace(
        encoder=nn.Sequential(OrderedDict(parts)),
        device=CPU,
        images=lambda split: images,
        labels=lambda split: torch.arange(len(images)) % 2,
        class_names=lambda: ("cat", "dog"),
    )


def test_two_regions_are_the_two_halves() -> None:
    found = local_features(world(halves(), middle=nn.Identity(), end=nn.Flatten()), stage="middle")
    assert found.values["explained;clusters=1"] == pytest.approx(0, abs=1e-9)
    assert 99 < found.values["explained;clusters=2"] <= 100
    assert found.table is not None
    assert found.pictures is not None
    assert len(found.pictures) == len(found.table) == 3 * len(CLUSTERS)
    assert found.table["caption"].tolist() == ["cat", "dog", "cat"] * len(CLUSTERS)
    two = found.pictures[(found.table["clusters"] == 2).to_numpy()]
    grey = halves()[0].mean(axis=-1) / 255
    for x, colour in ((0, COLOURS[0]), (5, COLOURS[1])):  # the larger half has the first colour
        expected = 255 * ((1 - OPAQUE) * grey[0, x] + OPAQUE * np.array(colour))
        assert two[0][0, 11 * x + 5] == pytest.approx(expected, abs=1)
    assert np.array_equal(found.pictures[0], np.kron(halves()[0], np.ones((11, 11, 1))))


def test_more_clusters_explain_more() -> None:
    torch.manual_seed(0)
    encoder = resnet8(width=2).eval().requires_grad_(False)
    images = np.random.default_rng(0).integers(0, 256, (2, 12, 12, 3), dtype=np.uint8)
    values = list(local_features(world(images, **dict(encoder.named_children()))).values.values())
    assert values == sorted(values)
    assert values[-1] <= 100


def test_constant_images_have_nothing_to_explain() -> None:
    found = local_features(world(np.full((2, 6, 6, 3), 9, np.uint8), middle=nn.Identity()), stage="middle")
    assert set(found.values.values()) == {0.0}


def test_what_cannot_be_clustered_is_a_sentence() -> None:
    with pytest.raises(HypersphereError, match=r"stage: the encoder has no 'layer2'"):
        local_features(world(halves(), end=nn.Flatten()))
    with pytest.raises(HypersphereError, match="'end' is no map"):
        local_features(world(halves(), end=nn.Flatten()), stage="end")
    with pytest.raises(HypersphereError, match="small has 1 x 1 places"):
        local_features(world(halves(), small=nn.AdaptiveAvgPool2d(1)), stage="small")


class Spoils(nn.Module):
    """A part that gives one place a value that is no number."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x[1, 0, 2, 2] = torch.nan
        return x


def test_maps_that_are_no_numbers_are_a_sentence() -> None:
    with pytest.raises(NotFiniteError, match=r"^the maps of 'middle'"):
        local_features(world(halves(), middle=Spoils()), stage="middle")


def test_maps_are_the_output_of_a_part() -> None:
    torch.manual_seed(0)
    encoder = resnet8(width=2).eval()
    images = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3), dtype=np.uint8)
    x = torch.from_numpy(images).permute(0, 3, 1, 2) / 255
    for name in ("conv1", "bn1", "relu", "layer1", "layer2"):
        x = dict(encoder.named_children())[name](x)
    torch.testing.assert_close(maps_after(encoder, "layer2", images, CPU), x)


def test_resizing_keeps_levels() -> None:
    steps = torch.tensor([[[0.0, 1.0]]])
    assert resized(steps, (1, 4), smooth=False).tolist() == [[[0, 0, 1, 1]]]
    assert resized(steps, (1, 4), smooth=True).tolist() == [[[0, 0.25, 0.75, 1]]]


def test_mixing_colours_by_hand() -> None:
    image = np.full((1, 1, 1, 3), (30, 60, 90), np.uint8)
    found = tinted(image, np.array([[[[1.0, 0.0, 0.5]]]]), np.array([[[0.25]]]))
    assert found.tolist() == [[[[109, 45, 77]]]]
