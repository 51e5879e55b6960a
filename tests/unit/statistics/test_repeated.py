"""What is said of repeated images, from counts made by hand."""

from typing import Any

import pytest

from hypersphere.statistics.repeated import NOT_COUNTED, in_a_line, in_words

CLEAN = {"images": 9000, "again": 0, "in_train": 0, "two_labels": {}}
ALSO_IN_TRAIN = CLEAN | {"in_train": 1200}


def counts(of: str = "images", **splits: dict[str, Any]) -> dict[str, Any]:
    return {"of": of, "splits": splits}


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        (None, NOT_COUNTED),
        (counts(train=CLEAN, test=CLEAN), ""),
        (counts(test=CLEAN | {"again": 5}), ""),
        (counts(test=ALSO_IN_TRAIN), "images also in train: 1,200 of 9,000 in test"),
        (
            counts(train=CLEAN | {"two_labels": {"class": 2, "colour": 7}}),
            "images equal to one under another label: 7 of 9,000 in train",
        ),
        (
            counts(a=ALSO_IN_TRAIN, b=ALSO_IN_TRAIN, c=ALSO_IN_TRAIN),
            "images also in train: 1,200 of 9,000 in a, 1,200 of 9,000 in b, 1,200 of 9,000 in c",
        ),
        (
            counts("sentences", test=ALSO_IN_TRAIN | {"again": 5, "two_labels": {"class": 2}}),
            "encoded sentences also in train: 1,200 of 9,000 in test",
        ),
    ],
)
def test_only_what_is_repeated_is_said(counted: dict[str, Any] | None, said: str) -> None:
    """Of several labels the one with the most counts; images that one split has twice are for `prepare` alone."""
    assert in_words(counted) == said


def test_prepare_also_says_what_one_split_has_twice() -> None:
    twice = "images equal to an earlier one of the split: 5 of 9,000 in test"
    assert in_a_line("mnist", counts(test=CLEAN | {"again": 5})) == f"mnist: {twice}"
    assert in_a_line("mnist", counts(test=CLEAN)) == "mnist: nothing is repeated"
    assert in_a_line("mnist", None) == f"mnist: {NOT_COUNTED}"


def test_many_splits_are_one_line_and_sentences_repeat_themselves() -> None:
    one = {"images": 9, "again": 2, "in_train": 1, "two_labels": {"class": 1}}
    splits = {"train": one | {"in_train": 0}, **{f"fog-{i}": one for i in range(5)}}
    assert in_words(counts(**splits)) == (
        "images also in train: 1 of 9 in fog-0, 1 of 9 in fog-1, 1 of 9 in fog-2, and in 2 more splits; "
        "equal to one under another label: 1 of 9 in train, 1 of 9 in fog-0, 1 of 9 in fog-1, and in 3 more splits"
    )
    sentences = counts("sentences", train=splits["train"], test=one)
    assert in_words(sentences, every=True) == "encoded sentences also in train: 1 of 9 in test"
