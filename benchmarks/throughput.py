"""Throughput of views and of whole training steps, beside lightly's and beside the bare encoder, in one run.

Everything that is compared is timed in turn, so that a slower minute of the machine slows all of it. Each repeat gives
one ratio; reported are the median and the quartiles of the ratios. It writes docs/performance.md and its figure.
"""

import argparse
import os
import platform
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import throughput_page
import throughput_steps as steps
import torch
from jaxtyping import Float
from throughput_page import Case, Measured, Page, Spread

from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Batch
from hypersphere.training.determinism import make_deterministic
from hypersphere.training.device import devices, precision

DOCS = Path(__file__).resolve().parents[1] / "docs"
QUICK = Case("three convolutions, width 16", {"name": "convnet", "width": 16}, 8, 64)
LAPTOP = Case("ResNet-8, width 16, stride 2", {"name": "resnet8", "width": 16, "stride": 2}, 16, 64)
SMALL = Case("ResNet-8, width 32, stride 2", {"name": "resnet8", "width": 32, "stride": 2}, 32, 256)
LARGE = Case("ResNet-18, CIFAR stem", {"name": "resnet", "depth": 18, "stem": "cifar"}, 32, 64)
BY_BATCH = [SMALL._replace(batch=batch) for batch in (32, 64, 128, 512)]
BY_WIDTH = [
    SMALL._replace(label=f"ResNet-8, width {width}, stride 2", encoder={**SMALL.encoder, "width": width})
    for width in (8, 16, 64)
]
CASES = ([QUICK, LAPTOP, SMALL, LARGE], BY_BATCH, BY_WIDTH)


class Clock(NamedTuple):
    """What is timed, and on what."""

    device: torch.device
    threads: int

    @property
    def is_own(self) -> bool:
        """With one thread on a CPU, seconds are the process's own, which other processes hardly change."""
        return self.device.type == "cpu" and self.threads == 1

    def describe(self) -> str:
        """What a second is."""
        return "the processor time of the process" if self.is_own else "wall time, until the device is done"

    def now(self) -> float:
        """Seconds, when all that was asked of the device is done."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.process_time() if self.is_own else time.perf_counter()

    def seconds(self, call: steps.Call) -> float:
        """Of one call, until the device has finished it."""
        begun = self.now()
        call()
        return self.now() - begun


def in_turn(calls: dict[str, steps.Call], clock: Clock, repeats: int) -> dict[str, Float[np.ndarray, "repeats"]]:
    """Seconds of each call, one after the other in each repeat, after one call of each that is not counted."""
    for call in calls.values():
        call()
    rows = [{name: clock.seconds(call) for name, call in calls.items()} for _ in range(repeats)]
    return {name: np.array([row[name] for row in rows]) for name in calls}


def our_phases(case: Case, clock: Clock, repeats: int) -> dict[str, float]:
    """Median shares of a step's parts: the calls of ``our_step``, one by one."""
    run = steps.run_of(case, steps.PLAIN)
    (method, optimiser), source = steps.our_model(run, clock.device), steps.our_source(run, case, clock.device)
    rows = []
    for _ in range(repeats + 1):
        with steps.as_trained():
            times = [clock.now()]
            source.start(0)
            views = source.views(torch.arange(case.batch))
            times.append(clock.now())
            places = torch.arange(case.batch, device=clock.device)
            loss = method(Batch(views, places, source.labels)).loss
            times.append(clock.now())
            loss.backward()
            times.append(clock.now())
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            times.append(clock.now())
        rows.append(np.diff(times))
    medians = np.median(rows[1:], axis=0)
    return dict(zip(throughput_page.PHASES, (medians / medians.sum()).tolist(), strict=True))


def measure_views(label: str, views: dict[str, Any], clock: Clock, repeats: int) -> Measured:
    """Our views against lightly's."""
    calls = {"ours": steps.our_views(SMALL, views, clock.device)}
    if steps.LIGHTLY:
        loader = steps.lightly_loader(SMALL, views)
        calls["lightly"] = lambda: next(iter(loader))
    return summarise(SMALL._replace(label=label), in_turn(calls, clock, repeats))


def measure_step(case: Case, clock: Clock, repeats: int) -> Measured:
    """Our whole step against lightly's, against the bare encoder's, and against itself in bfloat16 where that pays."""
    calls = {"ours": steps.our_step(case, clock.device), "floor": steps.floor_step(case, clock.device)}
    if (half := precision("bfloat16", clock.device)) == torch.bfloat16:
        calls["half"] = steps.our_step(case, clock.device, half)
    if steps.LIGHTLY:
        calls["lightly"] = steps.lightly_step(case, clock.device)
    return summarise(case, in_turn(calls, clock, repeats))


def summarise(case: Case, seconds: dict[str, Float[np.ndarray, "repeats"]]) -> Measured:
    """Images per second, and how many times our own time the others take (lightly) or it takes theirs (the others)."""
    ours = seconds["ours"]
    faster = Spread.of(seconds["lightly"] / ours) if "lightly" in seconds else None
    floor = Spread.of(ours / seconds["floor"]) if "floor" in seconds else None
    half = Spread.of(ours / seconds["half"]) if "half" in seconds else None
    return Measured(case, case.batch / float(np.median(ours)), faster, floor, half)


def device_name(device: torch.device) -> str:
    """The GPU's name, or the processor's where the system tells it."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def counted(text: str) -> int:
    """A number of at least one, from the command line."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1 (given: {text})")
    return int(text)


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="what to measure (default: cpu)")
    parser.add_argument("--threads", type=counted, default=1, help="CPU threads of one operation (default: 1)")
    parser.add_argument("--repeats", type=counted, default=5, help="of everything that is compared (default: 5)")
    given = parser.parse_args()
    try:
        device = devices(given.device)[0]
    except HypersphereError as error:
        parser.error(str(error))
    make_deterministic(given.threads)
    torch.set_deterministic_debug_mode("default")
    clock = Clock(device, given.threads)
    if not steps.LIGHTLY:
        print("lightly is not installed (make setup installs it): our steps are compared with the bare encoder alone")
    kinds = {"crop, flip, colour jitter, grayscale": steps.PLAIN, "the same, and blur": steps.BLURRED}
    views = [measure_views(label, kind, clock, given.repeats) for label, kind in kinds.items()]
    named, batches, widths = ([measure_step(case, clock, given.repeats) for case in cases] for cases in CASES)
    small = named[CASES[0].index(SMALL)]
    shares = [(case, our_phases(case, clock, given.repeats)) for case in CASES[0]]
    page = Page(
        device=device_name(clock.device),
        clock=clock.describe(),
        threads=given.threads,
        repeats=given.repeats,
        torch=torch.__version__.split("+")[0],
        lightly=steps.LIGHTLY,
        day=f"{datetime.now(UTC):%Y-%m-%d}",
        cores=os.cpu_count() or 1,
        load=os.getloadavg()[1],
        views=views,
        steps=named,
        by_batch=sorted([*batches, small], key=lambda measured: measured.case.batch),
        by_width=sorted([*widths, small], key=lambda measured: measured.case.encoder["width"]),
        shares=shares,
    )
    throughput_page.write(page, DOCS)


if __name__ == "__main__":
    main()
