"""Files that are read after hours of training are checked before any job starts."""

import csv
import shutil
from pathlib import Path

import pytest

from hypersphere.command import preview
from hypersphere.declared import plan as planning
from hypersphere.declared.checks import check_texts
from hypersphere.errors import HypersphereError

PROJECT = Path(__file__).parents[2] / "project"
CLAIMS = Path("paper/claims/embedding_norms.csv")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(PROJECT, tmp_path, dirs_exist_ok=True)
    return tmp_path


def error(root: Path) -> str:
    with pytest.raises(HypersphereError) as caught:
        check_texts(planning.make(root))
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{root}/", "")


def add(root: Path, artifact: str = "table5", **fields: str) -> None:
    """Add a claim ``new``, a copy of the first that prints a number of table 5."""
    with (root / CLAIMS).open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    row = next(row for row in rows if row["artifact"] == "table5" and row["kind"] == "value")
    with (root / CLAIMS).open("w", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows([row | {"id": "new", "artifact": artifact} | fields, *rows])


def test_what_is_right_is_taken(copy: Path) -> None:
    check_texts(planning.make(copy))
    add(copy, setting="epoch=3;batch.size=8")
    check_texts(planning.make(copy))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"setting": "epohc=3"}, "setting: epohc: unknown; did you mean epoch? Allowed: epoch, target, split, "),
        ({"setting": "batches.size=3"}, "setting: batches.size: unknown; allowed: epoch, target, "),
        ({"kind": "comparison", "baseline": "epohc=3"}, "baseline: epohc: unknown; did you mean epoch? Allowed: "),
    ],
)
def test_a_misspelt_coordinate_of_a_claim(copy: Path, fields: dict[str, str], words: str) -> None:
    add(copy, **fields)
    assert error(copy).startswith(f"{CLAIMS}: new: {words}")


def test_a_study_names_what_it_measures(copy: Path) -> None:
    """A claim about it may have any key in its setting."""
    add(copy, artifact="fig1", setting="epohc=3")
    check_texts(planning.make(copy))


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("config/statistics.yaml", "confidence:", "confidnce:", "confidnce: unknown; did you mean confidence?"),
        ("paper/errata.yaml", "decided:", "decded:", "decded: unknown; did you mean decided?"),
        (str(CLAIMS), "metric", "metrc", "column 'metrc': unknown; did you mean metric?"),
    ],
)
def test_a_misspelt_key_of_each_file(copy: Path, file: str, old: str, new: str, words: str) -> None:
    path = copy / file
    path.write_text(path.read_text().replace(old, new, 1))
    assert error(copy).startswith(f"{file}: ")
    assert words in error(copy)


def test_a_plan_checks_them_first(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "dry_run", lambda root, overrides: pytest.fail("checks come first"))
    add(copy, setting="epohc=3")
    with pytest.raises(HypersphereError, match="epohc: unknown"):
        preview.show(planning.make(copy), {})
