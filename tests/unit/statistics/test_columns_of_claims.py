"""Every measured column of claims.csv is of the right quantity, and reasons come in their order."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from hypersphere.config import rules as rules_file
from hypersphere.config.rules import Verdict
from hypersphere.provenance import tables
from hypersphere.statistics import judge
from hypersphere.statistics.judge import FLOORS, TOO_FEW

from .world import PAPER, ROWS, Make, World, at, claim, gain

BASELINE, CUT = [51.0, 51.3, 51.2, 50.9], [56.0, 56.1, 56.4, 55.7]
FLAT = [20.0, 20.1, 20.2, 20.3]


@pytest.fixture
def make_four(make_world: Make) -> Make:
    """Four seeds of a table of four rows on one dataset, whose raw pixels reach 40 %."""
    alone = {"table5": PAPER["artifacts"]["table5"] | {"columns": {"dataset": ["ten"]}}}

    def make(
        baseline: Any = BASELINE, cut: Any = CUT, simsiam: Any = FLAT, **options: Any
    ) -> World:
        world = make_world(**{"seeds": range(4), "paper": {"artifacts": alone}} | options)
        for row, values in zip(ROWS, (baseline, cut, simsiam, simsiam), strict=True):
            world.say("table5", at(row), values)
        world.of_pixels("digits", "knn", {"knn_top1": 40.0, "knn_top5": 50.0})
        return world

    return make


def judged(world: World, *rows: dict[str, Any]) -> dict[str, dict[str, str]]:
    world.measure("table5")
    return world.judged(*rows)


SHOWN = {
    "measured": "effect",
    "p": "p_holm",
    "low_unadjusted": "low",
    "high_unadjusted": "high",
    "low_equal": "low_equal",
    "high_equal": "high_equal",
}
"""Columns of a comparison that are those of its effect."""
SAME = {"direction": "equal", "reported": ""}


@pytest.mark.parametrize(
    ("level", "changed", "ends"),
    [
        ("paper", {}, "_holm"),
        ("paper", {"reported": -5.0}, ""),  # not reproduced: what decided it is of 95 %
        ("paper", SAME, ""),
        ("laptop", {}, "_holm"),
        ("laptop", {"reported": -5.0}, "_holm"),
        ("laptop", SAME, "_equal"),
        ("quick", {}, "_holm"),
    ],
)
def test_a_comparison_shows_the_interval_that_its_question_needs(
    make_four: Make, level: str, changed: dict[str, Any], ends: str
) -> None:
    world = make_four(level=level)
    values = [claim("d", reported=51.1), claim("c", variant="cut3", reported=51.2)]
    row = judged(world, *values, gain("g", **changed))["g"]
    effect = world.table("table5", "effects").loc[at(variant="cut3")]
    for column, of_effect in SHOWN.items():
        assert float(row[column]) == pytest.approx(effect[of_effect]), column
    shown = [float(row[end]) for end in ("low", "high")]
    assert shown == pytest.approx([effect[f"low{ends}"], effect[f"high{ends}"]])
    variances = np.var(BASELINE, ddof=1), np.var(CUT, ddof=1)
    assert float(row["spread"]) == pytest.approx(math.sqrt(np.mean(variances)))
    assert (row["n"], row["n_declared"], row["n_missing"]) == ("4", "4", "0")
    assert (row["seeds"], row["measured_on"], row["floored"]) == ("0 1 2 3", "digits", "")
    assert row["runs"].split() == [
        world.run("table5", at(row), seed) for row in ROWS[:2] for seed in range(4)
    ]
    assert row["why"] == ""


def test_arms_of_unlike_seeds_show_both(make_four: Make) -> None:
    """The smaller arm counts, and the fewest seeds declared; the seeds of each are named."""
    world = make_four()
    cells = world.plan.artifacts["norms", "table5"]
    (lost,) = (
        place
        for place, cell in enumerate(cells)
        if cell.text == at(variant="cut3") and cell.run and cell.run.seed == 1
    )
    cells[lost] = replace(cells[lost], missing="no record of this run")
    world.measure("table5")
    rules = rules_file.load(world.root)
    config = world.plan.config.papers["norms"]
    judge_of = partial(judge.Judge, world.plan, config, "table5", world.tables["table5"])
    for most, settles in ((0.25, True), (0.2499, False)):  # one of four is lost
        allowed = rules.model_copy(update={"most_diverged": most})
        (row,) = (
            judge_of(allowed).of(one)
            for one in claims(world, gain("g"), claim("d"))
            if one.id == "g"
        )
        assert (row["n"], row["n_declared"], row["n_missing"]) == (3, 4, 1)
        assert row["seeds"] == "0 2 3 against 0 1 2 3"  # the variant first
        said = ["1 of 8 seeds missing", *([] if settles else [TOO_FEW])]
        assert row["why"] == "; ".join(said)
        assert (row["verdict"] is Verdict.REPRODUCED) == settles
        assert math.isnan(row["low_unadjusted"]) != settles


def claims(world: World, *rows: dict[str, Any]) -> Any:
    from hypersphere.config import claims as ledger

    world.claims(*rows)
    return ledger.of(world.plan.config, "norms")


def test_reasons_come_in_their_order(make_four: Make) -> None:
    """First what is missing, then what the verdict lacks, then what each arm is not above, then how runs were made."""
    world = make_four(baseline=[10.0, 10.1, 10.2, 10.3], cut=[55.0, 55.1, 55.2, None])
    world.made[world.run("table5", at(variant="cut3"), 1)] = {
        "device": {"type": "cuda", "name": "c"}
    }
    row = judged(world, gain("g", reported=45.0))["g"]
    assert row["why"] == (
        f"{TOO_FEW}; the baseline is not shown to be above {FLOORS['pixels']}; "
        "runs of cpu and cuda are mixed"
    )
    assert (row["verdict"], row["answer"], row["direction"]) == (
        "inconclusive",
        "cannot tell",
        "unclear",
    )
    assert (row["n_diverged"], row["device"]) == ("1", "a processor; c")
    alike = judged(make_four(baseline=[10.0, 10.1, 10.2, 10.3]), gain("g", reported=45.0))["g"]
    assert alike["why"] == (
        "the baseline is not shown to be above its controls, so that the effect has no size; "
        "the baseline is not shown to be above raw pixels"
    )
    assert (alike["verdict"], alike["floored"]) == ("direction only", "baseline")
    lost = judged(make_four(baseline=CUT, cut=[10.0, 10.1, 10.2, 10.3]), gain("g", reported=-45.8))
    assert lost["g"]["why"] == "the variant is not shown to be above raw pixels"


def test_both_arms_that_are_not_above_their_controls_are_named(make_four: Make) -> None:
    low = [10.0, 10.1, 10.2, 10.3]
    row = judged(make_four(baseline=low, cut=low), gain("g"))["g"]
    assert row["why"].split("; ") == [
        "neither arm is shown to be above its controls",
        "the variant is not shown to be above raw pixels",
        "the baseline is not shown to be above raw pixels",
    ]
    assert row["floored"] == "both"


@pytest.mark.parametrize(
    ("level", "shown"),
    [("paper", "reproduced"), ("laptop", "laptop only"), ("quick", "quick only")],
)
def test_the_columns_of_a_number(make_four: Make, level: str, shown: str) -> None:
    world = make_four(level=level)
    row = judged(world, claim("d", reported=51.1))["d"]
    summary = world.table("table5", "summary").loc[at()]
    for column, of_cell in (("measured", "mean"), ("measured_std", "std"), ("n", "n")):
        assert float(row[column]) == pytest.approx(summary[of_cell]), column
    assert (row["verdict"], row["n_declared"], row["seeds"]) == (shown, "4", "0 1 2 3")
    assert (row["direction"], row["why"]) == ("", "")
    is_compared = level == "paper"
    assert bool(row["verdict_half"]) == bool(row["p"]) == bool(row["margin"]) == is_compared
    ends = [float(row[end]) for end in ("low", "high")]
    mean_interval = [summary["low"], summary["high"]]
    assert (ends == pytest.approx(mean_interval)) != is_compared


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({"level": "paper"}, None),
        ({"level": "paper", "epochs": 3}, Verdict.LAPTOP_ONLY),  # another scale than declared
        ({"level": "laptop"}, Verdict.LAPTOP_ONLY),
        ({"level": "quick"}, Verdict.QUICK_ONLY),
        ({"level": "quick", "epochs": 3}, Verdict.QUICK_ONLY),
    ],
)
def test_what_a_scale_can_settle(
    make_world: Make, options: dict[str, Any], limit: Verdict | None
) -> None:
    assert judge.limit(make_world(**options).plan) is limit


def test_claims_of_encoders_are_judged_without_any_file(make_four: Make) -> None:
    """The rows of claims.csv, in the order of the ledger; of what was not run, the reason alone."""
    world = make_four(level="laptop")
    rows = [gain("g"), claim("d", reported=51.1), claim("elsewhere", artifact="gone")]
    written = judged(world, *rows)
    found = judge.of_encoders(world.plan)
    assert found["id"].tolist() == ["g", "d"]
    for row in tables.rows(found):
        expected = written[row["id"]]
        assert (row["verdict"], row["answer"]) == (expected["verdict"], expected["answer"])
        assert row["low"] == pytest.approx(float(expected["low"]))
    assert written["elsewhere"]["verdict"] == "not run"


@pytest.mark.parametrize(
    ("others", "said"), [([20.0, 20.3], True), ([20.0, 20.001], False)], ids=["alike", "tight"]
)
def test_two_runs_say_whose_spread_they_take(
    make_four: Make, others: list[float], said: bool
) -> None:
    """The others', unless those vary less by the F test."""
    world = make_four(baseline=[51.0, 51.2], cut=others, seeds=[0, 1], simsiam=others)
    row = judged(world, claim("d", reported=51.1))["d"]
    assert row["why"] == ("the spread is also that of other rows" if said else "")
    assert (row["n"], row["low_power"]) == ("2", str(not said))


def test_of_several_records_of_a_run_one_counts(make_four: Make) -> None:
    world = make_four()
    world.measure("table5")
    made = world.tables["table5"]
    made["runs"]["records"] = 2
    rules = rules_file.load(world.root)
    document = world.plan.config.papers["norms"]
    (one,) = claims(world, claim("d", reported=51.1))[:1]
    found = judge.Judge(world.plan, document, "table5", made, rules).of(one)
    assert found["why"] == "4 runs of several records, of which one counts"
