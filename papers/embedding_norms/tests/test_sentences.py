"""Errata whose sentence is judged as a claim: the places that it holds in, and differences of rows that they print."""

from typing import Any

import pytest

from hypersphere.config.coordinates import PAIR
from hypersphere.exact import sentences
from tests.unit.exact.shared import context, held
from tests.unit.printed import differences, table

COUNTS = {
    "norms.sentences.one_to_two": (2, 2),  # N35
    "norms.sentences.about_ten": (1, 1),
    "norms.sentences.first_epoch": (2, 2),  # N36
    "norms.sentences.table6": (6, 6),  # N37
    "norms.sentences.cut_helps_all.n38": (2, 3),
    "norms.sentences.most_effective": (1, 1),
    "norms.sentences.five": (3, 3),  # N39
}


def test_places_that_a_sentence_holds_in_are_the_errata_s() -> None:
    found = held(sentences.sentences(context("embedding_norms")))
    assert {name: found[name] for name in COUNTS} == COUNTS


@pytest.mark.parametrize(
    ("artifact", "columns", "fixed", "arm", "baseline", "expected"),
    [
        ("tableS2", "batch.size", {"epoch": 100}, "simsiam.cut9", "simsiam.default",
         [-3.0, 5.3, 11.7]),  # N38
        ("tableS2", "batch.size", {"epoch": 500}, "simsiam.cut9", "simsiam.default",
         [0.3, -1.5, 0.2]),
        # N35: "1-2 %" at the default decay, and "about 10 %"
        ("table2", "dataset", {"optimiser.weight_decay": 1e-6}, "simclr.cut2", "simclr.default", [2.3]),
        ("table2", "dataset", {"optimiser.weight_decay": 1e-6}, "simclr.cut4", "simclr.default", [0.9]),
        ("table2", "dataset", {"optimiser.weight_decay": 5e-4}, "simsiam.cut8", "simsiam.default",
         [9.7]),
        # N39: a cut gains 3.5 on CIFAR-100 in Table 4, and 2.0 when it is imbalanced
        ("table5", "dataset", {}, "simclr.gradscale", "simclr.default", [4.8, 4.8, 4.6]),
        ("table4", "dataset", {}, "simclr.cut3", "simclr.default", [0.5, 3.5, 1.5, 1.7]),
        ("table5", "dataset", {}, "simclr.cut3", "simclr.default", [4.6, 2.0, 19.0]),
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
        differences(table("embedding_norms", artifact, PAIR, columns, fixed), arm, baseline)
        == expected
    )
