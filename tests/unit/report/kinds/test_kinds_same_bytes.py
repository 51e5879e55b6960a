"""Equal tables give equal bytes, in another process and folder; drawing computes no statistics and opens no run."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypersphere.provenance import pictures

NAMES = ("scores", "sweep", "spread", "heights", "faces")
# Builds artifacts under the root given, and reports each of the never-wanted modules loaded and each run's file opened.
BUILD = f"""
import sys
from pathlib import Path
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
from hypersphere.config import plan
from hypersphere.report import writer
from hypersphere.report.results import Results
results = Results(plan.make(Path(sys.argv[1]), {{"scale": "small"}}))
for name in {NAMES}:
    writer.build(results, "made_up", name)
print("loaded:", *[name for name in sys.argv[2:] if name in sys.modules])
print("runs:", *[path for path in opened if "/results/small/runs" in path])
"""


def outputs(results: Path) -> dict[str, bytes]:
    found = [path for folder in ("tables", "figures") for path in (results / folder).rglob("*.*")]
    return {path.relative_to(results).as_posix(): path.read_bytes() for path in sorted(found)}


def test_two_builds_in_other_processes_and_folders_are_equal_and_a_changed_number_is_seen(make: Any) -> None:
    here = outputs(make(folder="here").build(*NAMES))
    there = make(folder="there")
    environment = {**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo"}
    never = ("torch", "torchvision", "sklearn", "hypersphere.statistics", "hypersphere.training")
    command = [sys.executable, "-c", BUILD, str(there.plan.config.root), *never]
    said = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout.splitlines()
    assert said == ["loaded:", "runs:"]
    again = outputs(there.plan.config.results)
    assert here.keys() == again.keys()
    assert len(here) == 3 * len(NAMES)
    assert [name for name in here if here[name] != again[name]] == []
    assert [name for name, data in here.items() if b"/here/" in data] == []
    other = make(folder="other")
    for name in NAMES:
        other.alter(name, "summary", lambda rows: rows.assign(mean=rows["mean"] + 0.25))
    other.alter("spread", "distribution", lambda rows: rows.assign(value=rows["value"] * 1.1))
    stacked = other.plan.artifact_folder("made_up", "faces") / "pictures.png"
    pictures.write(stacked, [pictures.read(stacked) - 1])  # all are a little darker
    other.alter("faces", "pictures", lambda rows: rows)
    changed = outputs(other.build(*NAMES))
    assert [name for name in here if here[name] == changed[name]] == ["figures/made_up/faces.csv"]
