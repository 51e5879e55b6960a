from typing import Any

import pytest

from hypersphere.config import project
from hypersphere.config.artifacts import Paper
from hypersphere.report import words

from .conftest import ROOT

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
    ours = project.load(ROOT, {}).papers["ours"]
    assert words.value(ours, "method", "contrast") == ours.label("contrast") != "contrast"
    assert words.value(ours, "corruption", "contrast") == "corruption contrast"


def test_a_point_says_dataset_and_target_together_and_leaves_out_what_it_lacks() -> None:
    point = {"method": "simclr", "dataset": "first", "epoch": 5, "target": "second"}
    assert words.point(PAPER, point, ("dataset", "logits.s", "epoch", "target")) == "FIRST-10 → Second-100, epoch 5"


@pytest.mark.parametrize(
    ("points", "keys"),
    [
        ([{"method": "a", "variant": "x"}, {"method": "a", "variant": "y"}], ("variant",)),
        ([{"method": "a", "variant": "x"}], ("method", "variant")),
        ([{"variant": "x"}, {"variant": "x", "logits.s": 1}], ("logits.s",)),
        ([{"batch.size": 64, "batch.micro": 64}, {"batch.size": 128, "batch.micro": 128}], ("batch.size",)),
        ([{"batch.size": 64, "batch.micro": 64}, {"batch.size": 128, "batch.micro": 64}], ("batch.size",)),
        ([{"dataset": "a", "target": "a"}, {"dataset": "b", "target": "b"}], ("dataset", "target")),
    ],
)
def test_keys_that_vary_tell_points_apart(points: list[dict[str, Any]], keys: tuple[str, ...]) -> None:
    assert words.varying(points) == keys
