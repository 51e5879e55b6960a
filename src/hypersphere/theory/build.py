"""theory.csv: every statement of every paper, held against draws. Nothing here depends on a scale."""

import importlib
import json
from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere.declared.plan import Plan
from hypersphere.integrity.tables import write
from hypersphere.theory.statement import Finding, Statement, examine
from hypersphere.theory.table import COLUMNS
from hypersphere.training.determinism import make_deterministic

DRAWS = 10_000


def documents() -> tuple[str, ...]:
    """Papers that state something that can be checked: the files of this folder that are named after a paper."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in _MACHINERY))


_MACHINERY = {"__init__", "build", "statement", "table"}


def statements(paper: str) -> tuple[Statement, ...]:
    """What theory/<paper>.py states, in its order."""
    return tuple(importlib.import_module(f"hypersphere.theory.{paper}").STATEMENTS)


def build(plan: Plan) -> None:
    """Write results/<scale>/theory.csv (columns: docs/results.md): the same numbers at every scale."""
    make_deterministic(1)
    papers = [name for name in plan.config.papers if name in documents()]
    rows = [_row(paper, each, examine(each, DRAWS)) for paper in papers for each in statements(paper)]
    write(plan.config.results, {"theory": (pd.DataFrame(rows, columns=COLUMNS), COLUMNS)})


def _row(paper: str, statement: Statement, found: Finding) -> dict[str, Any]:
    example = "" if found.counterexample is None else json.dumps(found.counterexample)
    named = {"id": statement.id, "paper": paper, "reading": statement.reading}
    return named | found._asdict() | {"counterexample": example}
