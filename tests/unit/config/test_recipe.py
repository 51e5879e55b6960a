"""Views, optimiser, schedule and batch: what they refuse, in which words, and what a default means."""

from typing import Any

import pytest
import torch
from pydantic import ValidationError

from hypersphere.config.recipe import Batch, Optimiser, Schedule, Views
from hypersphere.config.validation import Strict
from hypersphere.methods.base import Method, Parts
from hypersphere.training import optimisation

SGD: dict[str, Any] = {"learning_rate": 0.1, "weight_decay": 0.0}
ADAM, ADAMW = SGD | {"name": "adam"}, SGD | {"name": "adamw"}
LARS = SGD | {"name": "lars", "decay": "weights"}
COSINE: dict[str, Any] = {"epochs": 10, "warmup": 0.1}
STEP, FLAT = COSINE | {"shape": "step"}, COSINE | {"shape": "constant"}

# What is wrong, the whole complaint, and how it is put right.
CROP = "crop_scale: must be [smallest, largest] with smallest <= largest <= 1"
PADDED = "crop_padding: replaces the random resized crop of crop_scale; set one of the two"
SHARP = "has no effect, because blur is 0"
DROPS = "drops: must list rising fractions of the horizon for shape: step"
ALSO = "betas: lars takes momentum, nesterov, trust"
SIGMAS = "blur_sigma: must be [smallest, largest]"
BARE = "decay: must be weights for lars, which excludes biases and normalisations"
Case = tuple[dict[str, Any], str, dict[str, Any]]
REFUSED: dict[type[Strict], list[Case]] = {
    Views: [
        ({"crop_scale": [0.5, 0.2]}, CROP, {"crop_scale": [0.2, 0.2]}),
        ({"crop_scale": [0.5, 1.1]}, CROP, {"crop_scale": [0.5, 1.0]}),
        ({"crop_padding": 4, "crop_scale": [0.3, 1.0]}, PADDED, {"crop_padding": 4, "crop_scale": [0.2, 1.0]}),
        ({"blur": 1, "blur_kernel": 4}, "blur_kernel: must be odd (given: 4)", {"blur": 1, "blur_kernel": 5}),
        ({"blur": 1, "blur_sigma": [2, 1]}, SIGMAS, {"blur": 1, "blur_sigma": [1, 1]}),
        ({"blur_kernel": 5}, f"blur_kernel: {SHARP}", {"blur_kernel": 3}),
        ({"blur_sigma": [0.1, 1]}, f"blur_sigma: {SHARP}", {"blur_sigma": [0.1, 2]}),
    ],
    Optimiser: [
        (ADAM | {"nesterov": True}, "nesterov: adam takes betas", ADAM | {"nesterov": False}),
        (ADAMW | {"momentum": 0.8}, "momentum: adamw takes betas", ADAMW | {"betas": [0.8, 0.9]}),
        (SGD | {"betas": [0.9, 0.99]}, "betas: sgd takes momentum, nesterov", SGD | {"momentum": 0.5}),
        (SGD | {"trust": 0.01}, "trust: sgd takes momentum, nesterov", LARS | {"trust": 0.01}),
        (LARS | {"betas": [0, 0]}, ALSO, LARS | {"nesterov": True}),
        (SGD | {"momentum": 0, "nesterov": True}, "nesterov: needs a momentum above 0", SGD | {"momentum": 0}),
        (LARS | {"decay": "all"}, BARE, LARS),
    ],
    Schedule: [
        (STEP, DROPS, STEP | {"drops": [0.5]}),
        (STEP | {"drops": [0.8, 0.6]}, DROPS, STEP | {"drops": [0.6, 0.8], "factor": 0.2}),
        (STEP | {"drops": [0.6, 0.6]}, DROPS, STEP | {"drops": [0.6, 0.61]}),
        (STEP | {"drops": [0.05]}, "drops: the first, 0.05, is within the warm-up of 0.1", STEP | {"drops": [0.1]}),
        (COSINE | {"drops": [0.5]}, "drops: only shape: step takes it (given: cosine)", COSINE | {"drops": []}),
        (FLAT | {"factor": 0.2}, "factor: only shape: step takes it (given: constant)", FLAT | {"factor": 0.1}),
        (COSINE | {"horizon": 9}, "horizon: 9 is less than epochs 10", COSINE | {"horizon": 10}),
    ],
    Batch: [({"size": 10, "micro": 4}, "size: 10 is not a multiple of micro 4", {"size": 12, "micro": 4})],
}


@pytest.mark.parametrize(("model", "case"), [(model, case) for model, cases in REFUSED.items() for case in cases])
def test_what_does_not_go_together_is_said_in_a_sentence(model: type[Strict], case: Case) -> None:
    """And what nearly was wrong is taken."""
    wrong, words, right = case
    with pytest.raises(ValidationError) as caught:
        model.model_validate(wrong)
    (problem,) = caught.value.errors()
    assert problem["msg"] == f"Value error, {words}"
    model.model_validate(right)


# model, a field, and values just outside and just inside of its bounds
BOUNDS: list[tuple[type[Strict], dict[str, Any], str, list[Any], list[Any]]] = [
    (Views, {}, "flip", [-0.1, 1.1], [0, 1]),
    (Views, {}, "hue", [-0.1, 0.6], [0, 0.5]),
    (Views, {}, "crop_padding", [0, -1], [1]),
    (Views, {}, "jitter_coins", ["one"], ["each", "shared"]),
    (Views, {}, "jitter_order", ["any"], ["fixed", "random"]),
    (Views, {}, "solarize", [1.1], [1]),
    (Optimiser, SGD, "name", ["sdg"], ["sgd", "adam", "adamw"]),
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
    (Schedule, COSINE, "counted_in", ["epochs"], ["steps", "passes"]),
    (Batch, {"size": 8, "micro": 4}, "accumulate", ["max"], ["mean", "sum"]),
    (Batch, {"size": 8, "micro": 4}, "micro", [0], [1, 8]),
]


@pytest.mark.parametrize(("model", "rest", "field", "outside", "inside"), BOUNDS, ids=lambda value: str(value)[:30])
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


def test_every_rule_can_be_built_within_the_bounds() -> None:
    """The extremes of what is taken are taken by torch and by the library too."""
    method = Method(Parts(torch.nn.Linear(2, 2), lambda: torch.zeros(()), lambda z: z))
    extremes: list[dict[str, Any]] = [
        {"momentum": 0},
        {"momentum": 0.999, "nesterov": True},
        {"name": "lars", "momentum": 0, "decay": "weights"},
        {"name": "lars", "momentum": 0.999, "decay": "weights"},
        {"name": "adam", "betas": [0, 0]},
        {"name": "adamw", "betas": [0.999, 0.999]},
    ]
    for fields in extremes:
        optimiser = optimisation.build(method, Optimiser.model_validate(SGD | fields))
        for parameter in method.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimiser.step()
        assert all(parameter.isfinite().all() for parameter in method.parameters())


# Each class's fields that need not be set: a default may never change, since runs that leave it out keep their names.
DEFAULTS: dict[type[Strict], dict[str, Any]] = {
    Views: {"crop_scale": (0.2, 1.0), "crop_padding": None, "flip": 0.5}
    | {"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1}
    | {"jitter_probability": 0.8, "jitter_coins": "each", "jitter_order": "fixed"}
    | {"grayscale": 0.2, "blur": 0.0, "blur_kernel": 3, "blur_sigma": (0.1, 2.0), "solarize": 0.0},
    Optimiser: {"name": "sgd", "decay": "all", "momentum": 0.9, "nesterov": False}
    | {"betas": (0.9, 0.999), "trust": 0.001},
    Schedule: {"shape": "cosine", "drops": (), "factor": 0.1, "horizon": None, "counted_in": "steps"},
    Batch: {"accumulate": "mean"},
}


@pytest.mark.parametrize("model", DEFAULTS, ids=lambda model: model.__name__)
def test_defaults_are_what_they_were(model: type[Strict]) -> None:
    """A new field is added here; a line that is here stays."""
    fields = {name: field.default for name, field in model.model_fields.items() if not field.is_required()}
    assert fields == DEFAULTS[model]


# In a file: the sentence names the one that set the field
