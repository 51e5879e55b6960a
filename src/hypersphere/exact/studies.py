"""Run a paper's exact studies and write results/exact/simulations/<paper>/: the same numbers at every scale."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from hypersphere.config import claims, paper_code
from hypersphere.config.claims import Claim
from hypersphere.config.project import Config
from hypersphere.config.validation import not_one_of
from hypersphere.errors import HypersphereError
from hypersphere.exact.study import COLUMNS, Context, ExactNumber, ExactStudy
from hypersphere.provenance.tables import write
from hypersphere.training.determinism import make_deterministic


def build(config: Config, paper: str) -> None:
    """Write a table for each artifact of an exact study, answers.csv (columns: docs/results.md) and a manifest."""
    make_deterministic(1)
    context, listed = Context(config, paper), claims.of(config, paper)
    files: dict[str, tuple[pd.DataFrame, Iterable[str]]] = {}
    answers: list[dict[str, Any]] = []
    for name in config.studies(paper):
        code = config.study_code(paper, name)
        compute = paper_code.load(code.compute, name)
        with paper_code.blaming(code.file, f"study {name} of {paper}"):
            study: ExactStudy = compute(context)
        check_tables(config, paper, name, study)
        check_answers(config, paper, name, study, listed)
        for artifact, table in study.tables.items():
            files[artifact] = (table, [str(column) for column in table])
        answers += rows(name, study.answers)
    files["answers"] = (pd.DataFrame(answers, columns=list(COLUMNS)), COLUMNS)
    write(config.exact_studies(paper), files)


def check_tables(config: Config, paper: str, name: str, study: ExactStudy) -> None:
    """Raise unless a study returns a table for each artifact that names it."""
    artifacts = config.exact_artifacts(paper)
    declared = {artifact for artifact in artifacts if artifacts[artifact].study == name}
    if declared != set(study.tables):
        raise HypersphereError(
            f"{config.study_code(paper, name).file}: returns the tables {', '.join(sorted(study.tables))}, and "
            f"{config.paper_file(paper)} asks this study for {', '.join(sorted(declared))}"
        )


def check_answers(
    config: Config, paper: str, name: str, study: ExactStudy, listed: Iterable[Claim]
) -> None:
    """Raise unless a study answers the claims about the artifacts that name it, and these alone."""
    file = config.claims_file(paper)
    artifacts = {
        artifact
        for artifact, declared in config.exact_artifacts(paper).items()
        if declared.study == name
    }
    asked = [claim for claim in listed if claim.artifact in artifacts and claim.kind != "theorem"]
    known, code = [claim.id for claim in asked], config.study_code(paper, name).file
    for answer in study.answers:
        if answer.id not in known:
            raise HypersphereError(
                f"{code}: answers {answer.id}, but {file}: {not_one_of(answer.id, known)}"
            )
    answered = {(answer.id, answer.reading) for answer in study.answers}
    for claim in asked:
        if (claim.id, claim.reading) not in answered:
            raise HypersphereError(
                f"{code}: does not answer {claim.id} in the reading '{claim.reading}', which {file} lists"
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
