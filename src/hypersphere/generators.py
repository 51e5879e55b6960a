"""Torch's random numbers by a key: the same in every process, whatever was drawn before.

The bits of a generator are torch's own, and stay for as long as torch keeps them.
"""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from hypersphere import prng


def generator(seed: int, *purpose: str | int) -> Generator:
    """The generator of a key (seed, purpose, …)."""
    return Generator().manual_seed(prng.torch_seed(seed, *purpose))


def uniform(generator: Generator, *shape: int) -> Float[Tensor, "..."]:
    """Numbers in [0, 1), float64."""
    return torch.rand(*shape, generator=generator, dtype=torch.float64)


def normal(generator: Generator, *shape: int) -> Float[Tensor, "..."]:
    """Standard normal numbers, float64."""
    return torch.randn(*shape, generator=generator, dtype=torch.float64)
