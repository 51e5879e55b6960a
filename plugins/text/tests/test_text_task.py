"""Datasets of sentences: tasks from files of their form, the real ones where they are at hand, and prepared copies."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from hypersphere.datasets.reading import published
from hypersphere_text.datasets.reading import corpora, text_tasks
from hypersphere_text.datasets.sentences import sentences
from hypersphere_text.datasets.text_task import text_task

SMALL = {"corpus": "chapters", "vocabulary": 500, "length": 8}
COUNTS = {  # as papers print them, by split and class
    "mr": {"train": [5331, 5331]},
    "cr": {"train": [1368, 2407]},
    "subj": {"train": [5000, 5000]},
    "mpqa": {"train": [7294, 3312]},
    "trec": {"train": 5452, "test": 500},
    "msrp": {"train": 4076, "test": 1725},
}


def test_neighbours_are_the_next_row(tmp_path: Path) -> None:
    arrays = sentences(tmp_path, **SMALL)
    train = arrays.splits["train"]
    assert train.images.shape[1:] == (2, 8)
    np.testing.assert_array_equal(train.images[:-1, 1], train.images[1:, 0])
    assert train.images.max() < 500
    assert 0 < train.attributes["unknown"].sum() < train.attributes["words"].sum()


def test_neighbours_are_of_one_text(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for name in ("a", "b"):
        content = "\n\n".join(f"{name} sentence {i}." for i in range(10))
        (tmp_path / "mine" / f"{name}.txt").write_text(content, encoding="utf-8")
    arrays = sentences(tmp_path, corpus="mine", vocabulary=100, length=4)
    train = arrays.splits["train"]
    assert np.bincount(train.labels["class"]).tolist() == [8, 8]  # nine sentences to train on have eight next ones
    assert (train.images[:, 0, 0] == train.images[:, 1, 0]).all()  # both begin with their text's letter


@pytest.mark.parametrize("name", ["speech", "neighbours"])
def test_made_tasks_are_balanced(tmp_path: Path, name: str) -> None:
    arrays = text_task(tmp_path, task=name, **SMALL)
    for split in arrays.splits.values():
        assert len(set(np.bincount(split.labels["class"]).tolist())) == 1
    assert set(arrays.splits) == ({"train"} if name == "speech" else {"train", "test"})


def test_no_tested_pair_has_a_sentence_that_is_trained_on() -> None:
    """200 of 600 pairs are tested, as they are where a page counts them."""
    splits = text_tasks.task(Path("unused"), "neighbours").splits
    train, test = ({text for one in splits[name] for text in one.texts} for name in ("train", "test"))
    assert not train & test
    assert (len(splits["train"]), len(splits["test"])) == (400, 200)


def test_told_sentences_have_no_quotation_marks() -> None:
    examples = text_tasks.task(Path("unused"), "speech").splits["train"]
    assert not any('"' in text for example in examples for text in example.texts)


def test_every_task_is_a_choice_of_the_source() -> None:
    choices = get_args(text_task.__annotations__["task"])
    assert set(choices) == set(text_tasks.TASKS)


@pytest.mark.shared_data
def test_the_novels_are_the_ones_in_the_table(unpacked: Callable[[str], Path]) -> None:
    texts, _ = corpora.corpus(unpacked("text"), "novels")
    assert len(texts) == 14
    assert sum(len(text.split()) for text in texts.values()) > 3_400_000


@pytest.mark.shared_data
@pytest.mark.parametrize("name", list(COUNTS))
def test_the_real_tasks_have_the_counts_in_print(unpacked: Callable[[str], Path], name: str) -> None:
    found = text_tasks.task(unpacked("text"), name)
    for split, expected in COUNTS[name].items():
        labels = np.bincount([example.label for example in found.splits[split]])
        assert (labels.tolist() if isinstance(expected, list) else labels.sum()) == expected
    texts = [text for examples in found.splits.values() for example in examples for text in example.texts]
    assert not any("\ufffd" in text or "\t" in text for text in texts)


def test_a_line_is_an_example_in_the_files_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MR's two files, which count as the published ones whatever they hold."""
    monkeypatch.setattr(corpora, "has_md5", lambda path, md5: True)
    folder = tmp_path / text_tasks.FOLDER
    folder.mkdir(parents=True)
    (folder / "rt-polarity.neg").write_bytes(b"d\xe9j\xe0 vu\x85 again \nbad\n")
    (folder / "rt-polarity.pos").write_bytes(b"good\n")
    texts = [(example.texts[0], example.label) for example in text_tasks.task(tmp_path, "mr").splits["train"]]
    assert texts == [("déjà vu\x85 again", 0), ("bad", 0), ("good", 1)]


def test_a_missing_or_damaged_file_and_an_unknown_task_are_refused(tmp_path: Path, refused: Any) -> None:
    with refused():
        text_tasks.task(tmp_path, "trec")
    (tmp_path / text_tasks.FOLDER).mkdir(parents=True)
    (tmp_path / text_tasks.FOLDER / "TREC.train").write_bytes(b"HUM:ind Who?\n")
    for name in ("trec", "sst"):
        with refused():
            text_tasks.task(tmp_path, name)


def test_all_files_that_are_read_are_in_the_table() -> None:
    for name, (files, _) in text_tasks.SORTED.items():
        assert set(files) == set(published.table()[name].files)
    assert set(text_tasks.TREC.values()) == set(published.table()["trec"].files)
    assert set(text_tasks.MSRP.values()) == set(published.table()["msrp"].files)
