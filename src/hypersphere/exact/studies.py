"""Run a paper's exact studies and write results/exact/simulations/<paper>/: the same numbers at every scale."""

import importlib
import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.exact.study import COLUMNS, Context, ExactNumber, ExactStudy
from hypersphere.provenance.tables import write
from hypersphere.training.determinism import make_deterministic


def build(plan: Plan, paper: str) -> None:
    """Write a table for each artifact of an exact study, answers.csv (columns: docs/results.md) and a manifest."""
    make_deterministic(1)
    context = Context(plan.config, paper)
    files: dict[str, tuple[pd.DataFrame, Iterable[str]]] = {}
    answers: list[dict[str, Any]] = []
    for name in plan.config.studies(paper):
        code = plan.config.study_code(paper, name)
        study: ExactStudy = getattr(importlib.import_module(code.compute), name)(context)
        check_tables(plan, paper, name, study)
        for artifact, table in study.tables.items():
            files[artifact] = (table, [str(column) for column in table])
        answers += rows(name, study.answers)
    files["answers"] = (pd.DataFrame(answers, columns=list(COLUMNS)), COLUMNS)
    write(plan.config.exact_studies(paper), files)


def check_tables(plan: Plan, paper: str, name: str, study: ExactStudy) -> None:
    """Raise unless a study returns a table for each artifact that names it."""
    artifacts = plan.config.studied(paper)
    declared = {artifact for artifact in artifacts if artifacts[artifact].study == name}
    if declared != set(study.tables):
        raise HypersphereError(
            f"{plan.config.study_code(paper, name).file}: returns the tables {', '.join(sorted(study.tables))}, and "
            f"{plan.config.paper_file(paper)} asks this study for {', '.join(sorted(declared))}"
        )


def rows(study: str, answers: Iterable[ExactNumber]) -> list[dict[str, Any]]:
    """A row for each number of the answers, in ten digits. Infinity stays, unlike in other tables: it means "never"."""
    listed = []
    for answer in answers:
        for arm, values in answer.arms.items():
            for place, value in enumerate(values):
                if math.isnan(value):
                    raise ValueError(f"study {study}: the answer to {answer.id} is not a number")
                number = f"{value + 0.0:.10g}"
                row: dict[str, Any] = {
                    "study": study,
                    "id": answer.id,
                    "reading": answer.reading,
                    "arm": arm,
                }
                row |= {"place": place, "value": number}
                listed.append(row)
    return listed
