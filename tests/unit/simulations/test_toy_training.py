"""Gradients and Adam in closed form, against autograd on the objectives and against torch.optim; then whole runs."""

import math

import pytest
import torch
from torch import Tensor

from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.nce import nce
from hypersphere.simulations.toy_clustering import maps as toy_maps
from hypersphere.simulations.toy_clustering.data import DATASETS, SHAPES, draws
from hypersphere.simulations.toy_clustering.maps import (
    BATCH,
    DEFAULTS,
    LOWER,
    SETTINGS,
    START,
    UPPER,
    WEIGHT,
    Setting,
    batches,
    gradient,
    learn,
    starts,
)

pytestmark = pytest.mark.heavy


def inputs(rows: int, n: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    maps, x, noise = (
        torch.randn(*shape, generator=generator, dtype=torch.float64)
        for shape in ((2, 2, rows), (2, rows, n), (2, rows, n))
    )
    return maps, x, x + 0.1 * noise


def on_sphere(p: Tensor, x: Tensor, perturbed: Tensor, penalty: float) -> Tensor:
    a, b = x.T @ p.T, perturbed.T @ p.T
    return nce(a, b) + distance_polarization(a, b, weight=penalty, reduction="sum", among="first_view")


def in_the_plane(p: Tensor, x: Tensor, perturbed: Tensor, penalty: float) -> Tensor:
    """Eq. 1 and Eq. 10 pair by pair, with Px where the paper has unit vectors."""
    z, z_perturbed = x.T @ p.T, perturbed.T @ p.T
    total = torch.zeros((), dtype=p.dtype)
    for i in range(len(z)):
        negatives = sum((z[i] @ z[j]).exp() for j in range(len(z)) if j != i)
        positive = z[i] @ z_perturbed[i]
        total = total - (positive.exp() / (positive.exp() + negatives)).log() / len(z)
        for j in range(len(z)):
            d = (1 - z[i] @ z[j]) / 2
            total = total + penalty * min((d - LOWER) * (d - UPPER), torch.zeros(())).abs() * (i != j)
    return total


@pytest.mark.parametrize("sphere", [True, False])
def test_gradient_is_that_of_the_objectives(sphere: bool) -> None:
    """Rows 0 to 2 have no penalty."""
    maps, x, perturbed = inputs(6, 7)
    penalty = torch.tensor([0.1, 0.002, 3.0], dtype=torch.float64)
    ours = gradient(maps, x, perturbed, penalty, torch.full((6,), sphere))
    objective = on_sphere if sphere else in_the_plane
    for row, weight in enumerate([0.0, 0.0, 0.0, *penalty.tolist()]):
        p = maps[..., row].clone().requires_grad_()
        objective(p, x[:, row], perturbed[:, row], weight).backward()
        assert p.grad is not None
        torch.testing.assert_close(ours[..., row], p.grad, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("sphere", [True, False])
def test_zero_is_stationary(sphere: bool) -> None:
    """The printed start (erratum L9): exactly 0, in either reading of the objective. Beside it, the gradient is not."""
    maps, x, perturbed = inputs(4, 7)
    penalty = torch.full((2,), 0.1, dtype=torch.float64)
    assert gradient(0 * maps, x, perturbed, penalty, torch.full((4,), sphere)).abs().max() == 0
    assert gradient(1e-3 * maps, x, perturbed, penalty, torch.full((4,), sphere)).abs().amax(dim=(0, 1)).min() > 0


def test_each_pass_sees_every_point_once() -> None:
    for dataset, points in (("three_bars", 600), ("nested_moons", 400)):
        seen = batches([3], dataset, points).indices[0]
        for first in range(0, toy_maps.LONGER - points // BATCH, points // BATCH):
            assert seen[first : first + points // BATCH].flatten().sort().values.tolist() == list(range(points))
        assert not torch.equal(seen[: points // BATCH], seen[points // BATCH : 2 * points // BATCH])


def test_random_starts_are_small_and_shared_by_a_trials_settings() -> None:
    first = starts(range(50))
    settings = (Setting("cl", "three_bars"), Setting("lmcl_sum", "nested_moons"))
    plain, other, identity = map(SETTINGS.index, (*settings, Setting("cl", "three_bars", start="identity")))
    assert torch.equal(first[:, :, plain], first[:, :, other])
    assert first[:, :, plain].std().item() == pytest.approx(START, rel=0.2)
    assert torch.equal(first[:, :, identity, 7], torch.eye(2))
    assert not torch.equal(first[:, :, plain, 0], first[:, :, plain, 1])


CHECKED = [
    Setting("cl", "three_bars"),
    Setting("cl", "nested_moons", shape="first"),
    Setting("cl", "three_bars", noise=0.2),
    Setting("lmcl_mean", "three_bars", start="identity"),
    Setting("lmcl_sum", "nested_moons"),
    Setting("lmcl_sum", "three_bars", shape="corner"),
    Setting("lmcl_sum", "nested_moons", on_sphere=False),
]


@pytest.mark.trained
def test_runs_are_those_of_the_objectives_under_torchs_adam(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few steps of each kind of setting, one run at a time, in float64; Eq. 9 weighs R1 by 0.1, as mean or sum."""
    monkeypatch.setattr(toy_maps, "STEPS", 4)
    monkeypatch.setattr(toy_maps, "LONGER", 6)
    seeds = [5, 6]
    drawn = {dataset: draws(seeds, dataset) for dataset in DATASETS}
    maps = learn(seeds, drawn)
    for setting in CHECKED:
        index, dataset = SETTINGS.index(setting), setting.dataset
        points = SHAPES[dataset][setting.shape].points(drawn[dataset])[1].T
        seen = batches(seeds, dataset, points.shape[1])
        p = starts(seeds)[:, :, index, 1].double().clone().requires_grad_()
        optimiser = torch.optim.Adam([p], lr=0.001)
        weight = {"cl": 0.0, "lmcl_mean": 0.1 / (BATCH * (BATCH - 1)), "lmcl_sum": 0.1}[setting.method]
        after = {}
        for step in range(6):
            x = points[:, seen.indices[1, step]]
            perturbed = x + setting.noise * seen.noise[:, 1, step].double()
            optimiser.zero_grad()
            (on_sphere if setting.on_sphere else in_the_plane)(p, x, perturbed, weight).backward()
            optimiser.step()
            after[step + 1] = p.detach().float().clone()
        torch.testing.assert_close(maps.learned[index, 1], after[4], rtol=0, atol=2e-6)
        if index in DEFAULTS:
            torch.testing.assert_close(maps.longer[DEFAULTS.index(index), 1], after[6], rtol=0, atol=2e-6)
    assert (maps.learned[:, 0] - maps.learned[:, 1]).abs().amax(dim=(1, 2)).min() > 1e-4


def test_the_mean_is_bounded_far_below_the_loss() -> None:
    """Why the mean over pairs changes nothing: it is at most 0.1 times (0.4/2)², 0.004 nats, and over random maps and
    points its gradient is less than a twentieth of Eq. 1's."""
    maps, x, perturbed = inputs(50, BATCH)
    everywhere, none = torch.ones(50, dtype=torch.bool), torch.zeros(50, dtype=torch.float64)
    plain = gradient(maps, x, perturbed, none, everywhere)
    change = gradient(maps, x, perturbed, none + WEIGHT / (BATCH * (BATCH - 1)), everywhere) - plain
    assert pytest.approx(0.004) == WEIGHT * ((UPPER - LOWER) / 2) ** 2
    assert math.sqrt((change**2).sum() / (plain**2).sum()) < 0.05
