"""Studies: how they expand into runs, how a selection enters them, and what is refused."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere import files
from hypersphere.config import claims
from hypersphere.config import plan as planning
from hypersphere.config.coordinates import text
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
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
    files.write_text(root / "config" / "papers" / "ours" / "paper.yaml", yaml.safe_dump(ours))
    plan = planning.make(root)
    assert set(plan.runs_of("ours", "a")) <= set(plan.runs_of("p", "table"))


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


Made = Callable[..., Plan]
OF_LOSS, OF_LOGITS = "objective.temperature", "logits.temperature"
CATS = {"method": "simclr", "dataset": "cats"}
PLAIN: dict[str, Any] = {
    "question": "Is it so?",
    "title": "A study",
    "arms": [CATS | {"variant": ["baseline", "cut", "hot", "again"]}],
    "measure": "knn_top1",
    "checks": [{"measure": ["knn_top1", "knn_top5"]}],
    "seeds": {"confirmation": [0, 1], "again": [10, 11]},
    "margin": 1.0,
    "hours": 1,
    "answers": {"yes": "a", "no": "b", "unclear": "c"},
    "scale": "small",
}
TUNED = PLAIN | {
    "arms": [
        [
            CATS | {"variant": ["baseline", "again", "cut"], OF_LOSS: [0.2, 0.5]},
            CATS | {"variant": "margins", OF_LOGITS: [0.1, 0.3]},
        ]
    ],
    "tuned": {RATE: [0.1, 1], OF_LOSS: [], OF_LOGITS: []},
    "curves": [{"measure": "norm", "by": "norms", "split": "test"}],
    "seeds": {"tuning": [100], "confirmation": [0, 1], "again": [10, 11]},
}
WITH_LOGITS = {
    "objective": {"name": "generalised_info_nce", "negatives": "both_views"},
    "logits": {"name": "margin_logits", "temperature": 0.25, "subtractive": 0.1},
}
ARM_TEXT = "method=simclr;variant={};dataset=cats"


@pytest.fixture
def designed(project: Callable[..., Path]) -> Made:
    """The plan with the study ``s``, and its selection if lines of one are given."""

    def make(study: dict[str, Any], selection: list[str] | None = None) -> Plan:
        others = {"variants.again": {}, "variants.margins": WITH_LOGITS}
        root = project(paper={"studies": {"s": copy.deepcopy(study)}, **others})
        if selection is not None:
            file = root / "config" / "selected" / "p" / "s.csv"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join([",".join(COLUMNS), *selection]) + "\n")
        return planning.make(root)

    return make


def measured(plan: Plan, artifact: str) -> list[tuple[str, Run]]:
    """The variant and the run of each cell that is made."""
    cells = plan.artifacts["p", artifact]
    return [(str(cell.coordinates["variant"]), cell.run) for cell in cells if cell.run is not None and not cell.missing]


def temperature(run: Run) -> float:
    """Of the logits, or else of the loss."""
    return float((run.logits or run.objective).parameters["temperature"])


def compared(plan: Plan, artifact: str) -> list[tuple[str, ...]]:
    """The pairs that are compared, by what identifies the two cells."""
    pairs = plan.config.papers["p"].measured[artifact].comparisons
    keys = ("method", "variant", "dataset", "measure")
    return [tuple(".".join(str(cell[key]) for key in keys if key in cell) for cell in pair) for pair in pairs]


def test_further_arms_are_in_the_checks_and_not_in_the_primary_comparison(designed: Made) -> None:
    further = [{"method": "simsiam", "dataset": "dogs", "variant": ["baseline", "cut"]}]
    plan = designed(PLAIN | {"further": further})
    main = "simclr.{}.cats.knn_top1"
    family = [(main.format(arm), main.format("baseline")) for arm in ("cut", "hot", "again")]
    assert compared(plan, "s") == family
    assert {cell.coordinates["method"] for cell in plan.artifacts["p", "s"]} == {"simclr"}
    assert set(compared(plan, "s_checks")) > {
        *family,
        ("simsiam.cut.dogs.knn_top1", "simsiam.baseline.dogs.knn_top1"),
        ("simsiam.cut.dogs.knn_top5", "simsiam.baseline.dogs.knn_top5"),
    }


def test_a_further_group_may_begin_with_an_arm_of_the_study_which_is_listed_once(designed: Made) -> None:
    plan = designed(
        PLAIN
        | {"arms": [CATS | {"variant": ["baseline", "cut", "again"]}]}
        | {"further": [CATS | {"variant": ["baseline", "hot"]}]}
    )
    variants = [variant for variant, run in measured(plan, "s_checks") if run.seed in (0, 10)]
    assert variants == [one for one in ("baseline", "cut", "again", "hot") for _ in range(2)]
    assert ("simclr.hot.cats.knn_top1", "simclr.baseline.cats.knn_top1") in compared(plan, "s_checks")
    assert ("simclr.hot.cats.knn_top1", "simclr.baseline.cats.knn_top1") not in compared(plan, "s")


def test_other_comparisons_of_arms_join_the_family(designed: Made) -> None:
    plan = designed(PLAIN | {"also": [{"of": {"variant": "cut"}, "against": {"variant": "hot"}}]})
    assert ("simclr.cut.cats.knn_top1", "simclr.hot.cats.knn_top1") in compared(plan, "s")
    assert len(compared(plan, "s")) == 4


def test_every_place_has_its_comparison(designed: Made) -> None:
    plan = designed(PLAIN | {"measure": "transfer_top1", "by": "transfer", "at": [{"target": ["dogs", "birds"]}]})
    pairs = plan.config.papers["p"].measured["s"].comparisons
    assert {(a["variant"], a["target"], b["target"]) for a, b in pairs} == {
        (variant, target, target) for variant in ("cut", "hot", "again") for target in ("dogs", "birds")
    }


def test_a_group_of_several_products_has_one_baseline(designed: Made) -> None:
    """Sizes of a set against the smallest, and the A/A arm on that alone."""
    group = [
        {"method": "simclr", "variant": "baseline", "dataset": ["cats", "dogs", "birds"]},
        {"method": "simclr", "variant": "again", "dataset": "cats"},
    ]
    plan = designed(PLAIN | {"arms": [group]})
    base = "simclr.baseline.cats.knn_top1"
    others = ["simclr.baseline.dogs.knn_top1", "simclr.baseline.birds.knn_top1", "simclr.again.cats.knn_top1"]
    assert compared(plan, "s") == [(other, base) for other in others]
    assert [run.seed for variant, run in measured(plan, "s") if variant == "again"] == [10, 11]


def test_arms_may_tune_different_fields(designed: Made) -> None:
    plan = designed(TUNED)
    for name in ("s_tuning", "s_curves"):
        made = measured(plan, name)
        places: dict[str, set[Any]] = {variant: set() for variant, _ in made}
        for variant, run in made:
            places[variant].add((temperature(run), run.optimiser.learning_rate, run.seed))
        loss = {(t, rate, 100) for t in (0.2, 0.5) for rate in (0.04, 0.4)}
        logits = {(t, rate, 100) for t in (0.1, 0.3) for rate in (0.04, 0.4)}
        assert places == {"baseline": loss, "cut": loss, "margins": logits}
        assert len(made) == 12


def line(arm: str, rate: float, key: str, t: float, chosen: str = "") -> str:
    value = text({RATE: rate, key: t})
    return f"{ARM_TEXT.format(arm)},{value},50,1,1,0,{chosen}"


SELECTED = [
    line("baseline", 1, OF_LOSS, 0.2, "yes"),
    line("cut", 0.1, OF_LOSS, 0.5, "yes"),
    line("margins", 1, OF_LOGITS, 0.3, "yes"),
]


def test_each_arm_is_confirmed_at_all_its_selected_values(designed: Made) -> None:
    plan = designed(TUNED, SELECTED)
    for name in ("s", "s_checks"):
        found = {variant: (temperature(run), run.optimiser.learning_rate) for variant, run in measured(plan, name)}
        assert found == {"baseline": (0.2, 0.4), "again": (0.2, 0.4), "cut": (0.5, 0.04), "margins": (0.3, 0.4)}
    printed = {variant: temperature(run) for variant, run in measured(plan, "s_printed")}
    assert printed == {"baseline": 0.5, "again": 0.5, "cut": 0.5, "margins": 0.25}


def test_a_selection_has_the_fields_of_its_arm(designed: Made) -> None:
    with pytest.raises(HypersphereError, match=r"line 4: value: '.*' is not in the grid of this arm"):
        designed(TUNED, [*SELECTED[:2], line("margins", 1, OF_LOSS, 0.2, "yes")])


def test_a_field_that_a_plan_leaves_out_does_not_change_its_digest() -> None:
    """As with names of runs: fields that come later have a default that means "as before"."""
    spelt = PLAIN | {"further": [], "also": [], "at": [], "tuned": {}, "test": "welch", "by": None}
    assert Study.model_validate(spelt).digest == Study.model_validate(PLAIN).digest
    assert Study.model_validate(PLAIN | {"hours": 2}).digest != Study.model_validate(PLAIN).digest


EPOCHS: dict[str, Any] = {
    "question": "Does training help?",
    "title": "Trained and untrained",
    "arms": [
        {"method": ["simclr"], "variant": "baseline", "dataset": name, "epoch": [0, "100%"]}
        for name in ("cats", "dogs")
    ],
    "measure": "knn_top1",
    "by": "knn",
    "checks": [{"measure": "norm", "by": "norms", "split": "test", "target": ["cats", "dogs"]}],
    "left_out": [{"dataset": "cats", "target": "cats"}, {"dataset": "dogs", "target": "dogs"}],
    "seeds": {"confirmation": [0, 1, 2]},
    "test": "paired",
    "margin": 1,
    "hours": 1,
    "answers": {"yes": "a", "no": "b", "unclear": "c"},
    "scale": "small",
}


def changed(**changes: Any) -> dict[str, Any]:
    return {"studies.training": copy.deepcopy(EPOCHS) | changes}


def test_each_trained_encoder_is_compared_with_its_own_start(planned: Callable[..., Plan]) -> None:
    """Paired by seed: both arms are epochs of one run, so that three seeds on two sets are six runs."""
    plan = planned(paper=changed())
    artifact = plan.config.papers["p"].measured["training"]
    assert [(a["dataset"], a["epoch"], b["epoch"]) for a, b in artifact.comparisons] == [
        ("cats", "100%", 0),
        ("dogs", "100%", 0),
    ]
    assert artifact.test == "paired"
    cells = plan.artifacts["p", "training"]
    assert {(cell.epoch, cell.run.seed) for cell in cells if cell.run} >= {(0, 0), (100, 0), (0, 2), (100, 2)}
    assert len({cell.run.name for cell in cells if cell.run}) == 6
    assert not any(cell.missing for cell in cells)
    assert not {"training_tuning", "training_printed", "training_curves"} & plan.config.papers["p"].measured.keys()


def test_checks_that_mean_nothing_are_left_out(planned: Callable[..., Plan]) -> None:
    cells = [
        cell for cell in planned(paper=changed()).artifacts["p", "training_checks"] if "target" in cell.coordinates
    ]
    made = {(cell.coordinates["dataset"], cell.coordinates["target"]) for cell in cells if not cell.missing}
    assert made == {("cats", "dogs"), ("dogs", "cats")}
    assert {cell.missing for cell in cells} == {"", "left out at this scale"}


def test_each_comparison_of_the_family_is_a_claim_of_ours(project: Make) -> None:
    """The A/A arm is a control, and nothing is claimed of it."""
    plan = planning.make(project(paper={"studies": {"s": STUDY}, "variants.again": {}}))
    (claim,) = (one for one in claims.of(plan.config, "p") if one.origin == "ours")
    assert (claim.id, claim.direction, claim.margin) == ("p.s.simclr.cut.cats-baseline", "larger", 1.0)
    cells = {cell.text for cell in plan.artifacts["p", "s"]}
    assert set(claim.cells) <= cells
    assert "not selected yet" in claims.why_not_measured(plan, "p", claim)


def test_each_group_of_arms_is_a_panel_of_its_tuning_curves(project: Make) -> None:
    """The methods differ between groups, the variants within them; no cell stands for a variant of the other group."""
    variants = {"simclr": ["baseline", "hot", "again"], "simsiam": ["baseline", "cut", "again"]}
    study = STUDY | {"arms": [{"method": name, "dataset": "cats", "variant": some} for name, some in variants.items()]}
    plan = planning.make(project(paper={"studies": {"s": study}, "variants.again": {}}))
    declared = plan.config.papers["p"].measured["s_tuning"]
    assert [panel["method"] for panel in declared.axes["panels"]] == ["simclr", "simsiam"]
    assert [line["variant"] for line in declared.axes["lines"]] == ["baseline", "hot", "cut"]
    arms = {(cell.run.method.name, cell.coordinates["variant"]) for cell in plan.artifacts["p", "s_tuning"] if cell.run}
    assert arms == {("simclr", "baseline"), ("simclr", "hot"), ("simsiam", "baseline"), ("simsiam", "cut")}
