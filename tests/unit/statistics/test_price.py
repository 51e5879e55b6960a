"""What some hours of a GPU would settle first."""

from pathlib import Path

import pandas as pd
import pytest

from hypersphere.statistics import price


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
