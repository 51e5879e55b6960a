"""Who is compared with whom, against loops over images and views."""

from typing import get_args

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.pairs import Negatives, pairs, without_diagonal

from .shared import cosine, draw, has_gradient_of_value


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


@pytest.mark.parametrize(("negatives", "anchors", "candidates"), [("both_views", 8, 7), ("other_view", 4, 4)])
def test_each_anchor_has_one_positive(negatives: Negatives, anchors: int, candidates: int) -> None:
    targets = pairs(*draw(4, 3), negatives).targets
    assert targets.shape == (anchors, candidates)
    assert targets.sum(dim=1).tolist() == [1] * anchors


def test_attraction_alone_has_no_negative() -> None:
    found = pairs(*draw(4, 3), "none")
    assert found.targets.tolist() == [[1]] * 4


def test_swapping_views() -> None:
    """Both views: the same 2n anchors, halves exchanged; other view: the transpose (so different rows)."""
    z_a, z_b = draw(4, 3)
    one, two = (pairs(*z, "both_views").cosines.sort(dim=1).values for z in ((z_a, z_b), (z_b, z_a)))
    torch.testing.assert_close(two, one.roll(4, dims=0))
    one, two = (pairs(*z, "other_view").cosines for z in ((z_a, z_b), (z_b, z_a)))
    torch.testing.assert_close(two, one.T)
    assert (two - one).abs().max() > 0.1


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_without_diagonal(n: int) -> None:
    """Each entry named by its place, so that order shows: row i is i·n … i·n+n-1 without i·n+i."""
    square = torch.arange(n * n).view(n, n)
    expected = [[i * n + j for j in range(n) if j != i] for i in range(n)]
    assert without_diagonal(square).tolist() == expected


def test_without_diagonal_passes_no_gradient_to_the_diagonal() -> None:
    square = torch.zeros(4, 4, requires_grad=True)
    (gradient,) = torch.autograd.grad(without_diagonal(square).sum(), square)
    assert torch.equal(gradient, 1 - torch.eye(4))


@pytest.mark.parametrize("negatives", get_args(Negatives))
def test_gradients(negatives: Negatives) -> None:
    has_gradient_of_value(lambda a, b: pairs(a, b, negatives).cosines, *draw(3, 4))


@pytest.mark.parametrize("negatives", get_args(Negatives))
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("case", ["identical", "antipodal", "zero"])
def test_special_batches_are_finite(negatives: Negatives, dtype: torch.dtype, case: str) -> None:
    """By hand, the positives' cosines: 1, -1, and 0 for a zero vector."""
    z_a, _ = draw(3, 4, dtype=dtype)
    z_b = {"identical": z_a.clone(), "antipodal": -z_a, "zero": torch.zeros_like(z_a)}[case].requires_grad_()
    z_a.requires_grad_()
    cosines, targets = pairs(z_a, z_b, negatives)
    cosines.sum().backward()
    assert cosines.dtype == targets.dtype == dtype
    expected = {"identical": 1.0, "antipodal": -1.0, "zero": 0.0}[case]
    assert cosines[targets == 1].tolist() == pytest.approx([expected] * len(cosines), abs=4 * torch.finfo(dtype).eps)
    for z in (z_a, z_b):
        assert z.grad is not None
        assert z.grad.isfinite().all()
