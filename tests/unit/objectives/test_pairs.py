"""Who is compared with whom, against loops over images and views."""

from typing import get_args

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.pairs import Negatives, pairs, without_diagonal

from .shared import cosine, draw


def oracle(z_a: Tensor, z_b: Tensor, negatives: Negatives) -> list[list[tuple[float, int]]]:
    """For each anchor (image, view), its candidates (image, view) in order: the cosine, and whether it is the image."""
    z = [z_a.tolist(), z_b.tolist()]
    points = [(i, view) for view in (0, 1) for i in range(len(z_a))]
    rows = []
    for i, view in points if negatives == "both_views" else points[: len(z_a)]:
        keep = {
            "both_views": lambda k, other, i=i, view=view: (k, other) != (i, view),
            "other_view": lambda k, other: other == 1,
            "none": lambda k, other, i=i: other == 1 and k == i,
        }[negatives]
        rows.append([(cosine(z[view][i], z[o][k]), int(k == i)) for k, o in points if keep(k, o)])
    return rows


@pytest.mark.parametrize("negatives", get_args(Negatives))
@pytest.mark.parametrize("n", [1, 2, 5])
def test_cosines_and_targets_are_the_loops(negatives: Negatives, n: int) -> None:
    z_a, z_b = draw(n, 4)
    found = pairs(z_a, z_b, negatives)
    rows = oracle(z_a, z_b, negatives)
    assert found.cosines.shape == found.targets.shape == (len(rows), len(rows[0]))
    for row, cosines, targets in zip(rows, found.cosines.tolist(), found.targets.tolist(), strict=True):
        assert cosines == pytest.approx([c for c, _ in row], abs=1e-14)
        assert targets == [t for _, t in row]


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_without_diagonal(n: int) -> None:
    """Each entry named by its place, so that order shows: row i is i·n … i·n+n-1 without i·n+i."""
    square = torch.arange(n * n).view(n, n)
    expected = [[i * n + j for j in range(n) if j != i] for i in range(n)]
    assert without_diagonal(square).tolist() == expected
