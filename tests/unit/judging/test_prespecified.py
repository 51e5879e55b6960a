"""A plan decides how runs are judged, and says where they deviate from it."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hypersphere import files
from hypersphere.judging import judged, prespecified
from hypersphere.judging.reading import Runs
from hypersphere.statistics.effects import Moments

from ...fixtures import Refused

PLAN: dict[str, Any] = {"baseline": "base", "arms": ["ours"], "runs": 3, "margin": 1.0}
BASE = {0: 90.1, 1: 90.4, 2: 89.9}
OURS = {0: 92.1, 1: 92.4, 2: 91.9}


def plan(**changed: Any) -> prespecified.Plan:
    return prespecified.Plan.model_validate(PLAN | changed)


def runs(dataset: str = "", **arms: Any) -> Runs:
    table = {dataset: {"base": BASE, "ours": OURS} | arms}
    return Runs(Path("r.csv"), "a table", "acc", table, Counter(), True, {})


def test_runs_as_planned_deviate_nowhere() -> None:
    assert prespecified.deviations(plan(), runs()) == []
    assert prespecified.deviations(plan(seeds=[2, 1, 0]), runs()) == []
    on_a = plan(datasets=["a"], controls=["pixels"])
    assert prespecified.deviations(on_a, runs("a", pixels={0: 1.0})) == []
    lost = runs(ours={0: 92.1, 1: 92.4})._replace(lost=Counter({("", "ours"): 1}))
    assert prespecified.deviations(plan(), lost) == []


DEVIATIONS: dict[str, tuple[dict[str, Any], Runs]] = {
    "other was planned and has no runs.": ({"arms": ["ours", "other"]}, runs()),
    "other has runs and was not planned.": ({}, runs(other=OURS)),
    "ours has 4 runs, and 3 were planned.": ({}, runs(ours=OURS | {3: 92.0})),
    "ours has seeds that were not planned: 7.": (
        {"seeds": [0, 1, 2]},
        runs(ours={0: 92.1, 1: 92.4, 7: 92.0}),
    ),
    "ours has no seeds, and seeds were planned.": (
        {"seeds": [0, 1, 2]},
        runs()._replace(has_seeds=False),
    ),
}


@pytest.mark.parametrize("says", DEVIATIONS)
def test_each_deviation_is_a_sentence(says: str) -> None:
    changed, table = DEVIATIONS[says]
    assert says in prespecified.deviations(plan(**changed), table)


def test_another_dataset_deviates_in_both_ways() -> None:
    found = prespecified.deviations(plan(datasets=["a"]), runs("b"))
    assert found == ["a was planned and has no runs.", "b was not planned."]


def test_a_published_table_has_numbers_of_runs_and_no_seeds() -> None:
    table = runs(base=Moments(3, 90.0, 0.1), ours=Moments(5, 92.0, 0.1))._replace(has_seeds=False)
    assert prespecified.deviations(plan(), table) == ["ours has 5 runs, and 3 were planned."]


@pytest.mark.parametrize(
    ("expected", "answer"), [("better", None), ("worse", "better"), ("no difference", "better")]
)
def test_what_is_expected_and_not_shown_is_a_sentence(expected: str, answer: str | None) -> None:
    planned = plan(expects={"ours": expected})
    by_rules = judged.judge(runs(), planned.question, judged.rules())
    found = prespecified.not_shown(planned, by_rules)
    assert len(found) == (answer is not None)
    assert all(says.endswith(f": {answer}.") for says in found)


def test_a_plan_asks_its_question_and_its_family_counts_datasets() -> None:
    asked = plan(datasets=["a", "b"], arms=["x", "y"], test="paired", better="lower").question
    assert asked == judged.Question("base", (), 1.0, "lower", True, None, 4)


def test_a_plan_has_another_digest_if_anything_that_it_fixes_changes() -> None:
    digests = {plan().digest, plan(margin=2.0).digest, plan(runs=4).digest, plan(arms=["a"]).digest}
    assert len(digests) == 4
    assert plan(test="welch").digest == plan().digest


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"runs": 1}, "runs"),
        ({"arms": []}, "arms"),
        ({"margin": 0.0}, "margin"),
        ({"sedes": [0]}, "sedes"),
        ({"seeds": [0, 1]}, "seeds"),
        ({"seeds": [0, 1, 1]}, "seeds"),
        ({"expects": {"other": "better"}}, "expects"),
        ({"expects": {"ours": "no difference"}, "margin": None}, "expects"),
        ({"test": "anova"}, "test"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(
    changed: dict[str, Any], field: str, tmp_path: Path, refused: Refused
) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(files.as_yaml(PLAN | changed))
    with refused("plan.yaml", field):
        prespecified.load(file)
