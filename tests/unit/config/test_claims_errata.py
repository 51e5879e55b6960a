"""The ledger of errata is well formed, and what it says is shown by tests that exist."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere.config import claims as printed
from hypersphere.errors import HypersphereError
from hypersphere.theory import build

ROOT = Path(__file__).resolve().parents[3]
LEDGER = printed.load_errata(ROOT)
STATEMENTS = {statement.id for paper in build.documents() for statement in build.statements(paper)}
ANSWERED = {claim.id for file in (ROOT / "paper" / "claims").glob("*.csv") for claim in printed.load(file)}
"""Claims: test_present_studies.py checks that exact studies answer those of their artifacts."""
ENTRY: dict[str, Any] = {
    "id": "M1",
    "document": "margins",
    "place": "Eq. 10",
    "kind": "breaks",
    "printed": "x",
    "chosen": "y",
    "decided": "z",
    "tests": [],
}


def test_every_test_and_statement_that_is_named_exists(missing_tests: Callable[[list[str]], list[str]]) -> None:
    named = [name for entry in LEDGER for name in entry.tests]
    assert len(named) > 100
    assert missing_tests([name for name in named if name not in STATEMENTS | ANSWERED]) == []


def test_what_can_be_executed_is_shown() -> None:
    assert [entry.id for entry in LEDGER if entry.kind in ("breaks", "claim") and not entry.tests] == []


def test_ids_carry_their_documents_letter() -> None:
    letters = {
        "margins": "M",
        "lmcl": "L",
        "embedding_norms": "N",
        "lecture": "S",
        "double_metric": "D",
        "several": "X",
    }
    for entry in LEDGER:
        assert entry.id.startswith(letters[entry.document])
    assert {entry.document for entry in LEDGER} == set(letters)


def test_entries_stand_in_the_order_of_their_numbers() -> None:
    for letter in "MLNSDX":
        ids = [entry.id for entry in LEDGER if entry.id.startswith(letter)]
        numbers = [
            (int(number), suffix) for number, suffix in (re.fullmatch(r".(\d+)([a-z]?)", i).groups() for i in ids)
        ]  # type: ignore[union-attr]
        assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        (
            [ENTRY | {"kind": "oops"}],
            r"errata\.yaml: M1\.kind: .*'breaks', 'ambiguous', 'claim', 'typo' or 'extraction'",
        ),
        ([ENTRY | {"printed": " "}], r"errata\.yaml: M1\.printed: "),
        ([ENTRY | {"page": 3}], r"errata\.yaml: M1\.page: unknown; .*llowed: id, document, place"),
        ([{k: v for k, v in ENTRY.items() if k != "decided"}], r"errata\.yaml: M1\.decided: this key is required"),
        ([ENTRY, ENTRY], r"errata\.yaml: id: M1 is given twice"),
        ({"M1": ENTRY}, r"errata\.yaml: must be a list of entries"),
    ],
)
def test_a_wrong_entry_is_one_sentence(tmp_path: Path, entries: Any, sentence: str) -> None:
    (tmp_path / "paper").mkdir()
    (tmp_path / printed.ERRATA).write_text(yaml.safe_dump(entries))
    with pytest.raises(HypersphereError, match=sentence):
        printed.load_errata(tmp_path)
