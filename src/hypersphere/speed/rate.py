"""The rate of a run on a device: milliseconds a step and their shares, operations a second, memory."""

from contextlib import suppress
from typing import NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

from hypersphere import files
from hypersphere.config.project import Compile, Precision
from hypersphere.errors import HypersphereError
from hypersphere.speed.stopwatch import PARTS, Stopwatch
from hypersphere.speed.trial import Trial
from hypersphere.training import memory, work

WARM = 3
"""Steps before the counted ones: libraries choose their kernels in the first, and momentum is allocated."""
MOST = 60
"""The most steps that are counted."""
LONG = 10_000
"""Epochs of a trial that its stopwatch ends."""


class Rate(NamedTuple):
    """What a step of a run takes on a device."""

    steps: int
    """That were counted."""
    milliseconds: float
    """Of a whole step, without waiting for the device within it."""
    shares: dict[str, float]
    """Of the parts of a step, each waited for; together 1."""
    images_a_second: float
    flops: int | None
    """Operations of a step, by torch's counter; None: they cannot be counted."""
    peak_bytes: int | None
    """The most that torch held on the device; None on a processor."""
    predicted_bytes: int | None
    """What a step keeps, as ``hypersphere cost`` predicts; None: it cannot be counted."""
    idle: float | None
    """The share of a step in which a GPU waited for the host; None on a processor."""

    @property
    def tflops(self) -> float | None:
        """10^12 operations a second."""
        return None if self.flops is None else self.flops / self.milliseconds / 1e9


def of(trial: Trial, device: torch.device, precision: Precision, seconds: float) -> Rate:
    """The rate of a trial's run, measured in about so many seconds: half for whole steps, half for their parts."""
    cuda = device.type == "cuda"
    if cuda:
        torch.cuda.reset_peak_memory_stats(device)
    whole = timed(trial, device, precision, seconds / 2)
    peak = torch.cuda.max_memory_allocated(device) if cuda else None
    parts = timed(trial, device, precision, seconds / 2, parts=True)
    total = sum(parts.spent.values())
    return Rate(
        steps=whole.steps,
        milliseconds=1000 * whole.seconds / whole.steps,
        shares={part: parts.spent[part] / total for part in PARTS},
        images_a_second=trial.run.batch.size * whole.steps / whole.seconds,
        flops=flops_of(trial),
        peak_bytes=peak,
        predicted_bytes=bytes_of(trial),
        idle=idle_share(trial, device, precision) if cuda else None,
    )


def timed(
    trial: Trial,
    device: torch.device,
    precision: Precision,
    seconds: float,
    parts: bool = False,
    compile: Compile = "none",
) -> Stopwatch:
    """The stopwatch of a trial after its last counted step."""
    long = trial._replace(epochs=LONG)
    watch = Stopwatch(long.source(device), device, WARM, MOST, seconds, parts)
    with files.temporary_folder("a trial's state") as folder, watch.running():
        progress = long.train(folder, watch, device, precision, compile=compile)
        raise HypersphereError(f"{trial.run.name}: {progress.status} before enough steps")
    return watch


def flops_of(trial: Trial) -> int | None:
    """The operations of a step."""
    run = trial.run
    with suppress(Exception):  # any method or encoder may refuse tensors without data
        one = work.flops(run, trial.size.side, trial.size.classes)
        return one * (run.batch.size // run.batch.micro)
    return None


def bytes_of(trial: Trial) -> int | None:
    """The bytes that a step keeps on its device, as they are predicted."""
    with suppress(Exception):  # as above
        return memory.needed(trial.run, trial.size).with_parts(trial.run.batch.parts)
    return None


def idle_share(trial: Trial, device: torch.device, precision: Precision) -> float:
    """The share of a step in which no kernel ran, by torch's profiler over a few steps. Untried without a GPU."""
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        watch = timed(trial, device, precision, seconds=0.0)
    steps = watch.taken
    kernels = [event for event in profiled.events() or [] if event.device_type.name == "CUDA"]
    busy_microseconds = sum(event.self_device_time_total for event in kernels)
    share = 1 - busy_microseconds / 1e6 / (watch.seconds / watch.steps * steps)
    return max(0.0, share)
