"""Table 1's study: the same numbers in chunks of any size, and each number where it belongs."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from scipy.stats import ttest_rel

from hypersphere.simulations.toy_clustering import compute as toy_clustering
from hypersphere.simulations.toy_clustering import maps as toy_maps
from hypersphere.simulations.toy_clustering.compute import TABLE_1, accuracies, in_margin, simulate
from hypersphere.simulations.toy_clustering.data import DATASETS, SHAPES, clustered, draws
from hypersphere.simulations.toy_clustering.maps import SPACES, VARIATIONS, Setting, learn

Results = dict[str, np.ndarray]
TRIALS = range(8)


@pytest.fixture(scope="module")
def results() -> Iterator[Results]:
    """Some trials, after few steps: what is tested here does not depend on how many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(toy_maps, "STEPS", 5)
        patch.setattr(toy_maps, "LONGER", 7)
        yield simulate(TRIALS)


@pytest.mark.parametrize("seeds", [[0], [3, 4, 5]])
def test_a_trial_does_not_depend_on_the_others(results: Results, seeds: list[int]) -> None:
    some = simulate(seeds)
    assert some.keys() == results.keys()
    for name, part in some.items():
        assert part.tobytes() == results[name][seeds].tobytes(), name
    for name in ("maps", "accuracy", "in_margin"):
        assert some[name].tobytes() != results[name][[seed + 1 for seed in seeds]].tobytes()  # control: another seed


@pytest.mark.parametrize("variation", VARIATIONS)
def test_accuracies_are_those_of_their_setting(results: Results, variation: str) -> None:
    """K-means on one trial's Px, or x."""
    for dataset in DATASETS:
        drawn = draws([3], dataset)
        maps = learn([3], {name: draws([3], name) for name in DATASETS}).maps
        found = accuracies(results, variation, dataset)
        assert tuple(found) == SPACES
        for space in ("euclidean", "cl", "lmcl_sum"):
            setting = Setting(space, dataset)._replace(**VARIATIONS[variation])  # type: ignore[arg-type]
            points = SHAPES[dataset][setting.shape](drawn)[0]
            if space != "euclidean":
                p = maps[setting._replace(circle=False)][0].double()
                points = torch.stack([p @ x for x in points])
            if setting.circle:
                points = points / torch.linalg.vector_norm(points, dim=1, keepdim=True)
            assert found[space][3] == clustered(points[None], drawn)[0]


def test_only_what_changes_the_points_changes_their_own_accuracy(results: Results) -> None:
    """A corner moves all points as one, which K-means does not see."""
    for dataset in DATASETS:
        plain = accuracies(results, "default", dataset)["euclidean"]
        same = [v for v in VARIATIONS if np.array_equal(accuracies(results, v, dataset)["euclidean"], plain)]
        assert same == ["default", "longer", "identity", "noise", "corner"]


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
    assert in_margin(points).tolist() == pytest.approx(expected)
    assert 0 < expected[0] < 100


def test_the_printed_start_never_moves(results: Results) -> None:
    """Erratum L9, for every map of Table 1; the control is the start that is used, from which all maps move."""
    assert results["from_zero"].shape == (len(TRIALS), 6)
    assert (results["from_zero"] == 0).all()
    start = toy_maps.starts(TRIALS)[0].numpy()
    for k, setting in enumerate(TABLE_1):
        moved = np.abs(results["maps"][:, k] - start).max(axis=(1, 2))
        assert setting.space == "euclidean" or moved.min() > 1e-4


def test_what_is_handed_over(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy_clustering, "simulate", lambda seeds: results)
    tables, answers = toy_clustering.toy_clustering(None)  # type: ignore[arg-type]
    rows = {"table1": 8, "table1_sensitivity": 7 * 2 * 4, "fig3": 4 * (600 + 400)}
    assert {name: len(table) for name, table in tables.items()} == rows
    said = {answer.id: answer for answer in answers}
    assert len(said) == len(answers) == 20
    assert said["lmcl.table1.start_at_zero"].arms == {"held": [0.0], "places": [6.0 * len(TRIALS)]}
    assert said["lmcl.table1.start_at_zero.l9"].arms == {"held": [6.0 * len(TRIALS)], "places": [6.0 * len(TRIALS)]}
    moons = accuracies(results, "default", "nested_moons")
    gain = said["lmcl.table1.lmcl_gain.nested_moons.l9"]
    assert gain.reading == "L9, L10"
    assert gain.arms == {"variant": moons["lmcl_sum"].tolist(), "baseline": moons["cl"].tolist()}
    ambiguous = said["lmcl.fig3.ambiguous.three_bars.l5"]
    assert ambiguous.reading == "L5, L9, L10"
    for arm, space in (("variant", "cl"), ("baseline", "lmcl_mean")):
        at = TABLE_1.index(Setting(space, "three_bars"))
        assert ambiguous.arms[arm] == results["in_margin"][:, at].tolist()


def test_sensitivitys_gain_is_paired(results: Results) -> None:
    """Against scipy's paired t test's interval."""
    table = toy_clustering.sensitivity(results).set_index(["variation", "dataset", "space"])
    row = table.loc[("identity", "three_bars", "lmcl_sum")]
    trials = accuracies(results, "identity", "three_bars")
    test = ttest_rel(trials["lmcl_sum"], trials["cl"])
    interval = test.confidence_interval(0.95)
    assert [row["gain"], row["low"], row["high"]] == pytest.approx(
        [np.mean(trials["lmcl_sum"] - trials["cl"]), interval.low, interval.high]
    )


def test_figure_3_is_the_first_trial_to_scale(results: Results) -> None:
    table = toy_clustering.figure_3(results["maps"][0])
    for _, panel in table.groupby(["dataset", "space"]):
        assert (panel["x"] ** 2 + panel["y"] ** 2).mean() == pytest.approx(1)
    raw = table[(table["space"] == "euclidean") & (table["dataset"] == "three_bars")]
    points = SHAPES["three_bars"]["default"](draws([0], "three_bars"))[0].numpy()
    assert np.corrcoef(raw["x"], points[:, 0])[0, 1] == pytest.approx(1)
    assert raw["class"].value_counts().to_dict() == {1: 200, 2: 200, 3: 200}
