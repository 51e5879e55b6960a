"""The approved sentences: each is of a test that exists. The tests themselves compare what they show."""

from collections.abc import Callable
from pathlib import Path

import yaml

SENTENCES = Path(__file__).with_name("sentences.yaml")


def test_every_approved_sentence_is_of_a_test_that_exists(
    missing_tests: Callable[[list[str]], list[str]],
) -> None:
    assert missing_tests(list(yaml.safe_load(SENTENCES.read_text(encoding="utf-8")))) == []
