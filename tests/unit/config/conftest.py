"""A project of a few lines of YAML: a paper with one table, three datasets and a scale that changes nothing."""

import copy
import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config.claims import PRINTED
from hypersphere.config.plan import Plan

from ...conftest import PROJECT

FILES = {
    "config": "config/config.yaml",
    "paper": "papers/p/paper.yaml",
    "scale": "config/scales/small.yaml",
    "at_scale": "papers/p/scales/small.yaml",
    "datasets": "config/datasets.yaml",
    "statistics": "config/statistics.yaml",
    "certainty": "config/certainty.yaml",
}
CONTENT: dict[str, dict[str, Any]] = files.read_yaml(Path(__file__).with_name("project.yaml"))
for _name in ("statistics", "certainty"):
    CONTENT[_name] = yaml.safe_load((PROJECT / FILES[_name]).read_text(encoding="utf-8"))

FIELDS = (
    "artifact,method,variant,baseline,dataset,setting,"
    "metric,reported,reported_std,reading,sentence,source,direction"
)
VALUE = {
    "kind": "value",
    "origin": "printed",
    "artifact": "t",
    "reading": PRINTED,
    "metric": "knn_top1",
}
CELL = {"method": "simclr", "variant": "cut", "dataset": "cats"}
COMPARED = {"kind": "comparison", "baseline": "baseline"}


def table(folder: Path, *rows: dict[str, str]) -> Path:
    """A file of claims a, b, c …, each of which begins as ``VALUE`` and ``CELL`` do."""
    file = folder / "claims.csv"
    with file.open("w", newline="") as handle:
        writer = csv.DictWriter(
            handle, ["id", "kind", "origin", *FIELDS.split(",")], restval="", lineterminator="\n"
        )
        writer.writeheader()
        for name, row in zip("abcdefgh", rows, strict=False):
            writer.writerow({"id": name, **VALUE, **CELL, **row})
    return file


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """``project(paper={"run.batch.size": 3}, scale=…, datasets=…, …)``: its root, with these values changed.

    ``"(removed)"`` removes a key. ``table={…}`` stands for a table whose fields, but its title, are these.
    """

    def make(*, table: dict[str, Any] | None = None, **changes: Mapping[str, Any]) -> Path:
        if table is not None:
            whole = {"draw": "table", "title": "A table", **table}
            changes["paper"] = {"artifacts.table": whole, **changes.get("paper", {})}
        for name, file in FILES.items():
            content = copy.deepcopy(CONTENT[name])
            for path, value in changes.get(name, {}).items():
                inner = content
                *outer, last = path.split(".")
                for key in outer:
                    inner = inner.setdefault(key, {})
                if value == "(removed)":
                    del inner[last]
                else:
                    inner[last] = value
            files.write_text(tmp_path / file, yaml.safe_dump(content, sort_keys=False))
        return tmp_path

    return make


@pytest.fixture
def planned(project: Callable[..., Path]) -> Callable[..., Plan]:
    return lambda **changes: planning.make(project(**changes))
