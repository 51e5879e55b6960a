"""What a study is named by, borrows and claims; plans.yaml shows how studies expand, mistakes.yaml what is refused."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from hypersphere import files
from hypersphere.config import claims
from hypersphere.config import plan as planning
from hypersphere.config.cells import confirms
from hypersphere.config.study import Answers, Study
from hypersphere.errors import HypersphereError

from ...fixtures import Planned, Project

PARTS: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("plans.yaml").read_text(encoding="utf-8")
)["parts"]
PLAIN, STUDY = PARTS["plain"], PARTS["study"]


def test_a_field_that_is_left_out_is_in_no_digest() -> None:
    """As with names of runs: fields that come later have a default that means "as before".

    golden/test_study_plans.py changes every field of every released study.
    """
    other = {
        "question": "Another?",
        "margin": 2.0,
        "hours": 2,
        "seeds": {**STUDY["seeds"], "confirmation": [0, 1]},
        "tuned": {"optimiser.learning_rate.times": [0.1, 1, 10, 100]},
        "test": "paired",
        "answers": {"yes": "a", "no": "b", "unclear": "d"},
    }
    found = [Study.model_validate(STUDY | {field: value}).digest for field, value in other.items()]
    assert len({*found, Study.model_validate(STUDY).digest}) == len(other) + 1
    spelt = PLAIN | {"further": [], "also": [], "at": [], "tuned": {}, "test": "welch", "by": None}
    assert Study.model_validate(spelt).digest == Study.model_validate(PLAIN).digest


def test_a_record_names_the_plan_of_confirmation_runs_with_its_digest(planned: Planned) -> None:
    plan = planned(paper={"studies": {"s": PLAIN}, "variants.again": {}})
    found = {named for cell in plan.artifacts["p", "s"] for named in confirms(cell, plan.config)}
    assert found == {f"p/s={plan.config.decides['p', 's'].digest}"}


CLOSED = PLAIN | {"closed": "It cannot answer."}


@pytest.mark.parametrize(
    ("study", "only", "chosen"),
    [
        (PLAIN, [], ["s", "s_checks"]),
        (CLOSED, [], []),
        (CLOSED, ["p"], []),
        (CLOSED, ["p/s_checks"], ["s_checks"]),
    ],
)
def test_a_closed_study_is_made_only_where_its_artifact_is_named(
    project: Project, study: dict[str, Any], only: list[str], chosen: list[str]
) -> None:
    """So no pending list has its runs. What a run is can still be asked, and what is recorded is always shown."""
    root = project(
        paper={"studies": {"s": study}, "variants.again": {}, "artifacts.table": "(removed)"}
    )
    plan = planning.make(root, {"only": only})
    assert [name for _, name in plan.chosen_artifacts] == chosen
    assert [name for _, name in plan.made_artifacts] == ["s", "s_checks"]
    assert planning.make(root, {"only": only, "evidence_only": True}).config.asks_for(
        "p", "s_checks"
    )


def test_a_borrowed_method_is_the_run_of_its_document(project: Project) -> None:
    made, cell = (
        project(),
        {"rows": {"method.variant": ["simclr.cut"]}, "columns": {"dataset": "cats"}},
    )
    table = {"draw": "table", "title": "t", "measure": "knn_top1", **cell}
    ours = {"paper": "ours", "title": "Ours", "borrows": {"simclr": "p"}, "artifacts": {"a": table}}
    ours["evaluations"] = {"knn": {"probe": {"name": "knn", "k": 200}}}
    files.write_text(made / "papers" / "ours" / "paper.yaml", yaml.safe_dump(ours))
    plan = planning.make(made)
    assert set(plan.runs_of("ours", "a")) <= set(plan.runs_of("p", "table"))


BORROWING: dict[str, dict[str, Any]] = {
    "no path into a run": {
        "arms": [{"method": "simclr", "dataset": "cats", "variant": ["cut", "again"], "x.y": 1}]
    },
    "no number to multiply": {"tuned": {"objective.name.times": [0.1, 1]}},
    "no variant of the lender": {
        "arms": [{"method": "simclr", "dataset": "cats", "variant": ["cut9", "again"]}]
    },
    "a value that no run has": {"tuned": {"batch.size": [100, 200]}},
    "no scale": {"scale": "smal"},
    "no dataset": {"arms": [{"method": "simclr", "dataset": "cat", "variant": ["cut", "again"]}]},
    "no protocol": {"by": "knnn"},
}


@pytest.mark.parametrize("mistake", BORROWING)
def test_a_mistake_in_a_study_is_its_own_and_not_that_of_the_paper_whose_runs_it_borrows(
    project: Project, mistake: str
) -> None:
    root = project(paper={"variants.again": {}})
    ours = {
        "paper": "ours",
        "title": "Ours",
        "borrows": {"simclr": "p"},
        "studies": {"s": STUDY | BORROWING[mistake]},
    }
    ours["evaluations"] = {"knn": {"probe": {"name": "knn", "k": 200}}}
    files.write_text(root / "papers" / "ours" / "paper.yaml", yaml.safe_dump(ours))
    with pytest.raises(HypersphereError, match=r"^\S+/papers/ours/paper\.yaml: studies\.s\b"):
        planning.make(root)


@pytest.mark.parametrize("direction", ["larger", "smaller"])
def test_each_comparison_of_the_family_is_a_claim_of_ours(planned: Planned, direction: str) -> None:
    """The A/A arm is a control, and nothing is claimed of it."""
    study = STUDY | ({"direction": direction} if direction == "smaller" else {})
    plan = planned(paper={"studies": {"s": study}, "variants.again": {}})
    (claim,) = (one for one in claims.of(plan.config, "p") if one.origin == "ours")
    assert (claim.id, claim.direction, claim.margin) == (
        "p.s.simclr.cut.cats-baseline",
        direction,
        1.0,
    )
    cells = {cell.text for cell in plan.artifacts["p", "s"]}
    assert set(claim.cells) <= cells
    assert "not selected yet" in claims.why_not_measured(plan, "p", claim)


@pytest.mark.parametrize(
    ("bounds", "taken"), [([0, 0], True), ([1, 3], True), ([3, 1], False), ([1, 0], False)]
)
@pytest.mark.parametrize("counted", ["ahead", "beyond", "level", "behind"])
def test_bounds_of_an_answer_are_not_reversed(counted: str, bounds: list[int], taken: bool) -> None:
    given = {"yes": "a", "no": "b", "unclear": "c", "numbers": {"no": {counted: bounds}}}
    if taken:
        assert Answers.model_validate(given).numbers["no"] == {counted: tuple(bounds)}
    else:
        with pytest.raises(
            ValidationError, match=rf"numbers\.no\.{counted}: the least is above the greatest"
        ):
            Answers.model_validate(given)
