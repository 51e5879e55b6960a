"""What is known of a claim: rungs, certainty, differences from the published run, criteria of replication."""

import itertools
import math
from typing import Any

import pandas as pd
import pytest

from hypersphere.config.rules import GRADES, RUNGS, SHORTCOMINGS, Rung, load_certainty
from hypersphere.config.run import Run
from hypersphere.provenance import columns
from hypersphere.statistics import known

from ...golden.released import ROOT, configured
from .world import Make

RULES = load_certainty(ROOT)
LAPTOP = configured("laptop")


def measured(**changed: Any) -> dict[str, Any]:
    """A comparison that five runs of an arm answer below the published scale."""
    row = {"kind": "comparison", "verdict": "laptop only", "answer": "holds", "reported": "4.6", "n": 5.0}
    return row | {"floored": "", "scale": "laptop"} | changed


@pytest.mark.parametrize("rung", RUNGS)
def test_no_shortcoming_raises_a_grade_and_none_is_above_its_rung(rung: Rung) -> None:
    for size in range(len(SHORTCOMINGS)):
        for chosen in itertools.combinations(SHORTCOMINGS, size):
            grade, _ = RULES.of(rung, chosen)
            assert GRADES.index(grade) >= GRADES.index(RULES.rungs[rung].grade)
            for one in SHORTCOMINGS:
                assert GRADES.index(RULES.of(rung, {*chosen, one})[0]) >= GRADES.index(grade)


@pytest.mark.parametrize(
    ("rung", "changed", "stand_in", "grade"),
    [
        ("laptop", {}, False, "low"),
        ("laptop", {"n": 4.0}, False, "very low"),
        ("laptop", {"answer": "cannot tell"}, False, "very low"),
        ("laptop", {"answer": "direction only"}, False, "low"),
        ("laptop", {}, True, "very low"),
        ("laptop", {"floored": "variant"}, False, "very low"),
        ("laptop", {"kind": "value", "answer": "cannot tell"}, False, "none"),
        ("published", {"verdict": "reproduced"}, False, "high"),
        ("published", {"verdict": "reproduced", "n": 4.0}, False, "moderate"),
        ("published", {"verdict": "inconclusive", "answer": "cannot tell"}, False, "very low"),
    ],
)
def test_grades_at_their_borders(rung: Rung, changed: dict[str, Any], stand_in: bool, grade: str) -> None:
    """The grades of DESIGN: high from five runs at the published setting, low from five on the named images."""
    row = measured(**changed)
    assert RULES.of(rung, known.shortcomings(row, stand_in, RULES.enough_runs))[0] == grade


@pytest.mark.parametrize(("first", "second"), list(itertools.product(RUNGS, repeat=2)))
def test_the_best_rung_counts_and_on_it_the_most_runs(first: Rung, second: Rung) -> None:
    best = known.climbed([measured(rung=first, n=2.0), measured(rung=second, n=7.0)])[0]
    higher = min(first, second, key=list(RUNGS).index)
    assert (best["rung"], best["n"]) == (higher, 7.0 if higher == second else 2.0)


@pytest.mark.parametrize(
    ("dataset", "on", "stands_in"),
    [
        ("cifar10_lt", "cifar10_lt_5k_10k_16px", False),
        ("cifar100", "cifar100_5k_10k_16px", False),
        ("colored_mnist_1", "colored_mnist_1_5k_10k_14px", False),
        ("bookcorpus", "novels", True),
        ("stl10", "cifar20_15k", True),
        ("flowers102_lt", "cifar20_lt_5k_10k_16px", True),
        ("cifar10", "digits", True),
        ("cifar10", "no_longer_listed", True),
    ],
)
def test_a_part_of_the_named_set_is_no_stand_in(dataset: str, on: str, stands_in: bool) -> None:
    assert known.stands_in(LAPTOP, {"dataset": dataset, "measured_on": on}) == stands_in


def test_a_run_that_is_the_published_one_differs_in_nothing(make_world: Make) -> None:
    """SimCLR on imbalanced CIFAR-10 (norms paper, App. C.1): 14,736 images of 32 px in batches of 256, 500 epochs."""
    run = next(iter(make_world(seeds=[0]).plan.runs.values()))

    def changed(dataset: str, batch: int, epochs: int) -> Run:
        batches, schedule = run.batch.model_copy(update={"size": batch}), {"epochs": epochs}
        trained = {"batch": batches, "schedule": run.schedule.model_copy(update=schedule)}
        return run.model_copy(update={"dataset": LAPTOP.datasets[dataset], **trained})

    ours, theirs = changed("cifar10_lt_5k_10k_16px", 64, 100), changed("cifar10_lt", 256, 500)
    assert known.differences(theirs, theirs) == []
    said = "; ".join(known.differences(ours, theirs))
    for part in ("for 14,736", "16 px for 32", "64 for 256", "100 epochs for 500", f"for {14736 // 256 * 500:,}"):
        assert part in said, (part, said)


def test_criteria_count_by_hand() -> None:
    """Four effects of a printed gain of 2: (effect, interval) as the reader would sort them."""
    nan = math.nan
    rows = [
        ("3", 1.0, 5.0, 1.0, 3.5),  # the sign, clear, holds the printed one; within the printed interval
        ("0.5", -1.0, 1.9, nan, nan),  # the sign alone
        ("-1", -5.0, 3.0, nan, nan),  # holds the printed one
        ("9", nan, nan, nan, nan),  # of one run: not compared
    ]
    ends = ["low_unadjusted", "high_unadjusted", "reported_low", "reported_high"]
    table = pd.DataFrame(rows, columns=["measured", *ends])
    about = {"kind": "comparison", "answered_by": "encoder", "reported": "2", "paper": "p", "rung": "laptop"}
    (found,) = known.criteria(table.assign(**about)).to_dict("records")
    counted = {"compared": 3, "same_sign": 2, "clear": 1, "printed_inside": 2, "with_interval": 1, "ours_inside": 1}
    assert found == {"paper": "p", "rung": "laptop", **counted}
    assert list(found) == list(columns.CRITERIA)


def test_the_hours_go_to_the_artifact_with_most_claims_an_hour() -> None:
    rows = [("a", 4.0)] * 8 + [("b", 1.0)] * 3 + [("c", 7.0)] * 20
    table = pd.DataFrame(rows, columns=["artifact", "gpu_hours"]).assign(paper="p", settle="make", origin="printed")
    # 3, 2.9 and 2 claims an hour: b and c leave two hours, which a does not fit into
    assert known.settling(table, 10.0) == [("p/b", 3, 1.0), ("p/c", 20, 7.0)]
