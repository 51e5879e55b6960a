"""Ways to train faster on a device, each timed in turn with the plain way."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

import torch

from hypersphere.speed import rate
from hypersphere.speed.trial import Trial


@contextmanager
def tf32() -> Iterator[None]:
    """Products of matrices in TF32; convolutions in float32 are in TF32 by torch's default."""
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision("highest")


@contextmanager
def without_tf32() -> Iterator[None]:
    """Convolutions in float32, too."""
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = True


@contextmanager
def free_kernels() -> Iterator[None]:
    """Whichever kernels are fastest, also those whose bytes do not repeat."""
    torch.set_deterministic_debug_mode("default")
    torch.backends.cudnn.benchmark = True
    try:
        yield
    finally:
        torch.backends.cudnn.benchmark = False
        torch.set_deterministic_debug_mode("error")


class Way(NamedTuple):
    """How a run is trained otherwise than by default."""

    name: str
    switched: Callable[[], object] = nullcontext
    """A context in which it is trained."""
    precision: torch.dtype = torch.float32
    only_on: str = ""
    """The only type of device that it concerns; empty: all."""


WAYS = (
    Way("tf32 in products of matrices, too", tf32, only_on="cuda"),
    Way("no tf32", without_tf32, only_on="cuda"),
    Way("bfloat16", precision=torch.bfloat16, only_on="cuda"),
    Way("fastest kernels, which need not repeat", free_kernels, only_on="cuda"),
)
"""What is compared with the plain way: eager, float32, deterministic."""
PAIRS = 3


def ratio(trial: Trial, way: Way, device: torch.device, seconds: float) -> float:
    """How many times as fast a step is by another way: the median over ``PAIRS`` pairs, each way first in turn."""
    ratios: list[float] = []
    for _ in range(PAIRS):
        each = seconds / PAIRS / 2
        plain = rate.timed(trial, device, torch.float32, each)
        with way.switched():  # type: ignore[attr-defined]
            other = rate.timed(trial, device, way.precision, each)
        ratios.append((plain.seconds / plain.steps) / (other.seconds / other.steps))
    return sorted(ratios)[PAIRS // 2]
