"""What is random about a view: the distributions of torchvision's transforms."""

import numpy as np
import pytest
import scipy.stats
import torch
from torchvision.transforms import RandomResizedCrop

from hypersphere.augmentations.draws import draw
from hypersphere.config.recipe import Views
from hypersphere.errors import HypersphereError

N, SIZE = 2000, 32
ALL = Views(jitter_order="random", blur=0.5, solarize=0.2)
"""With every transform on."""


@pytest.mark.parametrize("scale", [(0.2, 1.0), (0.08, 0.3), (1.0, 1.0)])
def test_boxes_are_distributed_as_torchvisions(scale: tuple[float, float]) -> None:
    """Two-sample Kolmogorov-Smirnov against RandomResizedCrop.get_params, on heights, widths, areas and corners."""
    box = draw([Views(crop_scale=scale)] * 2, N, SIZE, seed=0, epoch=0).box.reshape(-1, 4).numpy()
    torch.manual_seed(0)
    image = torch.zeros(3, SIZE, SIZE)
    theirs = np.array([RandomResizedCrop.get_params(image, list(scale), [3 / 4, 4 / 3]) for _ in range(N)])
    for ours, reference in zip(box.T, theirs.T, strict=True):
        assert scipy.stats.ks_2samp(ours, reference).pvalue > 0.01
    assert scipy.stats.ks_2samp(box[:, 2] * box[:, 3], theirs[:, 2] * theirs[:, 3]).pvalue > 0.01


def test_boxes_are_whole_pixels_within_the_image_and_the_scale() -> None:
    low, high = 0.2, 0.6
    top, left, height, width = draw([Views(crop_scale=(low, high))] * 2, N, SIZE, 1, 0).box.unbind(-1)
    for part in (top, left, height, width):
        assert torch.equal(part, part.round())
    assert min(top.min(), left.min()) >= 0
    assert min(height.min(), width.min()) >= 1
    assert max((top + height).max(), (left + width).max()) <= SIZE
    # Rounding moves each side by half a pixel at most; at most 0.6 of the area always finds a box in ten tries.
    assert ((height + 0.5) * (width + 0.5)).min() >= low * SIZE**2
    assert ((height - 0.5) * (width - 0.5)).max() <= high * SIZE**2
    aspect = (width / height).double()
    assert ((width - 0.5) / (height + 0.5)).max() <= 4 / 3
    assert ((width + 0.5) / (height - 0.5)).min() >= 3 / 4
    assert abs(aspect.log().mean()) < 0.01
    assert ((height == width).float().mean()) < 0.2


@pytest.mark.parametrize("size", [8, 12, 33])
def test_boxes_stay_inside_images_of_any_size(size: int) -> None:
    top, left, height, width = draw([Views(crop_scale=(0.01, 1.0))] * 2, 500, size, 0, 0).box.unbind(-1)
    assert max((top + height).max(), (left + width).max()) <= size
    assert min(top.min(), left.min()) >= 0
    assert min(height.min(), width.min()) >= 1


def test_purposes_are_uncorrelated() -> None:
    views = ALL.model_copy(update={"jitter_probability": 1.0, "blur": 1.0})
    draws = draw([views] * 2, N, SIZE, 0, 0)
    columns = [*draws.box.unbind(-1), *draws.order.unbind(-1), *(part for part in draws if part.ndim == 2)]
    matrix = np.corrcoef([column.double().flatten().numpy() for column in columns])
    # a box's corner and sides depend on each other, and so do the places of an order; nothing else does
    matrix[:4, :4] = matrix[4:8, 4:8] = 0
    np.fill_diagonal(matrix, 0)
    assert len(matrix) == 16
    assert np.abs(matrix).max() < 4 / (2 * N) ** 0.5


def test_a_blur_wider_than_the_mirrored_image_is_refused() -> None:
    """Padding by reflection needs half a window below the image's size: 7 pixels for 15, 8 for 17.

    Without a blur any size will do.
    """
    wide = Views(blur=0.1, blur_kernel=23)
    for branches in ([wide], [Views(), wide]):
        with pytest.raises(HypersphereError, match=r"blur_kernel: must be at most 15 .*23"):
            draw(branches, 5, 8, 0, 0)
    with pytest.raises(HypersphereError, match=r"blur_kernel: must be at most 15 .*17"):
        draw([Views(blur=0.1, blur_kernel=17)], 5, 8, 0, 0)
    assert draw([Views(blur=0.1, blur_kernel=15)], 5, 8, 0, 0).sigma.shape == (5, 1)
    assert (draw([Views()], 5, 1, 0, 0).sigma == 0).all()
