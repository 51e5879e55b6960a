"""Throughput of views and of whole training steps, beside lightly's and beside the bare encoder, in one run.

Everything that is compared is timed in turn, so that a slower minute of the machine slows all of it. Each repeat gives
one ratio; reported are the median and the quartiles of the ratios. It writes docs/reference/performance.md.
"""

import argparse
import os
import platform
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import lightly
import numpy as np
import torch
from jaxtyping import Float, UInt8
from lightly.loss import NTXentLoss
from lightly.models.modules import SimCLRProjectionHead
from lightly.transforms import SimCLRTransform
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader

from hypersphere import files, prng
from hypersphere.augmentations.draws import draw
from hypersphere.augmentations.ops import make_views
from hypersphere.config.recipe import Views
from hypersphere.config.run import Run
from hypersphere.methods.base import Batch, Method
from hypersphere.report.writer import pipes
from hypersphere.training import optimisation
from hypersphere.training.build import build_encoder, build_method
from hypersphere.training.determinism import make_deterministic
from hypersphere.training.device import devices, precision
from hypersphere.training.loop import Execution, _step, passes_of
from hypersphere.training.trainers.image import Views as Source

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "performance.md"
TEMPERATURE, HIDDEN, DIM, RATE, DECAY, MOMENTUM = 0.5, 256, 128, 0.1, 1e-4, 0.9
SIGMAS = (0.1, 2.0)
# lightly's SimCLRTransform by default, without its normalisation; the window holds three deviations to each side.
PLAIN: dict[str, Any] = {
    "crop_scale": (0.08, 1.0),
    **{"brightness": 0.8, "contrast": 0.8, "saturation": 0.8, "hue": 0.2},
    **{"jitter_coins": "shared", "jitter_order": "random"},
}
BLURRED = {**PLAIN, "blur": 0.5, "blur_kernel": 13, "blur_sigma": SIGMAS}
VIEWS = {"crop, flip, colour jitter, grayscale": PLAIN, "the same, and blur": BLURRED}
PHASES = ("views", "forward", "backward", "optimiser")
COLUMNS = (
    "encoder",
    "images",
    "batch",
    "images/s",
    "lightly / ours",
    "ours / floor",
    "float32 / bfloat16",
)
Call = Callable[[], Any]
Seconds = Float[np.ndarray, "repeats"]


class Case(NamedTuple):
    """An encoder, the height and width of its images in pixels, and the images of a batch (each has two views)."""

    label: str
    encoder: dict[str, Any]
    size: int
    batch: int

    @property
    def cells(self) -> list[str]:
        """What a row of a table says of it."""
        return [self.label, f"{self.size} px", str(self.batch)]


def resnet8(width: int, size: int, batch: int) -> Case:
    """A ResNet-8 of stride 2."""
    return Case(
        f"ResNet-8, width {width}, stride 2",
        {"name": "resnet8", "width": width, "stride": 2},
        size,
        batch,
    )


QUICK = Case("three convolutions, width 16", {"name": "convnet", "width": 16}, 8, 64)
LARGE = Case("ResNet-18, CIFAR stem", {"name": "resnet", "depth": 18, "stem": "cifar"}, 32, 64)
SMALL = resnet8(32, 32, 256)
NAMED = [QUICK, resnet8(16, 16, 64), SMALL, LARGE]
GROWING = [resnet8(32, 32, batch) for batch in (32, 64, 128, 256, 512)]
GROWING += [resnet8(width, 32, 256) for width in (8, 16, 64)]


def run_of(case: Case, views: dict[str, Any]) -> Run:
    """SimCLR as lightly builds it: one pass per view, a head of two linear layers, SGD."""
    fields = {
        "dataset": {"name": "random_bytes"},
        "views": views,
        "method": {"name": "simclr", "hidden": HIDDEN, "dim": DIM},
        "objective": {"name": "nt_xent", "temperature": TEMPERATURE},
        "encoder": case.encoder,
        "optimiser": {"learning_rate": RATE, "weight_decay": DECAY, "momentum": MOMENTUM},
        "schedule": {"epochs": 1, "warmup": 0.0, "shape": "constant"},
        "batch": {"size": case.batch, "micro": case.batch},
        "seed": 0,
    }
    return Run.model_validate(fields)


def pixels_of(case: Case) -> UInt8[np.ndarray, "n h w 3"]:
    """One batch of random bytes: no operation here takes longer for one image than for another."""
    return np.random.default_rng(0).integers(
        0, 256, (case.batch, case.size, case.size, 3), dtype=np.uint8
    )


# What is timed


@contextmanager
def as_trained() -> Iterator[None]:
    """Our own step runs with deterministic algorithms, as in training; what it is compared with does not."""
    torch.set_deterministic_debug_mode("error")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode("default")


def our_views(case: Case, views: dict[str, Any], device: torch.device) -> Call:
    """Two views of a batch, and the draws for them."""
    branches, pixels = (
        [Views.model_validate(views)] * 2,
        torch.from_numpy(pixels_of(case)).to(device),
    )
    return lambda: make_views(pixels, draw(branches, case.batch, case.size, 0, 0), branches)


def our_parts(
    case: Case, device: torch.device
) -> tuple[Run, Method, torch.optim.Optimizer, Source]:
    """The run, the model and optimiser that training builds, in its memory format, and the batch as it is held."""
    run = run_of(case, PLAIN)
    method = (
        build_method(run, run.batch.size, 1).to(device, memory_format=torch.channels_last).train()
    )
    optimiser = optimisation.build(method, run.optimiser)
    optimisation.set_rate(optimiser, optimisation.peak_rate(run), 1.0)
    labels, numbers = np.zeros(case.batch, dtype=np.int64), np.arange(case.batch)
    return run, method, optimiser, Source(run, pixels_of(case), labels, numbers, device)


def our_step(case: Case, device: torch.device, precision: torch.dtype = torch.float32) -> Call:
    """Training's own step over an epoch of one batch: its draws and its order too."""
    run, method, optimiser, source = our_parts(case, device)
    execution = Execution(device, frozenset(), {}, precision)

    def step() -> None:
        source.start(0)
        order = torch.from_numpy(prng.permutation(case.batch, run.seed, "order", 0))
        with as_trained():
            views = passes_of(source, [order], 0, case.batch)
            _step(run, method, optimiser, views, order, source.labels, (run.seed, 0, 0), execution)
            method.after_step(1.0, 1.0)

    return step


def floor_step(case: Case, device: torch.device) -> Call:
    """Forward and backward of the bare encoder, on as many images of floats that lie ready on the device."""
    encoder = (
        build_encoder(run_of(case, PLAIN)).to(device, memory_format=torch.channels_last).train()
    )
    views = torch.rand(2, case.batch, 3, case.size, case.size, device=device)
    batches = [view.contiguous(memory_format=torch.channels_last) for view in views]

    def step() -> None:
        encoder.zero_grad(set_to_none=True)
        torch.stack([encoder(batch).sum() for batch in batches]).sum().backward()

    return step


def lightly_loader(case: Case, views: dict[str, Any]) -> DataLoader[Any]:
    """lightly's transform of the same strengths, in a loader of one process, over one batch of pairs of views."""
    transform = SimCLRTransform(
        case.size, gaussian_blur=views.get("blur", 0.0), sigmas=SIGMAS, normalize=None
    )
    pictures: Any = [Image.fromarray(one) for one in pixels_of(case)]  # a list is a dataset
    collate = torch.utils.data.default_collate
    return DataLoader(
        pictures,
        batch_size=case.batch,
        shuffle=True,
        collate_fn=lambda batch: collate([transform(one) for one in batch]),
    )


def lightly_model(run: Run) -> nn.Module:
    """The same encoder with lightly's head; maps [n, 3, h, w] to [n, d]."""
    encoder = build_encoder(run)
    head = SimCLRProjectionHead(int(encoder.feature_dim), HIDDEN, DIM, batch_norm=False)
    return nn.Sequential(OrderedDict(encoder=encoder, head=head))


def lightly_step(case: Case, device: torch.device) -> Call:
    """A step as lightly's SimCLR example takes it: its loader, head and loss, with our encoder and torch's SGD."""
    run = run_of(case, PLAIN)
    model = lightly_model(run).to(device, memory_format=torch.channels_last).train()
    loader, criterion = lightly_loader(case, PLAIN), NTXentLoss(temperature=TEMPERATURE)
    rate = optimisation.peak_rate(run)
    optimiser = torch.optim.SGD(model.parameters(), lr=rate, momentum=MOMENTUM, weight_decay=DECAY)

    def step() -> None:
        for views in loader:
            loss = criterion(*(model(view.to(device)) for view in views))
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()

    return step


# How it is timed


class Clock(NamedTuple):
    """What is timed, and on what."""

    device: torch.device
    threads: int
    repeats: int

    @property
    def is_own(self) -> bool:
        """With one thread on a CPU, seconds are the process's own, which other processes hardly change."""
        return self.device.type == "cpu" and self.threads == 1

    def now(self) -> float:
        """Seconds, when all that was asked of the device is done."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.process_time() if self.is_own else time.perf_counter()

    def in_turn(self, calls: Mapping[str, Call]) -> dict[str, Seconds]:
        """Seconds of each call, one after the other in each repeat, after one call of each that is not counted."""
        for call in calls.values():
            call()
        found: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(self.repeats):
            for name, call in calls.items():
                begun = self.now()
                call()
                found[name].append(self.now() - begun)
        return {name: np.array(seconds) for name, seconds in found.items()}


def ratio(seconds: Mapping[str, Seconds], one: str, other: str) -> str:
    """How many times longer one takes than the other: median and quartiles over the repeats."""
    if not {one, other} <= seconds.keys():
        return "not measured"
    median, low, high = np.quantile(seconds[one] / seconds[other], (0.5, 0.25, 0.75))
    return f"{median:.2f} ({low:.2f}–{high:.2f})"


def rate(batch: int, seconds: Seconds) -> str:
    """Images in a second, to three digits."""
    return f"{float(f'{batch / float(np.median(seconds)):.3g}'):,.0f}"


def views_row(label: str, views: dict[str, Any], clock: Clock) -> list[str]:
    """Our views against lightly's."""
    loader = lightly_loader(SMALL, views)
    calls = {"ours": our_views(SMALL, views, clock.device), "lightly": lambda: next(iter(loader))}
    seconds = clock.in_turn(calls)
    return [label, rate(SMALL.batch, seconds["ours"]), ratio(seconds, "lightly", "ours")]


def step_row(case: Case, clock: Clock) -> list[str]:
    """Our whole step against lightly's, against the bare encoder's, and against itself in bfloat16 where that pays."""
    makers = {"ours": our_step, "floor": floor_step, "lightly": lightly_step}
    calls = {name: make(case, clock.device) for name, make in makers.items()}
    if (half := precision("bfloat16", clock.device)) == torch.bfloat16:
        calls["half"] = our_step(case, clock.device, half)
    seconds = clock.in_turn(calls)
    pairs = (("lightly", "ours"), ("ours", "floor"), ("ours", "half"))
    return [
        *case.cells,
        rate(case.batch, seconds["ours"]),
        *(ratio(seconds, *pair) for pair in pairs),
    ]


def share_row(case: Case, clock: Clock) -> list[str]:
    """Median shares of a step's parts: the calls of ``our_step``, one by one."""
    _, method, optimiser, source = our_parts(case, clock.device)
    rows = []
    for _ in range(clock.repeats + 1):
        with as_trained():
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
    return [*case.cells, *(f"{100 * share:.0f} %" for share in medians / medians.sum())]


# What is said of it


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """In Markdown."""
    return "\n".join(map(pipes, [list(columns), ["---"] * len(columns), *map(list, rows)]))


def page(clock: Clock) -> str:
    """Measure everything, and say it in Markdown."""
    views = [views_row(label, kind, clock) for label, kind in VIEWS.items()]
    named, growing = ([step_row(case, clock) for case in cases] for cases in (NAMED, GROWING))
    shares = [share_row(case, clock) for case in NAMED]
    device, load = platform.machine(), os.getloadavg()[1]
    if clock.device.type == "cuda":
        device = torch.cuda.get_device_name(clock.device)
    elif (info := Path("/proc/cpuinfo")).exists():
        names = [
            line.split(":")[1].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        device = names[0] if names else device
    beside = "Nothing else ran on the machine."
    if load - clock.threads >= 0.25:
        beside = f"Other work ran beside it: on {os.cpu_count()} cores there was a load of {load:.1f} in five minutes, "
        beside += f"of which {clock.threads} is the benchmark's own."
    return f"""# Performance

`python benchmarks/throughput.py` wrote this page on {datetime.now(UTC):%Y-%m-%d}: {device}, threads: {clock.threads},
torch {torch.__version__.split("+")[0]}, lightly {lightly.__version__}. {beside}

What a row compares was timed in turn, {clock.repeats} times after a first time that is not counted. A ratio is the
median over these times, with its quartiles in brackets. Times are
{"the processor time of the process" if clock.is_own else "wall time, until the device is done"}. Images are random
bytes that lie in memory, and each gives two views. Ratios carry over to other machines better than images per second.

## Views

Two views of 256 images of 32 px. lightly is its `SimCLRTransform` without normalisation, in a `DataLoader` without
workers; ours are the same transforms with the same probabilities, strengths and random order of jitters, drawing
included. lightly augments one image after another in bytes (Pillow), ours a batch at once in floats. Its blur is
Pillow's approximation of a Gaussian, ours a Gaussian in a window of 13 px.

{table(("views", "images/s", "lightly / ours"), views)}

## Training steps

A whole step of SimCLR with SGD, by the functions that train a run: drawing, views, forward, loss, backward, update.
lightly's step takes the same encoder in the same memory format, its own transforms, loader, head and loss, and torch's
SGD. The floor is forward and backward of the bare encoder on as many images, which lie ready as floats: no training
step with this encoder takes less, and a ratio below 1 is noise. Ours runs with torch's deterministic algorithms, as in
training; the others do not. All are in float32; the last column says how much less time our own step takes in bfloat16.

{table(COLUMNS, named)}

The same for ResNet-8 of stride 2 at 32 px, as batch and width grow:

{table(COLUMNS, growing)}

## Where the time of a step goes

Shares of our step: median of each part over the sum of medians. Views include their draws, forward includes head and
loss.

{table((*COLUMNS[:3], *PHASES), shares)}
"""


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--device", default="cpu", choices=("cpu", "cuda"), help="what to measure (default: cpu)"
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="CPU threads of one operation (default: 1)"
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="of everything that is compared (default: 5)"
    )
    given = parser.parse_args()
    make_deterministic(given.threads)
    torch.set_deterministic_debug_mode("default")
    files.write_text(PAGE, page(Clock(devices(given.device)[0], given.threads, given.repeats)))


if __name__ == "__main__":
    main()
