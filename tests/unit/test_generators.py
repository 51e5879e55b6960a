"""Keyed generators of torch: each key has its own numbers, whatever was drawn before."""

import torch

from hypersphere import prng
from hypersphere.generators import generator, normal, uniform


def test_a_key_gives_the_numbers_of_its_seed() -> None:
    """Against torch, seeded by hand."""
    by_hand = torch.Generator().manual_seed(prng.torch_seed(3, "a", 1))
    assert uniform(generator(3, "a", 1), 4).equal(
        torch.rand(4, generator=by_hand, dtype=torch.float64)
    )
    assert normal(generator(3, "a", 1), 2, 3).shape == (2, 3)


def test_other_keys_have_other_numbers() -> None:
    keys = [(0, "a"), (1, "a"), (0, "b"), (0, "a", 0)]
    drawn = {tuple(normal(generator(*key), 2).tolist()) for key in keys}
    assert len(drawn) == len(keys)


def test_numbers_are_doubles_in_their_range() -> None:
    """The mean of 10,000 is within five standard errors: of 0.5 by 0.0145, of 0 by 0.05."""
    flat, bell = uniform(generator(0, "flat"), 10_000), normal(generator(0, "bell"), 10_000)
    assert flat.dtype == bell.dtype == torch.float64
    assert 0 <= flat.min() <= flat.max() < 1
    assert abs(flat.mean() - 0.5) < 0.0145
    assert abs(bell.mean()) < 0.05
