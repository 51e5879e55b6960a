"""Instance discrimination's wiring: one view, a memory bank that moves between steps, keyed noise."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere import prng
from hypersphere.methods.base import Batch, Method
from hypersphere.methods.instance_discrimination import instance_discrimination
from hypersphere.objectives.nce_memory_bank import nce_memory_bank
from hypersphere.objectives.nonparametric_softmax import nonparametric_softmax

from .shared import described, identity, make_batch, make_parts, step

IMAGES = 9
NCE = partial(nce_memory_bank, temperature=0.5)


def softmax(z: Tensor, index: Tensor, bank: Tensor, noise: Tensor) -> Tensor:
    return nonparametric_softmax(z, index, bank, temperature=0.5)


def make(loss: Callable[..., Tensor] = softmax, gradient: Any = identity, seed: int = 0, **options: Any) -> Method:
    parts = make_parts(loss, gradient, images=IMAGES, seed=seed)
    return instance_discrimination(parts, **{"dim": 4, "noise": 6} | options)


def batch_of(*places: int, seed: int = 0) -> Batch:
    return make_batch(len(places), views=1, seed=seed)._replace(places=torch.tensor(places))


def embedded(method: Method, batch: Batch) -> Tensor:
    z: Tensor = method.get_submodule("projector")(method.encoder(batch.views[0]))
    return z


def normed(x: Tensor) -> Tensor:
    return x / x.square().sum(dim=1, keepdim=True).sqrt()


def test_its_head_is_linear_and_its_bank_one_unit_vector_for_each_image() -> None:
    method = make()
    assert described(torch.nn.Sequential(method.get_submodule("projector"))) == [("linear", 6, 4, True)]
    bank = method.get_buffer("bank")
    assert bank.shape == (IMAGES, 4)
    torch.testing.assert_close(bank.norm(dim=1), torch.ones(IMAGES))
    assert torch.equal(bank, make().get_buffer("bank"))
    assert not torch.equal(bank, make(seed=1).get_buffer("bank"))
    assert "bank" not in dict(method.named_parameters())


def test_it_is_the_softmax_over_the_bank() -> None:
    """Wu et al. 2018, Eq. 2, in a loop: the positive is the bank's row of the image's place."""
    method, batch = make(), batch_of(7, 2, 0, 5, 4)
    z, bank = embedded(method, batch), method.get_buffer("bank")
    output = method(batch)
    losses = []
    for vector, place in zip(normed(z), batch.places, strict=True):
        logits = (bank @ vector) / 0.5
        losses.append(math.log(sum(math.exp(x) for x in logits.tolist())) - logits[place].item())
    assert output.loss.item() == pytest.approx(sum(losses) / 5, rel=1e-5)
    torch.testing.assert_close(output.embeddings, z.detach())
    assert not output.embeddings.requires_grad
    moved = method(batch._replace(places=torch.tensor([2, 7, 0, 5, 4])))
    assert abs(moved.loss - output.loss) > 1e-4  # control: places matter


def test_its_noise_is_what_the_objective_is_given() -> None:
    method, batch = make(NCE), batch_of(7, 2, 0, 5, 4)._replace(rng_key=(3, 1, 4, 1))
    words = prng.raw(5 * 6, 3, "noise", 1, 4, 1)
    noise = torch.tensor([[int(word) % IMAGES for word in row] for row in words.reshape(5, 6)])
    given = embedded(method, batch), batch.places, method.get_buffer("bank")
    expected = NCE(*given, noise)
    torch.testing.assert_close(method(batch).loss, expected)
    assert abs(NCE(*given, noise.roll(1)) - expected) > 1e-5  # control: which noise matters


def noise_of(moment: tuple[int, ...], count: int = 6) -> Tensor:
    """What the objective gets, by a spy."""
    drawn = []

    def spy(z: Tensor, index: Tensor, bank: Tensor, noise: Tensor) -> Tensor:
        drawn.append(noise)
        return z.sum()

    make(spy, noise=count)(batch_of(0, 1, 2, 3, 4)._replace(rng_key=moment))
    return drawn[0]


def test_noise_is_uniform_and_drawn_anew_for_each_pass() -> None:
    """Pearson's chi-squared over 9 images, 8 degrees of freedom: below 26.1 but for one in a thousand. Control: noise
    that leaves one image out is far above. Between moments, equal entries are as rare as chance has them, 1/9."""
    many = noise_of((0, 0, 0, 0), 2000)
    counts = many.flatten().bincount(minlength=IMAGES).double()
    expected = 10_000 / IMAGES
    assert ((counts - expected) ** 2 / expected).sum() < 26.1
    counts[0] = 0
    assert ((counts - expected) ** 2 / expected).sum() > 1000
    assert torch.equal(noise_of((0, 0, 0, 0), 2000), many)
    for other in [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]:
        assert (noise_of(other, 2000) == many).double().mean().item() == pytest.approx(1 / 9, abs=0.015)
    assert (many[0] == many[1]).double().mean().item() == pytest.approx(1 / 9, abs=0.035)  # rows differ as well


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
        step(method, *passes)
        for place, vector in new.items():
            mixed = [
                momentum * a + (1 - momentum) * b / math.hypot(*vector)
                for a, b in zip(expected[place], vector, strict=True)
            ]
            expected[place] = [x / math.hypot(*mixed) for x in mixed]
        torch.testing.assert_close(method.get_buffer("bank"), torch.tensor(expected), atol=1e-5, rtol=1e-5)
    untouched = [2, 4, 5, 7]
    assert torch.equal(method.get_buffer("bank")[untouched], make().get_buffer("bank")[untouched])


def test_the_bank_rests_within_a_step() -> None:
    banks = []

    def spy(z: Tensor, index: Tensor, bank: Tensor, noise: Tensor) -> Tensor:
        banks.append(bank.clone())
        return softmax(z, index, bank, noise)

    method = make(spy)
    step(method, batch_of(0, 3, 6), batch_of(1, 8))
    step(method, batch_of(0, 3, 6))
    assert torch.equal(banks[0], banks[1])
    assert (banks[2][[0, 3, 6, 1, 8]] != banks[1][[0, 3, 6, 1, 8]]).any(dim=1).all()
