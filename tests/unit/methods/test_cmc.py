"""CMC's wiring: one view, two streams of it, a projector each, nothing kept between steps."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from hypersphere.methods.base import Batch, Method
from hypersphere.methods.cmc import cmc
from hypersphere.objectives.multiview_coding import multiview_coding

from .shared import gradients, make_batch, make_parts, step

LOSS = partial(multiview_coding, temperature=0.5)


class Streams(nn.Module):
    """A stand-in: linear maps of an image's first channel, and of its other two."""

    def __init__(self) -> None:
        super().__init__()
        self.stream_dim, self.feature_dim = 5, 10
        self.first, self.rest = nn.Linear(4, 5), nn.Linear(8, 5)

    def streams(self, images: Tensor) -> tuple[Tensor, Tensor]:
        return self.first(images[:, 0].flatten(1)), self.rest(images[:, 1:].flatten(1))


def make() -> Method:
    torch.manual_seed(0)
    return cmc(make_parts(LOSS)._replace(encoder=Streams()), dim=4)


def projected(method: Method, batch: Batch) -> tuple[Tensor, Tensor]:
    lightness, colour = method.encoder.streams(batch.views[0])  # type: ignore[operator]
    return method.get_submodule("lightness")(lightness), method.get_submodule("colour")(colour)


def test_it_is_the_two_way_softmax_between_the_streams() -> None:
    """Loss and gradient by hand, from a matrix of cosines. Control: with each other's heads it is another."""
    method, batch = make(), make_batch(views=1)
    z_l, z_ab = projected(method, batch)

    def by_hand(a: Tensor, b: Tensor) -> Tensor:
        matrix = (a / a.norm(dim=1, keepdim=True)) @ (b / b.norm(dim=1, keepdim=True)).T / 0.5
        return -(matrix.softmax(1).diagonal().log() + matrix.softmax(0).diagonal().log()).mean() / 2

    output, expected = method(batch), by_hand(z_l, z_ab)
    torch.testing.assert_close(output.loss, expected)
    torch.testing.assert_close(output.embeddings, torch.cat([z_l, z_ab]).detach())
    for mine, theirs in zip(gradients(method, output.loss), gradients(method, expected), strict=True):
        torch.testing.assert_close(mine, theirs)
        assert mine.abs().max() > 1e-6
    method.lightness, method.colour = method.colour, method.lightness
    assert abs(method(batch).loss - expected) > 1e-4


@pytest.mark.trained
def test_training_tells_images_apart_() -> None:
    """Far below log 8, the loss of a method that tells none of eight apart: it goes to 0.70, and is 0.73 here."""
    method, batch = make(), make_batch(n=8, views=1)
    for _ in range(300):
        step(method, batch, rate=0.5)
    assert method(batch).loss < math.log(8) / 2
