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
    "config": "config.yaml",
    "paper": "papers/p/paper.yaml",
    "scale": "scales/small.yaml",
    "datasets": "datasets.yaml",
    "statistics": "statistics.yaml",
}
CONTENT: dict[str, dict[str, Any]] = yaml.safe_load("""
config: {scale: small}
paper:
  paper: p
  title: A paper
  run:
    views: {hue: 0.2}
    encoder: {name: resnet8}
    optimiser: {learning_rate: 0.4, weight_decay: 0.0}
    schedule: {epochs: 100, warmup: 0.1}
    batch: {size: 256, micro: 128}
  methods:
    simclr:
      method: {name: simclr, hidden: 8, dim: 4}
      objective: {name: nt_xent, temperature: 0.5}
    simsiam:
      method: {name: simsiam, hidden: 8, dim: 4, bottleneck: 2}
      objective: {name: negative_cosine}
  variants:
    baseline: {}
    cut: {initialisation: {name: cut_initialisation, c: 3}}
    hot: {objective: {temperature: 1.0}}
  overrides: []
  evaluations:
    knn: {probe: {name: knn, k: 200}}
    norms: {probe: {name: norms}, layer: embeddings}
    transfer: {like: knn, transfer: true}
  artifacts:
    table:
      draw: table
      title: A table
      rows: {method: [simclr, simsiam], variant: [baseline, cut]}
      columns: {dataset: [cats, dogs]}
      measure: knn_top1
      baseline: {variant: baseline}
scale:
  scale: small
  level: quick
  describe: for tests
  seeds: {tables: [0, 1], sweeps: [0]}
  datasets: {}
  other_datasets: themselves
  epochs: published
  overrides: []
  threads: 1
  runs_per_job: 4
  resources: {mem_mb: 100, runtime: 1, gpu: 0}
datasets:
  cats: {source: {name: digits}}
  dogs: {source: {name: digits, task: turned}}
  few_cats: {source: {name: digits}, test_per_class: 3}
  birds: {source: null}
""")
CONTENT["statistics"] = yaml.safe_load((PROJECT / "config" / "statistics.yaml").read_text(encoding="utf-8"))

FIELDS = (
    "artifact,method,variant,baseline,dataset,setting,metric,reported,reported_std,reading,sentence,source,direction"
)
VALUE = {"kind": "value", "origin": "printed", "artifact": "t", "reading": PRINTED, "metric": "knn_top1"}
CELL = {"method": "simclr", "variant": "cut", "dataset": "cats"}
COMPARED = {"kind": "comparison", "baseline": "baseline"}


def table(folder: Path, *rows: dict[str, str]) -> Path:
    """A file of claims a, b, c …, each of which begins as ``VALUE`` and ``CELL`` do."""
    file = folder / "claims.csv"
    with file.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, ["id", "kind", "origin", *FIELDS.split(",")], restval="", lineterminator="\n")
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
            files.write_text(tmp_path / "config" / file, yaml.safe_dump(content, sort_keys=False))
        return tmp_path

    return make


@pytest.fixture
def planned(project: Callable[..., Path]) -> Callable[..., Plan]:
    return lambda **changes: planning.make(project(**changes))
