"""Check every statement of every paper on random inputs and write theory.csv. Nothing here depends on the scale."""

import importlib
import json
from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere.config.plan import Plan
from hypersphere.provenance.columns import THEORY
from hypersphere.provenance.tables import write
from hypersphere.theory.statement import Finding, Statement, examine
from hypersphere.training.determinism import make_deterministic

DRAWS = 10_000


def documents() -> tuple[str, ...]:
    """Papers with statements: every file of this folder that is named after a paper."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in _MACHINERY))


_MACHINERY = {"__init__", "build", "statement"}


def statements(paper: str) -> tuple[Statement, ...]:
    """The statements of theory/<paper>.py, in order."""
    return tuple(importlib.import_module(f"hypersphere.theory.{paper}").STATEMENTS)


def build(plan: Plan) -> None:
    """Write results/<scale>/theory.csv (columns: docs/results.md): the same numbers at every scale."""
    make_deterministic(1)
    papers = [name for name in plan.config.papers if name in documents()]
    rows = [_row(paper, statement, examine(statement, DRAWS)) for paper in papers for statement in statements(paper)]
    write(plan.config.results, {"theory": (pd.DataFrame(rows, columns=list(THEORY)), THEORY)})


def _row(paper: str, statement: Statement, finding: Finding) -> dict[str, Any]:
    example = "" if finding.counterexample is None else json.dumps(finding.counterexample)
    identity = {"id": statement.id, "paper": paper, "reading": statement.reading}
    return identity | finding._asdict() | {"counterexample": example}
