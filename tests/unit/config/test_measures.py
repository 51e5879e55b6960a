"""The table of measures: chance by counting, names on another dataset, and no probe whose measure it lacks."""

from itertools import combinations
from pathlib import Path

import pytest

from hypersphere.config import registry
from hypersphere.config.artifacts import HISTORY_MEASURES
from hypersphere.config.measures import FILE, MEASURES, read, transfer_name

from ...fixtures import Refused


@pytest.mark.parametrize("classes", [2, 5, 7, 10])
@pytest.mark.parametrize(
    ("name", "guesses"), [("knn_top1", 1), ("linear_top5", 5), ("transfer_top5", 5)]
)
def test_chance_is_the_share_of_blind_guesses_that_name_the_class(
    name: str, guesses: int, classes: int
) -> None:
    """By counting: of all sets of so many classes, those that hold class 0."""
    sets = list(combinations(range(classes), min(guesses, classes)))
    share = 100 * sum(0 in named for named in sets) / len(sets)
    assert MEASURES[name].chance(classes) == pytest.approx(share)


def test_chance_of_a_ranking_does_not_depend_on_the_classes_and_what_no_guess_gives_has_none() -> (
    None
):
    """Only percentages have a chance, or a margin in points."""
    for name, level in {"norm_auroc": 50, "ood_contrast_auroc": 50, "norm_gain": 0}.items():
        assert [MEASURES[name].chance(classes) for classes in (2, 100)] == [level, level]
    names = ("norm", "mce", "contrastive_top1", "loss", "slope")
    assert {MEASURES[name].chance(10) for name in names} == {None}
    for other, measure in MEASURES.items():
        in_points = measure.guesses is not None or measure.margin in ("accuracy", "rate")
        assert measure.unit == "%" or not in_points, other
    assert set(HISTORY_MEASURES) <= set(MEASURES)


@pytest.mark.parametrize("probe", registry.names("probes"))
def test_every_measure_of_a_probe_is_in_the_table(probe: str) -> None:
    given = registry.read_constant("probes", probe, "MEASURES", ())
    assert given
    assert set(given) <= set(MEASURES)
    accuracies = [name for name in given if name.rpartition("_")[2] in ("top1", "top5")]
    assert {transfer_name(name) for name in accuracies} <= set(MEASURES)


@pytest.mark.parametrize(
    ("field", "old", "new"),
    [
        ("better", ",higher,1,", ",best,1,"),
        ("decimals", ",kNN accuracy,%,1,", ",kNN accuracy,%,x,"),
        ("decimals", ",kNN accuracy,%,1,", ",kNN accuracy,%,1000000000000,"),
        ("decimals", ",kNN accuracy,%,1,", ",kNN accuracy,%,16,"),
    ],
)
def test_a_wrong_row_of_the_table_is_named(
    tmp_path: Path, field: str, old: str, new: str, refused: Refused
) -> None:
    file = tmp_path / "measures.csv"
    file.write_text(FILE.read_text().replace(old, new))
    with refused("measures.csv", f"knn_top1.{field}"):
        read(file)
