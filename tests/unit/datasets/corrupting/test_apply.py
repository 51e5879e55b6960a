"""Corruption by name: any piece has the bytes of the whole, and severities get worse, on two real photographs."""

import inspect

import numpy as np
import pytest
from sklearn.datasets import load_sample_image

from hypersphere.datasets.corrupting.apply import BENCHMARK, EXTRA, FUNCTIONS, SEVERITIES, corrupt, parameters
from hypersphere.datasets.part import shrunk

NOT_WORSE = {"saturate", "spatter", "elastic_transform", "glass_blur"}
"""Their tables do not grow: less or more colour, water or mud, wide or narrow waves, copies less or more blurred."""
ALIKE = {"frost", "motion_blur"}
"""Their severities 3 and 4 differ little: less of the image under the same ice, and a longer tail of small weights."""
WITHOUT_DRAWS = {
    "defocus_blur",
    "zoom_blur",
    "brightness",
    "contrast",
    "pixelate",
    "jpeg_compression",
    "gaussian_blur",
    "saturate",
}
NUMBERS = np.arange(24)


def photographs(side: int) -> np.ndarray:
    """Pieces of scikit-learn's two photographs, shrunk to squares of ``side`` pixels."""
    size = 128
    pieces = [
        load_sample_image(name)[row : row + size, column : column + size]
        for name in ("china.jpg", "flower.jpg")
        for row in (20, 140, 280)
        for column in (0, 130, 260, 390)
    ]
    return shrunk(np.stack(pieces), side)


SMALL, MEDIUM = photographs(32), photographs(64)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_piece_has_the_bytes_of_the_whole(name: str) -> None:
    whole = corrupt(SMALL, name, 3, NUMBERS, 0)
    assert whole.dtype == np.uint8
    assert whole.shape == SMALL.shape
    for piece in ([7], [2, 5, 6, 23]):
        np.testing.assert_array_equal(corrupt(SMALL[piece], name, 3, NUMBERS[piece], 0), whole[piece])
    again = corrupt(SMALL[::-1].copy(), name, 3, NUMBERS[::-1], 0)
    np.testing.assert_array_equal(again[::-1], whole)
    assert corrupt(SMALL[:0], name, 3, NUMBERS[:0], 0).shape == (0, 32, 32, 3)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_seed_number_and_purpose_change_what_is_drawn(name: str) -> None:
    few = SMALL[:3]
    first = corrupt(few, name, 4, NUMBERS[:3], 0)
    others = (
        corrupt(few, name, 4, NUMBERS[:3], 1),
        corrupt(few, name, 4, NUMBERS[3:6], 0),
        corrupt(few, name, 4, NUMBERS[:3], 0, "train"),
    )
    for other in others:
        assert np.array_equal(other, first) == (name in WITHOUT_DRAWS)


@pytest.mark.parametrize("images", [SMALL, MEDIUM], ids=["32px", "64px"])
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - NOT_WORSE))
def test_each_severity_is_further_from_the_clean_image(name: str, images: np.ndarray) -> None:
    severities = (1, 2, 3, 5) if name in ALIKE else (1, 2, 3, 4, 5)
    errors = [((corrupt(images, name, s, NUMBERS, 0) / 255 - images / 255) ** 2).mean() for s in severities]
    assert errors[0] > 0
    assert errors == sorted(errors)


def test_large_batches_are_cut_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = corrupt(SMALL, "shot_noise", 2, NUMBERS, 0)
    monkeypatch.setattr("hypersphere.datasets.corrupting.apply.BATCH", 5)
    np.testing.assert_array_equal(corrupt(SMALL, "shot_noise", 2, NUMBERS, 0), whole)


# Hendrycks and Dietterich 2019, Fig. 1 and Appendix B, as the benchmark's files are called.
PUBLISHED = [
    "gaussian_noise",
    "shot_noise",
    "impulse_noise",
    "defocus_blur",
    "glass_blur",
    "motion_blur",
    "zoom_blur",
    "snow",
    "frost",
    "fog",
    "brightness",
    "contrast",
    "elastic_transform",
    "pixelate",
    "jpeg_compression",
]
HELD_OUT = ["speckle_noise", "gaussian_blur", "spatter", "saturate"]


def test_names_are_the_benchmarks() -> None:
    assert list(BENCHMARK) == PUBLISHED
    assert list(EXTRA) == HELD_OUT
    assert list(FUNCTIONS) == [*PUBLISHED, *HELD_OUT]


@pytest.mark.parametrize("size", ["small", "medium"])
def test_each_has_five_severities_with_its_functions_arguments(size: str) -> None:
    table = parameters()
    assert {name for of, name, _ in table if of == size} == set(FUNCTIONS)
    for name, function in FUNCTIONS.items():
        takes = [p for p in inspect.signature(function).parameters.values() if p.kind == p.KEYWORD_ONLY]
        rows = [table[size, name, severity] for severity in SEVERITIES]
        assert all(list(row) == [p.name for p in takes] for row in rows), name
        assert len({tuple(row.values()) for row in rows}) == 5, name
        for p in takes:  # a fraction where a whole number is asked for would change what is drawn
            kinds = {type(row[p.name]) for row in rows}
            assert kinds == {p.annotation} or (p.annotation is float and kinds <= {int, float}), (name, p.name)


def test_small_and_medium_images_differ_where_the_benchmark_says() -> None:
    """Only the zoom's factors are the same for CIFAR and Tiny-ImageNet."""
    table = parameters()
    same = [name for name in FUNCTIONS if all(table["small", name, s] == table["medium", name, s] for s in SEVERITIES)]
    assert same == ["zoom_blur"]
