"""Class activation maps: a closed form, a loop, and the pictures."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from hypersphere.encoders.resnet8 import resnet8
from hypersphere.errors import HypersphereError
from hypersphere.probes.feature_maps import last_maps
from hypersphere.probes.gradcam import activation_map, gradcam

CPU = torch.device("cpu")
QUICK: dict[str, Any] = {"hidden": 6, "epochs": 3, "batch": 8}


@pytest.fixture
def encoder() -> nn.Module:
    torch.manual_seed(0)
    model = resnet8(width=2)
    model.train()(torch.rand(8, 3, 8, 8))
    return model.eval().requires_grad_(False)


def images(n: int = 12) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (n, 8, 8, 3), dtype=np.uint8)


def world(encoder: nn.Module, classes: int = 4) -> Any:
    seen = {"train": images(24), "test": images()}

    def features(split: str) -> Tensor:
        return encoder(torch.from_numpy(seen[split]).permute(0, 3, 1, 2) / 255)

    return SimpleNamespace(
        encoder=encoder,
        device=CPU,
        features=features,
        images=seen.__getitem__,
        labels=lambda split: torch.arange(len(seen[split])) % classes,
        classes=lambda: classes,
        class_names=lambda: tuple(f"kind {label}" for label in range(classes)),
    )


def test_the_maps_are_those_that_are_averaged(encoder: nn.Module) -> None:
    maps, features = last_maps(encoder, images(), CPU)
    assert maps.shape == (12, 8, 2, 2)
    torch.testing.assert_close(maps.mean(dim=(2, 3)), features)
    torch.testing.assert_close(features.detach(), encoder(torch.from_numpy(images()).permute(0, 3, 1, 2) / 255))


def test_of_a_linear_score_it_is_the_class_activation_map(encoder: nn.Module) -> None:
    """Zhou et al. 2016: the maps, summed with the weights of the class; the gradient is theirs over the places."""
    maps, features = last_maps(encoder, images(), CPU)
    weight = torch.randn(8, generator=torch.Generator().manual_seed(1))
    (slopes,) = torch.autograd.grad((features @ weight).sum(), maps)
    plain = torch.einsum("ncij,c->nij", maps.detach(), weight).clamp(min=0)
    found = activation_map(maps.detach(), slopes)
    highest = plain.amax(dim=(1, 2), keepdim=True)
    torch.testing.assert_close(found, torch.where(highest > 0, plain / highest, plain))


def test_where_nothing_raises_the_score_the_map_is_empty() -> None:
    ones = torch.ones(1, 2, 3, 3)
    assert activation_map(ones, -ones).abs().sum() == 0
    assert activation_map(ones, ones * 0).abs().sum() == 0


def test_pictures_of_some_classes(encoder: nn.Module) -> None:
    found = gradcam(world(encoder), classes=3, **QUICK)
    assert found.table is not None
    assert found.pictures is not None
    assert found.pictures.shape == (6, 64, 64, 3)
    assert found.table["row"].tolist() == ["image"] * 3 + ["map"] * 3
    for place, row in enumerate(found.table.to_dict("records")):
        assert row["column"] == f"kind {row['image'] % 4}"
        if row["row"] == "image":
            assert np.array_equal(found.pictures[place], np.kron(images()[row["image"]], np.ones((8, 8, 1))))
    assert len(set(found.table["column"])) == 3
    assert found.values.keys() == {"mlp_top1"}
    assert np.array_equal(gradcam(world(encoder), classes=3, **QUICK).pictures, found.pictures)


def test_an_encoder_without_maps_is_a_sentence() -> None:
    with pytest.raises(HypersphereError, match=r"^probe gradcam: encoder: "):
        gradcam(world(nn.Flatten()), **QUICK)
