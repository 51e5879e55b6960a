"""The table of severities: the benchmark's names, five of each, with the arguments that the functions take."""

import inspect

import pytest

from hypersphere.datasets.corrupting.apply import BENCHMARK, EXTRA, FUNCTIONS, SEVERITIES, parameters

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
