"""What a table or figure may ask for, and the protocol that answers."""

from typing import Any

import pytest

from hypersphere.config.artifacts import HISTORY, Measured, Override, Paper, Protocol


def paper(**evaluations: Any) -> Paper:
    return Paper.model_validate({"paper": "p", "title": "A paper", "evaluations": evaluations})


KNN: dict[str, Any] = {"probe": {"name": "knn", "k": 20}}
TABLE: dict[str, Any] = {"draw": "table", "title": "A table", "measure": "knn_top1"}
TABLE |= {
    "rows": {"method.variant": ["simclr.baseline", "simclr.cut"]},
    "columns": {"dataset": ["cats", "dogs"]},
}


def test_like_copies_and_replaces() -> None:
    found = paper(
        knn=KNN,
        heads={"like": "knn", "layer": "embeddings"},
        transfer={"like": "knn", "transfer": True},
    )
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
    others = [
        KNN | {"layer": "embeddings"},
        {"probe": {"name": "knn", "k": 21}},
        {"probe": {"name": "linear"}},
    ]
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
    assert (
        found.protocol(Measured.model_validate(TABLE | {"by": by}), {"measure": measure})
        == expected
    )


def test_an_axis_may_name_the_protocols() -> None:
    """Where none is named, the one that the others are like."""
    found = paper(knn=KNN, few={"like": "knn", "probe": {"name": "knn", "k": 5}})
    fixed = {"method": "simclr", "variant": "default", "dataset": "cats"}
    dots = {
        "draw": "dots",
        "title": "Dots",
        "x": {"by": ["knn", "few"]},
        "fixed": fixed,
        "measure": "knn_top1",
    }
    compared = Measured.model_validate(dots)
    assert [found.protocol(compared, point) for point in compared.points] == ["knn", "few"]
    assert found.protocol(Measured.model_validate(TABLE), {"measure": "knn_top1"}) == "knn"


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
    assert (
        Override(when=when, set={}).matches(
            {"method": "simclr", "variant": "cut", "batch.size": 512}
        )
        == matches
    )
