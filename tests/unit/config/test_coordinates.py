"""Coordinates: one canonical text for each place, and axes that are products or lists of products."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypersphere.config import coordinates

from ...fixtures import Refused

PATHS = (
    "batch.size",
    "logits.s",
    "objective.temperature",
    "optimiser.weight_decay",
    "schedule.epochs",
)
VALUES = st.one_of(
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.integers(-(10**6), 10**6).map(lambda thousandths: thousandths / 1000),
    st.text("aeinf01._+-", min_size=1, max_size=4),
)
PLACES = st.dictionaries(
    st.sampled_from((*coordinates.IDENTITY, *coordinates.READINGS, *PATHS)),
    VALUES,
    min_size=0,
    max_size=6,
)


@settings(deadline=None)
@given(PLACES, st.randoms())
def test_text_is_read_back_in_whatever_order_it_was_given(
    place: dict[str, Any], random: Any
) -> None:
    keys = list(place)
    random.shuffle(keys)
    assert coordinates.text({key: place[key] for key in keys}) == coordinates.text(place)
    written = coordinates.text(place)
    read = coordinates.parse(written, "here")
    assert read == coordinates.in_order(place)
    assert list(read) == list(coordinates.in_order(place))
    assert coordinates.text(read) == written


def test_identity_first_then_paths_then_readings() -> None:
    place = {"target": "cats", "epoch": 40, "variant": "cut", "logits.s": 10, "batch.size": 512}
    place |= {
        "split": "test",
        "measure": "norm",
        "dataset": "dogs",
        "method": "simclr",
        "by": "norms",
    }
    expected = (
        "method=simclr;variant=cut;dataset=dogs;batch.size=512;logits.s=10;"
        "epoch=40;target=cats;by=norms;split=test;measure=norm"
    )
    assert coordinates.text(place) == expected
    assert (
        coordinates.setting(place)
        == "batch.size=512;logits.s=10;epoch=40;target=cats;by=norms;split=test"
    )
    assert coordinates.of_run(place) == {"batch.size": 512, "logits.s": 10}
    assert coordinates.of_probe(place) == {"split": "test"}


@pytest.mark.parametrize(
    ("value", "one_form"),
    [
        (40.0, "40"),
        ("40.0", "40"),
        (".5", "0.5"),
        (1.0e-6, "1e-06"),
        ("0.000001", "1e-06"),
        ("-3", "-3"),
        (True, "true"),
        ("true", "true"),
        ("1_000", "1_000"),
        ("nan", "nan"),
        ("infinity", "infinity"),
    ],
)
def test_a_value_has_one_form(value: Any, one_form: str) -> None:
    assert coordinates.show(value) == one_form
    assert coordinates.normal(value) == coordinates.normal(one_form)
    assert type(coordinates.normal(value)) is type(coordinates.normal(one_form))  # true is not 1


@pytest.mark.parametrize(
    "wrong",
    [
        "a=1;epoch",
        "a=1;=3",
        "epoch=",
        "epoch 3",
        "epoch=3 of 4",
        "epoch=3=4",
        "s=1,2",
        "epoch=1;s=2;epoch=1",
    ],
)
def test_what_is_not_key_and_value_or_twice_is_said(refused: Refused, wrong: str) -> None:
    with refused("p.csv", "setting"):
        coordinates.parse(wrong, "p.csv: setting")


def test_a_product_varies_its_last_key_fastest() -> None:
    axis: coordinates.Axis = {"dataset": ["cats", "dogs"], "epoch": [10, 20.0], "split": "test"}
    rows = [("cats", 10), ("cats", 20), ("dogs", 10), ("dogs", 20)]
    assert coordinates.points(axis) == [
        {"dataset": d, "epoch": e, "split": "test"} for d, e in rows
    ]


@pytest.mark.parametrize(
    ("point", "axis"),
    [
        ("epoch=10", {"epoch": [10, 10.0]}),
        ("epoch=10", [{"epoch": 10}, {"epoch": [5, 10]}]),
        (
            "method=simclr;variant=cut",
            [{"method": "simclr", "variant": "cut"}, {"method.variant": "simclr.cut"}],
        ),
        ("'simclr'", {"method.variant": ["simclr"]}),
    ],
    ids=str,
)
def test_a_point_twice_or_half_is_said(refused: Refused, point: str, axis: Any) -> None:
    with refused(point, kind=ValueError):
        coordinates.points(axis)
