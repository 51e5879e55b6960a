"""What a table or figure may ask for, its points, and the protocol that answers."""

from typing import Any

import pytest

from hypersphere.config.artifacts import HISTORY, Measured, Override, Paper, Protocol

from ...fixtures import Refused

TABLE: dict[str, Any] = {
    "rows": {"method.variant": ["simclr.baseline", "simclr.cut"]},
    "columns": {"dataset": ["cats", "dogs"]},
    "measure": "knn_top1",
}
LINES: dict[str, Any] = {
    "draw": "lines",
    "lines": {"method": ["simclr", "simsiam"]},
    "x": {"epoch": [0, 50, 100]},
    "panels": {"dataset": ["cats"]},
    "fixed": {"variant": "baseline"},
}


def measured(**fields: Any) -> Measured:
    return Measured.model_validate({"draw": "table", "title": "A table", **fields})


def test_points_stand_outermost_axis_first() -> None:
    found = measured(**LINES, measure="knn_top1").points
    pairs = [(method, epoch) for method in ("simclr", "simsiam") for epoch in (0, 50, 100)]
    assert found == [
        {"method": m, "variant": "baseline", "dataset": "cats", "epoch": e, "measure": "knn_top1"} for m, e in pairs
    ]
    assert list(found[0]) == ["method", "variant", "dataset", "epoch", "measure"]
    turned = {"measure": "knn_top1", "columns": TABLE["columns"], "rows": TABLE["rows"]}  # the order of keys is none
    assert measured(**turned).points == measured(**TABLE).points


def test_a_baseline_may_be_a_number_however_it_is_written() -> None:
    sweep = measured(rows=TABLE["rows"], columns={"logits.s": [1, 10]}, fixed={"dataset": "cats"}, measure="knn_top1")
    sweep = sweep.model_copy(update={"baseline": {"logits.s": 1.0}})
    assert [point["logits.s"] for point in sweep.points if sweep.compared_with(point) is None] == [1, 1]


def test_further_comparisons_follow_those_with_the_baseline_and_none_is_made_twice() -> None:
    also = [
        {"of": {"variant": ["cut", "baseline"], "dataset": "cats"}, "against": {"dataset": "dogs"}},
        {"of": {"variant": "cut"}, "against": {"variant": "baseline"}},  # the baseline's again
    ]
    table = measured(**TABLE | {"baseline": {"variant": "baseline"}, "also": also})
    pairs = [
        tuple(f"{cell['variant']} {cell['dataset']}" for cell in (point, other)) for point, other in table.comparisons
    ]
    assert pairs == [
        *[("cut cats", "baseline cats"), ("cut dogs", "baseline dogs")],
        *[("baseline cats", "baseline dogs"), ("cut cats", "cut dogs")],
    ]
    assert all(cell in table.points for pair in table.comparisons for cell in pair)
    assert measured(**TABLE).comparisons == []


def paper(**evaluations: Any) -> Paper:
    return Paper.model_validate({"paper": "p", "title": "A paper", "evaluations": evaluations})


KNN: dict[str, Any] = {"probe": {"name": "knn", "k": 20}}


def test_like_copies_and_replaces() -> None:
    found = paper(knn=KNN, heads={"like": "knn", "layer": "embeddings"}, transfer={"like": "knn", "transfer": True})
    first, heads, transfer = (found.evaluations[name] for name in ("knn", "heads", "transfer"))
    assert heads == Protocol.model_validate(KNN | {"like": "knn", "layer": "embeddings"})
    assert transfer == first.model_copy(update={"like": "knn", "transfer": True})
    assert transfer.measures == ("transfer_top1", "transfer_top5")
    assert first.measures == heads.measures == ("knn_top1", "knn_top5")


def test_a_protocols_identity_is_its_content() -> None:
    """Not its name, not which dataset it looks at; a default written out is the same probe."""
    digest = Protocol.model_validate(KNN).digest
    same = [
        KNN | {"transfer": True},
        KNN | {"layer": "backbone"},
        {"probe": {"name": "knn", "k": 20, "temperature": 0.1}},
    ]
    assert {Protocol.model_validate(one).digest for one in same} == {digest}
    others = [KNN | {"layer": "embeddings"}, {"probe": {"name": "knn", "k": 21}}, {"probe": {"name": "linear"}}]
    assert len({digest, *(Protocol.model_validate(one).digest for one in others)}) == 4


@pytest.mark.parametrize(
    ("measure", "by", "expected"),
    [
        ("knn_top1", None, "knn"),
        ("transfer_top1", None, "transfer"),
        ("loss", None, HISTORY),
        ("norm", "history", HISTORY),
        ("norm", "norms", "norms"),
        ("knn_top1", "history", "knn"),
    ],
)
def test_the_protocol_that_gives_a_measure(measure: str, by: str | None, expected: str) -> None:
    """``by`` chooses where several give it, and says nothing of another measure beside it."""
    norms = {"probe": {"name": "norms"}, "layer": "embeddings"}
    found = paper(knn=KNN, transfer={"like": "knn", "transfer": True}, norms=norms)
    assert found.protocol(measured(**TABLE | {"by": by}), {"measure": measure}) == expected


def test_an_axis_may_name_the_protocols(refused: Refused) -> None:
    """Where none is named, the one that the others are like."""
    found = paper(knn=KNN, few={"like": "knn", "probe": {"name": "knn", "k": 5}})
    compared = measured(
        draw="dots",
        x={"by": ["knn", "few"]},
        fixed={"method": "simclr", "variant": "default", "dataset": "cats"},
        measure="knn_top1",
    )
    assert [found.protocol(compared, point) for point in compared.points] == ["knn", "few"]
    assert found.protocol(measured(**TABLE), {"measure": "knn_top1"}) == "knn"
    with refused(ValueError):
        found.protocol(compared, {"measure": "knn_top1", "by": "fewer"})


@pytest.mark.parametrize(
    ("when", "matches"),
    [
        ({"method": ["byol", "simclr"], "batch.size": 512.0}, True),
        ({"batch.size": [128, 512]}, True),
        ({"method": "simclr", "batch.size": [128]}, False),
        ({"logits.s": 1}, False),
    ],
)
def test_an_override_matches_where_every_key_does(when: dict[str, Any], matches: bool) -> None:
    assert Override(when=when, set={}).matches({"method": "simclr", "variant": "cut", "batch.size": 512}) == matches
