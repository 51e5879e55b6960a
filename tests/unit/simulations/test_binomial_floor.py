"""Floors and effects of printed accuracies; expected counts and z are computed here with the textbook formula, one cell
at a time."""

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hypersphere.audit import chance
from hypersphere.config.claims import Claim
from hypersphere.simulations.binomial_floor import compute as study
from hypersphere.simulations.study import Context, Study

from ..printed import differences, table

PAPERS = Path(__file__).parents[3] / "config" / "papers"
IMAGES = {"imagenet100": 5_000, "stl10": 8_000, "flowers102_lt": 1_020}
"""The other test sets have 10,000."""


@cache
def found(paper: str) -> Study:
    declared = SimpleNamespace(studied=("binomial_floor", "binomial_effects"))
    file = PAPERS / paper / "claims.csv"
    config: Any = SimpleNamespace(claims_file={paper: file}.__getitem__, papers={paper: declared})
    return study.binomial_floor(Context(config, paper))


def answers(paper: str) -> dict[str, tuple[float, float]]:
    return {a.id: (a.arms["held"][0], a.arms["places"][0]) for a in found(paper).answers}


def z(new: float, old: float, images: int) -> float:
    return (new - old) / math.sqrt((new * (100 - new) + old * (100 - old)) / images)


def z_of_table(paper: str, artifact: str, baseline: str, by: str = "dataset") -> dict[tuple[str, str, str], float]:
    """By method, variant and test set. An accuracy of 1.0 is that of a failed run."""
    cells, scores = table(paper, artifact, "method.variant", by), {}
    for name, row in cells.items():
        method, variant = str(name).split(".")
        for tested, new in row.items():
            if variant != baseline and new != 1.0:
                old, images = cells[f"{method}.{baseline}"][tested], IMAGES.get(str(tested), 10_000)
                scores[method, variant, str(tested)] = z(new, old, images)
    return scores


@pytest.mark.parametrize(
    ("artifact", "shown", "within", "effects"),
    [
        ("table4", "Table 4", 6, 11),
        ("table5", "Table 5", 0, 9),
        ("table6", "Table 6", 3, 6),
        ("tableS3", "Table S3", 3, 5),
    ],
)
def test_n45_counts_of_effects_within_the_floors(artifact: str, shown: str, within: int, effects: int) -> None:
    """The counts are the erratum's. Of 11, 0.55 are beyond their error by chance."""
    expected = z_of_table("embedding_norms", artifact, "default")
    assert (sum(score < 1.96 for score in expected.values()), len(expected)) == (within, effects)
    tables = found("embedding_norms").tables
    row = tables["binomial_floor"].set_index("table").loc[shown]
    assert (row["within"], row["effects"]) == (within, effects)
    assert row["furthest"] == pytest.approx(max(expected.values()), abs=1e-9)
    assert row["by_chance"] == pytest.approx(0.05 * effects, abs=0.001)
    assert row["p_as_many"] == pytest.approx(chance.as_many_by_chance(effects - within, effects))
    markers = tables["binomial_effects"]
    assert set(markers["by_chance"]) == {chance.by_chance(len(markers))}
    ours = markers[markers["table"] == shown].set_index(["method", "variant", "dataset"])["z"].to_dict()
    assert ours == pytest.approx(expected, abs=1e-9)
    if shown == "Table 4":
        assert answers("embedding_norms") == {"norms.binomial_floor.final": (within, effects)}


def test_d9_one_setting_printed_twice_differs_by_five_errors() -> None:
    tables = found("double_metric").tables
    effects = tables["binomial_effects"].set_index(["table", "dataset", "variant"])
    again = effects.loc[("Tables 2 and 5", "cifar10", "nt_xent")]
    second = table("double_metric", "table5a", "objective.temperature", "variant")[0.07]["nt_xent"]
    first = table("double_metric", "table2", "dataset", "variant")["cifar10"]
    assert again["difference"] == -2.91
    assert again["z"] == pytest.approx(z(second, first["nt_xent"], 10_000), abs=1e-9)
    assert again["z"] == pytest.approx(-5.09, abs=0.005)
    assert effects.loc[("Table 2", "cifar10", "dm3"), "z"] == pytest.approx(z(first["dm3"], first["nt_xent"], 10_000))
    assert list(tables["binomial_floor"]["table"])[-1] == "Tables 2 and 5"
    assert answers("double_metric")["dm.binomial_floor.repeated"] == (4, 10)


def test_a_transfer_is_tested_on_its_target_and_a_row_of_a_sweep_against_its_least() -> None:
    """Margins paper, Table 3 by target; Table 9, whose s of 10, 20 and 40 are held against 1."""
    effects = found("margins").tables["binomial_effects"]
    of_table_3 = effects[effects["table"] == "Table 3"]
    of_table_3 = of_table_3.assign(target=of_table_3["setting"].str.removeprefix("target="))
    ours = of_table_3.set_index(["method", "variant", "target"])["z"].to_dict()
    assert ours == pytest.approx(z_of_table("margins", "table3", "baseline", "target"), abs=1e-9)
    swept = effects[effects["table"] == "Table 9"]
    by_s = table("margins", "table9", "logits.s", "dataset")
    for s in (10, 20, 40):
        assert swept.loc[swept["variant"] == f"logits.s={s}", "difference"].tolist() == differences(by_s, s, 1)
    assert not swept["setting"].str.contains("logits.s").any()


def test_simclrs_gains_are_within_the_floors_and_mocos_are_not() -> None:
    """The paper's "does not significantly improve": SimCLR's + pos. is +0.04 to +0.26, MoCo v3's +1.25 to +6.14."""
    expected = z_of_table("margins", "table2", "baseline")
    simclr, moco = ([expected[method, "pos", data] for data in ("cifar10", "stl10")] for method in ("simclr", "mocov3"))
    assert max(simclr) < 1.96 < min(moco)
    assert answers("margins")["margins.binomial_floor.simclr_pos"] == (4, 4)


def test_accuracies_of_unknown_test_size_are_counted_and_have_no_floor(claim: Callable[..., Claim]) -> None:
    """MultiDigits' size is not printed, a contrastive accuracy is no share of images, and a norm is no accuracy."""
    of_imagenet = {"artifact": "b", "source": "Table 5", "dataset": "imagenet"}
    claims = [
        claim(source="Table 3", dataset="multidigits_random_1", reported=99.5),
        claim(source="Table 3", dataset="multidigits_grid_1", reported=98.3),
        claim(**of_imagenet, metric="contrastive_top1", variant="plain_tau_10", reported=91.7),
        claim(**of_imagenet, metric="linear_top1", variant="plain_tau_10", reported=57.2),
        claim(**of_imagenet, metric="linear_top1", variant="normalised_tau_1", reported=58.0),
        claim(artifact="c", source="Table 6", metric="norm", reported=81.0),  # without a deviation: no cell
    ]
    cells = [cell for cell, _ in study.cells(claims)]
    summary = study.summary(cells, study.markers(study.effects(cells))).set_index("table")
    assert list(summary.index) == ["Table 3", "Table 5"]
    assert summary[["cells", "unknown", "effects"]].to_numpy().tolist() == [[0, 2, 0], [2, 1, 1]]
    assert math.isnan(float(summary.loc["Table 3", "floor"]))
    assert summary.loc["Table 5", "furthest"] == pytest.approx(z(58.0, 57.2, 50_000), abs=1e-9)


def test_tables_stand_in_the_order_of_their_numbers() -> None:
    shown = ["Table S2", "Table 10", "Table 5b", "Tables 2 and 5", "Table A.3", "Table 2", "Table 5a", "Table 10"]
    expected = ["Table 2", "Table 5a", "Table 5b", "Table 10", "Table A.3", "Table S2", "Tables 2 and 5"]
    assert study.in_order(shown) == expected


@pytest.mark.parametrize("paper", sorted(study.SENTENCES))
def test_every_sentence_has_places_in_the_tables_that_it_names(paper: str) -> None:
    there = set(found(paper).tables["binomial_floor"]["table"])
    for sentence in study.SENTENCES[paper]:
        assert there.issuperset(sentence.tables)
        assert answers(paper)[sentence.claim][1] > 0
