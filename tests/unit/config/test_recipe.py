"""Views, optimiser, schedule and batch: what they refuse, in which words, and what a default means."""

from typing import Any

import pytest
from pydantic import ValidationError

from hypersphere.config.recipe import Batch, Optimiser, Schedule, Views
from hypersphere.config.validation import Strict

from ...fixtures import Refused

SGD: dict[str, Any] = {"learning_rate": 0.1, "weight_decay": 0.0}
ADAM, ADAMW = SGD | {"name": "adam"}, SGD | {"name": "adamw"}
LARS = SGD | {"name": "lars", "decay": "weights"}
COSINE: dict[str, Any] = {"epochs": 10, "warmup": 0.1}
STEP, FLAT = COSINE | {"shape": "step"}, COSINE | {"shape": "constant"}

# What is wrong, and how it is put right.
REFUSED: list[tuple[str, type[Strict], dict[str, Any], dict[str, Any]]] = [
    ("crop_scale", Views, {"crop_scale": [0.5, 0.2]}, {"crop_scale": [0.2, 0.2]}),
    ("crop_scale", Views, {"crop_scale": [0.5, 1.1]}, {"crop_scale": [0.5, 1.0]}),
    (
        "crop_padding",
        Views,
        {"crop_padding": 4, "crop_scale": [0.3, 1.0]},
        {"crop_padding": 4, "crop_scale": [0.2, 1.0]},
    ),
    ("side", Views, {"crop_padding": 4, "side": 32}, {"crop_scale": [0.3, 1.0], "side": 32}),
    (
        "normalisation.std.1",
        Views,
        {"normalisation": {"mean": [0, 0, 0], "std": [1, 0, 1]}},
        {"normalisation": {"mean": [0, 0, 0], "std": [1, 2, 1]}},
    ),
    ("blur_kernel", Views, {"blur": 1, "blur_kernel": 4}, {"blur": 1, "blur_kernel": 5}),
    ("blur_sigma", Views, {"blur": 1, "blur_sigma": [2, 1]}, {"blur": 1, "blur_sigma": [1, 1]}),
    ("blur_kernel", Views, {"blur_kernel": 5}, {"blur_kernel": 3}),
    ("blur_sigma", Views, {"blur_sigma": [0.1, 1]}, {"blur_sigma": [0.1, 2]}),
    ("nesterov", Optimiser, ADAM | {"nesterov": True}, ADAM | {"nesterov": False}),
    ("momentum", Optimiser, ADAMW | {"momentum": 0.8}, ADAMW | {"betas": [0.8, 0.9]}),
    ("betas", Optimiser, SGD | {"betas": [0.9, 0.99]}, SGD | {"momentum": 0.5}),
    ("trust", Optimiser, SGD | {"trust": 0.01}, LARS | {"trust": 0.01}),
    ("betas", Optimiser, LARS | {"betas": [0, 0]}, LARS | {"nesterov": True}),
    ("nesterov", Optimiser, SGD | {"momentum": 0, "nesterov": True}, SGD | {"momentum": 0}),
    ("decay", Optimiser, LARS | {"decay": "all"}, LARS),
    ("drops", Schedule, STEP, STEP | {"drops": [0.5]}),
    ("drops", Schedule, STEP | {"drops": [0.8, 0.6]}, STEP | {"drops": [0.6, 0.8], "factor": 0.2}),
    ("drops", Schedule, STEP | {"drops": [0.6, 0.6]}, STEP | {"drops": [0.6, 0.61]}),
    ("drops", Schedule, STEP | {"drops": [0.05]}, STEP | {"drops": [0.1]}),
    ("drops", Schedule, COSINE | {"drops": [0.5]}, COSINE | {"drops": []}),
    ("factor", Schedule, FLAT | {"factor": 0.2}, FLAT | {"factor": 0.1}),
    ("horizon", Schedule, COSINE | {"horizon": 9}, COSINE | {"horizon": 10}),
    ("size", Batch, {"size": 10, "micro": 4}, {"size": 12, "micro": 4}),
]


@pytest.mark.parametrize(
    ("field", "model", "wrong", "right"), REFUSED, ids=[str(case[2]) for case in REFUSED]
)
def test_what_does_not_go_together_is_said_in_a_sentence(
    refused: Refused, field: str, model: type[Strict], wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    """And what nearly was wrong is taken."""
    with refused(field, kind=ValidationError):
        model.model_validate(wrong)
    model.model_validate(right)


# model, a field, and values just outside and just inside of its bounds
BOUNDS: list[tuple[type[Strict], dict[str, Any], str, list[Any], list[Any]]] = [
    (Views, {}, "flip", [-0.1, 1.1], [0, 1]),
    (Views, {}, "hue", [-0.1, 0.6], [0, 0.5]),
    (Views, {}, "crop_padding", [0, -1], [1]),
    (Views, {}, "solarize", [1.1], [1]),
    (Optimiser, SGD, "learning_rate", [0, -1, float("inf")], [1e-9]),
    (Optimiser, SGD, "weight_decay", [-1e-9], [0]),
    (Optimiser, SGD, "momentum", [-0.1, 1.0], [0, 0.999]),
    (Optimiser, ADAM, "betas", [[1.0, 0.9], [0.9, 1.0], [0.9], [-0.1, 0.9]], [[0, 0]]),
    (Optimiser, LARS, "trust", [0], [1e-9]),
    (Schedule, COSINE, "epochs", [0], [1]),
    (Schedule, COSINE, "warmup", [-0.1, 1.1], [0, 1]),
    (Schedule, STEP | {"warmup": 0}, "drops", [[0.0, 0.5], [0.5, 1.0]], [[0.001, 0.999]]),
    (Schedule, STEP | {"drops": [0.5]}, "factor", [0, 1], [0.999]),
    (Schedule, COSINE, "horizon", [0], [10]),
    (Batch, {"size": 8, "micro": 4}, "micro", [0], [1, 8]),
]


@pytest.mark.parametrize(
    ("model", "rest", "field", "outside", "inside"), BOUNDS, ids=lambda value: str(value)[:30]
)
def test_values_have_bounds(
    model: type[Strict], rest: dict[str, Any], field: str, outside: list[Any], inside: list[Any]
) -> None:
    for value in outside:
        with pytest.raises(ValidationError) as caught:
            model.model_validate(rest | {field: value})
        assert {problem["loc"][0] for problem in caught.value.errors()} == {field}
    for value in inside:
        found = getattr(model.model_validate(rest | {field: value}), field)
        assert (list(found) if isinstance(found, tuple) else found) == value
