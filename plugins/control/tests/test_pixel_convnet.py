"""The convolutions of agents: CURL's sizes, and initial weights that keep lengths."""

from typing import Any

import pytest
import torch

from hypersphere.training.build import initialise
from hypersphere_control.encoders.pixel_convnet import PixelConvnet, pixel_convnet


def test_the_published_size() -> None:
    """Laskin et al. 2020: 84 pixels, four layers of 32 filters, 35 x 35 places at the end (from memory)."""
    encoder = pixel_convnet()
    assert encoder.feature_dim == 32 * 35 * 35
    assert encoder(torch.rand(2, 9, 84, 84)).shape == (2, encoder.feature_dim)


@pytest.mark.parametrize(("frames", "size", "filters", "layers"), [(1, 9, 2, 1), (2, 12, 3, 3), (3, 13, 4, 2)])
def test_features_have_the_length_that_is_said(frames: int, size: int, filters: int, layers: int) -> None:
    encoder = pixel_convnet(frames=frames, size=size, filters=filters, layers=layers)
    assert encoder(torch.rand(2, 3 * frames, size, size)).shape == (2, encoder.feature_dim)


def test_initial_weights_are_orthogonal_in_the_middle_and_zero_around_it() -> None:
    """Xiao et al. 2018; with ReLU's gain, the middle times its transpose is twice the identity."""
    encoder = pixel_convnet(size=20, filters=8)
    initialise(encoder, seed=3)
    assert isinstance(encoder, PixelConvnet)
    for layer in encoder.layers:
        weight = layer.weight.detach().clone()
        middle = weight[:, :, 1, 1].clone()
        torch.testing.assert_close(middle @ middle.T, 2 * torch.eye(8), atol=1e-5, rtol=0)
        weight[:, :, 1, 1] = 0
        assert not weight.any()
        assert not layer.bias.any()


def test_too_few_pixels_are_refused(refused: Any) -> None:
    with refused():
        pixel_convnet(size=8)
