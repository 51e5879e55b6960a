"""Check every statement of every paper on random inputs and write theory.csv. Nothing here depends on the scale."""

import importlib
import json
from pathlib import Path

import pandas as pd

from hypersphere.config.plan import Plan
from hypersphere.provenance.columns import THEORY
from hypersphere.provenance.tables import write
from hypersphere.theory.statement import Statement, examine
from hypersphere.training.determinism import make_deterministic

DRAWS = 10_000


def documents() -> list[str]:
    """Papers with statements: every file of this folder that is named after a paper."""
    files = {path.stem for path in Path(__file__).parent.glob("*.py")}
    return sorted(files - {"__init__", "build", "statement"})


def statements(paper: str) -> tuple[Statement, ...]:
    """The statements of theory/<paper>.py, in order."""
    return tuple(importlib.import_module(f"hypersphere.theory.{paper}").STATEMENTS)


def build(plan: Plan) -> None:
    """Write results/<scale>/theory.csv (columns: docs/results.md): the same numbers at every scale."""
    make_deterministic(1)
    rows = []
    for paper in [name for name in plan.config.papers if name in documents()]:
        for statement in statements(paper):
            found = examine(statement, DRAWS)
            example = "" if found.counterexample is None else json.dumps(found.counterexample)
            identity = {"id": statement.id, "paper": paper, "reading": statement.reading}
            rows.append(identity | found._asdict() | {"counterexample": example})
    write(plan.config.results, {"theory": (pd.DataFrame(rows, columns=list(THEORY)), THEORY)})
