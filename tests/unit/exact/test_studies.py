"""What `hypersphere simulate` writes: a table for each artifact, answers and checksums, the same at every scale."""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.errors import DamagedError
from hypersphere.exact import studies
from hypersphere.exact.study import COLUMNS, counted, effect, exactly, over_seeds
from hypersphere.provenance.manifest import check_tidy
from hypersphere.report.results import Results

PAPER = "embedding_norms"


def made(root: Path, **overrides: object) -> Plan:
    plan = planning.make(root, overrides)
    studies.build(plan.config, PAPER)
    return plan


def test_a_table_for_each_artifact_answers_and_a_manifest_with_the_same_bytes_at_every_scale(
    project_root: Path,
) -> None:
    folder, found = project_root / "results" / "exact" / "simulations" / PAPER, []
    for chosen in ({}, {"epochs": 3}, {"scale": "paper"}):
        artifacts = made(project_root, **chosen).config.exact_artifacts(PAPER)
        found.append({path.name: path.read_bytes() for path in folder.iterdir()})
        answers = pd.read_csv(folder / "answers.csv")
        shutil.rmtree(folder)
    assert found == [found[0]] * 3
    assert set(found[0]) == {*(f"{name}.csv" for name in artifacts), "answers.csv", "manifest.json"}
    assert list(answers) == list(COLUMNS)
    assert set(answers["study"]) == {declared.study for declared in artifacts.values()}


def test_a_study_returns_the_tables_that_artifacts_ask_for(
    project_root: Path, refused: Any
) -> None:
    first, *_ = planning.make(project_root).config.exact_artifacts(PAPER)
    file = project_root / "papers" / PAPER / "paper.yaml"
    paper = yaml.safe_load(file.read_text())
    del paper["report"]  # which names a figure of the study
    artifacts = dict(paper["artifacts"])
    del artifacts[first]
    extra = {"extra": {"draw": "study_table", "title": "t", "study": "cosine_field"}}
    for wrong in (paper["artifacts"] | extra, artifacts):
        file.write_text(yaml.safe_dump(paper | {"artifacts": wrong}))
        with refused(f"papers/{PAPER}/studies/cosine_field/compute.py"):
            made(project_root)


def test_a_claim_about_a_study_that_it_does_not_answer_is_named(
    project_root: Path, refused: Any
) -> None:
    """And so is an answer to no claim; both with the study's file and the one that lists claims."""
    file = project_root / "papers" / PAPER / "claims.csv"
    listed = file.read_text()
    one = next(line for line in listed.splitlines() if ",fig6," in line)
    name = one.partition(",")[0]
    for wrong in (
        listed + one.replace(name, f"{name}.too", 1) + "\n",
        listed.replace(one, one.replace(name, "norms.x", 1)),
    ):
        file.write_text(wrong)
        with refused(f"papers/{PAPER}/studies/cosine_field/compute.py"):
            made(project_root)


def test_answers_say_what_their_numbers_are(refused: Any) -> None:
    rows = studies.rows(
        "s",
        [
            over_seeds("a", [3, float("inf")]),
            effect("b", [1.5], [0.5, 2]),
            counted("c", 3, 4, "N1"),
        ],
    )
    assert [tuple(row.values()) for row in rows] == [
        ("s", "a", "as printed", "seeds", 0, "3"),
        ("s", "a", "as printed", "seeds", 1, "inf"),
        ("s", "b", "as printed", "variant", 0, "1.5"),
        ("s", "b", "as printed", "baseline", 0, "0.5"),
        ("s", "b", "as printed", "baseline", 1, "2"),
        ("s", "c", "N1", "held", 0, "3"),
        ("s", "c", "N1", "places", 0, "4"),
    ]
    with refused("study s", kind=ValueError):
        studies.rows("s", [exactly("a", float("nan"))])


def test_an_altered_table_is_refused_and_made_again_by_the_next_run(
    project_root: Path, refused: Any
) -> None:
    plan = made(project_root)
    name = next(iter(plan.config.exact_artifacts(PAPER)))
    shutil.copytree(plan.config.exact_studies(PAPER), plan.config.results / "simulations" / PAPER)
    path = plan.config.results / "simulations" / PAPER / f"{name}.csv"
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    results = Results(plan)
    with refused("results/quick/simulations/embedding_norms/fig1.csv", kind=DamagedError):
        results.checked_file(results.table(PAPER, name))
    with refused("results/quick/simulations/embedding_norms/fig1.csv", kind=DamagedError):
        check_tidy(plan.config.results, f"simulations/{PAPER}/{name}.csv")
