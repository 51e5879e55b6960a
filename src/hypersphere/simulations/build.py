"""results/<scale>/simulations/<paper>/: what a paper's exact studies hand over, the same numbers at every scale."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from hypersphere.declared import registry
from hypersphere.declared.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.integrity.tables import write
from hypersphere.simulations.study import COLUMNS, Answer, Context, Study
from hypersphere.training.determinism import make_deterministic


def build(plan: Plan, paper: str) -> None:
    """Write a table for each artifact that a study makes, answers.csv (columns: docs/results.md) and their manifest.

    Raises:
        HypersphereError: no such paper; a study does not hand over what the paper's artifacts ask of it; it lacks data.
    """
    if paper not in plan.config.papers:
        raise HypersphereError(f"'{paper}' is not one of {', '.join(plan.config.papers)}")
    make_deterministic(1)
    context = Context(plan.config, paper)
    tables: dict[str, tuple[pd.DataFrame, list[str]]] = {}
    answers: list[dict[str, Any]] = []
    for name in plan.config.studies(paper):
        study = run(name, context)
        tables |= {artifact: (table, [str(column) for column in table]) for artifact, table in study.tables.items()}
        answers += _rows(name, study.answers)
    rows = pd.DataFrame(answers, columns=COLUMNS)
    write(plan.config.results / "simulations" / paper, {**tables, "answers": (rows, COLUMNS)})


def run(name: str, context: Context) -> Study:
    """One study, whose tables are those of the artifacts that name it.

    Raises:
        HypersphereError: a table is missing, or is nobody's.
    """
    study: Study = registry.load("simulations", name)(context)
    artifacts = context.config.studied(context.paper)
    wanted = {artifact for artifact, declared in artifacts.items() if declared.study == name}
    if wrong := wanted ^ set(study.tables):
        where = f"config/papers/{context.paper}.yaml"
        verb = "does not hand over" if wrong & wanted else "hands over, and no artifact of"
        rest = f"{min(wrong)}, which {where} asks of it" if wrong & wanted else f"{where} asks for, {min(wrong)}"
        raise HypersphereError(f"simulations/{name}.py: {verb} {rest}")
    return study


def _rows(study: str, answers: Iterable[Answer]) -> list[dict[str, Any]]:
    return [
        {"study": study, "id": answer.id, "reading": answer.reading, "arm": arm, "place": place, "value": _text(value)}
        for answer in answers
        for arm, values in answer.arms.items()
        for place, value in enumerate(values)
    ]


def _text(value: float) -> str:
    """Ten digits; unlike elsewhere infinity stays, for it is an answer: never."""
    if math.isnan(value):
        raise ValueError("a study's answer is not a number")
    return f"{value + 0.0:.10g}"
