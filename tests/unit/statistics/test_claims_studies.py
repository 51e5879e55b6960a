"""Rows of claims.csv that wait for no run: theorems, and what exact studies answer; and one paper's alone."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from hypersphere.errors import HypersphereError
from hypersphere.provenance import tables
from hypersphere.provenance.manifest import check_tidy
from hypersphere.simulations.study import COLUMNS as ANSWERS
from hypersphere.statistics import claims

from .world import PAPER, World, at, claim

Make = Callable[..., World]
STATED = [
    ("norms.ok", "norms", "as printed", 100, 90, 0, 3e-15, "", "no counterexample"),
    ("norms.bad", "norms", "as printed", 100, 90, 7, 0.25, '{"tau": 1.0, "excess": 0.25}', "refuted"),
    ("norms.bad", "norms", "N1", 100, 90, 0, 0.0, "", "no counterexample (erratum)"),
]
FIGURE = {"draw": "study_table", "title": "t", "study": "entropy_limits"}
LABELS = {"draw": "study_table", "title": "t", "study": "human_labels", "needs": ["human_labels"]}
STUDIED = {"figure": FIGURE, "labels": LABELS}


def theorem(identifier: str, reading: str = "as printed") -> dict[str, Any]:
    """A claim of kind theorem."""
    origin = "printed" if reading == "as printed" else "corrected"
    nothing = dict.fromkeys(("method", "variant", "dataset", "metric", "reported"), "")
    return claim(identifier, kind="theorem", artifact="t_1", origin=origin, reading=reading, **nothing)


def counted(identifier: str) -> dict[str, Any]:
    """A claim of 7 steps, of the figure."""
    return claim(identifier, artifact="figure", metric="steps", reported=7, setting="beta=1;t=0.25")


def answer(world: World, *rows: tuple[Any, ...]) -> None:
    """Write simulations/norms/answers.csv, as a study does: its numbers as text, for infinity is one."""
    table = pd.DataFrame([("entropy_limits", *row[:-1], f"{row[-1]:.10g}") for row in rows], columns=ANSWERS)
    tables.write(world.plan.config.results / "simulations" / "norms", {"answers": (table, ANSWERS)})


@pytest.fixture
def make_studied(make_world: Make) -> Make:
    """Projects with two studied artifacts, one of which needs data that this scale does not provide."""

    def make(**options: Any) -> World:
        return make_world(paper={"artifacts": {"table5": PAPER["artifacts"]["table5"], **STUDIED}}, **options)

    return make


@pytest.mark.parametrize("level", ["quick", "paper"])
def test_a_theorem_has_the_verdict_of_its_own_reading_at_every_scale(make_world: Make, level: str) -> None:
    world = make_world(level=level, seeds=[0])
    world.theory(*STATED)
    found = world.judged(theorem("norms.ok"))
    ok = found["norms.ok"]
    assert (ok["kind"], ok["verdict"], ok["n"], ok["unstated"]) == ("theorem", "no counterexample", "0", "0")
    assert (ok["draws"], ok["met"], ok["violated"], ok["counterexample"]) == ("100", "90", "0", "")
    assert float(ok["measured"]) == 3e-15
    bad = world.judged(theorem("norms.bad"))["norms.bad"]
    assert (bad["verdict"], bad["violated"]) == ("refuted", "7")
    assert bad["counterexample"] == '{"tau": 1.0, "excess": 0.25}'
    assert world.judged(theorem("norms.bad", "N1"))["norms.bad"]["verdict"] == "no counterexample (erratum)"


@pytest.mark.parametrize("row", [theorem("norms.none"), theorem("norms.ok", "N9")])
def test_a_theorem_that_was_not_checked_is_one_sentence(make_world: Make, row: dict[str, Any]) -> None:
    world = make_world(seeds=[0])
    world.theory(*STATED)
    with pytest.raises(
        HypersphereError, match=r"norms/claims\.csv: norms\.\w+: no statement of this id and reading '[\w ]+'"
    ):
        world.judged(row)


@pytest.mark.parametrize("level", ["quick", "paper"])
def test_an_exact_study_answers_at_every_scale(make_studied: Make, level: str) -> None:
    world = make_studied(level=level, seeds=[0])
    answer(world, ("s", "as printed", "value", 0, 7.0), ("w", "as printed", "value", 0, 8.0))
    found = world.judged(counted("s"), counted("w"), claim("d"))
    assert [(row["verdict"], row["study"], row["why"]) for row in found.values()] == [
        ("exact", "entropy_limits", ""),
        ("not reproduced", "entropy_limits", ""),
        ("not run", "", "not made yet"),
    ]
    assert found["s"]["setting"] == "beta=1;t=0.25"


def test_why_a_study_has_not_answered(make_studied: Make) -> None:
    world = make_studied(seeds=[0])
    found = world.judged(counted("s"), counted("l") | {"artifact": "labels"})
    why = {name: row["why"] for name, row in found.items()}
    assert why == {"s": "not made yet", "l": "needs human labels, which are not here"}
    assert {row["verdict"] for row in found.values()} == {"not run"}


def test_a_papers_studies_and_theorems_are_judged_without_any_run(make_studied: Make) -> None:
    world = make_studied()
    answer(world, ("s", "as printed", "value", 0, 7.0))
    world.theory(*STATED)
    world.claims(counted("s"), claim("d"), theorem("norms.ok"))
    claims.build_studies(world.plan, "norms")
    path = check_tidy(world.plan.config.results, "statistics/norms/studies.csv")
    alone = pd.read_csv(path, dtype=str, keep_default_na=False).set_index("id")
    assert list(alone.index) == ["s", "norms.ok"]  # in the order of the file, without those that wait for runs
    assert alone["verdict"].tolist() == ["exact", "no counterexample"]
    world.say("table5", at(), [51.0, 51.1, 51.2])
    world.measure("table5")
    whole = world.judged(counted("s"), claim("d"), theorem("norms.ok"))
    assert list(whole) == ["s", "d", "norms.ok"]
    for name in alone.index:  # the same rows as among all claims
        assert {"id": name} | alone.loc[name].to_dict() == whole[name]
    assert list(alone.reset_index().columns) == list(claims.COLUMNS)


def test_never_is_written_as_inf_and_nothing_as_an_empty_field(make_studied: Make) -> None:
    world = make_studied(seeds=[0])
    never = counted("n") | {"reported": "inf"}
    answer(world, ("n", "as printed", "seeds", 0, float("inf")), ("n", "as printed", "seeds", 1, float("inf")))
    row = world.judged(never)["n"]
    assert (row["reported"], row["measured"], row["verdict"]) == ("inf", "inf", "diverged as published")
    assert row["low"] == ""
