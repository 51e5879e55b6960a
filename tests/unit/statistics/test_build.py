"""What is written: columns, bytes, empty fields. The columns are those of docs/results.md, read from it."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hypersphere.integrity.manifest import check_listed
from hypersphere.statistics import build

REPOSITORY = Path(__file__).parents[3]
World = Any  # of conftest.py
Make = Callable[..., World]


def busy(world: World) -> World:
    world.finals("simclr.default", [50.0, 51.0, 52.5])
    world.finals("simclr.cut3", [53.0, None, 55.0])
    world.finals("simsiam.default", [50.0], used="pairs")
    world.history(world.run_name("simclr.default", "digits", 0), [3.0, 2.0])
    world.history(world.run_name("simclr.cut3", "digits", 1), [3.0, np.nan])
    return world


@pytest.mark.parametrize("name", ["measurements", "summary", "history", "effects"])
def test_columns_are_the_contract(make_world: Make, name: str) -> None:
    world = busy(make_world())
    build.build(world.plan, world.files)
    text = (REPOSITORY / "docs" / "results.md").read_text()
    section = text.split(f"## `statistics/{name}.csv`")[1]
    contract = re.split(r",\s+", re.search(r"`([a-z_0-9,\s]+)`", section)[1])  # type: ignore[index]
    assert list(world.table(f"statistics/{name}.csv").columns) == contract


def test_equal_inputs_give_equal_bytes_in_any_order(make_world: Make) -> None:
    world = busy(make_world())
    folder = world.plan.config.results / "statistics"
    build.build(world.plan, world.files)
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    build.build(world.plan, world.files[::-1])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first
    world.finals("simclr.default", [50.0, 51.0, 52.6])  # the control: another value, other bytes
    build.build(world.plan, world.files[1:])
    assert (folder / "summary.csv").read_bytes() != first["summary.csv"]


def test_no_field_says_nan_or_inf(make_world: Make) -> None:
    world = busy(make_world())
    build.build(world.plan, world.files)
    for path in (world.plan.config.results / "statistics").iterdir():
        assert not re.search(r"(^|,)-?(nan|inf|None|<NA>)(,|$)", path.read_text(), re.IGNORECASE | re.MULTILINE), path


def test_nothing_run_writes_headers_only(make_world: Make) -> None:
    world = make_world()
    build.build(world.plan, [])
    for name in ("measurements", "summary", "history", "effects", "runs"):
        assert world.table(f"statistics/{name}.csv").empty


def test_numbers_have_one_spelling(tmp_path: Path) -> None:
    table = pd.DataFrame({"x": [-0.0, 0.1 + 0.2, np.inf, 1e-12], "n": [1, 2, 3, 4]})
    build.write(tmp_path, {"t": (table, ["n", "x"])})
    assert (tmp_path / "t.csv").read_text() == "n,x\n1,0\n2,0.3\n3,\n4,1e-12\n"
    assert check_listed(tmp_path / "t.csv", tmp_path / "manifest.json")["files"].keys() == {"t.csv"}


def test_statistics_never_import_torch() -> None:
    code = "import sys, hypersphere.statistics.claims, hypersphere.statistics.build; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
