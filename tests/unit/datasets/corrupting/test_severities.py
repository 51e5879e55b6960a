"""The table of severities: the benchmark's names, five of each, with the arguments that the functions take."""

import inspect

import pytest

from hypersphere.datasets.corrupting.severities import BENCHMARK, EXTRA, FUNCTIONS, PARAMETERS

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
    table = PARAMETERS[size]  # type: ignore[index]
    assert set(table) == set(FUNCTIONS)
    for name, rows in table.items():
        takes = [p.name for p in inspect.signature(FUNCTIONS[name]).parameters.values() if p.kind == p.KEYWORD_ONLY]
        assert len(rows) == 5
        assert all(list(row) == takes for row in rows), name
        assert len({tuple(row.values()) for row in rows}) == 5, name


def test_small_and_medium_images_differ_where_the_benchmark_says() -> None:
    """Only the zoom's factors are the same for CIFAR and Tiny-ImageNet."""
    same = [name for name in FUNCTIONS if PARAMETERS["small"][name] == PARAMETERS["medium"][name]]
    assert same == ["zoom_blur"]
