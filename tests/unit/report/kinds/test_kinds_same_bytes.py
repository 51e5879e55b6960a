"""Equal tables give equal bytes, in another process and folder; drawing computes no statistics and opens no run."""

from pathlib import Path
from typing import Any

import pytest

from hypersphere.provenance import pictures

from ..elsewhere import build_elsewhere

NAMES = ("scores", "spread", "faces")
"""A table, a figure of distributions and one of pictures; the layers (test_layers.py) hold for all kinds."""
BUILD = f"""
from hypersphere.report import writer
from hypersphere.report.results import Results
for name in {NAMES}:
    writer.build(Results(made), "made_up", name)
"""


def outputs(results: Path) -> dict[str, bytes]:
    found = [path for folder in ("tables", "figures") for path in (results / folder).rglob("*.*")]
    return {path.relative_to(results).as_posix(): path.read_bytes() for path in sorted(found)}


@pytest.mark.long
def test_two_builds_in_other_processes_and_folders_are_equal_and_a_changed_number_is_seen(
    make: Any,
) -> None:
    here = outputs(make(folder="here").build(*NAMES))
    there = make(folder="there")
    build_elsewhere(there.plan, BUILD, "hypersphere.statistics", "hypersphere.training")
    again = outputs(there.plan.config.results)
    assert here.keys() == again.keys()
    assert len(here) == 4 * len(NAMES)
    assert [name for name in here if here[name] != again[name]] == []
    assert [name for name, data in here.items() if b"/here/" in data] == []
    other = make(folder="other")
    for name in NAMES:
        other.alter(name, "summary", lambda rows: rows.assign(mean=rows["mean"] + 0.25))
    other.alter("spread", "distribution", lambda rows: rows.assign(value=rows["value"] * 1.1))
    stacked = other.plan.config.artifact_folder("made_up", "faces") / "pictures.png"
    pictures.write(stacked, [pictures.read(stacked) - 1])  # all are a little darker
    other.alter("faces", "pictures", lambda rows: rows)
    changed = outputs(other.build(*NAMES))
    assert [name for name in here if here[name] == changed[name]] == ["figures/made_up/faces.csv"]
