"""Studies beyond one product a group: several products, further arms, places, other comparisons, unequal grids."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere.config import plan as planning
from hypersphere.config.coordinates import text
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.config.study import COLUMNS, Study
from hypersphere.errors import HypersphereError

Made = Callable[..., Plan]
RATE, OF_LOSS, OF_LOGITS = "optimiser.learning_rate.times", "objective.temperature", "logits.temperature"
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
ARM = "method=simclr;variant={};dataset=cats"


@pytest.fixture
def studied(project: Callable[..., Path]) -> Made:
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


def test_further_arms_are_in_the_checks_and_not_in_the_primary_comparison(studied: Made) -> None:
    further = [{"method": "simsiam", "dataset": "dogs", "variant": ["baseline", "cut"]}]
    plan = studied(PLAIN | {"further": further})
    main = "simclr.{}.cats.knn_top1"
    family = [(main.format(arm), main.format("baseline")) for arm in ("cut", "hot", "again")]
    assert compared(plan, "s") == family
    assert {cell.coordinates["method"] for cell in plan.artifacts["p", "s"]} == {"simclr"}
    assert set(compared(plan, "s_checks")) > {
        *family,
        ("simsiam.cut.dogs.knn_top1", "simsiam.baseline.dogs.knn_top1"),
        ("simsiam.cut.dogs.knn_top5", "simsiam.baseline.dogs.knn_top5"),
    }


def test_a_further_group_may_begin_with_an_arm_of_the_study_which_is_listed_once(studied: Made) -> None:
    plan = studied(
        PLAIN
        | {"arms": [CATS | {"variant": ["baseline", "cut", "again"]}]}
        | {"further": [CATS | {"variant": ["baseline", "hot"]}]}
    )
    variants = [variant for variant, run in measured(plan, "s_checks") if run.seed in (0, 10)]
    assert variants == [one for one in ("baseline", "cut", "again", "hot") for _ in range(2)]
    assert ("simclr.hot.cats.knn_top1", "simclr.baseline.cats.knn_top1") in compared(plan, "s_checks")
    assert ("simclr.hot.cats.knn_top1", "simclr.baseline.cats.knn_top1") not in compared(plan, "s")


def test_other_comparisons_of_arms_join_the_family(studied: Made) -> None:
    plan = studied(PLAIN | {"also": [{"of": {"variant": "cut"}, "against": {"variant": "hot"}}]})
    assert ("simclr.cut.cats.knn_top1", "simclr.hot.cats.knn_top1") in compared(plan, "s")
    assert len(compared(plan, "s")) == 4


def test_every_place_has_its_comparison(studied: Made) -> None:
    plan = studied(PLAIN | {"measure": "transfer_top1", "by": "transfer", "at": [{"target": ["dogs", "birds"]}]})
    pairs = plan.config.papers["p"].measured["s"].comparisons
    assert {(a["variant"], a["target"], b["target"]) for a, b in pairs} == {
        (variant, target, target) for variant in ("cut", "hot", "again") for target in ("dogs", "birds")
    }


def test_a_group_of_several_products_has_one_baseline(studied: Made) -> None:
    """Sizes of a set against the smallest, and the A/A arm on that alone."""
    group = [
        {"method": "simclr", "variant": "baseline", "dataset": ["cats", "dogs", "birds"]},
        {"method": "simclr", "variant": "again", "dataset": "cats"},
    ]
    plan = studied(PLAIN | {"arms": [group]})
    base = "simclr.baseline.cats.knn_top1"
    others = ["simclr.baseline.dogs.knn_top1", "simclr.baseline.birds.knn_top1", "simclr.again.cats.knn_top1"]
    assert compared(plan, "s") == [(other, base) for other in others]
    assert [run.seed for variant, run in measured(plan, "s") if variant == "again"] == [10, 11]


def test_arms_may_tune_different_fields(studied: Made) -> None:
    plan = studied(TUNED)
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
    return f"{ARM.format(arm)},{value},50,1,1,0,{chosen}"


SELECTED = [
    line("baseline", 1, OF_LOSS, 0.2, "yes"),
    line("cut", 0.1, OF_LOSS, 0.5, "yes"),
    line("margins", 1, OF_LOGITS, 0.3, "yes"),
]


def test_each_arm_is_confirmed_at_all_its_selected_values(studied: Made) -> None:
    plan = studied(TUNED, SELECTED)
    for name in ("s", "s_checks"):
        found = {variant: (temperature(run), run.optimiser.learning_rate) for variant, run in measured(plan, name)}
        assert found == {"baseline": (0.2, 0.4), "again": (0.2, 0.4), "cut": (0.5, 0.04), "margins": (0.3, 0.4)}
    printed = {variant: temperature(run) for variant, run in measured(plan, "s_printed")}
    assert printed == {"baseline": 0.5, "again": 0.5, "cut": 0.5, "margins": 0.25}


def test_a_selection_has_the_fields_of_its_arm(studied: Made) -> None:
    with pytest.raises(HypersphereError, match=r"line 4: value: '.*' is not in the grid of this arm"):
        studied(TUNED, [*SELECTED[:2], line("margins", 1, OF_LOSS, 0.2, "yes")])


def test_a_field_that_a_plan_leaves_out_does_not_change_its_digest() -> None:
    """As with names of runs: fields that come later have a default that means "as before"."""
    spelt = PLAIN | {"further": [], "also": [], "at": [], "tuned": {}, "test": "welch", "by": None}
    assert Study.model_validate(spelt).digest == Study.model_validate(PLAIN).digest
    assert Study.model_validate(PLAIN | {"hours": 2}).digest != Study.model_validate(PLAIN).digest


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no grid of the first tuned field": (TUNED | {"tuned": {RATE: [], OF_LOSS: []}}, "every arm needs a grid"),
    "tuned without seeds": (TUNED | {"seeds": PLAIN["seeds"]}, "seeds.tuning: seeds and a tuned field belong together"),
    "seeds without tuning": (
        PLAIN | {"seeds": TUNED["seeds"]},
        "seeds.tuning: seeds and a tuned field belong together",
    ),
    "several places to choose by": (TUNED | {"at": [{"split": ["train", "test"]}]}, "at: a study that tunes has one"),
    "further arms that nothing measures": (
        PLAIN | {"checks": [], "further": [CATS | {"variant": ["baseline", "hot"]}]},
        "checks: further arms are measured by these alone",
    ),
    "a further arm alone": (PLAIN | {"further": [CATS | {"variant": "hot"}]}, "further.0: needs a baseline"),
    "a comparison of no arms": (
        PLAIN | {"also": [{"of": {"variant": "cut"}, "against": {"variant": "warm"}}]},
        "no two cells differ so",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(studied: Made, case: str) -> None:
    study, sentence = REFUSED[case]
    with pytest.raises(HypersphereError) as caught:
        studied(study)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
