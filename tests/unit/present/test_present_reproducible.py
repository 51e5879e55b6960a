"""Equal tables give equal bytes, in another process, folder and second; present/ reads results and nothing else."""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import hypersphere.present as package

REPOSITORY = Path(__file__).parents[3]
NEVER = {"torch", "torchvision", "scipy", "statsmodels", "sklearn", "seaborn"}
# Builds everything under the root given, and reports each file opened and each of the never-wanted modules loaded.
BUILD = """
import sys
from pathlib import Path
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
from hypersphere.declared import config
from hypersphere.declared.artifacts import Curves
from hypersphere.present import figure, paper, scorecard, table
loaded = config.load(Path(sys.argv[1]), {"scale": "quick"})
for name, document in loaded.papers.items():
    for key, artifact in document.artifacts.items():
        (figure if isinstance(artifact, Curves) else table).build(loaded, name, key)
scorecard.build(loaded)
paper.build(loaded)
print("loaded:", *[name for name in sys.argv[2:] if name in sys.modules])
print("runs:", *[path for path in opened if "/results/quick/runs" in path])
print("opened:", len([path for path in opened if "/results/quick/statistics" in path]))
"""


def build(root: Path) -> subprocess.CompletedProcess[str]:
    """Build everything in a process of its own, with another hash seed and time zone."""
    environment = {**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-c", BUILD, str(root), *sorted(NEVER)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=True)


def outputs(made: Any) -> dict[str, bytes]:
    """Every file that present/ wrote, by its place in the results folder."""
    found = {}
    for path in sorted(made.config.results.rglob("*")):
        if path.is_file() and path.suffix in {".pdf", ".svg", ".png", ".html", ".md", ".tex", ".csv", ".json"}:
            found[path.relative_to(made.config.results).as_posix()] = path.read_bytes()
    return found


def test_two_builds_three_seconds_apart_are_equal_and_a_changed_number_is_not(make: Any, tmp_path: Path) -> None:
    first = make(root=tmp_path / "here")
    first.build()
    time.sleep(3)
    second = make(root=tmp_path / "there")
    build(second.config.root)
    one, two = outputs(first), outputs(second)
    assert {Path(name).suffix for name in one} == {".pdf", ".svg", ".png", ".html", ".md", ".tex", ".csv", ".json"}
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []
    assert [name for name, data in one.items() if str(tmp_path).encode() in data] == []

    changed = make(root=tmp_path / "other", shift=0.1)
    changed.build()
    three = outputs(changed)
    for name in ("paper.pdf", "scorecard.html", "tables/embedding_norms/table5.tex"):
        assert one[name] != three[name]
    for ending in ("svg", "png", "csv"):
        name = f"figures/embedding_norms/norms_over_epochs.{ending}"
        assert one[name] != three[name]


def test_building_loads_no_torch_or_statistics_library_and_opens_no_run_folder(make: Any, tmp_path: Path) -> None:
    made = make(root=tmp_path / "root")
    (made.config.results / "runs" / "a-run").mkdir(parents=True)
    said = dict(line.split(":", 1) for line in build(made.config.root).stdout.splitlines())
    assert said["loaded"].strip() == ""
    assert said["runs"].strip() == ""
    assert int(said["opened"]) > 0


def imported(path: Path) -> set[str]:
    """Every module that a file names in an import, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_present_imports_nothing_that_computes() -> None:
    sources = sorted(Path(package.__path__[0]).glob("*.py"))
    assert len(sources) > 5
    names = set().union(*map(imported, sources))
    assert not {name.split(".")[0] for name in names} & (NEVER | {"numpy", "random", "statistics", "datetime", "time"})
    ours = {name.split(".")[1] for name in names if name.startswith("hypersphere.")}
    assert not ours & {"training", "probes", "datasets", "encoders", "methods", "objectives", "views", "simulations"}
    # Of the statistics, only the levels and margins that config/ sets.
    assert {n for n in names if n.startswith("hypersphere.statistics")} <= {"hypersphere.declared.rules"}
    assert "pandas" in names
