"""What a table or figure may ask for, its points, and the protocol that answers."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from hypersphere.config.artifacts import HISTORY, Measured, Override, Paper, Protocol
from hypersphere.config.measures import MEASURES

Refused = Callable[..., str]
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


def without(table: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in keys}


# fields of artifacts.table, and what is said of them after its name
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an axis that is needed": (without(TABLE, "columns"), "columns: this axis is required by table"),
    "an axis that is not taken": (TABLE | {"x": {"epoch": [1]}}, "x: no axis of table, which takes rows, columns"),
    "rows of lines": (
        LINES | {"rows": {"epoch": [1]}, "measure": "knn_top1"},
        "rows: no axis of lines, which takes panels, lines, x",
    ),
    "a key on two axes": (
        TABLE | {"columns": {"dataset": ["cats"], "variant": ["cut"]}},
        "columns: variant is on rows too",
    ),
    "a key on an axis and fixed": (TABLE | {"fixed": {"dataset": "cats"}}, "columns: dataset is on fixed too"),
    "no dataset": (TABLE | {"columns": {"epoch": [100]}}, "fixed: needs the dataset, which no axis has"),
    "no method": (TABLE | {"rows": {"variant": ["cut"]}}, "fixed: needs the method, which no axis has"),
    "no measure": (without(TABLE, "measure"), "measure: must be given here or on one axis"),
    "a measure here and on an axis": (
        TABLE | {"columns": {"dataset": ["cats"], "measure": ["norm"]}},
        "measure: must be given here or on one axis",
    ),
    "an unknown measure": (
        TABLE | {"measure": "top1"},
        f"measure: 'top1' is not one of {len(MEASURES)} names; did you mean mlp_top1 or knn_top1?",
    ),
    "an unknown measure on an axis": (
        without(TABLE, "measure") | {"columns": {"dataset": ["cats"], "measure": ["top1"]}},
        "by: no evaluation gives top1",
    ),
    "a baseline on no axis": (TABLE | {"baseline": {"epoch": 3}}, "baseline: epoch is on no axis"),
    "a contrast on no axis": (
        TABLE | {"also": [{"of": {"epoch": 3}, "against": {"variant": "cut"}}]},
        "also.0: epoch is on no axis",
    ),
    "a contrast that no cells have": (
        TABLE | {"also": [{"of": {"variant": "cut"}, "against": {"variant": "hot"}}]},
        "also.0: no two cells differ so",
    ),
    "a baseline that no cell is": (TABLE | {"baseline": {"variant": "hot"}}, "baseline: no cell has variant=hot"),
    "a point twice": (TABLE | {"columns": {"dataset": ["cats", "cats"]}}, "dataset=cats is listed twice"),
    "a method without a variant": (TABLE | {"rows": {"method.variant": ["cut"]}}, "'cut' is not method.variant"),
    "an axis that is no product": (TABLE | {"rows": "simclr"}, "rows"),
    "a kind that there is not": (
        TABLE | {"draw": "pie"},
        "draw: 'pie' is not one of distribution, dots, effects, grid, lines, pictures, sphere, table",
    ),
    "a study's kind": (TABLE | {"draw": "study_table"}, "draw: 'study_table' is not one of "),
    "an unknown key": (
        TABLE | {"row": []},
        "row: unknown; did you mean rows? Allowed: draw, title, printed, rows",
    ),
    "a protocol that there is not": (
        TABLE | {"by": "linear"},
        "by: 'linear' is not one of knn, norms, transfer, later",
    ),
    "a measure that nothing gives": (TABLE | {"measure": "nmi"}, "by: no evaluation gives nmi"),
    "a measure that two give": (
        TABLE | {"measure": "norm"},
        "by: several evaluations give norm; name one of norms, history",
    ),
    "which of two, by one that does not": (
        TABLE | {"measure": "norm", "by": "knn"},
        "by: several evaluations give norm; name one of norms, history",
    ),
    "a list of seeds that there is not": (TABLE | {"seeds": "few"}, "seeds: input should be 'tables' or 'sweeps'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_one_sentence_with_file_and_field(refused: Refused, name: str) -> None:
    fields, words = WRONG[name]
    sentence = refused(table=fields)
    assert sentence.startswith("papers/p.yaml: artifacts.table")
    assert words in sentence


@pytest.mark.parametrize("table", [TABLE, TABLE | {"measure": "norm", "by": "norms"}, LINES | {"measure": "knn_top1"}])
def test_and_what_is_right_is_taken(planned: Callable[..., Any], table: dict[str, Any]) -> None:
    assert planned(table=table).cells


def measured(**fields: Any) -> Measured:
    return Measured.model_validate({"draw": "table", "title": "A table", **fields})


def test_points_stand_outermost_axis_first() -> None:
    found = measured(**LINES, measure="knn_top1").points
    pairs = [(method, epoch) for method in ("simclr", "simsiam") for epoch in (0, 50, 100)]
    assert found == [
        {"method": m, "variant": "baseline", "dataset": "cats", "epoch": e, "measure": "knn_top1"} for m, e in pairs
    ]
    assert list(found[0]) == ["method", "variant", "dataset", "epoch", "measure"]


def test_the_order_of_keys_in_yaml_is_not_the_order_of_axes() -> None:
    turned = {"measure": "knn_top1", "columns": TABLE["columns"], "rows": TABLE["rows"]}
    assert measured(**turned).points == measured(**TABLE).points


def test_a_cells_baseline_differs_in_the_coordinates_given() -> None:
    table = measured(**TABLE | {"baseline": {"variant": "baseline"}})
    baselines = [table.compared_with(point) for point in table.points]
    simclr = {"method": "simclr", "variant": "baseline", "measure": "knn_top1"}
    assert baselines == [None, None, simclr | {"dataset": "cats"}, simclr | {"dataset": "dogs"}]


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


def test_no_baseline_no_comparison() -> None:
    table = measured(**TABLE)
    assert [table.compared_with(point) for point in table.points] == [None] * 4


# Protocols


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
    ("evaluations", "words"),
    [
        ({"a": {"like": "b"}, "b": {"like": "c"}, "c": KNN}, "a.like: 'b' is not one of c"),
        ({"a": KNN, "b": {"like": "x"}}, "b.like: 'x' is not one of a"),
        ({"a": {}}, "probe: give a probe, or its task under missing"),
        ({"a": KNN | {"missing": "later", "gives": ["norm"]}}, "probe: give a probe, or its task under missing"),
        ({"a": {"missing": "later"}}, "gives: lists the measures of a missing probe"),
        ({"a": KNN | {"gives": ["norm"]}}, "gives: lists the measures of a missing probe"),
        ({"a": {"missing": "later", "gives": ["nonsense"]}}, "'nonsense' is not one of knn_top1"),
        ({"a": {"probe": {"name": "nn"}}}, "name: 'nn' is not one of "),
        ({"a": {"probe": {"name": "knn", "k": 0}}}, "greater than 0"),
        ({"a": KNN | {"layer": "middle"}}, "'backbone' or 'embeddings'"),
        ({"a-b": KNN}, "a name is a letter and then letters, digits and _"),
    ],
)
def test_wrong_protocols(evaluations: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        paper(**evaluations)
    assert words in str(caught.value)


def test_a_missing_probe_gives_what_it_says() -> None:
    assert Protocol.model_validate({"missing": "x", "gives": ["norm"]}).measures == ("norm",)


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


def test_an_axis_may_name_the_protocols() -> None:
    """Where none is named, the one that the others are like."""
    found = paper(knn=KNN, few={"like": "knn", "probe": {"name": "knn", "k": 5}})
    compared = measured(
        draw="effects",
        rows={"by": ["knn", "few"]},
        fixed={"method": "simclr", "variant": "default", "dataset": "cats"},
        measure="knn_top1",
    )
    assert [found.protocol(compared, point) for point in compared.points] == ["knn", "few"]
    assert found.protocol(measured(**TABLE), {"measure": "knn_top1"}) == "knn"
    with pytest.raises(ValueError, match="by: 'fewer' is not one of"):
        found.protocol(compared, {"measure": "knn_top1", "by": "fewer"})
    with pytest.raises(ValueError, match="by: may be given here or on one axis"):
        measured(**compared.model_dump() | {"by": "knn"})


# Overrides


@pytest.mark.parametrize(
    ("when", "matches"),
    [
        ({}, True),
        ({"method": "simclr"}, True),
        ({"method": ["byol", "simclr"]}, True),
        ({"method": "byol"}, False),
        ({"method": "simclr", "dataset": "dogs"}, False),
        ({"batch.size": 512.0}, True),
        ({"batch.size": [128, 512]}, True),
        ({"logits.s": 1}, False),
    ],
)
def test_an_override_matches_where_every_key_does(when: dict[str, Any], matches: bool) -> None:
    run = {"method": "simclr", "variant": "cut", "dataset": "cats", "batch.size": 512}
    assert Override(when=when, set={}).matches(run) == matches


@pytest.mark.parametrize(
    ("when", "words"),
    [
        (
            {"methd": "simclr"},
            "methd: unknown; did you mean method? Allowed: method, variant, dataset, and paths into the run",
        ),
        ({"epoch": 3}, "epoch: unknown; allowed: method, variant, dataset, and paths into the run"),
        ({"batches.size": 3}, "batches.size: unknown; allowed: method, variant, dataset, and paths into the run"),
        ({"method": "simcrl"}, "overrides.0.when.method: 'simcrl' is not one of simclr, simsiam"),
        ({"variant": ["cut", "cut9"]}, "overrides.0.when.variant: 'cut9' is not one of baseline, cut, hot"),
    ],
)
def test_an_override_that_can_match_no_run_is_said(refused: Refused, when: dict[str, Any], words: str) -> None:
    sentence = refused(paper={"overrides": [{"when": when, "set": {}}]})
    assert sentence.startswith("papers/p.yaml: overrides.0.when")
    assert words in sentence
