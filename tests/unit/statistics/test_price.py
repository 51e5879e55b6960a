"""What some hours of a GPU would settle first."""

import csv
from pathlib import Path

import pandas as pd
import pytest

from hypersphere.statistics import price

from ...golden.released import ROOT


def test_the_hours_go_to_the_artifact_with_most_claims_an_hour() -> None:
    rows = [("a", 4.0)] * 8 + [("b", 1.0)] * 3 + [("c", 7.0)] * 20
    table = pd.DataFrame(rows, columns=["artifact", "gpu_hours"]).assign(
        paper="p", settle="make", origin="printed"
    )
    # 3, 2.9 and 2 claims an hour: b and c leave two hours, which a does not fit into
    assert price.settled_first(table, 10.0) == [("p/b", 3, 1.0), ("p/c", 20, 7.0)]


def test_the_share_of_measured_hours_is_of_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quarter of the hours of the row ``all``, whatever the other rows say."""
    head = "paper,artifact,cells,runs,runs_not_known,flop,device_hours,measured_hours"
    costs = f"{head}\np,a,1,1,0,1,3,3\nall,,2,2,0,2,8,2\n"
    (tmp_path / "costs.csv").write_text(costs)
    (tmp_path / "pair_costs.csv").write_text("id,device_hours\nx,1.5\n")
    monkeypatch.setattr(price, "DATA", tmp_path)
    assert price.hours().measured_share == 0.25


def test_the_stated_hours_are_those_of_the_tables() -> None:
    """The hours of every artifact are in data/costs.csv, and those of every pair in data/pair_costs.csv."""
    costs = rows_of("costs")
    assert len(costs) > 10
    stated = price.hours()
    for row in costs:
        if row["artifact"]:
            place = row["paper"], row["artifact"]
            assert stated.of_artifacts[place] == float(row["device_hours"])
    of_pairs = {row["id"]: float(row["device_hours"]) for row in rows_of("pair_costs")}
    assert len(of_pairs) > 10
    assert stated.of_pairs == of_pairs


def rows_of(table: str) -> list[dict[str, str]]:
    with (ROOT / "data" / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
