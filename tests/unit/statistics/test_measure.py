"""What is written for one artifact: which files, which columns, which bytes. It waits for nothing of any other."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from hypersphere import files
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns
from hypersphere.provenance.manifest import check_tidy
from hypersphere.statistics import claims, measure

from .world import World, at

Make = Callable[..., World]
COLUMNS = {
    "measurements": columns.MEASUREMENTS,
    "summary": columns.SUMMARY,
    "effects": columns.EFFECTS,
    "runs": columns.RUNS,
    "distribution": columns.DISTRIBUTION,
    "points": columns.POINTS,
}


def written(world: World, artifact: str) -> dict[str, bytes]:
    """The files of an artifact's folder."""
    folder = world.plan.artifact_folder("norms", artifact)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def busy(world: World) -> World:
    """Runs that finished, that diverged, and whose norm is no number."""
    world.say("table5", at(), [50.0, 51.0, 52.5])
    world.say("table5", at(variant="cut3"), [53.0, None, 55.0])
    return world


def test_each_artifact_has_its_tables_with_their_columns_and_checksums(make_world: Make) -> None:
    world = busy(make_world())
    frame = pd.DataFrame({"split": ["train", "test"], "image": 0, "norm": [1.0, 2.0]})
    world.images = {run: frame for run in world.plan.runs if world.status.get(run) != "diverged"}
    world.measure("table5", "violins")
    for artifact, names in (("table5", list(COLUMNS)[:4]), ("violins", list(COLUMNS)[:5])):
        assert written(world, artifact).keys() == {"manifest.json", *(f"{name}.csv" for name in names)}
        for name in names:
            path = check_tidy(world.plan.config.results, f"statistics/norms/{artifact}/{name}.csv")
            assert list(pd.read_csv(path).columns) == list(COLUMNS[name])


@pytest.mark.parametrize("name", [*COLUMNS, "claims"])
def test_columns_are_those_of_the_documentation(name: str) -> None:
    text = (Path(__file__).parents[3] / "docs" / "results.md").read_text()
    section = re.split(r"^## ", text.split(f"## `{name}.csv`")[1], flags=re.MULTILINE)[0]
    listed = re.findall(r"`([a-z0-9_,\s]+, [a-z0-9_,\s]+)`", section)
    documented = [column for part in listed[: 2 if name == "claims" else 1] for column in re.split(r",\s+", part)]
    assert documented == list({**COLUMNS, "claims": claims.COLUMNS}[name])


def test_coordinates_come_first_wherever_there_are_any() -> None:
    assert {next(iter(names)) for table, names in COLUMNS.items() if table != "runs"} == {"coordinates"}
    for names in COLUMNS.values():
        assert len(set(names)) == len(names)


def test_no_field_says_nan_or_inf(make_world: Make) -> None:
    world = busy(make_world())
    world.measure("table5", "training")
    for artifact in ("table5", "training"):
        for name, content in written(world, artifact).items():
            found = re.search(r"(^|,)-?(nan|inf|None|<NA>)(,|$)", content.decode(), re.IGNORECASE | re.MULTILINE)
            assert not found, (artifact, name)


def test_equal_inputs_give_equal_bytes_and_other_values_other_bytes(make_world: Make) -> None:
    world = busy(make_world())
    world.measure("table5")
    first = written(world, "table5")
    world.measure("table5")
    assert written(world, "table5") == first
    world.say("table5", at(), [50.0, 51.0, 52.6])  # the control
    world.measure("table5")
    changed = {name for name, content in written(world, "table5").items() if content != first[name]}
    assert changed == {"measurements.csv", "summary.csv", "effects.csv", "manifest.json"}


def test_an_artifact_needs_its_own_runs_and_protocols_alone(make_world: Make) -> None:
    """Whatever else was never trained or measured: the sweep is made, and has the same bytes."""
    world = busy(make_world())
    world.write()
    world.measure("temperatures")
    before = written(world, "temperatures")
    own = {cell.run.name for cell in world.plan.artifacts["norms", "temperatures"] if cell.run}
    knn = world.plan.protocols["norms"]["knn"].digest
    for run in world.plan.runs:
        if run not in own:
            shutil.rmtree(world.plan.run_folder(run))
            shutil.rmtree(world.plan.evaluation(run, knn).parent)
    for path in (world.plan.config.results / "evaluations").rglob("*.csv"):
        if path.stem != knn or path.parent.name == "pixels-pairs":
            path.unlink()
    measure.build(world.plan, "norms", "temperatures")
    assert written(world, "temperatures") == before
    with pytest.raises(HypersphereError, match="the file is missing"):  # the control
        measure.build(world.plan, "norms", "table5")


def test_an_artifact_with_nothing_finished_is_made_all_the_same(make_world: Make) -> None:
    one: dict[str, Any] = {"draw": "table", "title": "t", "rows": {"method": "simclr", "variant": "default"}}
    one |= {"columns": {"dataset": ["ten"]}, "measure": "norm", "by": "norms", "fixed": {"split": "test"}}
    world = make_world(paper={"artifacts": {"one": one}})
    world.say("one", at(split="test", measure="norm"), [None, None, None])
    world.measure("one")
    row = world.table("one", "summary").iloc[0]
    assert (row["n"], row["n_diverged"]) == (0, 3)
    assert world.table("one", "effects").empty


def test_a_damaged_run_is_refused_where_its_history_is_measured(make_world: Make) -> None:
    world = make_world(seeds=[0])
    world.write()
    run = world.cells("training", at(epoch=50, measure="norm"))[0].run
    assert run is not None
    path = world.plan.run_folder(run.name) / "history.csv"
    path.write_text(path.read_text().replace("2.0", "3.0"))
    with pytest.raises(HypersphereError, match=r"history\.csv: the file's bytes are not those of its manifest"):
        measure.build(world.plan, "norms", "training")
    world.write()
    table = path.read_text().replace("norm", "normal")
    files.write_text(path, table)
    manifest = files.read_sealed(path.with_name("manifest.json"))
    files.write_sealed(path.with_name("manifest.json"), manifest | {"files": {"history.csv": files.sha256(path)}})
    with pytest.raises(HypersphereError, match=r"history\.csv: column norm is missing; expected: epoch, norm$"):
        measure.build(world.plan, "norms", "training")


def test_statistics_never_import_torch() -> None:
    code = "import sys, hypersphere.statistics.claims, hypersphere.statistics.measure; print('torch' in sys.modules)"
    source = Path(__file__).parents[3] / "src"
    found = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
