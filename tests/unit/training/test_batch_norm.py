"""Batch norm needs two images a pass: each method and encoder says whether it has any, and a plan asks."""

from itertools import product
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from torch import nn

from hypersphere.config import registry
from hypersphere.config.run import Run
from hypersphere.methods.base import Parts

from ...of_images import METHODS
from .conftest import make_run
from .test_compatibility import component, pair

OBJECTIVES = {
    method: next(
        one for one in registry.names("objectives") if registry.misfit(method, one) is None
    )
    for method in METHODS
}
ENCODERS = ("convnet", "lab_streams", "resnet", "resnet8", "vit")


class Features(nn.Module):
    """An encoder without any batch norm: four features, two of each stream."""

    feature_dim, stream_dim = 4, 2


def has_batch_norm(module: nn.Module) -> bool:
    return any(isinstance(one, nn.modules.batchnorm._BatchNorm) for one in module.modules())


def of_method(name: str) -> list[dict[str, Any]]:
    """A method with each choice of its switches; the words of a choice stand for themselves."""
    fields = registry.schema("methods", name).model_fields
    switches = [key for key, field in fields.items() if field.annotation is bool]
    choices = product(*[(False, True) for _ in switches])
    return [
        component("methods", name) | dict(zip(switches, choice, strict=True)) for choice in choices
    ]


ALL = [(name, given) for name in METHODS for given in of_method(name)]


def as_declared(kind: registry.Kind, given: dict[str, Any]) -> bool:
    """By the constant alone."""
    declared = registry.read_constant(kind, given["name"], "BATCH_NORM", False)
    return declared if isinstance(declared, bool) else any(given[name] for name in declared)


@pytest.mark.parametrize(("name", "given"), ALL)
def test_the_heads_of_a_method_have_batch_norm_where_it_says_so(
    name: str, given: dict[str, Any]
) -> None:
    parts = Parts(Features(), torch.add, torch.abs, images=5, classes=3, temperature=0.5)
    parameters = {key: value for key, value in given.items() if key != "name"}
    method = registry.load("methods", name)(parts, **parameters)
    assert has_batch_norm(method) == as_declared("methods", given)


def test_the_table_has_both_answers() -> None:
    assert {as_declared("methods", given) for _, given in ALL} == {True, False}
    assert (
        tuple(
            n
            for n in registry.names("encoders")
            if registry.read_constant("encoders", n, "KIND", "image") == "image"
        )
        == ENCODERS
    )


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_has_batch_norm_where_it_says_so(name: str) -> None:
    small = {
        "vit": {"image_size": 8, "patch": 4, "depth": 1, "width": 12},
        "resnet": {"depth": 18, "stem": "cifar"},
    }
    given = small.get(
        name, {key: value for key, value in component("encoders", name).items() if key != "name"}
    )
    encoder = registry.load("encoders", name)(**given)
    assert has_batch_norm(encoder) == registry.read_constant("encoders", name, "BATCH_NORM", False)


VIT = {"name": "vit", "image_size": 8, "patch": 4, "depth": 1, "width": 12, "heads": 2}


@pytest.mark.parametrize("method", METHODS)
def test_a_pass_of_one_image_is_refused_under_any_batch_norm(method: str) -> None:
    """Of an encoder as of heads; a transformer, and heads without it, take one image."""
    fields = pair(method, OBJECTIVES[method]) | {"batch": {"size": 4, "micro": 1}}
    with pytest.raises(
        ValidationError, match=r"batch\.micro: \w+ has batch norm, and a batch of one image"
    ):
        make_run(method, **fields)
    assert make_run(method, **fields | {"batch": {"size": 4, "micro": 2}}).batch.micro == 2
    if registry.read_constant("methods", method, "ENCODERS", ()):
        return
    for given in of_method(method):
        run = fields | {"encoder": VIT, "method": given}
        if as_declared("methods", given):
            with pytest.raises(ValidationError, match=rf"batch\.micro: {method} has batch norm"):
                make_run(method, **run)
        else:
            assert make_run(method, **run).batch.micro == 1


def test_a_pass_of_one_image_cannot_be_trained_under_batch_norm_of_a_vector() -> None:
    """The control: torch's own word on it, at the first step."""
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        nn.BatchNorm1d(3)(torch.ones(1, 3))
    assert isinstance(make_run("simsiam"), Run)
