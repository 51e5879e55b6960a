import math
import re
from typing import Any

import pytest

from hypersphere.config.artifacts import Paper
from hypersphere.config.measures import LARGEST, MEASURES
from hypersphere.provenance import tables
from hypersphere.report import cards, entries, findings, words
from hypersphere.report.artifact import Point

from ...golden.released import configured
from . import made_up

PAPER = Paper.model_validate(
    {
        "paper": "made_up",
        "title": "A Made-up Paper",
        "datasets": {"first": "FIRST-10", "second": "Second-100"},
        "labels": {"simclr": "SimCLR", "logits.s": "s", "arcface": "ArcFace", "split": "part"},
    }
)


@pytest.mark.parametrize(
    ("key", "given", "said"),
    [
        ("method", "simclr", "SimCLR"),
        ("dataset", "first", "FIRST-10"),
        ("target", "second", "→ Second-100"),
        ("logits.s", 10, "s = 10"),
        ("logits.c", 1 / 3, "c = 0.3333"),
        ("batch.size", 16384, "size = 16384"),
        ("optimiser.weight_decay", 1e-6, "weight decay = 1e-06"),
        ("views.flip", True, "flip = true"),
        ("objective.name", "arcface", "ArcFace"),
        ("objective.name", "sphere", "sphere"),
        ("epoch", 100, "epoch 100"),
        ("split", "test", "part test"),
        ("measure", "knn_top1", "kNN accuracy (%)"),
        ("measure", "norm", "embedding norm"),
    ],
)
def test_a_value_says_its_key_where_it_needs_one(key: str, given: Any, said: str) -> None:
    assert words.value(PAPER, key, given) == said


def test_a_corruption_does_not_take_the_label_of_a_method() -> None:
    """The losses of our own studies are the method ``contrast``; CIFAR-10-C has a corruption of this name."""
    ours = configured().papers["ours"]
    assert words.value(ours, "method", "contrast") == ours.label("contrast") != "contrast"
    assert words.value(ours, "corruption", "contrast") == "corruption contrast"


def test_a_point_says_dataset_and_target_together_and_leaves_out_what_it_lacks() -> None:
    point = {"method": "simclr", "dataset": "first", "epoch": 5, "target": "second"}
    assert (
        words.point(PAPER, point, ("dataset", "logits.s", "epoch", "target"))
        == "FIRST-10 → Second-100, epoch 5"
    )


@pytest.mark.parametrize(
    ("points", "keys"),
    [
        ([{"method": "a", "variant": "x"}, {"method": "a", "variant": "y"}], ("variant",)),
        ([{"method": "a", "variant": "x"}], ("method", "variant")),
        ([{"variant": "x"}, {"variant": "x", "logits.s": 1}], ("logits.s",)),
        (
            [{"batch.size": 64, "batch.micro": 64}, {"batch.size": 128, "batch.micro": 128}],
            ("batch.size",),
        ),
        (
            [{"batch.size": 64, "batch.micro": 64}, {"batch.size": 128, "batch.micro": 64}],
            ("batch.size",),
        ),
        ([{"dataset": "a", "target": "a"}, {"dataset": "b", "target": "b"}], ("dataset", "target")),
    ],
)
def test_keys_that_vary_tell_points_apart(
    points: list[dict[str, Any]], keys: tuple[str, ...]
) -> None:
    assert words.varying(points) == keys


def ends(*shown: str) -> list[float]:
    """The ends of all intervals in texts."""
    found = [pair for text in shown for pair in re.findall(r"\[([^],]+), ([^]]+)\]", text)]
    return [float(end.replace("−", "-")) for pair in found for end in pair]


RANGED = [name for name, one in MEASURES.items() if one.low > -LARGEST or one.high < LARGEST]


@pytest.mark.parametrize("name", RANGED)
def test_no_interval_that_is_shown_leaves_the_range_of_its_measure(name: str) -> None:
    """Of values and of differences, on the pages, in sentences, in tables and in figures. Those of files stay."""
    config, measure = configured(), MEASURES[name]
    far = {"low": -1e6, "high": 1e6}
    unadjusted = {
        "low_unadjusted": -2e6,
        "high_unadjusted": 2e6,
        "reported_low": -1e6,
        "reported_high": 1e6,
    }
    difference = tables.rows(
        made_up.table([made_up.comparison("one", 1, 1, metric=name, **far, **unadjusted)])
    )[0]
    value = difference | {"kind": "value", "baseline": ""}
    cell = Point({"measure": name}, {"mean": 50.0, "low": -1e6, "high": 1e6})
    effect = {"effect": 1.0, "low_holm": -1e6, "high_holm": 1e6, "low_power": False}
    widest = measure.high - measure.low
    shown = entries.entry(config, value)
    said = findings.numbers(value)
    values = ends(shown.intervals, said["interval"], said["adjusted"]) + list(cell.ends)
    assert len(values) > 6
    assert all(measure.low <= end <= measure.high for end in values)
    shown = entries.entry(config, difference)
    said = findings.numbers(difference)
    published = cards.published_number(difference)
    differences = ends(shown.intervals, published, said["interval"], said["adjusted"])
    assert len(differences) == 10
    assert all(-widest <= end <= widest for end in differences)
    # the csv has what was computed
    assert Point(cell.coordinates, cell.summary, effect).fields["effect_high"] == 1e6


def test_an_interval_within_the_range_is_as_it_was() -> None:
    measure = MEASURES["knn_top1"]
    assert words.interval(29.5, 105.7, 1, measure, sign=False) == "[29.5, 100.0]"
    assert words.interval(-105.7, 3.0, 1, measure) == "[−100.0, +3.0]"
    assert words.interval(29.5, 95.7, 1, measure, sign=False) == "[29.5, 95.7]"
    assert words.interval(-200.0, 1e9, 0, None) == "[−200, +1000000000]"
    assert math.isnan(measure.within(math.nan))
