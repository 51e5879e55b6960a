"""What is random about a view: the distributions of torchvision's transforms."""

from itertools import permutations

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
JITTERS = {"brightness", "contrast", "saturation", "hue"}


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


def test_factors_are_uniform_where_the_jitter_applies() -> None:
    """torchvision's ColorJitter ranges: 1 ± strength, not below 0; hue 0 ± strength."""
    draws = draw(
        [Views(brightness=0.8, contrast=1.5, saturation=0.3, hue=0.2, jitter_probability=0.8)] * 2, N, SIZE, 0, 0
    )
    ranges = {
        "brightness": (0.2, 1.8, 1),
        "contrast": (0.0, 2.5, 1),
        "saturation": (0.7, 1.3, 1),
        "hue": (-0.2, 0.2, 0),
    }
    for name, (low, high, centre) in ranges.items():
        value = getattr(draws, name).flatten().double().numpy()
        applied = value[value != centre]
        assert 0.77 < len(applied) / len(value) < 0.83
        assert scipy.stats.kstest(applied, "uniform", (low, high - low)).pvalue > 0.001, name


@pytest.mark.parametrize(("name", "part"), [("flip", "flip"), ("grayscale", "gray"), ("solarize", "solarize")])
@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_coins(name: str, part: str, probability: float) -> None:
    share = getattr(draw([Views(**{name: probability})] * 2, N, SIZE, 0, 0), part).double().mean().item()
    assert abs(share - probability) <= 4 * (probability * (1 - probability) / (2 * N)) ** 0.5


def test_nothing_applies_at_probability_or_strength_zero() -> None:
    for views in (Views(jitter_probability=0), Views(brightness=0, contrast=0, saturation=0, hue=0)):
        draws = draw([views] * 2, 100, SIZE, 0, 0)
        assert (draws.brightness == 1).all()
        assert (draws.contrast == 1).all()
        assert (draws.saturation == 1).all()
        assert (draws.hue == 0).all()


@pytest.mark.parametrize("padding", [1, 2, 4])
def test_shifts_are_uniform_over_every_whole_pixel(padding: int) -> None:
    """torchvision's RandomCrop(size, padding): chi-square over all (2p + 1)² places of the box, and no other."""
    box = draw([Views(crop_padding=padding)] * 2, 5 * N, SIZE, 0, 0).box.reshape(-1, 4)
    assert torch.equal(box[:, 2:], torch.full((10 * N, 2), float(SIZE)))
    top, left = (box[:, :2] + padding).long().unbind(1)
    assert torch.equal(box[:, :2], box[:, :2].round())
    assert min(top.min(), left.min()) >= 0
    assert max(top.max(), left.max()) <= 2 * padding
    counts = torch.bincount(top * (2 * padding + 1) + left, minlength=(2 * padding + 1) ** 2)
    assert scipy.stats.chisquare(counts).pvalue > 0.001


def test_an_order_is_one_of_24_at_random() -> None:
    """torchvision's ColorJitter draws randperm(4): chi-square over all 24. The fixed order is as listed."""
    rows = draw([ALL] * 2, 5 * N, SIZE, 0, 0).order.reshape(-1, 4).tolist()
    counts = [rows.count(list(order)) for order in permutations(range(4))]
    assert sum(counts) == 10 * N
    assert scipy.stats.chisquare(counts).pvalue > 0.001
    assert (draw([Views()] * 2, 20, SIZE, 0, 0).order == torch.arange(4)).all()


def test_a_shared_coin_is_one_for_all_jitters_and_moves_no_factor() -> None:
    """RandomApply around a ColorJitter, beside four coins. An image that both coins favour has the same factors."""
    shared, each = (draw([Views(jitter_coins=coins)] * 2, N, SIZE, 0, 0) for coins in ("shared", "each"))
    identity = {name: 0 if name == "hue" else 1 for name in JITTERS}
    applied = {name: getattr(shared, name) != centre for name, centre in identity.items()}
    own = {name: getattr(each, name) != centre for name, centre in identity.items()}
    assert 0.77 < applied["hue"].double().mean() < 0.83
    for name in JITTERS:
        assert torch.equal(applied[name], applied["hue"])
        both = applied[name] & own[name]
        assert torch.equal(getattr(shared, name)[both], getattr(each, name)[both])
        # Independent coins of 0.8 agree in 0.8² + 0.2² = 0.68 of the cases.
        assert abs((applied[name] == own[name]).double().mean() - 0.68) < 0.04
    assert abs((own["brightness"] == own["contrast"]).double().mean() - 0.68) < 0.04


def test_sigma_is_uniform_where_the_blur_applies() -> None:
    sigma = draw([Views(blur=0.3, blur_sigma=(0.5, 1.5))] * 2, N, SIZE, 0, 0).sigma.flatten().double().numpy()
    applied = sigma[sigma != 0]
    assert 0.27 < len(applied) / len(sigma) < 0.33
    assert scipy.stats.kstest(applied, "uniform", (0.5, 1.0)).pvalue > 0.001


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
        with pytest.raises(HypersphereError, match=r"^views: blur_kernel: must be at most 15 .*\(given: 23\)$"):
            draw(branches, 5, 8, 0, 0)
    with pytest.raises(HypersphereError, match=r"^views: blur_kernel: must be at most 15 .*\(given: 17\)$"):
        draw([Views(blur=0.1, blur_kernel=17)], 5, 8, 0, 0)
    assert draw([Views(blur=0.1, blur_kernel=15)], 5, 8, 0, 0).sigma.shape == (5, 1)
    assert (draw([Views()], 5, 1, 0, 0).sigma == 0).all()
