"""Errata whose sentence is judged as a claim: the places that it holds in, and differences of rows that they print."""

from typing import Any

import pytest

from hypersphere.config.coordinates import PAIR
from hypersphere.exact import sentences
from tests.unit.exact.shared import context, held
from tests.unit.printed import differences, table

COUNTS = {
    "margins.sentences.positives_over_margins": (0, 4),  # M27
    "margins.sentences.positives_over_margins.m27": (4, 4),
    "margins.sentences.long": (24, 24),  # M28
    "margins.sentences.ratio": (16, 16),  # M29
    "margins.sentences.ratio_gain": (0, 2),  # M30
    "margins.sentences.ratio_gain.m30": (2, 2),
}


def test_places_that_a_sentence_holds_in_are_the_errata_s() -> None:
    found = held(sentences.sentences(context("margins")))
    assert {name: found[name] for name in COUNTS} == COUNTS


@pytest.mark.parametrize(
    ("artifact", "columns", "fixed", "arm", "baseline", "expected"),
    [
        # M27: below the baseline in two transfer cells
        ("table3", "target", {}, "simclr.pos", "simclr.baseline", [-0.407, 0.245, 0.142, -0.041]),
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
    assert differences(table("margins", artifact, PAIR, columns, fixed), arm, baseline) == expected


def test_m30_the_ratio_gains_more_for_moco_v3_relative_to_the_baselines_too() -> None:
    expected = {"table2": (0.755, 0.586), "table3": (0.654, 0.444)}
    for artifact, means in expected.items():
        cells = table("margins", artifact, PAIR, "dataset" if artifact == "table2" else "target")
        ratio, baseline = (
            cells.loc[[f"mocov3.{one}", f"simclr.{one}"]].to_numpy()
            for one in ("ratio", "baseline")
        )
        assert (ratio - baseline).mean(axis=1).tolist() == pytest.approx(means, abs=5e-4)
        moco, simclr = (ratio / baseline).mean(axis=1)
        assert moco > simclr
