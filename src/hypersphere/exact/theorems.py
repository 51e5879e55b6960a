"""Check every statement of every paper on random inputs and write theory.csv. Nothing here depends on the scale."""

import json
from typing import Any

import pandas as pd

from hypersphere.config import paper_code
from hypersphere.config.project import Config
from hypersphere.exact.statement import Statement, examine
from hypersphere.provenance.columns import THEORY
from hypersphere.provenance.tables import write
from hypersphere.training.determinism import make_deterministic

DRAWS = 10_000


def statements(config: Config, paper: str) -> tuple[Statement, ...]:
    """The statements of a paper's theorems.py, in order; none without that file."""
    module = config.theorems_module(paper)
    return tuple(paper_code.load(module, "STATEMENTS")) if module else ()


def build(config: Config) -> None:
    """Write results/exact/theory.csv (columns: docs/results.md)."""
    make_deterministic(1)
    rows = []
    for paper in config.papers:
        for statement in statements(config, paper):
            rows.append({"paper": paper} | row(statement))
    table = pd.DataFrame(rows, columns=list(THEORY))
    write(config.exact, {"theory": (table, THEORY)})


def row(statement: Statement) -> dict[str, Any]:
    """The row of theory.csv, but for its paper."""
    columns = examine(statement, DRAWS)._asdict()
    columns["id"] = statement.id
    columns["reading"] = statement.reading
    example = columns["counterexample"]
    columns["counterexample"] = "" if example is None else json.dumps(example)
    return columns
