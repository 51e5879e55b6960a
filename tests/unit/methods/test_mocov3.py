"""MoCo v3's heads and factor; its wiring, which BYOL shares, is in test_bootstrap.py."""

from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Method
from hypersphere.methods.mocov3 import mocov3
from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.training.build import build_method

from .shared import Layer, described, gradients, make_batch, make_parts, make_run

METHOD = {"name": "mocov3", "hidden": 8, "dim": 4}
OPEN = {"name": "generalised_info_nce", "negatives": "other_view"}


def contrast(q: Tensor, k: Tensor) -> Tensor:
    """Each query among the keys of the other view, at temperature 0.2."""
    return generalised_info_nce(q, k, lambda c, t: cosine_logits(c, t, temperature=0.2), negatives="other_view")


def make(temperature: float | None = None, **options: Any) -> Method:
    method = mocov3(make_parts(contrast, temperature=temperature), **{"hidden": 7, "dim": 4} | options)
    method.begin()
    return method


def hidden(inputs: int) -> list[Layer]:
    return [("linear", inputs, 7, False), ("batch norm", 7, True), ("ReLU",)]


END: list[Layer] = [("linear", 7, 4, False), ("batch norm", 4, False)]


def test_its_heads_are_the_authors() -> None:
    """Their code: three layers behind a ViT, two in the predictor, no bias, batch norm to the end of both."""
    method = make()
    assert described(method.get_submodule("projector")) == [*hidden(6), *hidden(7), *END]
    assert described(method.get_submodule("predictor")) == [*hidden(4), *END]


@pytest.mark.parametrize(
    ("options", "projector", "predictor"),
    [
        ({"layers": 2, "predictor_layers": 3}, [*hidden(6), *END], [*hidden(4), *hidden(7), *END]),
        (
            {"layers": 2, "last_batch_norm": False},
            [*hidden(6), ("linear", 7, 4, False)],
            [*hidden(4), ("linear", 7, 4, False)],
        ),
        (
            {"layers": 2, "last_batch_norm": False, "bias": True},
            [*hidden(6), ("linear", 7, 4, True)],
            [*hidden(4), ("linear", 7, 4, True)],
        ),
        (
            {"layers": 2, "batch_norm": False},
            [("linear", 6, 7, False), ("ReLU",), *END],
            [("linear", 4, 7, False), ("ReLU",), *END],
        ),
    ],
)
def test_the_heads_options(options: dict[str, Any], projector: list[Layer], predictor: list[Layer]) -> None:
    method = make(**options)
    assert described(method.get_submodule("projector")) == projector
    assert described(method.get_submodule("predictor")) == predictor


@pytest.mark.parametrize("temperature", [0.2, 1.0])
def test_two_tau_multiplies_loss_and_gradient(temperature: float) -> None:
    """The authors' code, erratum M22: cross-entropy times 2·t. In float64: a bias before batch norm has the gradient 0,
    which no tolerance relative to it covers."""
    plain, scaled = make(temperature).double(), make(temperature, two_tau=True).double()
    batch = make_batch()
    batch = batch._replace(views=batch.views.double())
    a, b = plain(batch), scaled(batch)
    torch.testing.assert_close(b.loss, 2 * temperature * a.loss)
    for mine, theirs in zip(gradients(plain, a.loss), gradients(scaled, b.loss), strict=True):
        torch.testing.assert_close(theirs, 2 * temperature * mine, atol=1e-12, rtol=1e-12)
    assert torch.equal(a.embeddings, b.embeddings)


@pytest.mark.parametrize(
    ("objective", "logits"),
    [({"name": "info_nce", "temperature": 0.2}, None), (OPEN, {"name": "cosine_logits", "temperature": 0.2})],
)
def test_two_taus_temperature_is_the_objectives_or_the_logits(
    objective: dict[str, Any], logits: dict[str, Any] | None
) -> None:
    images = torch.rand(2, 4, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    batch = make_batch(4)._replace(views=images)
    plain, scaled = (
        build_method(make_run({**METHOD, "two_tau": two_tau}, objective, logits=logits)) for two_tau in (False, True)
    )
    torch.testing.assert_close(scaled(batch).loss, 0.4 * plain(batch).loss)


def test_two_tau_without_a_temperature_is_refused() -> None:
    run = make_run({**METHOD, "two_tau": True}, {"name": "negative_cosine"})
    with pytest.raises(HypersphereError, match="mocov3: two_tau needs"):
        build_method(run)
    build_method(make_run(METHOD, {"name": "negative_cosine"}))
