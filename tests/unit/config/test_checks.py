"""Files that are read after hours of training are checked before any job starts."""

import csv
import shutil
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.command import preview
from hypersphere.config import plan as planning
from hypersphere.config.checks import check_sizes, check_texts
from hypersphere.errors import HypersphereError

PROJECT = Path(__file__).parents[2] / "project"
CLAIMS = Path("config/papers/embedding_norms/claims.csv")


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
        ({"setting": "epohc=3"}, "setting: epohc: unknown; did you mean epoch? Allowed: epoch, target, by, split, "),
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
        ("config/papers/lecture/errata.yaml", "decided:", "decded:", "decded: unknown; did you mean decided?"),
        (str(CLAIMS), "metric", "metrc", "the columns must be"),
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
        list(preview.jobs(planning.make(copy)))


HEADER = (
    "id,kind,origin,artifact,method,variant,baseline,dataset,setting,metric,reported,reported_std,"
    "reading,sentence,source"
)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "line 1: the columns must be id, kind, "),
        (b"id,kind\n", "line 1: the columns must be "),
        (f"{HEADER},note\n".encode(), "line 1: the columns must be "),
        (f"{HEADER}\na,value\n".encode(), "line 2: has another number of fields"),
        (f"{HEADER}\n{'x,' * 15}x\n".encode(), "line 2: has another number of fields"),
        (f"{HEADER}\n{'x' * 200_000}\n".encode(), "line 2: not valid CSV (field larger than field limit"),
        (f'{HEADER}\n"a"b\n'.encode(), "line 2: not valid CSV ("),
        (f"{HEADER}\ncaf\xe9\n".encode("latin1"), "not UTF-8 text (byte "),
        (f"{HEADER}\n,value,printed,t,,,,,,,1,,r,s,p\n".encode(), "line 2 (no id).id: "),
        (f"{HEADER}\na,value,printed,t,,,,,,knn_top1,nan,,r,s,p\n".encode(), "line 2 (a).reported: must be a number"),
        (f"{HEADER}\na,value,printed,t,,,,,,knn_top1,1,-1,r,s,p\n".encode(), "line 2 (a).reported_std: "),
    ],
    ids=str,
)
def test_a_file_of_claims_that_cannot_be_read(copy: Path, content: bytes, words: str) -> None:
    (copy / CLAIMS).write_bytes(content)
    assert error(copy).startswith(f"{CLAIMS}: {words}")


def prepared(root: Path, dataset: str, images: int) -> None:
    """The manifest of a prepared dataset, as far as sizes are concerned."""
    plan = planning.make(root)
    manifest = plan.data_folder(plan.datasets[dataset]) / "manifest.json"
    files.write_json(manifest, {"splits": {"train": {"images": images}}})


def test_a_batch_larger_than_the_dataset(copy: Path) -> None:
    plan = planning.make(copy)
    check_sizes(plan)  # nothing is prepared, so nothing is known
    largest = max(run.batch.size for run in plan.runs.values() if run.dataset.name == "upright")
    prepared(copy, "upright", max(largest, 1000))
    check_sizes(plan)
    prepared(copy, "upright", largest - 1)
    with pytest.raises(
        HypersphereError, match=rf"batch\.size {largest} is more than the {largest - 1} training examples"
    ):
        check_sizes(plan)
    check_sizes(plan, ["turned"])  # asked about another one


def test_more_neighbours_than_the_bank(copy: Path) -> None:
    largest = max(run.batch.size for run in planning.make(copy).runs.values())
    prepared(copy, "upright", largest)
    check_sizes(planning.make(copy))
    plan = planning.make(copy, {"probes": {"knn": {"k": largest + 1}}})
    with pytest.raises(
        HypersphereError, match=rf"probe knn: k {largest + 1} is more than the {largest} training images"
    ):
        check_sizes(plan)
