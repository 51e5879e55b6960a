"""Instance discrimination's wiring: one view, a memory bank that moves between steps, keyed noise."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from hypersphere import prng
from hypersphere.methods.base import Batch, Method
from hypersphere.methods.instance_discrimination import instance_discrimination
from hypersphere.objectives.nonparametric_softmax import nonparametric_softmax

from .shared import make_batch, make_parts, step

IMAGES = 9


def softmax(z: Tensor, index: Tensor, bank: Tensor, noise: Tensor) -> Tensor:
    return nonparametric_softmax(z, index, bank, temperature=0.5)


def make(**options: Any) -> Method:
    return instance_discrimination(make_parts(softmax, images=IMAGES), **{"dim": 4, "noise": 6} | options)


def batch_of(*places: int, seed: int = 0) -> Batch:
    return make_batch(len(places), views=1, seed=seed)._replace(places=torch.tensor(places))


def embedded(method: Method, batch: Batch) -> Tensor:
    z: Tensor = method.get_submodule("projector")(method.encoder(batch.views[0]))
    return z


def test_it_is_the_softmax_over_the_bank() -> None:
    """Wu et al. 2018, Eq. 2, in a loop: the positive is the bank's row of the image's place."""
    method, batch = make(), batch_of(7, 2, 0, 5, 4)
    z, bank = embedded(method, batch), method.get_buffer("bank")
    output = method(batch)
    losses = []
    for vector, place in zip(F.normalize(z), batch.places, strict=True):
        logits = (bank @ vector) / 0.5
        losses.append(math.log(sum(math.exp(x) for x in logits.tolist())) - logits[place].item())
    assert output.loss.item() == pytest.approx(sum(losses) / 5, rel=1e-5)
    torch.testing.assert_close(output.embeddings, z.detach())
    moved = method(batch._replace(places=torch.tensor([2, 7, 0, 5, 4])))
    assert abs(moved.loss - output.loss) > 1e-4  # control: places matter


def spied(method: Method, *batches: Batch) -> list[tuple[Tensor, Tensor]]:
    """The bank and the noise that the objective is given in each pass."""
    given: list[tuple[Tensor, Tensor]] = []

    def spy(z: Tensor, index: Tensor, bank: Tensor, noise: Tensor) -> Tensor:
        given.append((bank.clone(), noise))
        return softmax(z, index, bank, noise)

    method.objective = spy
    step(method, *batches)
    return given


def test_its_noise_is_keyed_and_drawn_anew_for_each_pass() -> None:
    """Each number of the stream of a key, which is uniform over 2^64, is one of the images."""
    for seed, *moment in ((0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)):
        ((_, noise),) = spied(make(noise=20), batch_of(0, 1, 2)._replace(rng_key=(seed, *moment)))
        words = prng.raw(3 * 20, seed, "noise", *moment).reshape(3, 20)
        assert noise.tolist() == [[int(word) % IMAGES for word in row] for row in words]


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
def test_rows_of_the_images_seen_move_after_each_step(momentum: float) -> None:
    """Three steps of two passes, by hand on lists; the passes of a step see the bank as it was before the step."""
    method = make(momentum=momentum)
    expected = method.get_buffer("bank").tolist()
    for k in range(3):
        passes = [batch_of(0, 3, 6, seed=2 * k), batch_of(1, 8, seed=2 * k + 1)]
        new = {
            place: vector
            for batch in passes
            for place, vector in zip(batch.places.tolist(), embedded(method, batch).tolist(), strict=True)
        }
        before = method.get_buffer("bank").clone()
        assert all(torch.equal(bank, before) for bank, _ in spied(method, *passes))
        for place, vector in new.items():
            mixed = [
                momentum * a + (1 - momentum) * b / math.hypot(*vector)
                for a, b in zip(expected[place], vector, strict=True)
            ]
            expected[place] = [x / math.hypot(*mixed) for x in mixed]
        torch.testing.assert_close(method.get_buffer("bank"), torch.tensor(expected), atol=1e-5, rtol=1e-5)
    untouched = [2, 4, 5, 7]
    assert torch.equal(method.get_buffer("bank")[untouched], make().get_buffer("bank")[untouched])
