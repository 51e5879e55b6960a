"""Methods that remember: momentum targets, what they copy and follow, and BYOL's and MoCo v3's one wiring; MoCo v2's
keys and queue, and whose statistics batch norm takes; instance discrimination's memory bank and noise."""

import copy
import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch
import torch.nn.functional as F
from lightly.loss import NTXentLoss
from torch import Tensor

from hypersphere import prng
from hypersphere.methods.base import Batch, Method, Objective
from hypersphere.methods.byol import byol
from hypersphere.methods.instance_discrimination import instance_discrimination
from hypersphere.methods.mocov2 import mocov2
from hypersphere.methods.mocov3 import mocov3
from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.momentum_contrast import momentum_contrast
from hypersphere.objectives.nonparametric_softmax import nonparametric_softmax
from hypersphere.objectives.normalised_squared_error import normalised_squared_error
from hypersphere.training.build import build_method

from ..objectives.shared import normed as unit
from ..training.conftest import make_run
from .shared import batches_seen, given, gradients, make_batch, make_parts, normed, queries, step
from .test_every_method import batch_for, build


def test_unit_vectors_are_keyed_and_uniform_on_the_sphere() -> None:
    """Archimedes: on the sphere in space each coordinate is uniform in [-1, 1]."""
    parts = make_parts(normalised_squared_error)
    vectors = parts.unit_vectors(2000, 3, "queue")
    assert torch.equal(vectors, parts.unit_vectors(2000, 3, "queue"))
    for other in (
        parts.unit_vectors(2000, 3, "bank"),
        parts._replace(seed=1).unit_vectors(2000, 3, "queue"),
    ):
        assert (vectors - other).abs().max() > 0.1
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(2000), atol=1e-6, rtol=0)
    for coordinate in vectors.T.numpy():
        assert scipy.stats.kstest(coordinate, "uniform", (-1, 2)).pvalue > 0.01
    assert torch.corrcoef(vectors.T).fill_diagonal_(0).abs().max() < 4 / math.sqrt(2000)


def keys(method: Method, images: Tensor) -> Tensor:
    slow = method.get_submodule("target")
    return slow.get_submodule("projector")(slow.get_submodule("encoder")(images)).detach()


@pytest.mark.parametrize("name", ["byol", "dino", "mocov2", "mocov3"])
def test_the_target_follows_by_hand(name: str) -> None:
    """At base 0.5, along half a cosine: 0.5, 0.625, 0.75 and 1 after nothing, a third, half and all of the steps.
    BYOL's and DINO's codes read the momentum of what was done before a step, MoCo v3's that of the next step."""
    method = build(name, momentum=0.5)
    target = method.get_submodule("target")
    expected = {key: tensor.detach().double() for key, tensor in target.named_parameters()}
    for i, (before, after) in enumerate(
        pairwise([(0.0, 0.5), (1 / 3, 0.625), (0.5, 0.75), (1.0, 1.0)])
    ):
        step(method, batch_for(name, seed=i), done=(before[0], after[0]))
        share = {"mocov2": 0.5, "mocov3": after[1]}.get(name, before[1])
        for key in expected:
            expected[key] = share * expected[key] + (1 - share) * method.state_dict()[key].double()
    for key, tensor in expected.items():
        torch.testing.assert_close(target.state_dict()[key].double(), tensor, atol=1e-6, rtol=1e-5)
    moved = [
        key
        for key in expected
        if (target.state_dict()[key] - method.state_dict()[key]).abs().max() > 1e-3
    ]
    assert len(moved) > 2
    running = "encoder.bn1.running_mean"  # it has statistics of its own
    assert not torch.equal(target.state_dict()[running], method.state_dict()[running])


contrast = partial(
    generalised_info_nce, to_logits=partial(cosine_logits, temperature=0.2), negatives="other_view"
)
"""Each query among the keys of the other view, which is not each key among the queries."""


def cross_entropy(q: Tensor, k: Tensor) -> Tensor:
    """Chen et al. 2021, Alg. 1's ctr, by hand: log-softmax over the keys, its diagonal, the mean."""
    logits = F.normalize(q) @ F.normalize(k).T / 0.2
    return -(logits.diagonal() - logits.exp().sum(1).log()).mean()


def distance(p: Tensor, z: Tensor) -> Tensor:
    """Grill et al. 2020, Sec. 3.1: 2 - 2cos."""
    return 2 - 2 * F.cosine_similarity(p, z).mean()


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(
    ("kind", "objective", "by_hand"),
    [(byol, normalised_squared_error, distance), (mocov3, contrast, cross_entropy)],
    ids=["byol", "mocov3"],
)
def test_the_loss_by_hand(
    kind: Callable[..., Method], objective: Objective, by_hand: Objective, symmetric: bool
) -> None:
    """A sum of both directions, or the first alone: then the student sees the first view, the teacher the second."""
    method = kind(make_parts(objective), hidden=7, dim=4, symmetric=symmetric)
    method.begin()
    for i in range(2):  # so that the target is not the online network
        step(method, make_batch(seed=i + 5), rate=0.3)
    seen = batches_seen(method)
    output = method(make_batch())
    passes = 2 if symmetric else 1
    assert [after - before for after, before in zip(batches_seen(method), seen, strict=True)] == [
        passes
    ] * len(seen)
    p = [method.get_submodule("predictor")(queries(method, view)) for view in make_batch().views]
    t = [keys(method, view) for view in make_batch().views]
    there, back = by_hand(p[0], t[1]), by_hand(p[1], t[0])
    torch.testing.assert_close(output.loss, there + back if symmetric else there)
    torch.testing.assert_close(output.embeddings, (torch.cat(p) if symmetric else p[0]).detach())
    assert (there - back).abs() > 1e-3


MOCOV3 = {"name": "mocov3", "hidden": 8, "dim": 4}


@pytest.mark.parametrize("logits", [None, {"name": "cosine_logits", "temperature": 0.2}])
def test_two_tau_multiplies_by_the_temperature_of_the_objective_or_the_logits(
    logits: dict[str, Any] | None,
) -> None:
    """The authors' code, erratum M22: cross-entropy times 2·t; and so the gradient."""
    objective: dict[str, Any] = {"name": "info_nce", "temperature": 0.2}
    if logits:
        objective = {"name": "generalised_info_nce", "negatives": "other_view"}
    batch = batch_for("mocov3")
    plain, scaled = (
        build_method(
            make_run(method={**MOCOV3, "two_tau": two_tau}, objective=objective, logits=logits)
        )
        for two_tau in (False, True)
    )
    losses = [method(batch).loss for method in (plain, scaled)]
    torch.testing.assert_close(losses[1], 0.4 * losses[0])
    ours, theirs = (
        gradients(method, loss)[0]
        for method, loss in zip((scaled, plain), losses[::-1], strict=True)
    )
    torch.testing.assert_close(ours, 0.4 * theirs, atol=1e-6, rtol=1e-3)


def test_two_tau_without_a_temperature_is_refused(refused: Any) -> None:
    with refused("method", "mocov3"):
        build_method(
            make_run(method={**MOCOV3, "two_tau": True}, objective={"name": "negative_cosine"})
        )
    build_method(make_run(method=MOCOV3, objective={"name": "negative_cosine"}))


# MoCo v2: a queue

queued = partial(momentum_contrast, temperature=0.2)


def make_mocov2(**options: Any) -> Method:
    method = mocov2(make_parts(queued), **{"hidden": 7, "dim": 4, "queue": 12} | options)
    method.begin()
    return method


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
    # twenty keys have joined: the oldest is at the fifth place
    ring, pointer = theirs.memory_bank.bank, 5
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


def test_whose_statistics_batch_norm_takes_and_groups_divide_a_pass(refused: Any) -> None:
    """By hand, He et al. 2020, Sec. 3.3: the pass's; or those of groups, keys in others than their queries, and back in
    order. Seed and moment decide which, and not torch's own generator: each of these puts other keys together."""
    batch, halves, partitions = make_batch(6), [[0, 1, 2], [3, 4, 5]], []

    def check(method: Method, batch: Batch, of_queries: Groups, of_keys: Groups) -> None:
        ((q, k, _),) = given(method, batch)  # the target is still the queries' equal
        torch.testing.assert_close(
            q, in_groups(method, batch.views[0], of_queries), atol=1e-5, rtol=1e-4
        )
        torch.testing.assert_close(
            k, in_groups(method, batch.views[1], of_keys), atol=1e-5, rtol=1e-4
        )

    check(make_mocov2(), batch, [[*range(6)]], [[*range(6)]])
    for moment in ((2, 1, 7, 3), (4, 1, 7, 3), (2, 2, 7, 3), (2, 1, 8, 3), (2, 1, 7, 0)):
        drawn = np.split(prng.permutation(6, moment[0], "shuffle", *moment[1:]), 2)
        partitions.append({frozenset(part.tolist()) for part in drawn})
        for seed in (0, 1):
            torch.manual_seed(seed)
            check(make_mocov2(groups=2), batch._replace(rng_key=moment), halves, drawn)
    assert partitions[0] not in [*partitions[1:], {frozenset(half) for half in halves}]
    with refused("method", "mocov2"):
        make_mocov2(groups=3)(make_batch(32))


# Instance discrimination

IMAGES = 9


def softmax(z: Tensor, index: Tensor, bank: Tensor, noise: Tensor) -> Tensor:
    return nonparametric_softmax(z, index, bank, temperature=0.5)


def make_bank(**options: Any) -> Method:
    return instance_discrimination(
        make_parts(softmax, images=IMAGES), **{"dim": 4, "noise": 6} | options
    )


def batch_of(*places: int, seed: int = 0) -> Batch:
    return make_batch(len(places), views=1, seed=seed)._replace(places=torch.tensor(places))


def test_it_is_the_softmax_over_the_bank() -> None:
    """Wu et al. 2018, Eq. 2, in a loop: the positive is the bank's row of the image's place."""
    method, batch = make_bank(), batch_of(7, 2, 0, 5, 4)
    z, bank = queries(method, batch.views[0]), method.get_buffer("bank")
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
        ((*_, noise),) = given(
            make_bank(noise=20), batch_of(0, 1, 2)._replace(rng_key=(seed, *moment))
        )
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
            for place, vector in zip(
                batch.places.tolist(), queries(method, batch.views[0]).tolist(), strict=True
            )
        }
        before = method.get_buffer("bank").clone()
        assert all(torch.equal(bank, before) for _, _, bank, _ in given(method, *passes))
        method.after_step(0.5, 0.5)
        for place, vector in new.items():
            pairs = zip(expected[place], unit(vector), strict=True)
            expected[place] = unit([momentum * a + (1 - momentum) * b for a, b in pairs])
        torch.testing.assert_close(
            method.get_buffer("bank"), torch.tensor(expected), atol=1e-5, rtol=1e-5
        )
    untouched = [2, 4, 5, 7]
    assert torch.equal(
        method.get_buffer("bank")[untouched], make_bank().get_buffer("bank")[untouched]
    )
