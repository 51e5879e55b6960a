"""Table 1's study: the same numbers in chunks of any size, and each number where it belongs."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from scipy.stats import ttest_rel
from torch import Tensor

from hypersphere.simulations.toy_clustering import compute as toy_clustering
from hypersphere.simulations.toy_clustering import maps as toy_maps
from hypersphere.simulations.toy_clustering.compute import BINS, SPACES, accuracies, pair_counts, simulate
from hypersphere.simulations.toy_clustering.data import BARS, DATASETS, SHAPES, clustered, draws
from hypersphere.simulations.toy_clustering.maps import DEFAULTS, SETTINGS, VARIATIONS, Setting

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
    for name in ("maps", "learned", "longer", "euclidean", "histogram"):
        assert some[name].tobytes() != results[name][[seed + 1 for seed in seeds]].tobytes()  # control: another seed


def by_hand(results: Results, setting: Setting, seed: int, circle: bool = False) -> Tensor:
    """K-means on one trial's Px."""
    drawn = draws([seed], setting.dataset)
    p = torch.from_numpy(results["maps"][seed, SETTINGS.index(setting)]).double()
    mapped = torch.stack([p @ x for x in SHAPES[setting.dataset][setting.shape].points(drawn)[0]])
    if circle:
        mapped = mapped / torch.linalg.vector_norm(mapped, dim=1, keepdim=True)
    return clustered(mapped[None, None], drawn)[0, 0]


@pytest.mark.parametrize("variation", VARIATIONS)
def test_accuracies_are_those_of_their_setting(results: Results, variation: str) -> None:
    for dataset in DATASETS:
        found = accuracies(results, variation, dataset)
        assert tuple(found) == SPACES
        for method in ("cl", "lmcl_sum"):
            setting = Setting(method, dataset, **VARIATIONS[variation])  # type: ignore[arg-type]
            assert found[method][3] == by_hand(results, setting, 3)


def test_accuracies_of_points_on_the_circle_and_after_more_steps(results: Results) -> None:
    for dataset in DATASETS:
        circle = accuracies(results, "circle", dataset)
        assert circle["lmcl_sum"][3] == by_hand(results, Setting("lmcl_sum", dataset), 3, circle=True)
        longer = accuracies(results, "longer", dataset)
        assert np.array_equal(longer["euclidean"], accuracies(results, "default", dataset)["euclidean"])
        assert not np.array_equal(circle["euclidean"], longer["euclidean"])
        index = [SETTINGS[i] for i in DEFAULTS].index(Setting("cl", dataset))
        assert np.array_equal(longer["cl"], results["longer"][:, index])


def test_pairs_are_counted_once_in_their_bin() -> None:
    """A plain loop over pairs i < j, D = (1 - cos)/2 of Eq. 3."""
    points = torch.randn(2, 12, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    classes = torch.arange(12) % 3
    expected = np.zeros((2, 2, BINS))
    for seed in range(2):
        for i in range(12):
            for j in range(i + 1, 12):
                a, b = points[seed, i], points[seed, j]
                d = (1 - float(a @ b / a.norm() / b.norm())) / 2
                expected[seed, int(classes[i] != classes[j]), int(d * BINS)] += 1
    assert np.array_equal(pair_counts(points, classes).numpy(), expected)
    assert expected.sum() == 2 * 66


def test_shares_add_up(results: Results) -> None:
    """Histograms are percent of a kind; the share inside is of all pairs, of which a third or so are of one class."""
    assert results["histogram"].sum(axis=-1) == pytest.approx(np.full((len(TRIALS), 2, 4, 2), 100.0))
    inside = results["histogram"][..., 5:25].sum(axis=-1)  # 0.1 to 0.5 in fiftieths
    for d, (classes, size) in enumerate(((3, 200), (2, 200))):
        same = (size - 1) / (classes * size - 1)
        expected = inside[:, d, :, 0] * same + inside[:, d, :, 1] * (1 - same)
        assert results["in_margin"][:, d] == pytest.approx(expected)


def test_the_printed_start_never_moves(results: Results) -> None:
    """Erratum L9, in every setting and trial; the control is the start that is used."""
    assert results["from_zero"].shape == (len(TRIALS), len(SETTINGS))
    assert (results["from_zero"] == 0).all()
    assert results["from_start"].min() > 1e-4


def test_what_is_handed_over(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy_clustering, "simulate", lambda seeds: results)
    tables, answers = toy_clustering.toy_clustering(None)  # type: ignore[arg-type]
    rows = {"table1": 8, "table1_sensitivity": 10 * 2 * 4, "fig3": 4 * (600 + 400), "toy_distances": 2 * 4 * 2 * BINS}
    assert {name: len(table) for name, table in tables.items()} == rows
    said = {answer.id: answer for answer in answers}
    assert len(said) == len(answers) == 20
    assert said["lmcl.table1.start_at_zero"].arms == {"held": [0.0], "places": [48.0 * len(TRIALS)]}
    assert said["lmcl.table1.start_at_zero.l9"].arms == {"held": [48.0 * len(TRIALS)], "places": [48.0 * len(TRIALS)]}
    moons = accuracies(results, "default", "nested_moons")
    gain = said["lmcl.table1.lmcl_gain.nested_moons.l9"]
    assert gain.reading == "L9, L10"
    assert gain.arms == {"variant": moons["lmcl_sum"].tolist(), "baseline": moons["cl"].tolist()}
    ambiguous = said["lmcl.fig3.ambiguous.three_bars.l5"]
    assert ambiguous.reading == "L5, L9, L10"
    assert ambiguous.arms["variant"] == results["in_margin"][:, 0, 1].tolist()
    assert ambiguous.arms["baseline"] == results["in_margin"][:, 0, 2].tolist()


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
    points = BARS["default"].points(draws([0], "three_bars"))[0].numpy()
    assert np.corrcoef(raw["x"], points[:, 0])[0, 1] == pytest.approx(1)
    assert raw["class"].value_counts().to_dict() == {1: 200, 2: 200, 3: 200}
