"""Run a paper's exact studies and write results/exact/simulations/<paper>/: the same numbers at every scale."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from hypersphere.config import registry
from hypersphere.config.project import Config
from hypersphere.errors import HypersphereError
from hypersphere.provenance.tables import write
from hypersphere.simulations.study import COLUMNS, Answer, Context, Study
from hypersphere.training.determinism import make_deterministic


def build(config: Config, paper: str) -> None:
    """Write a table for each artifact of an exact study, answers.csv (columns: docs/results.md) and a manifest."""
    make_deterministic(1)
    context = Context(config, paper)
    tables: dict[str, tuple[pd.DataFrame, Iterable[str]]] = {}
    answers: list[dict[str, Any]] = []
    for name in config.studies(paper):
        study: Study = registry.load("simulations", name)(context)
        declared = {artifact for artifact, entry in config.studied(paper).items() if entry.study == name}
        if declared != set(study.tables):
            raise HypersphereError(
                f"simulations/{name}/compute.py: returns the tables {', '.join(sorted(study.tables))}, and "
                f"{config.paper_file(paper)} asks this study for {', '.join(sorted(declared))}"
            )
        tables |= {artifact: (table, [str(column) for column in table]) for artifact, table in study.tables.items()}
        answers += rows(name, study.answers)
    table = pd.DataFrame(answers, columns=list(COLUMNS))
    write(config.exact_studies(paper), {**tables, "answers": (table, COLUMNS)})


def rows(study: str, answers: Iterable[Answer]) -> list[dict[str, Any]]:
    """A row for each number of the answers, in ten digits. Infinity stays, unlike in other tables: it means "never"."""
    found = []
    for answer in answers:
        for arm, values in answer.arms.items():
            if any(map(math.isnan, values)):
                raise ValueError(f"study {study}: the answer to {answer.id} is not a number")
            where = {"study": study, "id": answer.id, "reading": answer.reading, "arm": arm}
            found += [where | {"place": place, "value": f"{value + 0.0:.10g}"} for place, value in enumerate(values)]
    return found
