"""The page of sentences that users meet most: each is of a test that exists, and the page stays one."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
import yaml

from ..prose import faults, shortened

PAGE = yaml.safe_load(Path(__file__).with_name("sentences.yaml").read_text(encoding="utf-8"))
PLACE, WRONG = "papers/p/paper.yaml: run.views", "papers/p/paper.yaml: run.views: unknown"


def test_every_approved_sentence_is_of_a_test_that_exists(
    missing_tests: Callable[[list[str]], list[str]],
) -> None:
    """And they are few enough to be read by somebody who changes one."""
    tests = [*chain.from_iterable(PAGE.values())]
    assert missing_tests(tests) == []
    assert len(tests) == len({*tests}) <= 50


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("papers/p/paper.yaml", WRONG),  # the field is forgotten
        ("papers/p/paper.yaml: run", WRONG),  # and so is the rest of its name
        ("papers/p/paper.yaml: run.view", WRONG),
        ("papers/q/paper.yaml: run.views", WRONG),
        ("papers/p/claims.csv", "papers/p/claims.csv: line 2 (p.cut).metric: unknown"),
        ("", WRONG),
        (PLACE, f"{WRONG}\nand more"),
        (PLACE, f"{PLACE}: Traceback of a line"),
        (PLACE, f"{PLACE}: <class 'int'> was expected"),
        (PLACE, f"{PLACE}: is no name"),
        (PLACE, f"{PLACE}: {'word ' * 31}"),
    ],
)
def test_a_sentence_that_breaks_the_contract_is_seen(place: str, sentence: str) -> None:
    assert len(faults(sentence, place)) == 1


def test_a_sentence_that_keeps_it_is_taken() -> None:
    assert faults(WRONG, PLACE) == []
    lists = f"{PLACE}: 'that of' is not one of {', '.join(['name'] * 99)} (given: 'is no name')"
    assert faults(lists, PLACE) == []
    text = shortened("/tmp/t/runs/simclr-cats-s0-0a1b2c3d: gone", ["/tmp/t", "/home/r"])
    assert text == "runs/simclr-cats-s0-…: gone"
