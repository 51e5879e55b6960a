"""Files that are read after hours of training are checked before any job starts."""

import csv
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.command import preview
from hypersphere.config import plan as planning
from hypersphere.config.claims import check_texts
from hypersphere.config.plan import check_sizes

from ...fixtures import Refused

CLAIMS = Path("config/papers/embedding_norms/claims.csv")


def add(root: Path, artifact: str = "table5", **fields: str) -> None:
    """Add a claim ``new``, a copy of the first that prints a number of table 5."""
    with (root / CLAIMS).open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    row = next(row for row in rows if row["artifact"] == "table5" and row["kind"] == "value")
    with (root / CLAIMS).open("w", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows([row | {"id": "new", "artifact": artifact} | fields, *rows])


def test_what_is_right_is_taken(project_root: Path) -> None:
    check_texts(planning.make(project_root))
    add(project_root, setting="epoch=3;batch.size=8")
    check_texts(planning.make(project_root))
    add(project_root, artifact="fig1", id="other", setting="epohc=3")  # a study names what it measures
    check_texts(planning.make(project_root))


@pytest.mark.parametrize(
    "fields",
    [{"setting": "epohc=3"}, {"setting": "batches.size=3"}, {"kind": "comparison", "baseline": "epohc=3"}],
    ids=str,
)
def test_a_misspelt_coordinate_of_a_claim(project_root: Path, refused: Refused, fields: dict[str, str]) -> None:
    """And a plan checks it before all else."""
    add(project_root, **fields)
    with refused():
        next(preview.lines(planning.make(project_root)))


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("config/statistics.yaml", "confidence:", "confidnce:"),
        ("config/statistics.yaml", "confidence: 0.95", "confidence: 95"),
        ("config/statistics.yaml", "at_least_high: 1.0", "at_least_high: -1.0"),
        ("config/papers/lecture/errata.yaml", "decided:", "decded:"),
        (str(CLAIMS), "metric", "metrc"),
    ],
)
def test_a_wrong_line_of_each_file(project_root: Path, refused: Refused, file: str, old: str, new: str) -> None:
    path = project_root / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with refused():
        check_texts(planning.make(project_root))


def prepared(root: Path, dataset: str, images: int) -> None:
    """The manifest of a prepared dataset, as far as sizes are concerned."""
    plan = planning.make(root)
    manifest = plan.data_folder(plan.datasets[dataset]) / "manifest.json"
    files.write_json(manifest, {"splits": {"train": {"images": images}}})


def test_a_batch_larger_than_the_dataset(project_root: Path, refused: Refused) -> None:
    plan = planning.make(project_root)
    check_sizes(plan)  # nothing is prepared, so nothing is known
    largest = max(run.batch.size for run in plan.runs.values() if run.dataset.name == "upright")
    prepared(project_root, "upright", max(largest, 1000))
    check_sizes(plan)
    prepared(project_root, "upright", largest - 1)
    with refused():
        check_sizes(plan)
    check_sizes(plan, ["turned"])  # asked about another one


def test_more_neighbours_than_the_bank(project_root: Path, refused: Refused) -> None:
    largest = max(run.batch.size for run in planning.make(project_root).runs.values())
    prepared(project_root, "upright", largest)
    check_sizes(planning.make(project_root))
    plan = planning.make(project_root, {"probes": {"knn": {"k": largest + 1}}})
    with refused():
        check_sizes(plan)
