"""Ways to train faster on a device, each timed in turn with the plain way."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

import torch

from hypersphere.config.project import Precision
from hypersphere.speed import rate
from hypersphere.speed.trial import Trial


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
    precision: Precision = "float32"
    compiled: bool = False
    only_on: str = ""
    """The only type of device that it concerns; empty: all."""


WAYS = (
    Way("encoder compiled by torch", compiled=True),
    Way("tf32", precision="tf32", only_on="cuda"),
    Way("bfloat16", precision="bfloat16", only_on="cuda"),
    Way("fastest kernels, which need not repeat", free_kernels, only_on="cuda"),
)
"""What is compared with the plain way: eager, float32, deterministic."""
PAIRS = 3


def ratio(trial: Trial, way: Way, device: torch.device, seconds: float) -> float:
    """How many times as fast a step is by another way: the median over ``PAIRS`` pairs, each way first in turn."""
    ratios: list[float] = []
    for _ in range(PAIRS):
        each = seconds / PAIRS / 2
        plain = rate.timed(trial, device, "float32", each)
        with way.switched():  # type: ignore[attr-defined]
            other = rate.timed(trial, device, way.precision, each, compiled=way.compiled)
        ratios.append((plain.seconds / plain.steps) / (other.seconds / other.steps))
    return sorted(ratios)[PAIRS // 2]
