"""Audits of printed numbers: floors and effects by the textbook formula, cell by cell; runs and digits by hand."""

import math
from decimal import Decimal
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from scipy import stats

from hypersphere.audit import chance
from hypersphere.audit.chance import Effect
from hypersphere.audit.table import Cell
from hypersphere.config.audit_file import Audit
from hypersphere.config.claims import Claim
from hypersphere.exact import printed_numbers as study
from hypersphere.exact.printed_numbers import FEWEST, cells
from hypersphere.exact.study import ExactStudy

from ..printed import differences, table
from .shared import context, held

IMAGES = {"imagenet100": 5_000, "stl10": 8_000, "flowers102_lt": 1_020}
"""The other test sets have 10,000."""
TABLES = ("binomial_floor", "binomial_effects", "seed_counts", "printed_tests", "last_digits")
WITH_EFFECTS = ("margins", "lmcl", "embedding_norms", "double_metric")


AUDIT = Audit(
    test_sizes={"cifar10": 10_000, "imagenet": 50_000}, baselines=["plain", "plain_tau_10"]
)


def claim(**changed: Any) -> Claim:
    """A printed accuracy."""
    fields = {name: "" for name in ("variant", "baseline", "setting", "sentence")}
    fields |= {"id": "a", "kind": "value", "origin": "printed", "artifact": "t", "method": "simclr"}
    fields |= {
        "dataset": "cifar10",
        "metric": "linear_top1",
        "reported": 50.0,
        "reported_std": None,
    }
    return Claim.model_validate(
        fields | {"direction": None, "source": "Table 1", "reading": "as printed"} | changed
    )


@cache
def found(paper: str, studied: tuple[str, ...] = TABLES) -> ExactStudy:
    papers = {paper: SimpleNamespace(studied=studied, label=str)}
    return study.printed_numbers(context(paper, papers=papers))


def test_a_paper_has_the_tables_that_it_declares() -> None:
    assert list(found("lecture", ("binomial_floor", "sentences")).tables) == ["binomial_floor"]
    assert list(found("margins").tables) == list(TABLES)


# The size of the test set


def z(new: float, old: float, images: int) -> float:
    return (new - old) / math.sqrt((new * (100 - new) + old * (100 - old)) / images)


def z_of_table(
    paper: str, artifact: str, baseline: str, by: str = "dataset"
) -> dict[tuple[str, str, str], float]:
    """By method, variant and test set. An accuracy of 1.0 is that of a failed run."""
    rows, scores = table(paper, artifact, "method.variant", by), {}
    for (name, tested), new in rows.stack().dropna().items():
        method, variant = name.split(".")
        if variant != baseline and new != 1.0:
            old, images = rows.loc[f"{method}.{baseline}", tested], IMAGES.get(tested, 10_000)
            scores[method, variant, tested] = z(new, old, images)
    return scores


@pytest.mark.parametrize(
    ("number", "within", "effects"), [("4", 6, 11), ("5", 0, 9), ("6", 3, 6), ("S3", 3, 5)]
)
def test_n45_counts_of_effects_within_the_floors(number: str, within: int, effects: int) -> None:
    """The counts are the erratum's. Of 11, 0.55 are beyond their error by chance."""
    expected, shown = z_of_table("embedding_norms", f"table{number}", "default"), f"Table {number}"
    assert (sum(score < 1.96 for score in expected.values()), len(expected)) == (within, effects)
    tables = found("embedding_norms").tables
    row = tables["binomial_floor"].set_index("table").loc[shown]
    assert (row["within"], row["effects"]) == (within, effects)
    assert row["furthest"] == pytest.approx(max(expected.values()), abs=1e-9)
    assert row["by_chance"] == pytest.approx(0.05 * effects, abs=0.001)
    assert row["p_as_many"] == pytest.approx(chance.as_many_by_chance(effects - within, effects))
    markers = tables["binomial_effects"]
    assert set(markers["by_chance"]) == {chance.by_chance(len(markers))}
    ours = (
        markers[markers["table"] == shown]
        .set_index(["method", "variant", "dataset"])["z"]
        .to_dict()
    )
    assert ours == pytest.approx(expected, abs=1e-9)


def test_d9_one_setting_printed_twice_differs_by_five_errors() -> None:
    tables = found("double_metric").tables
    effects = tables["binomial_effects"].set_index(["table", "dataset", "variant"])
    again = effects.loc[("Tables 2 and 5", "cifar10", "nt_xent")]
    second = table("double_metric", "table5a", "objective.temperature", "variant").loc[
        0.07, "nt_xent"
    ]
    first = table("double_metric", "table2", "dataset", "variant").loc["cifar10"]
    assert again["difference"] == -2.91
    assert again["z"] == pytest.approx(z(second, first["nt_xent"], 10_000), abs=1e-9)
    assert again["z"] == pytest.approx(-5.09, abs=0.005)
    assert effects.loc[("Table 2", "cifar10", "dm3"), "z"] == pytest.approx(
        z(first["dm3"], first["nt_xent"], 10_000)
    )
    assert list(tables["binomial_floor"]["table"])[-1] == "Tables 2 and 5"


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
        assert swept.loc[swept["variant"] == f"logits.s={s}", "difference"].tolist() == differences(
            by_s, s, 1
        )
    assert not swept["setting"].str.contains("logits.s").any()


def test_accuracies_of_unknown_test_size_are_counted_and_have_no_floor() -> None:
    """MultiDigits' size is not printed, a contrastive accuracy is no share of images, and a norm is no accuracy."""
    of_imagenet = {"artifact": "b", "source": "Table 5", "dataset": "imagenet"}
    claims = [
        claim(source="Table 3", dataset="multidigits_random_1", reported=99.5),
        claim(source="Table 3", dataset="multidigits_grid_1", reported=98.3),
        claim(**of_imagenet, metric="contrastive_top1", variant="plain_tau_10", reported=91.7),
        claim(**of_imagenet, metric="linear_top1", variant="plain_tau_10", reported=57.2),
        claim(**of_imagenet, metric="linear_top1", variant="normalised_tau_1", reported=58.0),
        # without a deviation: no cell
        claim(artifact="c", source="Table 6", metric="norm", reported=81.0),
    ]
    printed = [cell for cell, _ in cells(claims, AUDIT)]
    summary = study.binomial_floor(printed, study.binomial_effects(printed)).set_index("table")
    assert list(summary.index) == ["Table 3", "Table 5"]
    assert summary[["cells", "unknown", "effects"]].to_numpy().tolist() == [[0, 2, 0], [2, 1, 1]]
    assert math.isnan(float(summary.loc["Table 3", "floor"]))
    assert summary.loc["Table 5", "furthest"] == pytest.approx(z(58.0, 57.2, 50_000), abs=1e-9)


def test_tables_stand_in_the_order_of_their_numbers() -> None:
    shown = [
        "Table S2",
        "Table 10",
        "Table 5b",
        "Tables 2 and 5",
        "Table A.3",
        "Table 2",
        "Table 5a",
        "Table 10",
    ]
    expected = [
        "Table 2",
        "Table 5a",
        "Table 5b",
        "Table 10",
        "Table A.3",
        "Table S2",
        "Tables 2 and 5",
    ]
    assert study.in_order(shown) == expected


def test_where_sentences_hold() -> None:
    """N45's 6 of 11, D9's 4 of 10; SimCLR's + pos. gains +0.04 to +0.26, within; MoCo v3's, significant, everywhere."""
    counts = {name: count for paper in WITH_EFFECTS for name, count in held(found(paper)).items()}
    expected = {
        "norms.binomial_floor.final": (6, 11),
        "dm.binomial_floor.gains": (12, 12),
        "dm.binomial_floor.repeated": (4, 10),
        "margins.binomial_floor.simclr_pos": (4, 4),
        "margins.printed_tests.pos": (8, 8),
        "lmcl.binomial_floor.images.cmc": (3, 4),
        "lmcl.printed_tests.control": (18, 18),
    }
    assert {name: counts[name] for name in expected} == expected
    assert min(places for _, places in counts.values()) > 0


# Numbers of runs


def test_last_zeros_come_back_from_the_table() -> None:
    """61.83 in a table of three decimals was printed as 61.830."""
    other = claim(artifact="u", source="Table 2")
    printed = [
        one
        for one, _ in cells(
            [claim(reported=61.83, reported_std=0.5), claim(reported=61.837), other], AUDIT
        )
    ]
    assert [str(one.mean) for one in printed] == ["61.830", "61.837", "50"]
    assert str(printed[0].std) == "0.500"


def test_runs_by_hand() -> None:
    """Of 10,000 images: 0.005 is half a step, of an even number of runs. 0.002 is a quarter (halves may be rounded
    down), a fifth, a sixth, two ninths and so on: no half and no third. Decimals that say nothing are left out, and
    numbers over an unknown test set, and other measures."""
    table = study.seed_counts(
        [cell for cell, _ in cells([claim(reported=50.005), claim(reported=50.002)], AUDIT)]
    )
    assert table["way"].tolist() == list(study.WAYS)
    row = table.iloc[0]
    assert (row["n1"], row["n2"], row["n5"], row["n10"], row["all"], row["none"]) == (
        0,
        1,
        1,
        2,
        "4 6 8 10",
        0,
    )
    unknown = [
        claim(dataset="multidigits_random_1", reported=50.002),
        claim(metric="norm", reported_std=0.002),
    ]
    left = [claim(reported=50.1), claim(kind="comparison", variant="v", artifact="u"), *unknown]
    assert study.seed_counts([cell for one in left for cell, _ in cells([one], AUDIT)]).empty


# Welch's test


def effect(mean: str, std: str, variant: str = "dp", n_test: int | None = None) -> Effect:
    one = Cell(
        "Table 1", variant, "simclr\tcifar10\t", "top1", Decimal(mean), Decimal(std), n_test=n_test
    )
    return Effect(
        one, one._replace(row="plain", mean=Decimal("60.0"), std=Decimal("0.5"), n_test=None)
    )


def test_tests_by_hand() -> None:
    """2.0 points at 0.5 are 4.9 errors of three runs, 0.1 a quarter of one. A deviation of 49 around 99.5 of 200 images
    is of no number of runs."""
    few = [effect("62.0", "0.5"), effect("60.1", "0.5")]
    table = study.printed_tests(
        study.welch_tests([*few, effect("99.50", "49.00", "m", n_test=200)])
    )
    assert table["variant"].tolist() == ["dp", "m", ""]
    whole = table[table["variant"] == ""].iloc[0]
    assert whole[["effects", "always", "never"]].tolist() == [3, 0, 1]
    dp = table[table["variant"] == "dp"].iloc[0]
    assert dp[["effects", "below_2", "below_3", "below_10"]].tolist() == [2, 0, 1, 1]
    smallest, largest = sorted(
        stats.ttest_ind_from_stats(mean, 0.5, 3, 60.0, 0.5, 3, equal_var=False).pvalue
        for mean in (62.0, 60.1)
    )
    assert (dp["low_3"], dp["high_3"]) == pytest.approx((smallest, largest))
    assert dp["chance"] == pytest.approx((1 - smallest) ** 2)
    assert len(study.printed_tests(study.welch_tests(few))) == 1  # of one variant


# Last digits


def test_a_row_for_each_table_and_for_each_group_large_enough() -> None:
    """Half of the numbers at one setting and odd, the others at another and even: 50 was printed as 50.0. A norm with
    a deviation is no accuracy."""
    claims = [
        claim(reported=50 + digit / 10, setting=f"batch.size={size}", variant="plain")
        for digit, size in ((3, 1024), (0, 4096))
        for _ in range(FEWEST)
    ]
    claims += [claim(reported=50.5, artifact="u", source="Table 2")] * (FEWEST - 1)
    claims += [claim(reported=50.5, reported_std=0.5, metric="norm")]
    table = study.last_digits(cells(claims, AUDIT))
    assert table["group"].tolist() == ["", "batch.size=1024, plain", "batch.size=4096, plain"]
    assert table["odd"].tolist() == table["digit_3"].tolist() == [FEWEST, FEWEST, 0]
    assert table["digit_0"].tolist() == [FEWEST, 0, FEWEST]
    assert table["p_odd"].tolist() == pytest.approx([1, 2 / 2**FEWEST, 2 / 2**FEWEST])
