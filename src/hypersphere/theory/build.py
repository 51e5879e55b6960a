"""Check every statement of every paper on random inputs and write theory.csv. Nothing here depends on the scale."""

import importlib
import json

import pandas as pd

from hypersphere.config.project import Config
from hypersphere.provenance.columns import THEORY
from hypersphere.provenance.sources import source_of
from hypersphere.provenance.tables import write
from hypersphere.theory.statement import Statement, examine
from hypersphere.training.determinism import make_deterministic

DRAWS = 10_000


def statements(paper: str) -> tuple[Statement, ...]:
    """The statements of theory/<paper>.py, in order; none without that file."""
    if source_of(f"hypersphere.theory.{paper}") is None:
        return ()
    return tuple(importlib.import_module(f"hypersphere.theory.{paper}").STATEMENTS)


def build(config: Config) -> None:
    """Write results/exact/theory.csv (columns: docs/results.md)."""
    make_deterministic(1)
    rows = []
    for paper in config.papers:
        for statement in statements(paper):
            found = examine(statement, DRAWS)
            example = "" if found.counterexample is None else json.dumps(found.counterexample)
            identity = {"id": statement.id, "paper": paper, "reading": statement.reading}
            rows.append(identity | found._asdict() | {"counterexample": example})
    write(config.exact, {"theory": (pd.DataFrame(rows, columns=list(THEORY)), THEORY)})
