"""Maps that are learned by the objectives, against the paper's equations pair by pair; starts, batches, whole runs."""

import math

import pytest
import torch
from torch import Tensor

from hypersphere.simulations.toy_clustering import maps as toy_maps
from hypersphere.simulations.toy_clustering.data import DATASETS, SHAPES, draws
from hypersphere.simulations.toy_clustering.maps import (
    BATCH,
    LEARNED,
    LOWER,
    START,
    UPPER,
    WEIGHT,
    Setting,
    batches,
    learn,
    slopes,
    starts,
)

pytestmark = pytest.mark.heavy


def inputs(maps: int, n: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    p, x, noise = (
        torch.randn(1, maps, *shape, generator=generator, dtype=torch.float64) for shape in ((2, 2), (n, 2), (n, 2))
    )
    return p, x, x + 0.1 * noise


def by_pairs(p: Tensor, x: Tensor, perturbed: Tensor, penalty: float, sphere: bool = True) -> Tensor:
    """Eq. 1 and Eq. 10, pair by pair; off the sphere with Px where the paper has unit vectors."""
    z, z_perturbed = x @ p.T, perturbed @ p.T
    if sphere:
        z, z_perturbed = (each / torch.linalg.vector_norm(each, dim=1, keepdim=True) for each in (z, z_perturbed))
    total = torch.zeros((), dtype=p.dtype)
    for i in range(len(z)):
        negatives = sum((z[i] @ z[j]).exp() for j in range(len(z)) if j != i)
        positive = z[i] @ z_perturbed[i]
        total = total - (positive.exp() / (positive.exp() + negatives)).log() / len(z)
        for j in range(len(z)):
            d = (1 - z[i] @ z[j]) / 2
            total = total + penalty * min((d - LOWER) * (d - UPPER), torch.zeros(())).abs() * (i != j)
    return total


def test_each_map_has_the_slope_of_its_own_loss() -> None:
    maps, x, perturbed = inputs(3, 7)
    weights = torch.tensor([[0.0, 0.002, 3.0]], dtype=torch.float64)
    ours = slopes(maps, x, perturbed, weights)[0]
    for k, weight in enumerate(weights[0].tolist()):
        p = maps[0, k].clone().requires_grad_()
        by_pairs(p, x[0, k], perturbed[0, k], weight).backward()
        torch.testing.assert_close(ours[k], p.grad, rtol=1e-10, atol=1e-13)


def test_zero_is_stationary() -> None:
    """The printed start (erratum L9): exactly 0, in either reading of the objective. Beside it, the gradient is not."""
    maps, x, perturbed = inputs(4, 7)
    weights = torch.tensor([[0.0, 0.0, 0.1, 0.1]], dtype=torch.float64)
    assert slopes(0 * maps, x, perturbed, weights).abs().max() == 0
    assert slopes(1e-3 * maps, x, perturbed, weights).abs().amax(dim=(2, 3)).min() > 0
    for scale in (0, 1e-3):
        p = (scale * maps[0, 0]).requires_grad_()
        by_pairs(p, x[0, 0], perturbed[0, 0], 0.1, sphere=False).backward()
        assert p.grad is not None
        assert bool(p.grad.any()) == bool(scale)


def test_each_pass_sees_every_point_once() -> None:
    for dataset, points in (("three_bars", 600), ("nested_moons", 400)):
        seen = batches([3], dataset, points).indices[0]
        for first in range(0, toy_maps.LONGER - points // BATCH, points // BATCH):
            assert seen[first : first + points // BATCH].flatten().sort().values.tolist() == list(range(points))
        assert not torch.equal(seen[: points // BATCH], seen[points // BATCH : 2 * points // BATCH])


def test_random_starts_are_small_and_shared_by_a_trials_settings() -> None:
    first = starts(range(50))
    settings = (Setting("cl", "three_bars"), Setting("lmcl_sum", "nested_moons"))
    plain, other, identity = map(LEARNED.index, (*settings, Setting("cl", "three_bars", start="identity")))
    assert torch.equal(first[plain], first[other])
    assert first[plain].std().item() == pytest.approx(START, rel=0.2)
    assert torch.equal(first[identity, 7], torch.eye(2))
    assert not torch.equal(first[plain, 0], first[plain, 1])


CHECKED = [
    Setting("cl", "three_bars"),
    Setting("cl", "nested_moons", shape="other"),
    Setting("cl", "three_bars", noise=0.2),
    Setting("lmcl_mean", "three_bars", start="identity"),
    Setting("lmcl_sum", "nested_moons"),
    Setting("lmcl_sum", "three_bars", shape="corner"),
]


@pytest.mark.trained
def test_runs_are_those_of_the_equations_under_torchs_adam(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few steps of each kind of setting, one run at a time, in float64; Eq. 9 weighs R1 by 0.1, as mean or sum."""
    monkeypatch.setattr(toy_maps, "STEPS", 4)
    monkeypatch.setattr(toy_maps, "LONGER", 6)
    seeds = [5, 6]
    drawn = {dataset: draws(seeds, dataset) for dataset in DATASETS}
    maps = learn(seeds, drawn).maps
    longer = 0
    for setting in CHECKED:
        points = SHAPES[setting.dataset][setting.shape](drawn[setting.dataset])[1]
        seen = batches(seeds, setting.dataset, len(points))
        p = starts(seeds)[LEARNED.index(setting), 1].double().requires_grad_()
        optimiser = torch.optim.Adam([p], lr=0.001)
        weight = {"cl": 0.0, "lmcl_mean": 0.1 / (BATCH * (BATCH - 1)), "lmcl_sum": 0.1}[setting.space]
        after = {}
        for step in range(6):
            x = points[seen.indices[1, step]]
            perturbed = x + setting.noise * seen.noise[1, step].double()
            optimiser.zero_grad()
            by_pairs(p, x, perturbed, weight).backward()
            optimiser.step()
            after[step + 1] = p.detach().float().clone()
        torch.testing.assert_close(maps[setting][1], after[4], rtol=0, atol=2e-6)
        if (further := setting._replace(longer=True)) in maps:
            longer += 1
            torch.testing.assert_close(maps[further][1], after[6], rtol=0, atol=2e-6)
    assert longer == 2
    assert min((each[0] - each[1]).abs().max().item() for each in maps.values()) > 1e-4


def test_the_mean_is_bounded_far_below_the_loss() -> None:
    """Why the mean over pairs changes nothing: it is at most 0.1 times (0.4/2)², 0.004 nats, and over random maps and
    points its gradient is less than a twentieth of Eq. 1's."""
    maps, x, perturbed = inputs(50, BATCH)
    none = torch.zeros(1, 50, dtype=torch.float64)
    plain = slopes(maps, x, perturbed, none)
    change = slopes(maps, x, perturbed, none + WEIGHT / (BATCH * (BATCH - 1))) - plain
    assert pytest.approx(0.004) == WEIGHT * ((UPPER - LOWER) / 2) ** 2
    assert math.sqrt((change**2).sum() / (plain**2).sum()) < 0.05
    assert change.abs().max() > 0
