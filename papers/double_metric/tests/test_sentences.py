"""Errata whose sentence is judged as a claim: the places that it holds in, and differences of rows that they print."""

from typing import Any

import pytest

from hypersphere.config.coordinates import PAIR
from hypersphere.exact import sentences
from tests.unit.exact.shared import context, held
from tests.unit.printed import differences, table

COUNTS = {
    "dm.sentences.optimal": (1, 10),  # D10: the other nine columns of Table 5 are best at 0.1
    "dm.sentences.superior": (7, 12),  # D12
    "dm.sentences.dm3": (3, 3),
    "dm.sentences.greater": (2, 3),
    "dm.sentences.biased": (8, 8),  # D13
    "dm.sentences.biased_dm3": (6, 8),
    "dm.sentences.non_homogeneous": (11, 14),  # D14: not in three of the eight rows of Table 4
    "dm.sentences.poorest.d15": (3, 3),
    "dm.sentences.less_error": (1, 1),  # D16
    "dm.sentences.any_level": (26, 29),  # D26
}


def test_places_that_a_sentence_holds_in_are_the_errata_s() -> None:
    found = held(sentences.sentences(context("double_metric")))
    assert {name: found[name] for name in COUNTS} == COUNTS


@pytest.mark.parametrize(
    ("artifact", "columns", "fixed", "arm", "baseline", "expected"),
    [
        # D13: below the baseline in two rows of eight, and once above it by 0.01
        ("table4", "dataset", {}, "simclr.dm3", "simclr.nt_xent",
         [-2.21, 0.69, 0.01, 0.33, 0.2, -0.07, 0.38, 0.7]),
        ("table6", "epoch", {}, "simclr_s2.dm1", "simclr_s2.nt_xent", [0.21, -0.64, -1.13]),  # D15
        ("table3", "augmentation", {"measure": "mce"}, "simclr.dm3", "simclr.nt_xent",
         [-0.27, -0.8]),  # D16
        ("table3", "augmentation", {"measure": "relative_mce"}, "simclr.dm3", "simclr.nt_xent",
         [-0.47, 0.01]),
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
    assert (
        differences(table("double_metric", artifact, PAIR, columns, fixed), arm, baseline)
        == expected
    )
