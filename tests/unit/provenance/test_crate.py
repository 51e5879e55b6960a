"""ro-crate-metadata.json of an archive: what it names is there, and the library rocrate reads it."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hypersphere.config.citation import Citation
from hypersphere.provenance import crate

from ...golden.released import ROOT

FORMATS = ROOT / ".venv" / "formats"
"""Where `make test-tools` installs rocrate."""
NAMES = {
    "LICENSE": "MIT",
    "README.md": "# A project",
    "papers/p/paper.yaml": "paper: p",
    "results/quick/claims.csv": "id",
    "results/laptop/claims.csv": "id",
}
CITED = Citation.model_validate(
    {
        "version": "1.2.3",
        "authors": [
            {"name": "A group"},
            {"given-names": "Ada", "family-names": "Example"},
        ],
    }
)
COMMIT = "c0ffee"
TIME = datetime(2026, 11, 24, 12, tzinfo=UTC)
READ = """
import json, sys
from rocrate.rocrate import ROCrate
crate = ROCrate(sys.argv[1])
found = {
    "name": crate.name,
    "parts": sorted(part.id for part in crate.data_entities),
    "authors": sorted(author["name"] for author in crate.root_dataset["author"]),
    "license": crate.license.id,
    "result": crate.get("#build")["result"].id,
    "instrument": crate.get("#build")["instrument"]["version"],
    "date": crate.root_dataset["datePublished"],
}
print(json.dumps(found))
"""


def described(*without: str) -> dict[str, Any]:
    names = NAMES.keys() - {*without}
    return crate.metadata(names, CITED, "results/quick", COMMIT, TIME)


def entities(metadata: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = {one["@id"]: one for one in metadata["@graph"]}
    assert len(found) == len(metadata["@graph"])
    return found


def references(value: Any) -> list[str]:
    """All ids that entities name, but their own."""
    if isinstance(value, list):
        return [name for one in value for name in references(one)]
    if not isinstance(value, dict):
        return []
    if value.keys() == {"@id"}:
        return [value["@id"]]
    return [name for key, one in value.items() if key != "@id" for name in references(one)]


def test_it_describes_what_is_there_and_nothing_else() -> None:
    found = entities(described())
    parts = {one["@id"] for one in found["./"]["hasPart"]}
    assert parts == {
        "LICENSE",
        "README.md",
        "papers/",
        "results/quick/",
        "results/quick/claims.csv",
    }
    assert found["./"]["license"] == {"@id": "LICENSE"}
    without = entities(described("LICENSE", "papers/p/paper.yaml"))
    assert {"LICENSE", "papers/"}.isdisjoint(without)
    assert "license" not in without["./"]


def test_every_entity_that_is_named_is_described() -> None:
    """But the specification, which is an address."""
    for metadata in (described(), described("LICENSE")):
        assert {*references(metadata["@graph"])} - {*entities(metadata)} == {crate.SPECIFICATION}


@pytest.mark.tools
def test_the_library_reads_it_and_refuses_one_without_a_root(tmp_path: Path) -> None:
    if not (FORMATS / "rocrate").is_dir():
        pytest.skip("rocrate is not here: `make test-tools` installs it")
    for name, content in NAMES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    about = tmp_path / crate.FILE
    about.write_text(json.dumps(described()))
    assert json.loads(read(tmp_path).stdout) == {
        "name": "hypersphere 1.2.3, results/quick",
        "parts": ["LICENSE", "README.md", "papers/", "results/quick/", "results/quick/claims.csv"],
        "authors": ["A group", "Ada Example"],
        "license": "LICENSE",
        "result": "results/quick/",
        "instrument": "1.2.3",
        "date": "2026-11-24T12:00:00+00:00",
    }
    rootless = described()
    rootless["@graph"] = [one for one in rootless["@graph"] if one["@id"] != "./"]
    about.write_text(json.dumps(rootless))
    assert read(tmp_path).returncode


def read(folder: Path) -> subprocess.CompletedProcess[str]:
    """What the library reads, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(FORMATS)}
    command = [sys.executable, "-c", READ, str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
