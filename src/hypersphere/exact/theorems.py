"""Check every statement of every paper on random inputs and write theory.csv. Nothing here depends on the scale."""

import importlib
import json

import pandas as pd

from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.exact.statement import Statement, examine
from hypersphere.provenance.columns import THEORY
from hypersphere.provenance.tables import write
from hypersphere.training.determinism import make_deterministic

DRAWS = 10_000


def statements(config: Config, paper: str) -> tuple[Statement, ...]:
    """The statements of a paper's theorems.py, in order; none without that file."""
    module = config.theorems_module(paper)
    return tuple(importlib.import_module(module).STATEMENTS) if module else ()


def build(plan: Plan) -> None:
    """Write results/exact/theory.csv (columns: docs/results.md)."""
    make_deterministic(1)
    rows = []
    for paper in plan.config.papers:
        for statement in statements(plan.config, paper):
            found = examine(statement, DRAWS)
            example = "" if found.counterexample is None else json.dumps(found.counterexample)
            identity = {"id": statement.id, "paper": paper, "reading": statement.reading}
            rows.append(identity | found._asdict() | {"counterexample": example})
    write(plan.config.exact, {"theory": (pd.DataFrame(rows, columns=list(THEORY)), THEORY)})
