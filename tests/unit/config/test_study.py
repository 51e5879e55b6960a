"""Studies: how they expand into runs, how a selection enters them, and what is refused."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.config.study import COLUMNS, Study
from hypersphere.errors import HypersphereError

RATE = "optimiser.learning_rate.times"
STUDY: dict[str, Any] = {
    "question": "Is a cut a step size?",
    "title": "Best against best",
    "arms": [{"method": "simclr", "dataset": "cats", "variant": ["baseline", "cut", "again"]}],
    "tuned": {RATE: [0.1, 1, 10]},
    "measure": "knn_top1",
    "checks": [{"measure": "knn_top5"}],
    "curves": [{"measure": "norm", "by": "norms", "split": "test"}],
    "seeds": {"tuning": [100, 101], "confirmation": [0, 1, 2], "again": [10, 11, 12]},
    "margin": 1.0,
    "hours": 1,
    "answers": {"yes": "a", "no": "b", "unclear": "c"},
    "scale": "small",
}
ARM = "method=simclr;variant={};dataset=cats"
CURVE = [
    *[
        f"{ARM.format('baseline')},{RATE}={value},50,1,2,0,{chosen}"
        for value, chosen in ((0.1, ""), (1, "yes"), (10, ""))
    ],
    *[f"{ARM.format('cut')},{RATE}={value},50,1,2,0,{chosen}" for value, chosen in ((0.1, "yes"), (1, ""), (10, ""))],
]

Make = Callable[..., Path]


@pytest.fixture
def studied(project: Make) -> Callable[..., Path]:
    """A project with the study ``s``, some of its fields changed, and its selection, if lines of one are given."""

    def make(selection: list[str] | None = None, other: dict[str, Any] | None = None, **changes: Any) -> Path:
        study = copy.deepcopy(STUDY) | changes
        root = project(paper={"studies": {"s": study}, "variants.again": {}, **(other or {})})
        if selection is not None:
            file = root / "config" / "selected" / "p" / "s.csv"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join([",".join(COLUMNS), *selection]) + "\n")
        return root

    return make


def _rates(plan: Plan, artifact: str) -> dict[tuple[str, int], float]:
    """The learning rate of each run of an artifact, by variant and seed."""
    cells = [cell for cell in plan.artifacts["p", artifact] if cell.run is not None]
    return {(str(c.coordinates["variant"]), c.run.seed): c.run.optimiser.learning_rate for c in cells if c.run}


def test_tuning_runs_every_arm_at_every_rate_on_the_tuning_seeds(studied: Callable[..., Path]) -> None:
    plan = planning.make(studied())
    runs = [cell.run for cell in plan.artifacts["p", "s_tuning"] if cell.run is not None]
    found = sorted((run.tag, run.optimiser.learning_rate, run.seed) for run in runs)
    assert found == [
        (tag, rate, seed) for tag in ("cut3", "default") for rate in (0.04, 0.4, 4.0) for seed in (100, 101)
    ]
    assert {cell.measure for cell in plan.artifacts["p", "s_curves"]} == {"norm"}


def test_a_multiple_is_the_run_of_the_absolute_rate(studied: Callable[..., Path]) -> None:
    absolute = {"draw": "table", "title": "t", "rows": {"optimiser.learning_rate": [0.04, 0.4, 4.0]}}
    absolute |= {"columns": {"variant": ["baseline"]}, "fixed": {"method": "simclr", "dataset": "cats"}}
    root = studied(other={"artifacts.absolute": absolute | {"measure": "knn_top1", "seeds": [100, 101]}})
    plan = planning.make(root)
    tuned = {name for name, run in plan.runs_of("p", "s_tuning").items() if run.tag == "default"}
    assert tuned == set(plan.runs_of("p", "absolute"))


def test_nothing_is_confirmed_before_it_is_selected(studied: Callable[..., Path]) -> None:
    plan = planning.make(studied())
    reasons = set(plan.missing("p", "s").values())
    assert reasons == {"not selected yet: `hypersphere select p/s` chooses its values"}
    assert ("p", "s") not in plan.made
    assert ("p", "s_printed") in plan.made


def test_each_arm_is_confirmed_at_its_own_best_rate_and_the_baseline_again_at_its(studied: Callable[..., Path]) -> None:
    plan = planning.make(studied(CURVE))
    seeds = {"baseline": [0, 1, 2], "cut": [0, 1, 2], "again": [10, 11, 12]}
    rates = {"baseline": 0.4, "cut": 0.04, "again": 0.4}
    assert _rates(plan, "s") == {(variant, seed): rates[variant] for variant in seeds for seed in seeds[variant]}
    assert _rates(plan, "s_checks") == _rates(plan, "s")
    assert set(_rates(plan, "s_printed").values()) == {0.4}
    compared = plan.config.papers["p"].measured["s"].comparisons
    assert [(a["variant"], b["variant"]) for a, b in compared] == [("cut", "baseline"), ("again", "baseline")]


def test_a_record_names_the_plan_of_confirmation_runs_alone(studied: Callable[..., Path]) -> None:
    plan = planning.make(studied(CURVE))
    digest = plan.config.papers["p"].studies["s"].digest
    said = {run.seed: plan.plans_of(run) for run in plan.runs.values() if run.tag == "cut3"}
    assert {seed: said[seed] for seed in (0, 1, 2)} == dict.fromkeys((0, 1, 2), f"p/s={digest}")
    assert said[100] == ""


@pytest.mark.parametrize("field", ["question", "margin", "seeds", "tuned", "test", "answers"])
def test_the_digest_covers_every_field(field: str) -> None:
    other = {
        "question": "Another?",
        "margin": 2.0,
        "seeds": {**STUDY["seeds"], "confirmation": [0, 1]},
        "tuned": {RATE: [0.1, 1]},
        "test": "paired",
        "answers": {"yes": "a", "no": "b", "unclear": "d"},
    }
    assert Study.model_validate(STUDY | {field: other[field]}).digest != Study.model_validate(STUDY).digest


def test_a_group_may_have_a_grid_of_its_own(studied: Callable[..., Path]) -> None:
    group = {"method": "simsiam", "dataset": "dogs", "variant": ["baseline", "again"], RATE: [1, 10]}
    plan = planning.make(studied(arms=[*STUDY["arms"], group]))
    rates = {
        cell.run.optimiser.learning_rate
        for cell in plan.cells
        if cell.run and not cell.missing and cell.run.method.name == "simsiam" and cell.run.seed >= 100
    }
    assert rates == {0.4, 4.0}


def test_a_borrowed_method_is_the_run_of_its_document(studied: Callable[..., Path]) -> None:
    root = studied()
    ours = {
        "paper": "ours",
        "title": "Ours",
        "borrows": {"simclr": "p"},
        "evaluations": {"knn": {"probe": {"name": "knn", "k": 200}}},
    }
    ours["artifacts"] = {
        "a": {
            "draw": "table",
            "title": "t",
            "rows": {"method.variant": ["simclr.cut"]},
            "columns": {"dataset": "cats"},
            "measure": "knn_top1",
        }
    }
    (root / "config" / "papers" / "ours.yaml").write_text(yaml.safe_dump(ours))
    plan = planning.make(root)
    assert set(plan.runs_of("ours", "a")) <= set(plan.runs_of("p", "table"))


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no primary measure": ({"measure": None}, "papers/p.yaml: studies.s.measure"),
    "a measure without direction": ({"measure": "norm"}, "norm has no better direction"),
    "no A/A arm": (
        {"arms": [{"method": "simclr", "dataset": "cats", "variant": ["baseline", "cut"]}]},
        "arms.0.variant: lists no 'again'",
    ),
    "a baseline alone": (
        {"arms": [{"method": "simclr", "dataset": "cats", "variant": "baseline"}]},
        "arms.0: needs a baseline and at least one arm",
    ),
    "a grid that falls": ({"tuned": {RATE: [1, 0.1]}}, "must list two values or more, rising"),
    "a shared seed": (
        {"seeds": {"tuning": [0], "confirmation": [0, 1], "again": [2]}},
        "tuning, confirmation and again must have no seed in common",
    ),
    "a field that is no number": ({"tuned": {"method.name.times": [0.1, 1]}}, "method.name is no number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(studied: Callable[..., Path], case: str) -> None:
    changes, sentence = REFUSED[case]
    root = studied(**changes)
    with pytest.raises(HypersphereError) as caught:
        planning.make(root)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


WRONG: dict[str, tuple[list[str], str]] = {
    "an arm that the study has not": ([CURVE[0].replace("baseline", "warm")], "line 2: arm:"),
    "a value off the grid": ([CURVE[0].replace("times=0.1", "times=0.3")], "line 2: value:"),
    "two choices": ([CURVE[1], CURVE[2] + "yes"], "two chosen values"),
    "no choice": (CURVE[:3], "has no chosen value"),
    "no tuning run behind it": ([CURVE[1].replace(",2,0,", ",0,0,")], "support the chosen value"),
    "another column": (["a,b"], "must have the columns"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_selection_is_refused_with_its_line(studied: Callable[..., Path], case: str) -> None:
    lines, sentence = WRONG[case]
    root = studied(lines)
    with pytest.raises(HypersphereError) as caught:
        planning.make(root)
    assert "config/selected/p/s.csv" in str(caught.value)
    assert sentence in str(caught.value)
