"""Methods that remember: MoCo v2's keys and queue, and whose statistics batch norm takes; instance discrimination's one
view, memory bank and keyed noise."""

import copy
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from lightly.loss import NTXentLoss
from torch import Tensor

from hypersphere import prng
from hypersphere.methods.base import Batch, Method
from hypersphere.methods.instance_discrimination import instance_discrimination
from hypersphere.methods.mocov2 import mocov2
from hypersphere.objectives.momentum_contrast import momentum_contrast
from hypersphere.objectives.nonparametric_softmax import nonparametric_softmax

from .shared import given, make_batch, make_parts, normed, step

contrast = partial(momentum_contrast, temperature=0.2)


def make_mocov2(**options: Any) -> Method:
    method = mocov2(make_parts(contrast), **{"hidden": 7, "dim": 4, "queue": 12} | options)
    method.begin()
    return method


def queries(method: Method, images: Tensor) -> Tensor:
    return method.get_submodule("projector")(method.encoder(images))


def keys(method: Method, images: Tensor) -> Tensor:
    slow = method.get_submodule("target")
    return slow.get_submodule("projector")(slow.get_submodule("encoder")(images)).detach()


def test_lightlys_loss_with_its_memory_bank_is_ours() -> None:
    """Four steps on a queue that a step's keys divide: equal losses, and in the end the same keys."""
    method = make_mocov2(queue=15, momentum=0.5)
    theirs = NTXentLoss(temperature=0.2, memory_bank_size=(15, 4))
    theirs.memory_bank.bank = method.get_buffer("queue").clone()
    for i in range(4):
        a, b = make_batch(seed=i).views
        expected = theirs(queries(method, a), keys(method, b))
        torch.testing.assert_close(copy.deepcopy(method)(make_batch(seed=i)).loss, expected)
        step(method, make_batch(seed=i), rate=0.3)
    ring, pointer = theirs.memory_bank.bank, 5  # twenty keys have joined: the oldest is at the fifth place
    torch.testing.assert_close(method.get_buffer("queue"), ring.roll(-pointer, 0))
    assert int(theirs.memory_bank.bank_ptr) == pointer


def test_the_keys_of_a_steps_passes_wait_for_its_end() -> None:
    """By hand: three passes of a step see one queue; then all their keys join, the first pass's first."""
    method = make_mocov2(momentum=0.5, queue=20)
    start = method.get_buffer("queue").clone()
    passes = [make_batch(n, seed=n) for n in (2, 4, 3)]
    joining = [F.normalize(keys(copy.deepcopy(method), batch.views[1])) for batch in passes]
    assert all(torch.equal(queue, start) for _, _, queue in given(method, *passes))
    assert torch.equal(method.get_buffer("queue"), start)
    method.after_step(0.5, 0.5)
    torch.testing.assert_close(method.get_buffer("queue"), torch.cat([start[9:], *joining]))
    once = method.get_buffer("queue").clone()
    method.after_step(0.5, 0.5)  # nothing is waiting any more
    assert torch.equal(method.get_buffer("queue"), once)


@pytest.mark.parametrize("places", [1, 4, 5])
def test_a_queue_shorter_than_a_steps_keys_holds_the_newest(places: int) -> None:
    method = make_mocov2(queue=places)
    joining = F.normalize(keys(copy.deepcopy(method), make_batch().views[1]))
    step(method, make_batch())
    torch.testing.assert_close(method.get_buffer("queue"), joining[-places:])


Groups = Sequence[Sequence[int] | np.ndarray]


def in_groups(method: Method, images: Tensor, groups: Groups) -> Tensor:
    """By hand: the target's keys where batch norm takes mean and variance over each of the groups of rows."""
    slow = method.get_submodule("target")
    rows = slow.get_submodule("encoder").get_submodule("linear")(images.flatten(1))
    features = torch.empty_like(rows)
    for group in groups:
        features[group] = normed(rows[group])
    return slow.get_submodule("projector")(features).detach()


MOMENTS = ((2, 1, 7, 3), (4, 1, 7, 3), (2, 2, 7, 3), (2, 1, 8, 3), (2, 1, 7, 0))


def test_whose_statistics_batch_norm_takes() -> None:
    """By hand, He et al. 2020, Sec. 3.3: the pass's; or those of groups, keys in others than their queries, and back in
    order. Seed and moment decide which, and not torch's own generator: each of these puts other keys together.
    """
    batch, halves, partitions = make_batch(6), [[0, 1, 2], [3, 4, 5]], []

    def check(method: Method, batch: Batch, of_queries: Groups, of_keys: Groups) -> None:
        ((q, k, _),) = given(method, batch)  # the target is still the queries' equal
        torch.testing.assert_close(q, in_groups(method, batch.views[0], of_queries), atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(k, in_groups(method, batch.views[1], of_keys), atol=1e-5, rtol=1e-4)

    check(make_mocov2(), batch, [[*range(6)]], [[*range(6)]])
    for moment in MOMENTS:
        drawn = np.split(prng.permutation(6, moment[0], "shuffle", *moment[1:]), 2)
        partitions.append({frozenset(part.tolist()) for part in drawn})
        for seed in (0, 1):
            torch.manual_seed(seed)
            check(make_mocov2(groups=2), batch._replace(rng_key=moment), halves, drawn)
    assert partitions[0] not in [*partitions[1:], {frozenset(half) for half in halves}]


def test_groups_that_do_not_divide_a_pass_are_refused(refused: Any) -> None:
    with refused():
        make_mocov2(groups=3)(make_batch(32))


# Instance discrimination

IMAGES = 9


def softmax(z: Tensor, index: Tensor, bank: Tensor, noise: Tensor) -> Tensor:
    return nonparametric_softmax(z, index, bank, temperature=0.5)


def make_bank(**options: Any) -> Method:
    return instance_discrimination(make_parts(softmax, images=IMAGES), **{"dim": 4, "noise": 6} | options)


def batch_of(*places: int, seed: int = 0) -> Batch:
    return make_batch(len(places), views=1, seed=seed)._replace(places=torch.tensor(places))


def embedded(method: Method, batch: Batch) -> Tensor:
    z: Tensor = method.get_submodule("projector")(method.encoder(batch.views[0]))
    return z


def test_it_is_the_softmax_over_the_bank() -> None:
    """Wu et al. 2018, Eq. 2, in a loop: the positive is the bank's row of the image's place."""
    method, batch = make_bank(), batch_of(7, 2, 0, 5, 4)
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


def test_its_noise_is_keyed_and_drawn_anew_for_each_pass() -> None:
    """Each number of the stream of a key, which is uniform over 2^64, is one of the images."""
    for seed, *moment in ((0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)):
        ((*_, noise),) = given(make_bank(noise=20), batch_of(0, 1, 2)._replace(rng_key=(seed, *moment)))
        words = prng.raw(3 * 20, seed, "noise", *moment).reshape(3, 20)
        assert noise.tolist() == [[int(word) % IMAGES for word in row] for row in words]


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
def test_rows_of_the_images_seen_move_after_each_step(momentum: float) -> None:
    """Three steps of two passes, by hand on lists; the passes of a step see the bank as it was before the step."""
    method = make_bank(momentum=momentum)
    expected = method.get_buffer("bank").tolist()
    for k in range(3):
        passes = [batch_of(0, 3, 6, seed=2 * k), batch_of(1, 8, seed=2 * k + 1)]
        new = {
            place: vector
            for batch in passes
            for place, vector in zip(batch.places.tolist(), embedded(method, batch).tolist(), strict=True)
        }
        before = method.get_buffer("bank").clone()
        assert all(torch.equal(bank, before) for _, _, bank, _ in given(method, *passes))
        method.after_step(0.5, 0.5)
        for place, vector in new.items():
            mixed = [
                momentum * a + (1 - momentum) * b / math.hypot(*vector)
                for a, b in zip(expected[place], vector, strict=True)
            ]
            expected[place] = [x / math.hypot(*mixed) for x in mixed]
        torch.testing.assert_close(method.get_buffer("bank"), torch.tensor(expected), atol=1e-5, rtol=1e-5)
    untouched = [2, 4, 5, 7]
    assert torch.equal(method.get_buffer("bank")[untouched], make_bank().get_buffer("bank")[untouched])
