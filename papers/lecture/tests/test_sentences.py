"""Errata whose sentence is judged as a claim: the places that it holds in."""

import pandas as pd

from hypersphere.exact import sentences
from tests.unit.exact.shared import context, held
from tests.unit.printed import table

COUNTS = {"lecture.sentences.several_digits": (9, 10)}  # S9: all but 16 digits at random


def test_places_that_a_sentence_holds_in_are_the_errata_s() -> None:
    found = held(sentences.sentences(context("lecture")))
    assert {name: found[name] for name in COUNTS} == COUNTS


def test_s9_accuracy_with_one_digit_and_with_16() -> None:
    cells = table("lecture", "table3", "dataset", "method", fixed={"epoch": ""})
    for placement, expected in {
        "random": {"simclr": [98.9, 96.4, 2.5], "supervised": [99.5, 98.3, 1.2]},
        "grid": {"simclr": [98.3, 98.3, 0], "supervised": [99.5, 92.4, 7.1]},
    }.items():
        ends = cells.loc[
            [f"multidigits_{placement}_{digits}" for digits in (1, 16)], list(expected)
        ]
        assert pd.concat([ends, -ends.diff()[1:].round(10)]).to_dict("list") == expected
