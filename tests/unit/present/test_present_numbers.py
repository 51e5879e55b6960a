"""scorecard.json: the numbers of the scorecard, under the scale's name and what they were measured on."""

import json
from collections import Counter
from typing import Any

import pytest

from hypersphere.declared.artifacts import Table

TABLES = {"table5": "knn_top1", "table5_linear": "linear_top1"}


def of(made: Any) -> dict[str, Any]:
    """The one scale that the file speaks of."""
    content = json.loads(made.read("scorecard.json"))
    assert list(content) == [made.config.scale_name]
    return dict(content[made.config.scale_name])


def final(made: Any, metric: str) -> dict[tuple[str, str], tuple[float, int]]:
    """Mean and number of pretrainings of each row on each dataset, from the tidy rows that the fixture made up."""
    found = {}
    for row in made.rows["summary"]:
        if row["metric"] == metric and row["final"] and row["method"] != "control":
            found[f"{row['method']}.{row['variant']}", row["measured_on"]] = (row["mean"], row["n"])
    return found


@pytest.mark.parametrize(("table", "metric"), TABLES.items())
@pytest.mark.parametrize("scale", ["quick", "published"])
def test_every_mean_of_a_table_is_there_with_its_n(
    request: pytest.FixtureRequest, scale: str, table: str, metric: str
) -> None:
    made = request.getfixturevalue(scale)
    shown = of(made)["embedding_norms"][table]
    cells = {(row, on): (cell["mean"], cell["n"]) for row, columns in shown.items() for on, cell in columns.items()}
    controls = {key for key in cells if key[0] in ("chance", "pixels", "untrained")}
    expected = final(made, metric)
    assert expected
    assert cells.keys() - controls == expected.keys()
    for key, (mean, n) in expected.items():
        assert cells[key] == (pytest.approx(mean), n)
    assert {key[0] for key in controls} == {"chance", "pixels", "untrained"}


def test_every_table_is_there_and_a_transfer_names_both_datasets(quick: Any) -> None:
    artifacts = quick.config.papers["embedding_norms"].artifacts
    shown = of(quick)["embedding_norms"]
    assert set(shown) == {key for key, artifact in artifacts.items() if isinstance(artifact, Table)}
    transfer = {column for columns in shown["table5_transfer"].values() for column in columns}
    assert transfer == {"digits_lt to turned_digits_lt", "turned_digits_lt to digits_lt"}


def test_claims_are_counted_by_verdict(quick: Any, published: Any) -> None:
    for made in (quick, published):
        kinds = {kind: Counter() for kind in ("claims", "theorems")}
        for row in made.rows["claims"]:
            kinds["theorems" if row["kind"] == "theorem" else "claims"][row["verdict"]] += 1
        assert {kind: of(made)[kind] for kind in kinds} == kinds
    assert of(quick)["claims"] != of(published)["claims"]


def test_another_mean_changes_its_number_and_no_count(make: Any, quick: Any) -> None:
    """The control: the file is written from the tidy tables and says what they say."""
    moved = make(shift=0.5)
    moved.build()
    cells = [
        made["embedding_norms"]["table5"]["simclr.default"]["digits_lt"]["mean"] for made in (of(quick), of(moved))
    ]
    assert cells[1] - cells[0] == pytest.approx(0.5)
    assert of(quick)["claims"] == of(moved)["claims"]


def test_a_diverged_row_has_no_mean_and_says_how_many_diverged(make: Any) -> None:
    made = make()
    rows = made.rows["summary"]
    for row in rows:
        if (row["method"], row["variant"]) == ("simclr", "cut3"):
            row |= {"mean": "", "std": "", "low": "", "high": "", "n": 0, "n_diverged": 5}
    made.replace("summary", rows)
    made.build()
    table = of(made)["embedding_norms"]["table5"]
    assert table["simclr.cut3"]["digits_lt"] == {"n": 0, "diverged": 5}
    assert "diverged" not in table["simclr.default"]["digits_lt"]
