"""Errata whose sentence is judged as a claim: the places that it holds in, and differences of rows that they print."""

from typing import Any

import pytest

from hypersphere.config.coordinates import PAIR
from hypersphere.exact import sentences
from tests.unit.exact.shared import context, held
from tests.unit.printed import differences, table, with_deviations

COUNTS = {
    "lmcl.sentences.cmc": (1, 2),  # L15
    "lmcl.sentences.sensitivity": (0, 1),  # L17
    "lmcl.sentences.sensitivity.l17": (1, 1),
    "lmcl.sentences.quick_thought": (1, 6),  # L18
    "lmcl.sentences.curl": (5, 6),  # L19
    "lmcl.sentences.last_two": (1, 2),
    "lmcl.sentences.everywhere": (45, 48),  # L28
}


def test_places_that_a_sentence_holds_in_are_the_errata_s() -> None:
    found = held(sentences.sentences(context("lmcl")))
    assert {name: found[name] for name in COUNTS} == COUNTS


@pytest.mark.parametrize(
    ("artifact", "columns", "fixed", "arm", "baseline", "expected"),
    [
        ("table4", "target", {}, "qt.dp", "qt.default", [0.5, 1.0, 0.3, 0.3, 0.4, 0.5]),  # L18
    ],
)  # fmt: skip
def test_differences_of_printed_rows_are_the_errata_s(
    artifact: str,
    columns: str,
    fixed: dict[str, Any],
    arm: str,
    baseline: str,
    expected: list[float],
) -> None:
    assert differences(table("lmcl", artifact, PAIR, columns, fixed), arm, baseline) == expected


def test_l15_the_cells_nearest_to_the_number_of_the_text() -> None:
    top1 = table("lmcl", "table2", PAIR, "batch.size", fixed={"measure": "linear_top1"})[4096]
    assert (top1 - 75.88).abs().idxmin() == "dcl.dp"
    assert (top1["dcl.dp"], top1["cmc.dp"], top1["swav.default"]) == (75.89, 75.67, 75.78)
    assert top1["swav.default"] > max(top1["cmc.dp"], top1["hcl.dp"])


def test_l19_scores_of_the_last_two_tasks_by_mean_and_deviation() -> None:
    means, stds = with_deviations("lmcl", "table5", PAIR, "dataset")
    ours, baselines = means.loc["curl.dp"], means.loc["curl.default"]
    assert ours.index[ours < baselines].tolist() == ["control_run"]
    assert (ours["control_run"], baselines["control_run"]) == (296, 298)
    assert ((ours - baselines).abs() <= stds.loc["curl.default"]).all()
    dcl, hcl = "curl_dcl.default", "curl_hcl.default"
    assert ours["control_catch"] > means.loc[[dcl, hcl], "control_catch"].max()
    assert stds.loc["curl.dp", "control_catch"] > stds.loc[dcl, "control_catch"]
    for walk in (means["control_walk"], stds["control_walk"]):
        assert walk[hcl] < walk["curl.dp"] < walk[dcl]
