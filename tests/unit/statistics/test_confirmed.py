"""Calls of a difference where there is none, against all splits of a few values and against the records themselves."""

import itertools
import json
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

from hypersphere import t_test
from hypersphere.config import rules
from hypersphere.config.plan import Plan
from hypersphere.config.rules import Rules
from hypersphere.config.study import CHECKS, PRINTED, Study
from hypersphere.provenance import likeness
from hypersphere.statistics import confirmed, effects, gather, measure

from ...golden.released import ROOT, from_records
from .world import RULES

JUDGED = measure.judged_tables
FEW = 20


@cache
def judged(artifact: str) -> dict[str, pd.DataFrame]:
    """The tables by which an artifact of our studies is judged at the laptop scale."""
    return JUDGED(from_records("laptop"), "ours", artifact, rules.load(ROOT))


def of_plan() -> dict[str, pd.DataFrame]:
    """The tables of ``confirmed.of_plan`` of the laptop scale, whose shares are of few draws."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confirmed, "shares", partial(confirmed.shares, draws=FEW))
        found = confirmed.of_plan(from_records("laptop"))
    return {name: table for name, (table, _) in found.items()}


@cache
def recorded() -> tuple[dict[str, pd.DataFrame], dict[str, Study], pd.DataFrame]:
    """Of the laptop scale: the tables of ``confirmed.of_plan``, our studies, and the record's own table of runs."""
    plan = from_records("laptop")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            measure, "judged_tables", lambda plan, paper, artifact, rules: judged(artifact)
        )
        made = of_plan()
    runs = pd.read_csv(ROOT / "evidence/laptop/runs.csv", dtype={"plan": str})
    return made, plan.config.papers["ours"].studies, runs


def of_study(runs: pd.DataFrame, name: str) -> pd.Series:
    """Which rows of the record's own table confirm a study, under its plan of today or an earlier one."""
    return runs["plan"].isin(from_records("laptop").config.plans("ours", name))


def all_splits(values: np.ndarray, arms: int, n: int) -> tuple[float, float]:
    """The shares over every assignment of the values to arms of n, by ``effects.welch`` and ``t_test.holm``."""
    called, level, margin = [], [], 1.0
    for order in itertools.permutations(range(len(values))):
        of = [order[arm * n : (arm + 1) * n] for arm in range(arms)]
        if any(list(one) != sorted(one) for one in of):
            continue
        baseline, *others = (pd.Series(values[list(one)]) for one in of)
        tests = [effects.welch(one, baseline) for one in others]
        found = [float(one.mean() - baseline.mean()) for one in others]
        p, _ = t_test.holm(
            [test.p(x) for test, x in zip(tests, found, strict=True)], RULES.alpha, len(others)
        )
        called.append(min(p) <= RULES.alpha)
        ends = [test.interval(x, RULES.equivalence) for test, x in zip(tests, found, strict=True)]
        level += [-margin < low and high < margin for low, high in ends]
    return 100 * float(np.mean(called)), 100 * float(np.mean(level))


@pytest.mark.parametrize(
    ("n", "values"), [(3, [0.0, 0.1, 0.25, 0.6, 0.65, 0.7]), (2, [0.0, 0.02, 0.3, 0.35, 1.1, 1.12])]
)
def test_the_shares_are_those_over_all_splits(n: int, values: list[float]) -> None:
    """Of 20,000 draws a share is within 1.6 points of its expectation but for 1 in 13,000 (Hoeffding: 2 e^-10.2)."""
    found = confirmed.shares(np.array(values), n, 1.0, RULES, draws=20_000)
    called, level = all_splits(np.array(values), len(values) // n, n)
    assert found["arms"] == len(values) // n
    assert called > 0
    assert level > 0
    assert abs(found["called"] - called) < 1.6
    assert abs(found["level"] - level) < 1.6


@pytest.mark.parametrize(("name", "largest"), [("step_size", 20), ("cut_by_steps", 10)])
def test_a_set_is_every_run_of_a_plan_that_differs_in_its_seed_alone(
    name: str, largest: int
) -> None:
    """Against the rows of the record's own tables: an A/A arm is one set with its baseline, and none counts twice."""
    made, studies, runs = recorded()
    table, study = made["splits"][made["splits"]["study"] == name], studies[name]
    seeds = {*study.seeds.confirmation, *study.seeds.again}
    kept = runs[of_study(runs, name) & runs["seed"].isin(seeds) & (runs["status"] == "finished")]
    alike = [json.dumps({**json.loads(one), "seed": 0}, sort_keys=True) for one in kept["run"]]
    sizes = kept.groupby(alike)["seed"].nunique()
    assert sizes.max() == largest
    for n in confirmed.SIZES:
        assert sorted(table.loc[table["n"] == n, "runs"]) == sorted(
            size for size in sizes if size >= 2 * n
        )
    assert (table["arms"] == table["runs"] // table["n"]).all()
    assert table["called"].between(0, 100).all()


def test_a_multiple_is_told_as_what_it_comes_to() -> None:
    """The rates that the norms paper prints for 256 images (App. C.1); a study that tunes no multiple has none."""
    table = recorded()[0]["studies"]
    printed = table[
        (table["artifact"] == "step_size_printed")
        & table["baseline"].str.contains("variant=default")
    ]
    found = printed.groupby(printed["baseline"].str.extract("method=([a-z0-9]+)", expand=False))[
        "baseline_came_to"
    ]
    assert found.unique().map(list).to_dict() == {"simsiam": ["0.12"], "simclr": ["0.18"]}
    assert set(table.loc[table["study"] == "confidence", "came_to"]) == {""}


def test_progress_counts_each_run_once() -> None:
    """What is recorded, against the rows of the record's own table; what is planned, against the words of two plans.

    A closed study waits for nothing, so that it is not listed.
    """
    made, studies, runs = recorded()
    progress, waiting = (
        made["progress"],
        [name for name, one in studies.items() if one.closed is None],
    )
    assert len(waiting) < len(studies)
    expected = {name: runs.loc[of_study(runs, name), "name"].nunique() for name in waiting}
    confirmed_runs = progress[progress["part"] != "tuning"].groupby("study")["recorded"].sum()
    assert confirmed_runs.to_dict() == expected
    planned = progress.set_index(["study", "part"])["planned"]
    assert (
        planned["sentences"].sum() == 40 + 50
    )  # four arms of the study; QT, DCL and HCL with and without, but one of them
    assert planned["step_size", "tuning"] == 9 * 7 * 3  # arms, rates, seeds
    assert (progress["recorded"] <= progress["planned"]).all()


def test_no_record_of_a_study_is_lost() -> None:
    """Each run that a record says to confirm a study is in the study's tables, whatever changed in the plan since."""
    plan, (_, studies, runs) = from_records("laptop"), recorded()
    for name in studies:
        shown = set[str]()
        for artifact in (name, name + PRINTED, name + CHECKS):
            shown |= (
                plan.runs_of("ours", artifact).keys()
                if ("ours", artifact) in plan.artifacts
                else set()
            )
        assert set(runs.loc[of_study(runs, name), "name"]) <= shown, name
    assert runs["plan"].notna().sum() == sum(of_study(runs, name).sum() for name in studies)


def test_nothing_is_read_of_a_study_that_is_not_finished() -> None:
    """Of all recorded studies: no answer and no word. Finished is a study of which no seed of any arm is missing."""
    made, studies, _ = recorded()
    compared, answered = made["studies"], made["answers"].set_index("study")
    for name, study in studies.items():
        primary = compared[compared["artifact"] == name]
        if primary.empty:  # no run of it is recorded
            assert name not in answered.index
            continue
        whole = study.closed is None and not primary["n_missing"].any()
        assert bool(answered.loc[name, "finished"]) == whole
        assert (answered.loc[name, "answer"] != "") == whole
        if not whole:
            assert (compared.loc[compared["study"] == name, "called"] == "").all()
    assert set(answered["finished"]) == {True, False}


@pytest.mark.parametrize("part", ["", PRINTED, CHECKS])
def test_a_study_that_lacks_one_run_is_not_finished(part: str) -> None:
    """A lack in another part than the primary comparison leaves the others readable; a closed study never is."""
    plan, name = from_records("laptop"), "step_size"
    cells, lacking = list(plan.cells), plan.artifacts["ours", name + part][3]
    cells[cells.index(lacking)] = replace(lacking, missing="no record")
    without = replace(plan, cells=tuple(cells))
    for other in ("", PRINTED, CHECKS):
        assert confirmed.is_finished(plan, "ours", name + other)
        assert confirmed.is_finished(without, "ours", name + other) == (part not in ("", other))
    assert confirmed.is_finished(plan, "ours", "many_classes")  # of no study
    assert not confirmed.is_finished(plan, "ours", "losses")


@pytest.mark.parametrize(
    ("column", "value"), [("kind", "cuda"), ("precision", "tf32"), ("weights", "c0ffee")]
)
def test_what_is_not_of_one_kind_is_counted_as_nothing(column: str, value: str) -> None:
    """One run of a GPU or of another precision among others, or two runs of equal weights; each alone is sound."""
    plan = from_records("laptop")
    about = gather.runs(plan, plan.runs_of("ours", "step_size"))
    assert likeness.unlike(about) == []
    for rows in (1, 2):
        changed = about.copy()
        changed.iloc[:rows, list(changed).index(column)] = value
        assert bool(likeness.unlike(changed)) == (column != "weights" or rows == 2)
        assert likeness.unlike(changed.iloc[:1]) == []
        changed["status"] = "diverged"  # which has no number, and perhaps weights of nan
        assert bool(likeness.unlike(changed)) == (column != "weights")


def test_a_study_whose_runs_were_not_made_alike_is_unclear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its estimates stay, and no word is read from them. The control is what is recorded, which has answers."""

    def with_a_card(plan: Plan, paper: str, artifact: str, rules: Rules) -> dict[str, pd.DataFrame]:
        runs = judged(artifact)["runs"].copy()
        runs.loc[runs.index[:1], "kind"] = "cuda"
        return judged(artifact) | {"runs": runs}

    made, _, _ = recorded()
    monkeypatch.setattr(measure, "judged_tables", with_a_card)
    mixed = of_plan()
    finished = made["answers"]["finished"]
    assert {"yes", "no"} & {*made["answers"]["answer"]}
    assert (mixed["answers"]["answer"][finished] == "unclear").all()
    assert (mixed["answers"]["answer"][~finished] == "").all()
    assert (mixed["studies"]["called"] == "").all()
    pd.testing.assert_frame_equal(
        mixed["studies"].drop(columns="called"), made["studies"].drop(columns="called")
    )
