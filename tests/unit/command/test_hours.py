"""What hours of a device buy: prices and claims are typed here, so that each purchase can be counted by hand."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hypersphere.command import cost, hours
from hypersphere.command.cli import plan as command
from hypersphere.command.cost import Cost
from hypersphere.config.plan import Plan

from ...fixtures import Refused
from ...golden.released import released
from ..statistics.world import PAPER, World, claim


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Three tables: ``ten`` and ``hundred`` have a dataset each, and ``both`` shows the runs of both.

    Digits stand for ten, and pairs for hundred.
    """
    columns = {"ten": ["ten"], "hundred": ["hundred"], "both": ["ten", "hundred"]}
    tables = {
        name: {**PAPER["artifacts"]["table5"], "columns": {"dataset": datasets}}
        for name, datasets in columns.items()
    }
    world = World(tmp_path, paper={"artifacts": tables}, runs_per_job=1)
    world.claims(
        claim("t", artifact="ten", dataset="ten"),
        claim("h", artifact="hundred", dataset="hundred"),
        claim("b", artifact="both", dataset="hundred"),
        claim("c", artifact="both", dataset="ten"),
    )
    return world.plan


def priced(plan: Plan, **hours_of_dataset: float) -> Any:
    """Stands for the costs of a plan, by the hours of all runs of a dataset together."""
    run_hours: dict[str, float] = {}
    for name, run in plan.runs.items():
        of_dataset = [one for one in plan.runs.values() if one.dataset.name == run.dataset.name]
        if run.dataset.name in hours_of_dataset:
            run_hours[name] = hours_of_dataset[run.dataset.name] / len(of_dataset)
    return SimpleNamespace(run_hours=run_hours)


def bought(plan: Plan, prices: Any, budget: float, recorded: set[str] | None = None) -> list[Any]:
    found = hours.purchases(plan, hours.claims_of(plan), prices, recorded or set(), budget)
    return [(one.artifact.split("/")[1], one.claims, pytest.approx(one.hours)) for one in found]


def test_most_claims_an_hour_come_first_and_shared_runs_are_paid_for_once(plan: Plan) -> None:
    """One claim an hour for ``ten``, half for ``hundred``, and two for three hours of ``both``.

    After ``ten`` the two hours that are left of ``both`` settle two claims: one an hour. Then all is paid for.
    """
    prices = priced(plan, digits=1.0, pairs=2.0)
    assert bought(plan, prices, 10) == [("ten", 1, 1.0), ("both", 2, 2.0)]


def test_what_does_not_fit_is_left_out_and_what_is_recorded_costs_nothing(plan: Plan) -> None:
    prices = priced(plan, digits=1.0, pairs=2.0)
    assert bought(plan, prices, 2.5) == [("ten", 1, 1.0)]
    assert bought(plan, prices, 0.5) == []
    of_ten = {name for name, run in plan.runs.items() if run.dataset.name == "digits"}
    assert bought(plan, prices, 2.5, of_ten) == [("both", 2, 2.0)]


def test_an_artifact_with_a_run_of_unknown_operations_has_no_price(plan: Plan) -> None:
    assert bought(plan, priced(plan, digits=1.0), 10) == [("ten", 1, 1.0)]


def test_a_typed_rate_replaces_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half the rate takes twice the hours, whatever a pass takes."""
    monkeypatch.setattr(cost, "of_a_pass", lambda run, size: 10**9)
    of = released("workstation")
    slow, fast = Cost(of, rate=50.0), Cost(of, rate=100.0)
    assert slow.run_hours
    for name, one in slow.run_hours.items():
        assert one == pytest.approx(2 * fast.run_hours[name])


def test_a_purchase_has_the_seeds_of_its_cells_and_the_highest_certainty_that_they_allow() -> None:
    """config/certainty.yaml: small encoders have a low certainty at most, and with fewer than five runs a very low."""
    of = released("workstation")
    prices: Any = SimpleNamespace(run_hours=dict.fromkeys(of.runs, 0.01))
    (one,) = hours.purchases(of, hours.claims_of(of), prices, set(), 1000)
    assert (one.artifact, one.seeds, one.certainty) == ("embedding_norms/table5", 5, "low")
    fewer = hours.purchases(of, hours.claims_of(of), prices, set(of.runs), 1000)
    assert fewer == []


def test_a_rate_without_hours_is_refused(plan: Plan, refused: Refused) -> None:
    with refused("plan", "--rate"):
        command(plan, [], False, False, False, None, 3.0)
