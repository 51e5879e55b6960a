"""LMCL's toy study: shapes chosen by Table 1's Euclidean row alone, maps against the paper's equations pair by pair,
and each number where it belongs."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pytest
import torch
from scipy.stats import ttest_rel
from torch import Tensor

from papers.lmcl.studies.toy_clustering import compute as study
from tests.unit.printed import table

PRINTED = table("lmcl", "table1", "variant", "dataset").loc["euclidean"]
"""LMCL paper, Table 1, Euclidean space, percent."""
Shape = Callable[[study.Draws], Tensor]
Results = dict[str, np.ndarray]
TRIALS = range(8)


# Shapes


def tried(shape: Callable[..., Tensor], free: str, centre: float) -> dict[float, Shape]:
    """A shape with each value of its free parameter in turn: steps of 0.01, up to 0.1 from a value found by eye."""
    values = [round(centre + hundredth / 100, 2) for hundredth in range(-10, 11)]
    return {value: partial(shape, **{free: value}) for value in values}


SIDE_BY_SIDE = tried(study.SHAPES["three_bars"]["other"], "spacing", 1.0)


def euclidean(shapes: Sequence[Shape], drawn: study.Draws) -> Tensor:
    """Accuracy of K-means on the points themselves, percent, [seeds, shapes]."""
    return torch.stack([study.clustered(shape(drawn), drawn) for shape in shapes], dim=1)


@pytest.mark.parametrize("within", [0.015, pytest.param(1.0, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("dataset", "shapes", "chosen"),
    [
        ("three_bars", tried(study.three_bars, "step", 1.1), 1.09),
        ("three_bars", SIDE_BY_SIDE, 1.0),
        ("nested_moons", tried(study.nested_moons, "gap", 0.1), 0.11),
        ("nested_moons", tried(study.SHAPES["nested_moons"]["other"], "gap", -0.25), -0.27),
    ],
)
def test_each_shape_is_the_best_of_those_that_were_tried(
    dataset: str, shapes: dict[float, Shape], chosen: float, within: float
) -> None:
    """The shape's mean Euclidean accuracy is nearest to the printed one, among its neighbours and among all."""
    near = {value: shape for value, shape in shapes.items() if abs(value - chosen) < within}
    means = euclidean(list(near.values()), study.draws(range(20), dataset)).mean(dim=0)
    assert len(near) == (3 if within < 1 else 21)
    assert list(near)[int((means - PRINTED[dataset]).abs().argmin())] == chosen


def test_bars_side_by_side_jump_past_the_printed_accuracy() -> None:
    """Why the bars are in steps: without, K-means cuts across them or between them, about 69 or 100 %. A spacing whose
    mean is the printed 75.2 mixes both, with eight times the printed spread of 1.2 and more."""
    rows = euclidean(list(SIDE_BY_SIDE.values())[::2], study.draws(range(20), "three_bars"))
    near = (rows.mean(dim=0) > 72) & (rows.mean(dim=0) < 95)
    assert near.any()
    assert rows.std(dim=0)[near].min() > 9


def test_bars_lie_where_they_should() -> None:
    drawn = study.draws([0], "three_bars")
    points = study.three_bars(drawn, step=1.0, spacing=0.5)[0]
    for bar in (-1, 0, 1):
        own = points[drawn.classes == bar + 1] - torch.tensor([0.5 * bar, 1.0 * bar])
        assert len(own) == study.SIZE
        assert own.abs().amax(dim=0).tolist() == pytest.approx([0.1, 1.0], abs=0.02)
        assert (own.abs() <= torch.tensor([0.1, 1.0])).all()


def test_moons_lie_on_their_circles() -> None:
    """Centres (-1/2, (gap - 1/2)/2) and (1/2, (1/2 - gap)/2); the first is the upper half of its circle."""
    drawn = study.draws([0], "nested_moons")
    points = (study.nested_moons(drawn, gap=0.3, inner=0.7) - 0.1 * drawn.noise)[0]
    upper, lower = (points[drawn.classes == moon] for moon in (0, 1))
    for moon, centre, radius, sign in ((upper, (-0.5, -0.1), 1.0, 1), (lower, (0.5, 0.1), 0.7, -1)):
        from_centre = moon - torch.tensor(centre, dtype=moon.dtype)
        assert torch.linalg.vector_norm(from_centre, dim=1).tolist() == pytest.approx(
            [radius] * study.SIZE
        )
        assert (sign * from_centre[:, 1] >= 0).all()


def test_shapes_have_the_printed_accuracy_and_the_corner_has_all_points_on_one_side() -> None:
    """Moved as a whole: K-means sees no difference, a direction from 0 does."""
    for dataset, least in (("three_bars", 0.0), ("nested_moons", -0.2)):
        drawn, shapes = study.draws(range(20), dataset), study.SHAPES[dataset]
        means = euclidean(list(shapes.values()), drawn).mean(dim=0)
        assert means.tolist() == pytest.approx([PRINTED[dataset]] * 3, abs=0.1)
        moved = shapes["corner"](drawn) - shapes["default"](drawn)
        torch.testing.assert_close(moved, moved[:1, :1].expand_as(moved))
        assert shapes["corner"](drawn).min() >= least
    assert study.three_bars(study.draws(range(20), "three_bars")).min() < -1


# Maps


def inputs(maps: int, n: int) -> tuple[Tensor, Tensor, Tensor]:
    generator, shapes = torch.Generator().manual_seed(0), ((2, 2), (n, 2), (n, 2))
    p, x, noise = (
        torch.randn(1, maps, *shape, generator=generator, dtype=torch.float64) for shape in shapes
    )
    return p, x, x + 0.1 * noise


def by_pairs(
    p: Tensor, x: Tensor, perturbed: Tensor, penalty: float, sphere: bool = True
) -> Tensor:
    """Eq. 1 and Eq. 10, pair by pair; off the sphere with Px where the paper has unit vectors."""
    z, z_perturbed = x @ p.T, perturbed @ p.T
    if sphere:
        z, z_perturbed = (
            each / torch.linalg.vector_norm(each, dim=1, keepdim=True) for each in (z, z_perturbed)
        )
    total = torch.zeros((), dtype=p.dtype)
    for i in range(len(z)):
        negatives = sum((z[i] @ z[j]).exp() for j in range(len(z)) if j != i)
        positive = z[i] @ z_perturbed[i]
        total = total - (positive.exp() / (positive.exp() + negatives)).log() / len(z)
        for j in range(len(z)):
            d = (1 - z[i] @ z[j]) / 2
            total = total + penalty * min(
                (d - study.LOWER) * (d - study.UPPER), torch.zeros(())
            ).abs() * (i != j)
    return total


def test_each_map_has_the_slope_of_its_own_loss() -> None:
    maps, x, perturbed = inputs(3, 7)
    weights = torch.tensor([[0.0, 0.002, 3.0]], dtype=torch.float64)
    ours = study.slopes(maps, x, perturbed, weights)[0]
    for k, weight in enumerate(weights[0].tolist()):
        p = maps[0, k].clone().requires_grad_()
        by_pairs(p, x[0, k], perturbed[0, k], weight).backward()
        torch.testing.assert_close(ours[k], p.grad, rtol=1e-10, atol=1e-13)


def test_zero_is_stationary() -> None:
    """The printed start (erratum L9): exactly 0, in either reading of the objective. Beside it, the gradient is not."""
    maps, x, perturbed = inputs(4, 7)
    weights = torch.tensor([[0.0, 0.0, 0.1, 0.1]], dtype=torch.float64)
    assert study.slopes(0 * maps, x, perturbed, weights).abs().max() == 0
    assert study.slopes(1e-3 * maps, x, perturbed, weights).abs().amax(dim=(2, 3)).min() > 0
    for scale in (0, 1e-3):
        p = (scale * maps[0, 0]).requires_grad_()
        by_pairs(p, x[0, 0], perturbed[0, 0], 0.1, sphere=False).backward()
        assert bool(p.grad.any()) == bool(scale)


def test_each_pass_sees_every_point_once() -> None:
    for dataset, points in (("three_bars", 600), ("nested_moons", 400)):
        seen, each = study.batches([3], dataset, points)[0][0], points // study.BATCH
        for first in range(0, study.LONGER - each, each):
            assert seen[first : first + each].flatten().sort().values.tolist() == list(
                range(points)
            )
        assert not torch.equal(seen[:each], seen[each : 2 * each])


def test_random_starts_are_small_and_shared_by_a_trials_settings() -> None:
    first = study.starts(range(50))
    settings = (study.Setting("cl", "three_bars"), study.Setting("lmcl_sum", "nested_moons"))
    plain, other, identity = map(
        study.LEARNED.index, (*settings, study.Setting("cl", "three_bars", start="identity"))
    )
    assert torch.equal(first[plain], first[other])
    assert first[plain].std().item() == pytest.approx(study.START, rel=0.2)
    assert torch.equal(first[identity, 7], torch.eye(2))
    assert not torch.equal(first[plain, 0], first[plain, 1])


@pytest.mark.heavy
@pytest.mark.trained
def test_runs_are_those_of_the_equations_under_torchs_adam(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few steps of each kind of setting, one run at a time, in float64; Eq. 9 weighs R1 by 0.1, as mean or sum."""
    monkeypatch.setattr(study, "STEPS", 4)
    monkeypatch.setattr(study, "LONGER", 6)
    seeds = [5, 6]
    drawn = {dataset: study.draws(seeds, dataset) for dataset in study.DATASETS}
    maps, _ = study.learn(seeds, drawn)
    longer = 0
    for setting in (
        study.Setting("cl", "three_bars"),
        study.Setting("cl", "nested_moons", shape="other"),
        study.Setting("cl", "three_bars", noise=0.2),
        study.Setting("lmcl_mean", "three_bars", start="identity"),
        study.Setting("lmcl_sum", "nested_moons"),
        study.Setting("lmcl_sum", "three_bars", shape="corner"),
    ):
        points = study.SHAPES[setting.dataset][setting.shape](drawn[setting.dataset])[1]
        order, noise = (part[1] for part in study.batches(seeds, setting.dataset, len(points)))
        p = study.starts(seeds)[study.LEARNED.index(setting), 1].double().requires_grad_()
        optimiser = torch.optim.Adam([p], lr=0.001)
        weight = {"cl": 0.0, "lmcl_mean": 0.1 / (study.BATCH * (study.BATCH - 1)), "lmcl_sum": 0.1}[
            setting.space
        ]
        after = {}
        for step in range(6):
            x = points[order[step]]
            optimiser.zero_grad()
            by_pairs(p, x, x + setting.noise * noise[step].double(), weight).backward()
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
    maps, x, perturbed = inputs(50, study.BATCH)
    none = torch.zeros(1, 50, dtype=torch.float64)
    plain = study.slopes(maps, x, perturbed, none)
    change = (
        study.slopes(maps, x, perturbed, none + study.WEIGHT / (study.BATCH * (study.BATCH - 1)))
        - plain
    )
    assert pytest.approx(0.004) == study.WEIGHT * ((study.UPPER - study.LOWER) / 2) ** 2
    assert math.sqrt((change**2).sum() / (plain**2).sum()) < 0.05
    assert change.abs().max() > 0


# The study


@pytest.fixture(scope="module")
def results() -> Iterator[Results]:
    """Some trials, after few steps: what is tested here does not depend on how many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "STEPS", 5)
        patch.setattr(study, "LONGER", 7)
        yield study.simulate(TRIALS)


def test_a_trial_does_not_depend_on_the_others(results: Results) -> None:
    some = study.simulate([4])
    assert some.keys() == results.keys()
    for name, part in some.items():
        assert part.tobytes() == results[name][[4]].tobytes(), name
    for name in ("maps", "accuracy", "in_margin"):
        assert some[name].tobytes() != results[name][[5]].tobytes()  # control: another seed


def test_accuracies_are_those_of_their_setting(results: Results) -> None:
    """K-means on one trial's Px, or x. A corner moves all points as one, which K-means on x does not see."""
    maps, _ = study.learn([3], {name: study.draws([3], name) for name in study.DATASETS})
    for dataset in study.DATASETS:
        drawn = study.draws([3], dataset)
        plain = {
            name: study.accuracies(results, name, dataset)["euclidean"] for name in study.VARIATIONS
        }
        same = [name for name, values in plain.items() if np.array_equal(values, plain["default"])]
        assert same == ["default", "longer", "identity", "noise", "corner"]
        for variation, changed in study.VARIATIONS.items():
            found = study.accuracies(results, variation, dataset)
            assert tuple(found) == study.SPACES
            for space in ("euclidean", "cl", "lmcl_sum"):
                setting = study.Setting(space, dataset)._replace(**changed)
                points = study.SHAPES[dataset][setting.shape](drawn)[0]
                if space != "euclidean":
                    p = maps[setting._replace(circle=False)][0].double()
                    points = torch.stack([p @ x for x in points])
                if setting.circle:
                    points = points / torch.linalg.vector_norm(points, dim=1, keepdim=True)
                assert found[space][3] == study.clustered(points[None], drawn)[0]


def test_the_share_of_pairs_in_the_margin_region() -> None:
    """A plain loop over pairs i < j, D = (1 - cos)/2 of Eq. 3, from 0.1 to 0.5."""
    points = torch.randn(2, 12, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = [0.0, 0.0]
    for seed in range(2):
        for i in range(12):
            for j in range(i + 1, 12):
                a, b = points[seed, i], points[seed, j]
                d = (1 - float(a @ b / a.norm() / b.norm())) / 2
                expected[seed] += 100 * (0.1 <= d < 0.5) / 66
    assert study.in_margin(points).tolist() == pytest.approx(expected)
    assert 0 < expected[0] < 100


def test_the_printed_start_never_moves_and_a_gain_is_paired(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Erratum L9, for every map of Table 1. A gain's interval is that of scipy's paired t test."""
    monkeypatch.setattr(study, "simulate", lambda seeds: results)
    tables, answers = study.toy_clustering(None)
    rows = {"table1": 8, "table1_sensitivity": 7 * 2 * 4, "fig3": 4 * (600 + 400)}
    assert {name: len(part) for name, part in tables.items()} == rows
    said = {answer.id: answer for answer in answers}
    assert len(said) == len(answers) == 20
    assert said["lmcl.table1.start_at_zero"].arms == {"held": [0.0], "places": [6.0 * len(TRIALS)]}
    assert said["lmcl.table1.start_at_zero.l9"].arms == {
        "held": [6.0 * len(TRIALS)],
        "places": [6.0 * len(TRIALS)],
    }
    moons = study.accuracies(results, "default", "nested_moons")
    gain = said["lmcl.table1.lmcl_gain.nested_moons.l9"]
    assert gain.reading == "L9, L10"
    assert gain.arms == {"variant": moons["lmcl_sum"].tolist(), "baseline": moons["cl"].tolist()}
    ambiguous = said["lmcl.fig3.ambiguous.three_bars.l5"]
    assert ambiguous.reading == "L5, L9, L10"
    for arm, space in (("variant", "cl"), ("baseline", "lmcl_mean")):
        at = study.TABLE_1.index(study.Setting(space, "three_bars"))
        assert ambiguous.arms[arm] == results["in_margin"][:, at].tolist()
    trials = study.accuracies(results, "identity", "three_bars")
    interval = ttest_rel(trials["lmcl_sum"], trials["cl"]).confidence_interval(0.95)
    rows = tables["table1_sensitivity"].set_index(["variation", "dataset", "space"])
    row = rows.loc[("identity", "three_bars", "lmcl_sum")]
    assert [row["gain"], row["low"], row["high"]] == pytest.approx(
        [np.mean(trials["lmcl_sum"] - trials["cl"]), interval.low, interval.high]
    )
    first = study.accuracies(results, "default", "three_bars")["cl"]
    row = tables["table1"].set_index("claim").loc["lmcl.table1.cl.three_bars.l9"]
    assert (row["mean"], row["std"], row["trials"]) == (
        first.mean(),
        first.std(ddof=1),
        len(TRIALS),
    )
    figure = tables["fig3"]
    for _, panel in figure.groupby(["dataset", "space"]):
        assert (panel["x"] ** 2 + panel["y"] ** 2).mean() == pytest.approx(1)
    raw = figure[(figure["space"] == "euclidean") & (figure["dataset"] == "three_bars")]
    points = study.three_bars(study.draws([0], "three_bars"))[0].numpy()
    assert np.corrcoef(raw["x"], points[:, 0])[0, 1] == pytest.approx(1)
    assert raw["class"].value_counts().to_dict() == {1: 200, 2: 200, 3: 200}
