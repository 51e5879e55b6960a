"""Studies: how they expand into runs, how a selection enters them, and what is refused."""

import copy
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
from hypersphere.config.study import Study, Tried

from ...fixtures import Approve, Planned, Project, Refused

RATE = "optimiser.learning_rate.times"
OF_LOSS, OF_LOGITS = "objective.temperature", "logits.temperature"
CATS = {"method": "simclr", "dataset": "cats"}
COMMON = {"margin": 1.0, "hours": 1, "answers": {"yes": "a", "no": "b", "unclear": "c"}, "scale": "small"}
PLAIN: dict[str, Any] = COMMON | {
    "question": "Is it so?",
    "title": "A study",
    "arms": [CATS | {"variant": ["baseline", "cut", "hot", "again"]}],
    "measure": "knn_top1",
    "checks": [{"measure": ["knn_top1", "knn_top5"]}],
    "seeds": {"confirmation": [0, 1], "again": [10, 11]},
}
STUDY: dict[str, Any] = PLAIN | {
    "arms": [CATS | {"variant": ["baseline", "cut", "again"]}],
    "tuned": {RATE: [0.1, 1, 10]},
    "curves": [{"measure": "norm", "by": "norms", "split": "test"}],
    "seeds": {"tuning": [100, 101], "confirmation": [0, 1, 2], "again": [10, 11, 12]},
}


def line(arm: str, value: dict[str, Any], chosen: str = "", runs: int = 2) -> str:
    """Of a selection."""
    return f"method=simclr;variant={arm};dataset=cats,{text(value)},50,1,{runs},0,{chosen}"


CURVE = [
    line(arm, {RATE: rate}, "yes" if rate == best else "")
    for arm, best in (("baseline", 1), ("cut", 0.1))
    for rate in (0.1, 1, 10)
]


@pytest.fixture
def root(project: Project) -> Project:
    """A project with the study ``s``, its selection if lines of one are given, and changes of its paper."""

    def make(study: dict[str, Any], selection: list[str] | None = None, **changes: Any) -> Path:
        others = {"variants.again": {}, "variants.margins": WITH_LOGITS}
        made = project(paper={"studies": {"s": copy.deepcopy(study)}, **others, **changes})
        if selection is not None:
            files.write_text(made / "config/selected/p/s.csv", "\n".join([",".join(Tried._fields), *selection]) + "\n")
        return made

    return make


@pytest.fixture
def designed(root: Project) -> Planned:
    """Its plan."""
    return lambda *arguments, **changes: planning.make(root(*arguments, **changes))


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
    keys = ("method", "variant", "dataset", "target", "measure")
    return [tuple(".".join(str(cell[key]) for key in keys if key in cell) for cell in pair) for pair in pairs]


def rates(plan: Plan, artifact: str) -> dict[tuple[str, int], float]:
    return {(variant, run.seed): run.optimiser.learning_rate for variant, run in measured(plan, artifact)}


def test_tuning_runs_every_arm_at_every_rate_on_the_tuning_seeds(designed: Planned, approve: Approve) -> None:
    """A group may have a grid of its own. Nothing is confirmed before it is selected."""
    group = {"method": "simsiam", "dataset": "dogs", "variant": ["baseline", "again"], RATE: [1, 10]}
    plan = designed(STUDY | {"arms": [*STUDY["arms"], group]})
    found = [(run.method.name, v, run.optimiser.learning_rate, run.seed) for v, run in measured(plan, "s_tuning")]
    grids = {("simclr", "baseline"): (0.04, 0.4, 4.0), ("simclr", "cut"): (0.04, 0.4, 4.0)}
    grids["simsiam", "baseline"] = (0.4, 4.0)
    assert sorted(found) == [(*arm, rate, seed) for arm, some in grids.items() for rate in some for seed in (100, 101)]
    assert {cell.measure for cell in plan.artifacts["p", "s_curves"]} == {"norm"}
    (reason,) = set(plan.missing("p", "s").values())
    approve(reason)
    assert ("p", "s") not in plan.made
    assert ("p", "s_printed") in plan.made


def test_each_arm_is_confirmed_at_its_own_best_rate_and_the_baseline_again_at_its(designed: Planned) -> None:
    plan = designed(STUDY, CURVE)
    seeds = {"baseline": [0, 1, 2], "cut": [0, 1, 2], "again": [10, 11, 12]}
    best = {"baseline": 0.4, "cut": 0.04, "again": 0.4}
    assert rates(plan, "s") == {(variant, seed): best[variant] for variant in seeds for seed in seeds[variant]}
    assert rates(plan, "s_checks") == rates(plan, "s")
    assert set(rates(plan, "s_printed").values()) == {0.4}
    main = "simclr.{}.cats.knn_top1"
    assert compared(plan, "s") == [(main.format(arm), main.format("baseline")) for arm in ("cut", "again")]


def test_a_record_names_the_plan_of_confirmation_runs_alone(designed: Planned) -> None:
    plan = designed(STUDY, CURVE)
    digest = plan.config.papers["p"].studies["s"].digest
    said = {run.seed: plan.plans_of(run) for run in plan.runs.values() if run.tag == "cut3"}
    assert said == dict.fromkeys((0, 1, 2), f"p/s={digest}") | dict.fromkeys((100, 101), "")


def test_the_digest_covers_every_field_but_what_is_left_out() -> None:
    """As with names of runs: fields that come later have a default that means "as before"."""
    other = {
        "question": "Another?",
        "margin": 2.0,
        "hours": 2,
        "seeds": {**STUDY["seeds"], "confirmation": [0, 1]},
        "tuned": {RATE: [0.1, 1]},
        "test": "paired",
        "answers": {"yes": "a", "no": "b", "unclear": "d"},
    }
    found = [Study.model_validate(STUDY | {field: value}).digest for field, value in other.items()]
    assert len({*found, Study.model_validate(STUDY).digest}) == len(other) + 1
    spelt = PLAIN | {"further": [], "also": [], "at": [], "tuned": {}, "test": "welch", "by": None}
    assert Study.model_validate(spelt).digest == Study.model_validate(PLAIN).digest


def test_a_borrowed_method_is_the_run_of_its_document(root: Project) -> None:
    made = root(STUDY)
    table = {"draw": "table", "title": "t", "rows": {"method.variant": ["simclr.cut"]}, "columns": {"dataset": "cats"}}
    ours = {"paper": "ours", "title": "Ours", "borrows": {"simclr": "p"}, "artifacts": {"a": table}}
    ours["evaluations"] = {"knn": {"probe": {"name": "knn", "k": 200}}}
    table["measure"] = "knn_top1"
    files.write_text(made / "config" / "papers" / "ours" / "paper.yaml", yaml.safe_dump(ours))
    plan = planning.make(made)
    assert set(plan.runs_of("ours", "a")) <= set(plan.runs_of("p", "table"))


WRONG: dict[str, list[str]] = {
    "an arm that the study has not": [CURVE[0].replace("baseline", "warm")],
    "a value off the grid": [CURVE[0].replace("times=0.1", "times=0.3")],
    "two choices": [CURVE[1], CURVE[2] + "yes"],
    "no choice": CURVE[:1] + CURVE[2:3],
    "no tuning run behind it": [CURVE[1].replace(",2,0,", ",0,0,")],
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_selection_is_refused_with_its_line(designed: Planned, refused: Refused, case: str) -> None:
    with refused():
        designed(STUDY, WRONG[case])


def test_a_selection_has_its_columns_and_the_fields_of_its_arm(root: Project, refused: Refused) -> None:
    with refused():
        planning.make(root(TUNED, [*SELECTED[:2], line("margins", {RATE: 1, OF_LOSS: 0.2}, "yes")]))
    files.write_text(root(STUDY) / "config/selected/p/s.csv", "a,b\n")
    with refused():
        planning.make(root(STUDY))


TUNED = STUDY | {
    "arms": [
        [
            CATS | {"variant": ["baseline", "again", "cut"], OF_LOSS: [0.2, 0.5]},
            CATS | {"variant": "margins", OF_LOGITS: [0.1, 0.3]},
        ]
    ],
    "tuned": {RATE: [0.1, 1], OF_LOSS: [], OF_LOGITS: []},
    "seeds": {"tuning": [100], "confirmation": [0, 1], "again": [10, 11]},
}
SELECTED = [
    line("baseline", {RATE: 1, OF_LOSS: 0.2}, "yes", 1),
    line("cut", {RATE: 0.1, OF_LOSS: 0.5}, "yes", 1),
    line("margins", {RATE: 1, OF_LOGITS: 0.3}, "yes", 1),
]
WITH_LOGITS = {
    "objective": {"name": "generalised_info_nce", "negatives": "both_views"},
    "logits": {"name": "margin_logits", "temperature": 0.25, "subtractive": 0.1},
}


def test_further_arms_are_in_the_checks_and_not_in_the_primary_comparison(designed: Planned) -> None:
    """Other comparisons of arms are in both. A group may begin with an arm of the study, which is listed once."""
    group = {"method": "simsiam", "dataset": "dogs", "variant": ["baseline", "cut"]}
    also = [{"of": {"variant": "cut"}, "against": {"variant": "hot"}}]
    plan = designed(PLAIN | {"further": [group], "also": also})
    main, hot, base = "simclr.{}.cats.knn_top1", "simclr.hot.cats.knn_top1", "simclr.baseline.cats.knn_top1"
    family = {(main.format(arm), base) for arm in ("cut", "hot", "again")} | {(main.format("cut"), hot)}
    assert sorted(compared(plan, "s")) == sorted(family)
    assert {cell.coordinates["method"] for cell in plan.artifacts["p", "s"]} == {"simclr"}
    further = {tuple(f"simsiam.{arm}.dogs.knn_top{k}" for arm in ("cut", "baseline")) for k in (1, 5)}
    assert set(compared(plan, "s_checks")) > family | further
    plan = designed(PLAIN | {"arms": STUDY["arms"], "further": [CATS | {"variant": ["baseline", "hot"]}]})
    variants = [variant for variant, run in measured(plan, "s_checks") if run.seed in (0, 10)]
    assert variants == [one for one in ("baseline", "cut", "again", "hot") for _ in range(2)]
    assert (hot, base) in compared(plan, "s_checks")
    assert (hot, base) not in compared(plan, "s")


def test_every_place_has_its_comparison(designed: Planned) -> None:
    plan = designed(PLAIN | {"measure": "transfer_top1", "by": "transfer", "at": [{"target": ["dogs", "birds"]}]})
    assert set(compared(plan, "s")) == {
        tuple(f"simclr.{arm}.cats.{target}.transfer_top1" for arm in (variant, "baseline"))
        for variant in ("cut", "hot", "again")
        for target in ("dogs", "birds")
    }


def test_a_group_of_several_products_has_one_baseline(designed: Planned) -> None:
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


def test_arms_may_tune_different_fields(designed: Planned) -> None:
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


def test_each_arm_is_confirmed_at_all_its_selected_values(designed: Planned) -> None:
    plan = designed(TUNED, SELECTED)
    for name in ("s", "s_checks"):
        found = {variant: (temperature(run), run.optimiser.learning_rate) for variant, run in measured(plan, name)}
        assert found == {"baseline": (0.2, 0.4), "again": (0.2, 0.4), "cut": (0.5, 0.04), "margins": (0.3, 0.4)}
    printed = {variant: temperature(run) for variant, run in measured(plan, "s_printed")}
    assert printed == {"baseline": 0.5, "again": 0.5, "cut": 0.5, "margins": 0.25}


EPOCHS: dict[str, Any] = COMMON | {
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
}


def test_each_trained_encoder_is_compared_with_its_own_start(designed: Planned) -> None:
    """Paired by seed: both arms are epochs of one run, so that three seeds on two sets are six runs."""
    plan = designed(EPOCHS)
    artifact = plan.config.papers["p"].measured["s"]
    pairs = [(arm["dataset"], arm["epoch"], start["epoch"]) for arm, start in artifact.comparisons]
    assert (artifact.test, pairs) == ("paired", [("cats", "100%", 0), ("dogs", "100%", 0)])
    cells = plan.artifacts["p", "s"]
    assert {(cell.epoch, cell.run.seed) for cell in cells if cell.run} >= {(0, 0), (100, 0), (0, 2), (100, 2)}
    assert len({cell.run.name for cell in cells if cell.run}) == 6
    assert not any(cell.missing for cell in cells)
    assert not {"s_tuning", "s_printed", "s_curves"} & plan.config.papers["p"].measured.keys()
    checks = [cell for cell in plan.artifacts["p", "s_checks"] if "target" in cell.coordinates]
    assert {(cell.coordinates["dataset"], cell.coordinates["target"], cell.missing) for cell in checks} == {
        *(("cats", "dogs", ""), ("dogs", "cats", "")),
        *((name, name, "left out at this scale") for name in ("cats", "dogs")),
    }
    compared = (
        plan.config.papers["p"].measured["s_checks"].comparisons
    )  # Holm's family: it has no cell that is left out
    assert {(arm["dataset"], arm["target"]) for arm, _ in compared if "target" in arm} == {
        ("cats", "dogs"),
        ("dogs", "cats"),
    }


@pytest.mark.parametrize("direction", ["larger", "smaller"])
def test_each_comparison_of_the_family_is_a_claim_of_ours(designed: Planned, direction: str) -> None:
    """The A/A arm is a control, and nothing is claimed of it."""
    plan = designed(STUDY | ({"direction": direction} if direction == "smaller" else {}))
    (claim,) = (one for one in claims.of(plan.config, "p") if one.origin == "ours")
    assert (claim.id, claim.direction, claim.margin) == ("p.s.simclr.cut.cats-baseline", direction, 1.0)
    cells = {cell.text for cell in plan.artifacts["p", "s"]}
    assert set(claim.cells) <= cells
    assert "not selected yet" in claims.why_not_measured(plan, "p", claim)


def test_each_group_of_arms_is_a_panel_of_its_tuning_curves(designed: Planned) -> None:
    """The methods differ between groups, the variants within them; no cell stands for a variant of the other group."""
    variants = {"simclr": ["baseline", "hot", "again"], "simsiam": ["baseline", "cut", "again"]}
    arms = [{"method": name, "dataset": "cats", "variant": some} for name, some in variants.items()]
    plan = designed(STUDY | {"arms": arms})
    declared = plan.config.papers["p"].measured["s_tuning"]
    assert [panel["method"] for panel in declared.axes["panels"]] == ["simclr", "simsiam"]
    assert [line["variant"] for line in declared.axes["lines"]] == ["baseline", "hot", "cut"]
    made = {(run.method.name, variant) for variant, run in measured(plan, "s_tuning")}
    assert made == {("simclr", "baseline"), ("simclr", "hot"), ("simsiam", "baseline"), ("simsiam", "cut")}
