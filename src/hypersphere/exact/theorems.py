"""Check every statement of every paper on random inputs and write theory.csv. Nothing here depends on the scale."""

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from hypersphere.config import claims, paper_code
from hypersphere.config.project import Config
from hypersphere.exact.statement import Statement, examine
from hypersphere.provenance.columns import THEORY
from hypersphere.provenance.tables import write
from hypersphere.training.determinism import make_deterministic
from hypersphere.wording import count_of

DRAWS = 10_000


def statements(config: Config, paper: str) -> tuple[Statement, ...]:
    """The statements of a paper's theorems.py, in order; none without that file."""
    module = config.theorems_module(paper)
    return tuple(paper_code.load(module, "STATEMENTS")) if module else ()


def build(config: Config) -> None:
    """Write results/exact/theory.csv (columns: docs/results.md), and print how many statements were checked."""
    make_deterministic(1)
    rows = []
    for paper in config.papers:
        stated = statements(config, paper)
        for statement in stated:
            with paper_code.blaming(config.theorems_file(paper), statement.id):
                rows.append({"paper": paper} | row(statement))
        if stated:
            print(f"{paper}: {count_of(len(stated), 'statement')} checked", flush=True)
        for one in _without_claim(config, paper, stated):
            file = config.theorems_file(paper)
            print(
                f"note: {file}: {one} is on no page; give it a row of kind theorem in claims.csv",
                flush=True,
            )
    table = pd.DataFrame(rows, columns=list(THEORY))
    write(config.exact, {"theory": (table, THEORY)})


def _without_claim(config: Config, paper: str, stated: Sequence[Statement]) -> list[str]:
    """The ids of statements without a claim."""
    known = {claim.id for claim in claims.of(config, paper)}
    return [statement.id for statement in stated if statement.id not in known]


def row(statement: Statement) -> dict[str, Any]:
    """The row of theory.csv, but for its paper."""
    columns = examine(statement, DRAWS)._asdict()
    columns["id"] = statement.id
    columns["reading"] = statement.reading
    example = columns["counterexample"]
    columns["counterexample"] = "" if example is None else json.dumps(example)
    return columns
