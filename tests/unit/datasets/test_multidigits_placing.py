"""Places of squares: within the canvas, in cells, or apart; and uniform, up to five standard errors."""

import numpy as np
import pytest

from hypersphere.datasets.composing import Draws
from hypersphere.datasets.multidigits import apart, cells, corners


def draws(count: int) -> Draws:
    return Draws(np.arange(count), 0, ("test",))


def test_corners_reach_every_place_of_the_canvas() -> None:
    """A square of 3 on 5 pixels has three places along each axis."""
    places = corners(draws(500), 5, 3, 4)
    assert places.shape == (500, 4, 2)
    counts = np.bincount(places.ravel(), minlength=3) / places.size
    assert len(counts) == 3
    assert np.abs(counts - 1 / 3).max() < 5 * np.sqrt(2 / 9 / places.size)


def test_cells_are_different_ones_of_a_grid_in_the_middle() -> None:
    """11 pixels hold three cells of 3 along each axis, with a rim of one pixel."""
    places = cells(draws(300), 11, 3, 5)
    assert set(np.unique(places)) == {1, 4, 7}
    for picture in places:
        assert len({tuple(place) for place in picture}) == 5
    full = cells(draws(20), 11, 3, 9)
    assert all(len({tuple(place) for place in picture}) == 9 for picture in full)
    assert not np.array_equal(full[0], full[1])  # the order differs


def pairs(canvas: int, first: int, second: int) -> set[tuple[int, ...]]:
    """All pairs of places without overlap, by painting them."""
    found = set()
    for a, b in np.ndindex(canvas - first + 1, canvas - first + 1):
        for c, d in np.ndindex(canvas - second + 1, canvas - second + 1):
            canvas_ = np.zeros((canvas, canvas), int)
            canvas_[a : a + first, b : b + first] += 1
            canvas_[c : c + second, d : d + second] += 1
            if canvas_.max() == 1:
                found.add((a, b, c, d))
    return found


@pytest.mark.parametrize("sizes", [(2, 2), (1, 3), (3, 1)])
def test_two_squares_apart_are_uniform_over_the_pairs_without_overlap(sizes: tuple[int, int]) -> None:
    expected = pairs(4, *sizes)
    count = 100 * len(expected)
    found, times = np.unique(apart(draws(count), 4, *sizes).reshape(-1, 4), axis=0, return_counts=True)
    assert {tuple(map(int, pair)) for pair in found} == expected
    chi_squared = ((times - 100) ** 2 / 100).sum()
    freedom = len(expected) - 1
    assert chi_squared < freedom + 5 * np.sqrt(2 * freedom)


def test_a_pair_that_hardly_fits_is_found() -> None:
    """20 and 80 pixels on 100: the small one is in a corner's row or column, the large one opposite."""
    places = apart(draws(50), 100, 20, 80)
    one, other = places[:, 0], places[:, 1]
    assert ((one + 20 <= other) | (other + 80 <= one)).any(axis=1).all()


def test_a_piece_has_the_places_of_the_whole() -> None:
    whole = apart(draws(40), 30, 5, 20)
    piece = apart(Draws(np.array([7, 39]), 0, ("test",)), 30, 5, 20)
    np.testing.assert_array_equal(piece, whole[[7, 39]])
