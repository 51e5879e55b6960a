"""Pictures of feature maps: known regions, a linear score in closed form, numbers and pictures that belong together."""

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from hypersphere.encoders.resnet8 import resnet8
from hypersphere.errors import NotFiniteError
from hypersphere.probes.feature_maps import resized, seen_by, tinted
from hypersphere.probes.gradcam import activation_map, gradcam
from hypersphere.probes.local_features import CLUSTERS, COLOURS, OPAQUE, local_features

from .conftest import Spoils, floats

CPU = torch.device("cpu")


def halves(n: int = 3) -> np.ndarray:
    """Images that are red at the left and blue at the right, with a little noise."""
    images = np.random.default_rng(0).integers(0, 3, (n, 6, 6, 3), dtype=np.uint8)
    images[:, :, :4, 0] += 200
    images[:, :, 4:, 2] += 200
    return images


def world(pixels: np.ndarray, encoder: nn.Module, classes: int = 2) -> Any:
    """Stands in for ``Frozen``; its training images are the test images twice."""
    seen = {"train": np.concatenate([pixels, pixels]), "test": pixels}
    return SimpleNamespace(
        encoder=encoder,
        device=CPU,
        features=lambda split: encoder(floats(seen[split])),
        images=seen.__getitem__,
        labels=lambda split: torch.arange(len(seen[split])) % classes,
        classes=lambda: classes,
        class_names=lambda: tuple(f"kind {label}" for label in range(classes)),
    )


def parts(**modules: nn.Module) -> nn.Module:
    return nn.Sequential(OrderedDict(modules))


def test_two_regions_are_the_two_halves_and_constant_images_have_nothing_to_explain() -> None:
    found = local_features(
        world(halves(), parts(middle=nn.Identity(), end=nn.Flatten())), stage="middle"
    )
    assert found.values["explained;clusters=1"] == pytest.approx(0, abs=1e-9)
    assert 99 < found.values["explained;clusters=2"] <= 100
    assert len(found.pictures) == len(found.table) == 3 * len(CLUSTERS)
    assert found.table["caption"].tolist() == ["kind 0", "kind 1", "kind 0"] * len(CLUSTERS)
    two = found.pictures[(found.table["clusters"] == 2).to_numpy()]
    grey = halves()[0].mean(axis=-1) / 255
    for x, colour in ((0, COLOURS[0]), (5, COLOURS[1])):  # the larger half has the first colour
        expected = 255 * ((1 - OPAQUE) * grey[0, x] + OPAQUE * np.array(colour))
        assert two[0][0, 11 * x + 5] == pytest.approx(expected, abs=1)
    assert np.array_equal(found.pictures[0], np.kron(halves()[0], np.ones((11, 11, 1))))
    constant = local_features(
        world(np.full((2, 6, 6, 3), 9, np.uint8), parts(middle=nn.Identity())), stage="middle"
    )
    assert set(constant.values.values()) == {0.0}


def test_resizing_keeps_levels() -> None:
    steps = torch.tensor([[[0.0, 1.0]]])
    assert resized(steps, (1, 4), smooth=False).tolist() == [[[0, 0, 1, 1]]]
    assert resized(steps, (1, 4), smooth=True).tolist() == [[[0, 0.25, 0.75, 1]]]


def test_mixing_colours_by_hand() -> None:
    image = np.full((1, 1, 1, 3), (30, 60, 90), np.uint8)
    found = tinted(image, np.array([[[[1.0, 0.0, 0.5]]]]), np.array([[[0.25]]]))
    assert found.tolist() == [[[[109, 45, 77]]]]


@pytest.fixture
def encoder() -> nn.Module:
    torch.manual_seed(0)
    model = resnet8(width=2)
    model.train()(torch.rand(8, 3, 8, 8))
    return model.eval().requires_grad_(False)


def images(n: int = 12) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (n, 8, 8, 3), dtype=np.uint8)


def test_maps_are_the_output_of_one_part_and_what_the_next_is_given(encoder: Any) -> None:
    x = floats(images())
    for name in ("conv1", "bn1", "relu", "layer1", "layer2"):
        x = dict(encoder.named_children())[name](x)
    torch.testing.assert_close(seen_by(encoder.layer2, encoder, images(), CPU)[1], x)
    maps, averaged, features = seen_by(encoder.pool, encoder, images(), CPU)
    torch.testing.assert_close(maps.mean(dim=(2, 3), keepdim=True), averaged)
    torch.testing.assert_close(averaged.flatten(1), features)
    torch.testing.assert_close(features.detach(), encoder(floats(images())))


def test_of_a_linear_score_it_is_the_class_activation_map_and_empty_where_nothing_raises_it(
    encoder: Any,
) -> None:
    """Zhou et al. 2016: the maps, summed with the weights of the class; the gradient is theirs over the places."""
    maps, _, features = seen_by(encoder.pool, encoder, images(), CPU)
    weight = torch.randn(8, generator=torch.Generator().manual_seed(1))
    (slopes,) = torch.autograd.grad((features @ weight).sum(), maps)
    plain = torch.einsum("ncij,c->nij", maps.detach(), weight).clamp(min=0)
    found = activation_map(maps.detach(), slopes)
    highest = plain.amax(dim=(1, 2), keepdim=True)
    torch.testing.assert_close(found, torch.where(highest > 0, plain / highest, plain))
    for slope in (-1.0, 0.0):
        assert (
            activation_map(torch.ones(1, 2, 3, 3), torch.full((1, 2, 3, 3), slope)).abs().sum() == 0
        )


def test_pictures_of_some_classes(encoder: nn.Module) -> None:
    found = gradcam(world(images(), encoder, 6), hidden=6, epochs=3)
    assert found.pictures.shape == (10, 64, 64, 3)
    assert found.table["row"].tolist() == ["image"] * 5 + ["map"] * 5
    for place, row in enumerate(found.table.to_dict("records")):
        assert row["column"] == f"kind {row['image'] % 6}"
        if row["row"] == "image":
            assert np.array_equal(
                found.pictures[place], np.kron(images()[row["image"]], np.ones((8, 8, 1)))
            )
    assert len(set(found.table["column"])) == 5


def test_an_encoder_without_maps_and_maps_that_are_no_numbers_are_a_sentence(refused: Any) -> None:
    for asked in ({}, {"stage": "end"}, {"stage": "small"}):
        with refused("probe local_features", "stage"):
            local_features(
                world(halves(), parts(small=nn.AdaptiveAvgPool2d(1), end=nn.Flatten())), **asked
            )
    with refused("the maps of 'middle'", kind=NotFiniteError):
        local_features(world(halves(), parts(middle=Spoils())), stage="middle")
    with refused("probe gradcam", "encoder"):
        gradcam(world(images(), nn.Flatten(), 4), epochs=1)
