"""What some hours of a GPU would settle first."""

import pandas as pd

from hypersphere.statistics import price


def test_the_hours_go_to_the_artifact_with_most_claims_an_hour() -> None:
    rows = [("a", 4.0)] * 8 + [("b", 1.0)] * 3 + [("c", 7.0)] * 20
    table = pd.DataFrame(rows, columns=["artifact", "gpu_hours"]).assign(
        paper="p", settle="make", origin="printed"
    )
    # 3, 2.9 and 2 claims an hour: b and c leave two hours, which a does not fit into
    assert price.settled_first(table, 10.0) == [("p/b", 3, 1.0), ("p/c", 20, 7.0)]
