"""Two backbones over lightness and colour, and sRGB to L*a*b*: the scalar definition, and Tian et al.'s ranges."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from hypersphere.encoders.convnet import convnet
from hypersphere.encoders.lab_streams import RANGES, LabStreams, lab_streams, to_lab
from hypersphere.encoders.resnet import resnet
from hypersphere.encoders.resnet8 import resnet8

from .test_encoders import count


@pytest.mark.parametrize(
    ("parameters", "whole", "stem"),
    [
        ({"backbone": "resnet8"}, lambda: resnet8(width=16), 9 * 16),
        ({"backbone": "convnet", "width": 5}, lambda: convnet(width=5), 9 * 5),
        ({"backbone": "resnet18"}, lambda: resnet(depth=18, stem="cifar"), 9 * 64),
        (
            {"backbone": "resnet18", "stem": "max_pool"},
            lambda: resnet(depth=18, stem="max_pool"),
            9 * 64,
        ),
        (
            {"backbone": "resnet50", "stem": "imagenet"},
            lambda: resnet(depth=50, stem="imagenet"),
            49 * 64,
        ),
    ],
    ids=["resnet8", "convnet", "resnet18", "max_pool", "resnet50"],
)
def test_lab_streams_are_two_backbones(parameters: dict[str, Any], whole: Any, stem: int) -> None:
    """The backbone of three channels, less the weights of the channels missing: two of L's, one of ab's.

    ``stem`` counts the stem's weights for one channel.
    """
    with torch.device("meta"):
        model: Any = lab_streams(**parameters)
        one = whole()
        assert model.eval()(torch.rand(2, 3, 16, 16)).shape == (2, 2 * one.feature_dim)
    assert (count(model.lightness), count(model.colour)) == (
        count(one) - 2 * stem,
        count(one) - stem,
    )
    assert (model.stream_dim, model.feature_dim) == (one.feature_dim, 2 * one.feature_dim)
    assert (
        list(model.lightness.state_dict())
        == list(model.colour.state_dict())
        == list(one.state_dict())
    )


@pytest.mark.parametrize(
    ("backbones", "parameter"),
    [(("resnet18", "resnet50"), {"width": 8}), (("resnet8", "convnet"), {"stem": "max_pool"})],
    ids=["width", "stem"],
)
def test_what_a_backbone_does_not_have_is_refused(
    backbones: Any, parameter: dict[str, Any], refused: Any
) -> None:
    for backbone in backbones:
        with refused("encoder", "lab_streams", *parameter):
            lab_streams(backbone=backbone, **parameter)


CORNERS = torch.tensor(list(itertools.product((0.0, 1.0), repeat=3))).view(8, 3, 1, 1)


def scalar_lab(rgb: list[float]) -> list[float]:
    """CIE 15: L* = 116 f(Y) - 16, a* = 500 (f(X) - f(Y)), b* = 200 (f(Y) - f(Z)), of shares of white's."""
    # linear sRGB to XYZ, from the chromaticities of IEC 61966-2-1: what makes white (1, 1, 1) be D65
    xy = np.array([[0.64, 0.33], [0.30, 0.60], [0.15, 0.06], [0.3127, 0.3290]])
    xyz = np.array([[x / y, 1.0, (1 - x - y) / y] for x, y in xy]).T
    matrix = xyz[:, :3] * np.linalg.solve(xyz[:, :3], xyz[:, 3])
    light = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in rgb
    ]
    f = []
    for row in matrix:
        share = sum(weight * value for weight, value in zip(row, light, strict=True)) / sum(row)
        f.append(share ** (1 / 3) if share > 216 / 24389 else (24389 / 27 * share + 16) / 116)
    return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]


def test_random_and_dark_colours_by_their_definition() -> None:
    """Half of the images are so dark that both curves are lines somewhere; 0.02 is for the matrix's digits."""
    images = np.random.default_rng(0).random((4, 3, 5, 5))
    images[2:] *= 0.12
    found = to_lab(torch.from_numpy(images).float()).numpy()
    for n, row, column in np.ndindex(4, 5, 5):
        np.testing.assert_allclose(
            found[n, :, row, column], scalar_lab(images[n, :, row, column].tolist()), atol=0.02
        )


def test_ranges_are_those_of_all_colours() -> None:
    """Extremes of 33^3 colours, none beyond the corners of the cube."""
    steps = torch.linspace(0, 1, 33)
    cube = torch.cartesian_prod(steps, steps, steps).T.reshape(1, 3, 33, -1)
    for image in (cube, CORNERS):
        for channel, (low, high) in zip(to_lab(image).unbind(1), RANGES, strict=True):
            assert channel.min().item() == pytest.approx(low, abs=2e-3)
            assert channel.max().item() == pytest.approx(high, abs=2e-3)


def bare() -> LabStreams:
    """Its backbones give what they see."""
    parts = [nn.Identity() for _ in range(2)]
    for part in parts:
        part.feature_dim = 0  # type: ignore[assignment]
    return LabStreams(*parts)


def test_each_stream_sees_its_channels_in_the_unit_range() -> None:
    """L* the first, a* and b* the second, by hand. Tian et al.'s train_CMC.py: mean and std are middle and half-width
    of the ranges, to its three digits."""
    images = torch.rand(2, 3, 4, 4, generator=torch.Generator().manual_seed(0))
    middle = torch.tensor([100.0, -86.183 + 98.233, -107.857 + 94.478]).view(3, 1, 1) / 2
    half = torch.tensor([100.0, 86.183 + 98.233, 107.857 + 94.478]).view(3, 1, 1) / 2
    expected = (to_lab(images) - middle) / half
    torch.testing.assert_close(bare()(images), expected, atol=1e-4, rtol=0)
    assert bare()(CORNERS).abs().max().item() == pytest.approx(1, abs=1e-5)


def test_gradients_are_finite_in_black() -> None:
    """A power under ``where`` without a clamp is not: its slope at 0 is infinite, and 0 times it NaN."""
    images = torch.cat(
        [CORNERS, torch.rand(2, 3, 1, 1), torch.full((1, 3, 1, 1), 1e-12)]
    ).requires_grad_()
    bare()(images).sum().backward()
    assert images.grad is not None
    assert images.grad.isfinite().all()
