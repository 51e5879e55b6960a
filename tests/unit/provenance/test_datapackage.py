"""datapackage.json has the columns of the tables beside it; frictionless takes the tables, and no wrong one."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from hypersphere import files
from hypersphere.config import records
from hypersphere.provenance import datapackage, tables

from ...golden.released import ROOT

FORMATS = ROOT / ".venv" / "formats"
"""Where `make test-tools` installs frictionless."""
CHECK = """
import json, sys
from frictionless import validate
report = validate(sys.argv[1])
faults = [[task.name, error.type] for task in report.tasks for error in task.errors]
print(json.dumps(faults))
"""
KINDS: dict[str, tables.Columns] = {
    "claims": {"id": "text", "value": "number", "clear": "flag"},
    "steps": {"id": "text", "n": "number"},
    "all": {"n": "number"},
}
"""The columns of a table, of one that refers to it, and of one that does not."""


def test_the_released_records_have_their_description() -> None:
    """It is written when records are added, and is the same for all rows."""
    folder = ROOT / "evidence" / "laptop"
    described = files.read_json(folder / datapackage.FILE)
    assert described == datapackage.of_records("laptop")
    for resource in described["resources"]:
        with (folder / resource["path"]).open(newline="", encoding="utf-8") as file:
            header = next(csv.reader(file))
        assert [field["name"] for field in resource["schema"]["fields"]] == header


def test_columns_of_records_have_their_types() -> None:
    types = {}
    for resource in datapackage.of_records("laptop")["resources"]:
        for field in resource["schema"]["fields"]:
            types[resource["name"], field["name"]] = field["type"]
    assert types["runs", "seed"] == types["measurements", "n_test"] == "integer"
    assert types["measurements", "value"] == types["history", "loss"] == "number"
    assert types["runs", "run"] == types["protocols", "device"] == "object"
    assert types["runs", "key"] == types["runs", "code"] == "string"
    assert {table for table, _ in types} == records.TABLES.keys()


def written(folder: Path) -> Path:
    """Three tidy tables with their description."""
    rows = {
        "claims": [{"id": "a", "value": 0.5, "clear": True}, {"id": "b", "clear": False}],
        "steps": [{"id": "a", "n": 3}],
        "all": [{"n": 7}],
    }
    made = {name: (pd.DataFrame(rows[name]), kinds) for name, kinds in KINDS.items()}
    tables.write(folder, made)
    described = datapackage.of_tables(folder, "made-up", "Made up", KINDS, {"claims": "id"})
    files.write_json(folder / datapackage.FILE, described)
    return folder


def test_tidy_tables_are_described_with_keys_references_and_checksums(tmp_path: Path) -> None:
    described = files.read_json(written(tmp_path) / datapackage.FILE)
    claims, steps, whole = described["resources"]
    assert claims["schema"]["primaryKey"] == "id"
    assert steps["schema"]["foreignKeys"] == [
        {"fields": ["id"], "reference": {"resource": "claims", "fields": ["id"]}}
    ]
    assert {"primaryKey", "foreignKeys"}.isdisjoint(whole["schema"])
    sums = subprocess.run(
        ["sha256sum", tmp_path / "claims.csv"], capture_output=True, text=True, check=True
    )
    assert claims["hash"] == f"sha256:{sums.stdout.split()[0]}"
    assert claims["bytes"] == len((tmp_path / "claims.csv").read_bytes())


def faults(description: Path) -> list[Any]:
    """The tables and kinds of errors that frictionless finds, in a process of its own."""
    if not (FORMATS / "frictionless").is_dir():
        pytest.skip("frictionless is not here: `make test-tools` installs it")
    environment = {**os.environ, "PYTHONPATH": str(FORMATS)}
    done = subprocess.run(
        [sys.executable, "-c", CHECK, description.name],
        cwd=description.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.tools
def test_frictionless_finds_the_released_records_valid() -> None:
    assert faults(ROOT / "evidence" / "laptop" / datapackage.FILE) == []


@pytest.mark.tools
@pytest.mark.parametrize(
    ("file", "old", "new", "kind"),
    [
        ("claims.csv", "0.5", "half", "type-error"),
        ("claims.csv", "b,", "a,", "primary-key"),
        ("steps.csv", "a,", "c,", "foreign-key"),
        ("all.csv", "7", "8", "hash-count"),
        ("claims.csv", "clear", "clean", "incorrect-label"),
    ],
)
def test_frictionless_finds_tidy_tables_valid_and_sees_a_mistake(
    tmp_path: Path, file: str, old: str, new: str, kind: str
) -> None:
    folder = written(tmp_path)
    assert faults(folder / datapackage.FILE) == []
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    assert [file.removesuffix(".csv"), kind] in faults(folder / datapackage.FILE)


@pytest.mark.tools
def test_frictionless_sees_a_measurement_of_no_run(tmp_path: Path) -> None:
    folder = tmp_path / "laptop"
    shutil.copytree(ROOT / "evidence" / "laptop", folder)
    lines = (folder / "measurements.csv").read_text().splitlines(keepends=True)
    last = f"00000000,{lines[-1].partition(',')[2]}"
    (folder / "measurements.csv").write_text("".join([*lines[:-1], last]))
    assert faults(folder / datapackage.FILE) == [["measurements", "foreign-key"]]
