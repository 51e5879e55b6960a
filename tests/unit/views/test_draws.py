"""What is random about a view: the distributions of torchvision's transforms, and no dependence on anything else."""

import numpy as np
import pytest
import scipy.stats
import torch
from torchvision.transforms import RandomResizedCrop

from hypersphere.recipe import Views
from hypersphere.views.draws import Draws, draw

N, SIZE = 2000, 32


def same(a: Draws, b: Draws) -> set[str]:
    """The parts that are equal to the byte."""
    return {name for name, x, y in zip(a._fields, a, b, strict=True) if torch.equal(x, y)}


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


@pytest.mark.parametrize(("name", "part"), [("flip", "flip"), ("grayscale", "gray")])
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


CHANGES = {
    "crop_scale": ((0.5, 0.9), "box"),
    "flip": (0.1, "flip"),
    "brightness": (0.7, "brightness"),
    "contrast": (0.7, "contrast"),
    "saturation": (0.7, "saturation"),
    "hue": (0.3, "hue"),
    "grayscale": (0.7, "gray"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changing_one_transform_changes_no_byte_of_another(name: str) -> None:
    value, part = CHANGES[name]
    a, b = draw([Views()] * 2, 200, SIZE, 0, 0), draw([Views(**{name: value})] * 2, 200, SIZE, 0, 0)
    assert same(a, b) == set(Draws._fields) - {part}


def test_purposes_are_uncorrelated() -> None:
    draws = draw([Views(jitter_probability=1.0)] * 2, N, SIZE, 0, 0)
    columns = [draws.box[..., i] for i in range(4)] + list(draws[1:])
    matrix = np.corrcoef([column.double().flatten().numpy() for column in columns])
    # a box's corner and sides depend on each other; nothing else does
    matrix[:4, :4] = 0
    np.fill_diagonal(matrix, 0)
    assert np.abs(matrix).max() < 4 / (2 * N) ** 0.5


def test_seed_and_epoch_change_everything_and_nothing_else_does() -> None:
    first = draw([Views()] * 2, 200, SIZE, seed=0, epoch=3)
    for epoch in range(3):
        draw([Views()] * 2, 200, SIZE, seed=0, epoch=epoch)
    torch.manual_seed(1)
    np.random.seed(1)
    assert same(first, draw([Views()] * 2, 200, SIZE, seed=0, epoch=3)) == set(Draws._fields)
    assert not same(first, draw([Views()] * 2, 200, SIZE, seed=0, epoch=4))
    assert not same(first, draw([Views()] * 2, 200, SIZE, seed=1, epoch=3))


def test_the_two_views_are_drawn_apart() -> None:
    draws = draw([Views()] * 2, 200, SIZE, 0, 0)
    for part in draws:
        assert not torch.equal(part[:, 0], part[:, 1])


def test_images_added_at_the_end_change_no_earlier_draw() -> None:
    small, large = draw([Views()] * 2, 50, SIZE, 0, 0), draw([Views()] * 2, 80, SIZE, 0, 0)
    assert same(small, large.take(torch.arange(50))) == set(Draws._fields)


def test_take_is_by_the_images_number() -> None:
    draws = draw([Views()] * 2, 20, SIZE, 0, 0)
    index = torch.tensor([13, 2, 2])
    for whole, part in zip(draws, draws.take(index), strict=True):
        assert [row.tolist() for row in part] == [whole[i].tolist() for i in (13, 2, 2)]
