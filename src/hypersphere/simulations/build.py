"""Run a paper's exact studies and write results/<scale>/simulations/<paper>/: the same numbers at every scale."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from hypersphere.config import registry
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.provenance.tables import write
from hypersphere.simulations.study import COLUMNS, Answer, Context, Study
from hypersphere.training.determinism import make_deterministic


def build(plan: Plan, paper: str) -> None:
    """Write a table for each artifact of an exact study, answers.csv (columns: docs/results.md) and a manifest.

    Raises:
        HypersphereError: the paper does not exist, a study's tables are not those of its artifacts, or its data are
            missing.
    """
    if paper not in plan.config.papers:
        raise HypersphereError(f"'{paper}' is not one of {', '.join(plan.config.papers)}")
    make_deterministic(1)
    context = Context(plan.config, paper)
    tables: dict[str, tuple[pd.DataFrame, Iterable[str]]] = {}
    answers: list[dict[str, Any]] = []
    for name in plan.config.studies(paper):
        study = run(name, context)
        tables |= {artifact: (table, [str(column) for column in table]) for artifact, table in study.tables.items()}
        answers += _rows(name, study.answers)
    rows = pd.DataFrame(answers, columns=list(COLUMNS))
    write(plan.config.results / "simulations" / paper, {**tables, "answers": (rows, COLUMNS)})


def run(name: str, context: Context) -> Study:
    """Run one study and check that its tables are those of the artifacts that name it.

    Raises:
        HypersphereError: a table is missing, or belongs to no artifact.
    """
    study: Study = registry.load("simulations", name)(context)
    artifacts = context.config.studied(context.paper)
    declared = {artifact for artifact, entry in artifacts.items() if entry.study == name}
    file, paper = f"simulations/{name}.py", f"config/papers/{context.paper}.yaml"
    if missing := sorted(declared - set(study.tables)):
        raise HypersphereError(f"{file}: returns no table '{missing[0]}', which {paper} asks of this study")
    if extra := sorted(set(study.tables) - declared):
        raise HypersphereError(f"{file}: returns a table '{extra[0]}', which {paper} does not ask for")
    return study


def _rows(study: str, answers: Iterable[Answer]) -> list[dict[str, Any]]:
    return [
        {"study": study, "id": answer.id, "reading": answer.reading, "arm": arm, "place": place, "value": _text(value)}
        for answer in answers
        for arm, values in answer.arms.items()
        for place, value in enumerate(values)
    ]


def _text(value: float) -> str:
    """Ten digits. Infinity stays, unlike in other tables: here it means "never"."""
    if math.isnan(value):
        raise ValueError("a study's answer is not a number")
    return f"{value + 0.0:.10g}"
