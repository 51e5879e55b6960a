"""MoCo v3's wiring: queries from a predictor, keys from a momentum target, negatives from the batch."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Method
from hypersphere.methods.mocov3 import mocov3
from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.training.build import build_method

from .shared import Layer, batches_seen, described, gradients, make_batch, make_parts, make_run, step

METHOD = {"name": "mocov3", "hidden": 8, "dim": 4}
OPEN = {"name": "generalised_info_nce", "negatives": "other_view"}


def contrast(q: Tensor, k: Tensor) -> Tensor:
    """Each query among the keys of the other view, at temperature 0.2."""
    return generalised_info_nce(q, k, lambda c, t: cosine_logits(c, t, temperature=0.2), negatives="other_view")


def make(temperature: float | None = None, **options: Any) -> Method:
    method = mocov3(make_parts(contrast, temperature=temperature), **{"hidden": 7, "dim": 4} | options)
    method.begin()
    return method


def moved(**options: Any) -> Method:
    """After two steps, so that the target is not the online network."""
    method = make(**options)
    for i in range(2):
        step(method, make_batch(seed=i + 5), fraction=0.5, rate=0.3)
    return method


def both(method: Method, stop: bool = True) -> tuple[list[Tensor], list[Tensor]]:
    """Queries and keys, view by view; the keys without a graph, or (a control) the online embeddings with it."""
    views = make_batch().views
    z = [method.get_submodule("projector")(method.encoder(view)) for view in views]
    q = [method.get_submodule("predictor")(part) for part in z]
    slow = method.get_submodule("target")
    keys = [slow.get_submodule("projector")(slow.get_submodule("encoder")(view)).detach() for view in views]
    return q, (keys if stop else z)


def cross_entropy(q: Tensor, k: Tensor, temperature: float = 0.2) -> Tensor:
    """Chen et al. 2021, Alg. 1's ctr, by hand: log-softmax over the keys, its diagonal, the mean."""
    logits = F.normalize(q) @ F.normalize(k).T / temperature
    return -(logits.diagonal() - logits.exp().sum(1).log()).mean()


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


@pytest.mark.parametrize("symmetric", [True, False])
def test_its_loss_by_hand(symmetric: bool) -> None:
    """Chen et al. 2021, Alg. 1: ctr(q1, k2) + ctr(q2, k1), a sum; or the first term alone."""
    method = moved(symmetric=symmetric)
    output = method(make_batch())
    q, k = both(method)
    terms = [cross_entropy(q[0], k[1]), cross_entropy(q[1], k[0])]
    torch.testing.assert_close(output.loss, terms[0] + terms[1] if symmetric else terms[0])
    torch.testing.assert_close(output.embeddings, (torch.cat(q) if symmetric else q[0]).detach())
    assert (terms[0] - terms[1]).abs() > 1e-3


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_gradient_stops_at_keys(symmetric: bool) -> None:
    """By hand, keys without a graph; control: online embeddings as keys, with a graph."""
    method = make(symmetric=symmetric)  # the target's values are those of the online network
    ours = gradients(method, method(make_batch()).loss)

    def by_hand(stop: bool) -> list[Tensor]:
        q, k = both(method, stop)
        terms = [cross_entropy(q[0], k[1]), cross_entropy(q[1], k[0])]
        return gradients(method, terms[0] + terms[1] if symmetric else terms[0])

    for mine, expected in zip(ours, by_hand(stop=True), strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-4, rtol=1e-3)
    assert (ours[0] - by_hand(stop=False)[0]).abs().max() > 1e-2


def test_both_directions_swap_and_one_does_not() -> None:
    batch = make_batch()
    swapped = batch._replace(views=batch.views.flip(0))
    method = moved()
    torch.testing.assert_close(method(batch).loss, method(swapped).loss)
    method = moved(symmetric=False)
    assert (method(batch).loss - method(swapped).loss).abs() > 1e-3


@pytest.mark.parametrize("symmetric", [True, False])
def test_which_network_sees_which_view(symmetric: bool) -> None:
    """Margins paper, App. C.1: the student sees the first view alone, the teacher the second."""
    method, passes = make(symmetric=symmetric), 2 if symmetric else 1
    method(make_batch())
    assert batches_seen(method) == [passes] * len(batches_seen(method))
    other = make_batch(seed=1).views
    output = make(symmetric=symmetric)(make_batch())
    changed = make(symmetric=symmetric)(make_batch()._replace(views=torch.stack([make_batch().views[0], other[1]])))
    assert torch.equal(output.embeddings, changed.embeddings) != symmetric
    assert not torch.equal(output.loss, changed.loss)


@pytest.mark.parametrize("temperature", [0.2, 1.0])
def test_two_tau_multiplies_loss_and_gradient(temperature: float) -> None:
    """The authors' code, erratum M22: cross-entropy times 2·t."""
    plain, scaled = make(temperature), make(temperature, two_tau=True)
    a, b = plain(make_batch()), scaled(make_batch())
    torch.testing.assert_close(b.loss, 2 * temperature * a.loss)
    for mine, theirs in zip(gradients(plain, a.loss), gradients(scaled, b.loss), strict=True):
        torch.testing.assert_close(theirs, 2 * temperature * mine, atol=1e-5, rtol=1e-3)
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
    with pytest.raises(HypersphereError) as caught:
        build_method(run)
    assert str(caught.value) == "method: mocov3: two_tau needs an objective or logits with a temperature"
    build_method(make_run(METHOD, {"name": "negative_cosine"}))
