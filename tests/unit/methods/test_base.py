"""The contract: what is copied, followed and drawn for every method."""

import copy
import math

import pytest
import scipy.stats
import torch
from lightly.models.utils import update_momentum
from lightly.utils.scheduler import cosine_schedule
from torch import Tensor, nn

from hypersphere import prng
from hypersphere.methods.base import follow, frozen_copy, momentum_at

from .shared import Flat, make_batch, make_parts


def zero(*batches: Tensor, **given: Tensor) -> Tensor:
    return batches[0].sum() * 0


def two_flats() -> tuple[nn.Module, nn.Module]:
    """Of different weights, and of different running statistics."""
    torch.manual_seed(0)
    a, b = Flat(), Flat()
    b(make_batch().views[0])
    return a, b


@pytest.mark.parametrize("momentum", [0.0, 0.25, 1.0])
def test_follow_is_lightlys_update_and_leaves_running_statistics_alone(momentum: float) -> None:
    target, online = two_flats()
    theirs, before = copy.deepcopy(target), copy.deepcopy(online.state_dict())
    kept = copy.deepcopy(dict(target.named_buffers()))
    update_momentum(online, theirs, momentum)
    follow(target, online, momentum)
    for mine, lightly in zip(target.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, lightly)
    assert all(torch.equal(before[name], tensor) for name, tensor in online.state_dict().items())
    assert all(torch.equal(kept[name], buffer) for name, buffer in target.named_buffers())
    assert not torch.equal(kept["norm.running_mean"], online.get_buffer("norm.running_mean"))


def test_momentum_rises_along_half_a_cosine() -> None:
    """By hand at base 0.9: cos(pi/3) = 1/2, so that a third of the way is 1 - 0.1 · 0.75; and lightly's schedule."""
    cosine = [momentum_at(0.9, "cosine", i / 12) for i in range(13)]
    assert [cosine[i] for i in (0, 4, 6, 12)] == pytest.approx([0.9, 0.925, 0.95, 1.0], abs=1e-12)
    assert cosine == pytest.approx([cosine_schedule(i, 13, 0.9, 1.0) for i in range(13)])
    assert [momentum_at(0.9, "constant", i / 12) for i in (0, 6, 12)] == [0.9] * 3


def test_a_frozen_copy_is_equal_and_stays() -> None:
    module, _ = two_flats()
    kept = frozen_copy(module)
    names = module.state_dict().keys()
    assert kept.state_dict().keys() == names
    assert all(torch.equal(kept.state_dict()[name], module.state_dict()[name]) for name in names)
    assert [p.requires_grad for p in kept.parameters()] == [False] * 4
    assert [p.requires_grad for p in module.parameters()] == [True] * 4
    before = copy.deepcopy(kept.state_dict())
    with torch.no_grad():
        for tensor in module.state_dict().values():
            tensor += 1
    assert all(torch.equal(before[name], tensor) for name, tensor in kept.state_dict().items())
    assert not torch.equal(before["linear.weight"], module.state_dict()["linear.weight"])


def test_unit_vectors_are_of_seed_and_purpose_alone() -> None:
    parts = make_parts(zero)
    torch.manual_seed(1)
    first = parts.unit_vectors(5, 3, "queue")
    torch.manual_seed(2)
    assert torch.equal(first, parts.unit_vectors(5, 3, "queue"))
    for other in (parts.unit_vectors(5, 3, "bank"), parts._replace(seed=1).unit_vectors(5, 3, "queue")):
        assert (first - other).abs().max() > 0.1


def test_unit_vectors_are_uniform_on_the_sphere() -> None:
    """Archimedes: on the sphere in space each coordinate is uniform in [-1, 1]."""
    vectors = make_parts(zero).unit_vectors(2000, 3, "queue").double()
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(2000, dtype=torch.float64), atol=1e-6, rtol=0)
    for coordinate in vectors.T.numpy():
        assert scipy.stats.kstest(coordinate, "uniform", (-1, 2)).pvalue > 0.01
    assert torch.corrcoef(vectors.T).fill_diagonal_(0).abs().max() < 4 / math.sqrt(2000)


def test_a_batchs_key_is_seed_purpose_and_moment() -> None:
    batch = make_batch()._replace(rng_key=(3, 1, 4, 2))
    assert batch.key("shuffle") == (3, "shuffle", 1, 4, 2)
    order = prng.permutation(50, *batch.key("shuffle"))
    assert order.tolist() == prng.permutation(50, 3, "shuffle", 1, 4, 2).tolist()
    moments = [(9, 1, 4, 2), (3, 9, 4, 2), (3, 1, 9, 2), (3, 1, 4, 9), (3, 1, 4, 2)]
    keys = [batch._replace(rng_key=moment).key("shuffle") for moment in moments] + [batch.key("noise")]
    assert len({tuple(prng.permutation(50, *key)) for key in keys}) == 6
