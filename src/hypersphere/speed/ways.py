"""Ways to train faster on a device, each timed in turn with the plain way."""

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

import torch

from hypersphere.config.project import Compile, Precision
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
    compile: Compile = "none"
    only_on: str = ""
    """The only type of device that it concerns; empty: all."""


PLAIN = Way("plain")
"""Eager, float32, deterministic."""
WAYS = (
    Way("encoder compiled by torch", compile="default"),
    Way("encoder compiled, in CUDA graphs", compile="reduce-overhead", only_on="cuda"),
    Way("tf32", precision="tf32", only_on="cuda"),
    Way("bfloat16", precision="bfloat16", only_on="cuda"),
    Way("fastest kernels, which need not repeat", free_kernels, only_on="cuda"),
)
"""What is compared with the plain way."""
PAIRS = 3


def ratio(trial: Trial, way: Way, device: torch.device, seconds: float) -> float:
    """How many times as fast a step is by another way: the median over ``PAIRS`` pairs, each way first in turn."""
    each = seconds / PAIRS / 2
    ratios: list[float] = []
    for pair in range(PAIRS):
        took: dict[Way, float] = {}
        for one in (PLAIN, way) if pair % 2 == 0 else (way, PLAIN):
            with one.switched():  # type: ignore[attr-defined]
                watch = rate.timed(trial, device, one.precision, each, compile=one.compile)
            took[one] = watch.seconds / watch.steps
        ratios.append(took[PLAIN] / took[way])
    return statistics.median(ratios)
