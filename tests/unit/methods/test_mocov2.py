"""MoCo v2's wiring: queries, keys of a momentum target, a queue, and whose statistics batch norm takes."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from lightly.loss import NTXentLoss
from torch import Tensor

from hypersphere import prng
from hypersphere.methods.base import Batch, Method
from hypersphere.methods.mocov2 import mocov2
from hypersphere.objectives.momentum_contrast import momentum_contrast

from .shared import make_batch, make_parts, normed, step


def contrast(q: Tensor, k: Tensor, queue: Tensor) -> Tensor:
    return momentum_contrast(q, k, queue, temperature=0.2)


def make(**options: Any) -> Method:
    method = mocov2(make_parts(contrast), **{"hidden": 7, "dim": 4, "queue": 12} | options)
    method.begin()
    return method


def queries(method: Method, images: Tensor) -> Tensor:
    return method.get_submodule("projector")(method.encoder(images))


def keys(method: Method, images: Tensor) -> Tensor:
    slow = method.get_submodule("target")
    return slow.get_submodule("projector")(slow.get_submodule("encoder")(images)).detach()


def given(method: Method, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """The q, k and queue that the method gives its objective."""
    seen: list[Tensor] = []

    def recording(q: Tensor, k: Tensor, queue: Tensor) -> Tensor:
        seen.extend([q.detach(), k.clone(), queue.clone()])
        return contrast(q, k, queue)

    method.objective = recording
    method(batch)
    return seen[0], seen[1], seen[2]


def test_lightlys_loss_with_its_memory_bank_is_ours() -> None:
    """Four steps on a queue that a step's keys divide: equal losses, and in the end the same keys."""
    method = make(queue=15, momentum=0.5)
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
    method = make(momentum=0.5, queue=20)
    start = method.get_buffer("queue").clone()
    passes = [make_batch(n, seed=n) for n in (2, 4, 3)]
    joining = [F.normalize(keys(copy.deepcopy(method), batch.views[1])) for batch in passes]
    seen = [given(method, batch)[2] for batch in passes]
    assert all(torch.equal(queue, start) for queue in seen)
    assert torch.equal(method.get_buffer("queue"), start)
    method.after_step(0.5, 0.5)
    torch.testing.assert_close(method.get_buffer("queue"), torch.cat([start[9:], *joining]))
    once = method.get_buffer("queue").clone()
    method.after_step(0.5, 0.5)  # nothing is waiting any more
    assert torch.equal(method.get_buffer("queue"), once)


@pytest.mark.parametrize("places", [1, 4, 5])
def test_a_queue_shorter_than_a_steps_keys_holds_the_newest(places: int) -> None:
    method = make(queue=places)
    joining = F.normalize(keys(copy.deepcopy(method), make_batch().views[1]))
    step(method, make_batch())
    torch.testing.assert_close(method.get_buffer("queue"), joining[-places:])


def in_groups(method: Method, images: Tensor, groups: list[list[int]]) -> Tensor:
    """By hand: the target's keys where batch norm takes mean and variance over each of the groups of rows."""
    slow = method.get_submodule("target")
    rows = slow.get_submodule("encoder").get_submodule("linear")(images.flatten(1))
    features = torch.empty_like(rows)
    for group in groups:
        features[group] = normed(rows[group])
    return slow.get_submodule("projector")(features).detach()


HALVES, MOMENT = [[0, 1, 2], [3, 4, 5]], (2, 1, 7, 3)


def shuffled_halves() -> list[list[int]]:
    order = prng.permutation(6, 2, "shuffle", 1, 7, 3).tolist()
    assert {*order[:3]} not in ({0, 1, 2}, {3, 4, 5})
    return [order[:3], order[3:]]


@pytest.mark.parametrize("groups", [[[*range(6)]], shuffled_halves()], ids=["batch", "shuffled"])
def test_whose_statistics_batch_norm_takes(groups: list[list[int]]) -> None:
    """By hand, He et al. 2020, Sec. 3.3: keys in other groups than their queries, and back in order."""
    batch = make_batch(6)._replace(rng_key=MOMENT)
    method = make(groups=len(groups))
    q, k, _ = given(method, batch)
    torch.testing.assert_close(k, in_groups(method, batch.views[1], groups), atol=1e-5, rtol=1e-4)
    own = groups if len(groups) == 1 else HALVES  # queries are never shuffled; the target is still their equal
    torch.testing.assert_close(q, in_groups(method, batch.views[0], own), atol=1e-5, rtol=1e-4)
    others = [part for part in ([[*range(6)]], HALVES, shuffled_halves()) if part != groups]
    assert all((k - in_groups(method, batch.views[1], other)).abs().max() > 1e-2 for other in others)


def test_the_order_is_drawn_for_every_pass_and_kept_for_its_repetition() -> None:
    """By seed and moment (each of these five puts other keys together), and not by torch's own generator."""
    method, partitions = make(groups=2), []
    for moment in (MOMENT, (4, 1, 7, 3), (2, 2, 7, 3), (2, 1, 8, 3), (2, 1, 7, 0)):
        halves = np.split(prng.permutation(6, moment[0], "shuffle", *moment[1:]), 2)
        expected = in_groups(method, make_batch(6).views[1], halves)  # type: ignore[arg-type]
        for seed in (0, 1):
            torch.manual_seed(seed)
            k = given(method, make_batch(6)._replace(rng_key=moment))[1]
            torch.testing.assert_close(k, expected, atol=1e-5, rtol=1e-4)
        partitions.append(frozenset(frozenset(part.tolist()) for part in halves))
    assert partitions[0] not in partitions[1:]


def test_groups_that_do_not_divide_a_pass_are_refused(refused: Any) -> None:
    with refused():
        make(groups=3)(make_batch(32))
