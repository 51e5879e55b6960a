"""Pairs in their plane against the same pairs in all dimensions, Table 1 as printed, and limiting cases by hand."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from hypersphere import prng
from papers.embedding_norms.studies.pair_attraction import compute
from papers.embedding_norms.studies.pair_attraction.compute import CELLS, Setting, free
from tests.unit.printed import table

NORMS = (1.0, 4.0, 7.0)
PRINTED = table("embedding_norms", "table1", "variant", "norm", {"measure": "steps"})
TABLE_1 = {
    (norm, gamma): PRINTED.loc[f"gamma{gamma:g}", norm] for norm in NORMS for gamma in (0.5, 1.0)
}


def norms(z: Tensor) -> Tensor:
    return torch.linalg.vector_norm(z, dim=-1)


def cosines(z: Tensor) -> Tensor:
    return (z[0] * z[1]).sum(dim=-1) / norms(z).prod(dim=0)


# What gamma weighs in the readings of Table 1, on z of shape [2, pairs, d]; index 0 is the i of its formula.
PENALTIES: dict[str, Callable[[Tensor], Tensor]] = {
    "": lambda z: norms(z).sum() * 0,
    "norm": lambda z: norms(z).mean(),
    "square": lambda z: norms(z[0]).square().mean(),
    "squares": lambda z: norms(z).square().mean(),  # two readings that erratum N1 rules out
    "inner product": lambda z: norms(z[0]).square().mean(),
}


def points(seed: int, setting: Setting) -> Tensor:
    """The study's random directions, scaled and interpolated as vectors."""
    generator = torch.Generator().manual_seed(prng.torch_seed(seed, "pair attraction"))
    z = torch.randn(2, 500, 20, generator=generator, dtype=torch.float64)
    z = z / norms(z)[..., None]
    second = z[1] * (1 - abs(setting.alpha)) + z[0] * setting.alpha
    if setting.normalised:
        second = second / norms(second)[:, None]
    return torch.stack([z[0] * setting.norms[0], second * setting.norms[1]])


def steps_in_all_dimensions(setting: Setting, seed: int) -> float:
    """Autograd on 1000 points of R^20, at most 300 steps."""
    z = points(seed, setting)
    for count in range(300):
        if cosines(z).mean() > 0.999:
            return count
        z = z.detach().requires_grad_()
        attraction = (
            (z[0] * z[1]).sum(dim=-1).mean()
            if setting.penalty == "inner product"
            else cosines(z).mean()
        )
        (gradient,) = torch.autograd.grad(
            setting.gamma * PENALTIES[setting.penalty](z) - attraction, z
        )
        gradient[0] *= not setting.static
        z = z.detach() - 10 * gradient
    return math.inf


def simulated(settings: Sequence[Setting], seeds: Sequence[int], name: str = "steps") -> np.ndarray:
    """``simulate`` of these settings alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compute, "SETTINGS", list(settings))
        return compute.simulate(seeds)[name]


def test_the_plane_is_enough() -> None:
    """An independent simulation: autograd in 20 dimensions takes the same number of steps in every setting."""
    ours = [
        free(1.0),
        free(1.0, -0.96),
        free(0.5, 0.64),
        Setting((1.0, 1.0), -0.4, normalised=False),
    ]
    ours += [Setting((1.0, 2.0)), Setting((0.5, 0.5), static=True)]
    ours += [CELLS["norm", 1.0, 0.5], CELLS["norm", 1.0, 1.0], CELLS["square", 4.0, 1.0]]
    found = simulated(ours, [3])[0].tolist()
    assert found == [steps_in_all_dimensions(setting, 3) for setting in ours]
    assert len(set(found)) == len(ours)  # no two settings are the same simulation


def test_n7_interpolation_is_that_of_vectors_and_changes_the_norm() -> None:
    """App. B.1's formula on vectors; at alpha = ±1 the second point is the first, or its opposite."""
    cosine = cosines(points(1, free(1.0))).numpy()
    for alpha in (-0.7, 0.2, 0.9):
        z = points(1, Setting((1.0, 1.0), alpha, normalised=False))
        found, norm = compute.interpolated(cosine, np.array(alpha))
        assert found == pytest.approx(cosines(z).numpy(), abs=1e-14)
        assert norm == pytest.approx(norms(z[1]).numpy(), abs=1e-14)
    for end in (-1.0, 1.0):
        assert compute.interpolated(cosine, np.array(end))[0].tolist() == [end] * 500


def test_table_1_comes_out_in_the_reading_of_n1() -> None:
    """The steps agree to one. With the squared norm of one point, as printed, they are nowhere near. With the squared
    norm of all points they are hardly nearer, and converge at gamma = 10. The formula to the letter is an inner product
    of vectors, and has no norm."""
    printed = np.array(list(TABLE_1.values()))
    assert len(printed) == 6
    steps = simulated([CELLS["norm", *cell] for cell in TABLE_1], [0, 1, 2])
    assert np.abs(steps - printed).max() <= 1
    squared = simulated([CELLS["square", *cell] for cell in TABLE_1], [0])
    assert (squared < 0.8 * printed).all()
    for gamma, steps in ((0.5, 53), (1.0, 39), (10.0, 8)):
        assert (
            steps_in_all_dimensions(Setting((1.0, 1.0), penalty="squares", gamma=gamma), 0) == steps
        )
    literal = {
        steps_in_all_dimensions(Setting((norm, norm), penalty="inner product", gamma=1.0), 0)
        for norm in NORMS
    }
    assert len(literal) == 1
    assert math.isfinite(literal.pop())


def test_n2_and_n3_steps_without_penalty_are_quadratic_in_the_norm_and_more_than_with_one() -> None:
    """96 or 97 at norm 1, about 1,540 and 4,700 at norms 4 and 7: a factor of 16 and 49."""
    steps = simulated([free(norm) for norm in NORMS], [0])[0]
    assert steps[0] == pytest.approx(96, abs=1)
    assert steps / steps[0] == pytest.approx(np.array([1, 16, 49]), rel=0.02)
    most = [max(TABLE_1[norm, gamma] for gamma in (0.5, 1.0)) for norm in NORMS]
    assert (steps > most).all()


@pytest.mark.parametrize("penalty", [0.0, 0.5, 1.0])
def test_n5_either_sphere_takes_the_same_steps(
    monkeypatch: pytest.MonkeyPatch, penalty: float
) -> None:
    """Points in R^20 (App. B.1) and on S^20, hence in R^21 (Sec. 4.1)."""
    counts = []
    for dimension in (20, 21):
        monkeypatch.setattr(compute, "DIMENSION", dimension)
        counts.append(simulated([CELLS["norm", 1.0, penalty]], [0]).item())
    assert abs(counts[0] - counts[1]) <= 1


def test_n6_what_is_static_and_what_is_scaled_matters() -> None:
    """A static first set takes twice the steps; at norm 4, scaling the second set alone takes an eighth of them."""
    static, second, both = simulated(
        [Setting((1.0, 1.0), static=True), Setting((1.0, 4.0)), free(4.0)], [0]
    )[0]
    assert static == pytest.approx(194, abs=2)
    assert second == pytest.approx(183, abs=3)
    assert both > 1500


@pytest.mark.parametrize("penalty", ["norm", "square"])
def test_the_largest_penalty_collapses(monkeypatch: pytest.MonkeyPatch, penalty: str) -> None:
    """The simulation diverges, as printed. The norms end far below where they began."""
    monkeypatch.setattr(compute, "LIMIT_WITH_PENALTY", 400)
    steps, norm = (
        simulated([CELLS[penalty, 4.0, 10.0]], [0], name).item() for name in ("steps", "norm")
    )
    assert steps == math.inf
    assert norm < 0.2


@pytest.mark.parametrize("chunks", [[[0], [1], [2, 9]], [[9, 2, 1], [0]]])
def test_seeds_may_be_computed_together_or_apart(
    monkeypatch: pytest.MonkeyPatch, chunks: list[list[int]]
) -> None:
    """The results are equal to the byte. Seed 9 is not of the sweep: settings outside Table 1 are left out for it."""
    few = [
        free(1.0),
        free(0.5, -0.48),
        Setting((1.0, 2.0)),
        CELLS["norm", 1.0, 1.0],
        CELLS["square", 1.0, 0.5],
    ]
    monkeypatch.setattr(compute, "SETTINGS", few)
    whole = compute.simulate([0, 1, 2, 9])
    apart = [compute.simulate(chunk) for chunk in chunks]
    order = [[0, 1, 2, 9].index(seed) for chunk in chunks for seed in chunk]
    for name, values in whole.items():
        assert np.concatenate([part[name] for part in apart]).tobytes() == values[order].tobytes()
    assert whole["angle"][0].tobytes() != whole["angle"][1].tobytes()
    assert np.isnan(whole["steps"]).tolist() == [[False] * 5] * 3 + [
        [False, True, True, False, False]
    ]


@pytest.mark.filterwarnings("ignore:invalid value")  # large norms have no steps within 800
def test_tables_hold_what_is_drawn_and_answers_are_named_once_and_hold_every_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two seeds, and only the small norms and the first 400 steps of a penalty."""
    for limit, value in (("SEEDS", range(2)), ("LIMIT", 800), ("LIMIT_WITH_PENALTY", 400)):
        monkeypatch.setattr(compute, limit, value)
    study = compute.pair_attraction(None)
    table, figure = study.tables["table1"], study.tables["fig2a"]
    assert len(table) == len(CELLS) == 2 * 3 * 4
    free_cells = table[table["gamma"] == 0]
    # one column for both
    assert free_cells.groupby("norm")["mean"].nunique(dropna=False).tolist() == [1, 1, 1]
    never = table[table["converged"] == 0]
    assert set(never["penalty"]) == {"norm", "square"}
    assert never["mean"].isna().all()
    ends = figure[(figure["panel"] == "angle") & (figure["curve"] == "normalised")].sort_values(
        "angle"
    )
    assert ends["mean"].iloc[0] == 0  # the same point twice
    assert ends["angle"].iloc[-1] == pytest.approx(3.10, abs=0.01)
    assert ends["mean"].is_monotonic_increasing
    arms = {answer.id: answer.arms for answer in study.answers}
    assert len(arms) == len(study.answers)
    assert arms["norms.table1.norm1.gamma10.n1"]["seeds"] == [math.inf, math.inf]
    saved = arms["norms.table1.faster.norm1.gamma1.n1"]
    assert [
        a - b for a, b in zip(saved["variant"], saved["baseline"], strict=True)
    ] == pytest.approx([47, 47], abs=1)
    angles = arms["norms.fig2a.only_near_pi"]
    assert max(angles["variant"]) < min(angles["baseline"])
