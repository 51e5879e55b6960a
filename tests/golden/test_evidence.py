"""The released tables of evidence: a reader leaves out rows without a run, so none may be lost there unseen."""

import csv
from pathlib import Path

import pytest

from hypersphere.config.records import FOLDER, TABLES

from .released import ROOT

FOLDERS = sorted(path.parent for path in (ROOT / FOLDER).glob("*/runs.csv"))


def keys(folder: Path, table: str) -> set[str]:
    with (folder / f"{table}.csv").open(newline="", encoding="utf-8") as handle:
        return {row["key"] for row in csv.DictReader(handle)}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_row_has_its_run(folder: Path) -> None:
    assert len(FOLDERS) > 1
    assert {path.stem for path in folder.glob("*.csv")} == set(TABLES)
    assert keys(folder, "history") == keys(folder, "measurements") == keys(folder, "runs")
