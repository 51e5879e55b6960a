"""The released tables of evidence: no row is lost unseen, and what a protocol said that was left is read by nothing."""

import csv
from pathlib import Path

import pytest

from hypersphere.config.coordinates import alternatives
from hypersphere.config.records import FOLDER, TABLES
from hypersphere.statistics import judged_records

from .released import ROOT, configured

SAID = "claims.csv"

FOLDERS = sorted(path.parent for path in (ROOT / FOLDER).glob("*/runs.csv"))
LEFT = [folder for folder in FOLDERS if (folder / SAID).is_file()]
"""Of protocols that were left: their records, with one table of what they said of claims."""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def keys(folder: Path, table: str) -> set[str]:
    return {row["key"] for row in rows(folder / f"{table}.csv")}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_row_has_its_run(folder: Path) -> None:
    """A reader leaves out rows without a run."""
    assert len(FOLDERS) > 1
    there = {path.stem for path in folder.glob("*.csv")} - {Path(SAID).stem}
    # those of before did not count repeated images
    assert {*TABLES} - {"datasets"} <= there <= {*TABLES}
    assert keys(folder, "history") == keys(folder, "measurements") == keys(folder, "runs")


def test_what_a_protocol_said_that_was_left_is_read_by_nothing(tmp_path: Path) -> None:
    """A page, a question and a count read records by ``recorded_scales``, and results by ``finished``."""
    left = {folder.name for folder in LEFT}
    assert left
    assert not left & {path.stem for path in (ROOT / "config" / "scales").glob("*.yaml")}
    (tmp_path / "config").symlink_to(ROOT / "config")
    (tmp_path / FOLDER).symlink_to(ROOT / FOLDER)
    for folder in FOLDERS:
        made = tmp_path / "results" / folder.name / SAID
        made.parent.mkdir(parents=True)
        made.touch()
    others = sorted({folder.name for folder in FOLDERS} - left)
    assert judged_records.recorded_scales(tmp_path) == others
    assert [path.parent.name for path in judged_records.finished_here(tmp_path)] == others


@pytest.mark.parametrize("scale", judged_records.recorded_scales(ROOT))
def test_no_scale_that_counts_multiplies_the_rates_of_a_paper(scale: str) -> None:
    """DESIGN's small-scale protocol: the paper's own rule for its step, or an optimiser of another kind.

    A scale sets a rate only where it sets the optimiser, or for runs that are not of images.
    """
    config = configured(scale)
    for placed in config.placed:
        optimiser = placed.override.set.get("optimiser", {})
        if "learning_rate" in optimiser and "name" not in optimiser:
            methods = placed.override.when["method"]
            kinds = {
                config.papers[placed.paper].methods[method]["kind"]
                for method in alternatives(methods)
            }
            assert "image" not in kinds, f"{placed.file}: {placed.section}"


@pytest.mark.parametrize("folder", LEFT, ids=lambda folder: folder.name)
def test_a_table_of_what_was_said_is_of_the_records_beside_it(folder: Path) -> None:
    """Withdrawn is what was measured on MultiDigits, whose probe images held both digits.

    That its records can still be read is seen in unit/config/test_records.py, which reads all of them.
    """
    said, names = rows(folder / SAID), {row["name"] for row in rows(folder / "runs.csv")}
    assert {row["scale"] for row in said} == {folder.name}
    assert {run for row in said for run in row["runs"].split()} <= names
    assert all(bool(row["withdrawn"]) == ("multidigits" in row["measured_on"]) for row in said)
