"""CMC's wiring: one view, two streams of it, a projector each, nothing kept between steps."""

import math
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from hypersphere.methods.base import Batch, Method
from hypersphere.methods.cmc import cmc
from hypersphere.objectives.multiview_coding import multiview_coding

from .shared import described, gradients, identity, make_batch, make_parts, step

LOSS = partial(multiview_coding, temperature=0.5)


class Streams(nn.Module):
    """A stand-in: linear maps of an image's first channel, and of its other two."""

    def __init__(self) -> None:
        super().__init__()
        self.stream_dim, self.feature_dim = 5, 10
        self.first, self.rest = nn.Linear(4, 5), nn.Linear(8, 5)

    def streams(self, images: Tensor) -> tuple[Tensor, Tensor]:
        return self.first(images[:, 0].flatten(1)), self.rest(images[:, 1:].flatten(1))


def make(gradient: Any = identity, **options: Any) -> Method:
    parts = make_parts(LOSS, gradient)
    torch.manual_seed(0)
    return cmc(parts._replace(encoder=Streams()), **{"dim": 4} | options)


def projected(method: Method, batch: Batch) -> tuple[Tensor, Tensor]:
    lightness, colour = method.encoder.streams(batch.views[0])  # type: ignore[operator]
    return method.get_submodule("lightness")(lightness), method.get_submodule("colour")(colour)


def test_each_stream_has_a_linear_projector_of_its_own() -> None:
    method = make()
    for name in ("lightness", "colour"):
        assert described(method.get_submodule(name)) == [("linear", 5, 4, True)]
    assert not {id(p) for p in method.get_submodule("lightness").parameters()} & {
        id(p) for p in method.get_submodule("colour").parameters()
    }


def test_a_hidden_layer() -> None:
    for name in ("lightness", "colour"):
        head = make(hidden=7).get_submodule(name)
        assert described(head) == [("linear", 5, 7, True), ("ReLU",), ("linear", 7, 4, True)]


def test_it_is_the_two_way_softmax_between_the_streams() -> None:
    """By hand, from a matrix of cosines. Control: streams projected by each other's heads give another number."""
    method, batch = make(), make_batch(views=1)
    z_l, z_ab = projected(method, batch)
    output = method(batch)
    matrix = (z_l / z_l.norm(dim=1, keepdim=True)) @ (z_ab / z_ab.norm(dim=1, keepdim=True)).T / 0.5
    expected = -(matrix.softmax(1).diagonal().log() + matrix.softmax(0).diagonal().log()).mean() / 2
    torch.testing.assert_close(output.loss, expected)
    torch.testing.assert_close(output.embeddings, torch.cat([z_l, z_ab]).detach())
    assert not output.embeddings.requires_grad
    method.lightness, method.colour = method.colour, method.lightness
    assert abs(method(batch).loss - expected) > 1e-4


def test_the_gradient_reaches_both_streams() -> None:
    """By hand, and no weight's is nothing; with a stream stopped its weights get none."""
    method, batch = make(), make_batch(views=1)
    ours = gradients(method, method(batch).loss)
    for mine, expected in zip(ours, gradients(method, LOSS(*projected(method, batch))), strict=True):
        torch.testing.assert_close(mine, expected)
        assert mine.abs().max() > 1e-6
    z_l, z_ab = projected(method, batch)
    others = torch.autograd.grad(LOSS(z_l, z_ab.detach()), list(method.parameters()), allow_unused=True)
    stopped = [name for (name, _), part in zip(method.named_parameters(), others, strict=True) if part is None]
    assert stopped == ["encoder.rest.weight", "encoder.rest.bias", "colour.0.weight", "colour.0.bias"]


@pytest.mark.trained
def test_training_tells_images_apart_and_keeps_nothing_but_weights() -> None:
    """Far below log 8, the loss of a method that tells none of eight apart: it goes to 0.70, and is 0.73 here."""
    method, batch = make(), make_batch(n=8, views=1)
    for _ in range(300):
        step(method, batch, rate=0.5)
    assert method(batch).loss < math.log(8) / 2
    assert method.state_dict().keys() == dict(method.named_parameters()).keys()
