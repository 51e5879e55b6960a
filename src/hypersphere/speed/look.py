"""A look at a device: trials of one run after another, until the time is over.

What was measured is written after each trial, so that a look that is killed leaves what it had seen. Trials run in a
process of their own: one that takes too long, or dies, costs its own rows alone.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import torch

from hypersphere import files
from hypersphere.config.project import Precision
from hypersphere.errors import HypersphereError
from hypersphere.speed import others, page, rate, rates, repeats, ways
from hypersphere.speed.trial import Trial
from hypersphere.training import device as devices
from hypersphere.training.determinism import make_deterministic

SHARE = 4
"""A trial has this part of the time that is left, so that one slow kind of run does not take all of it …"""
ENOUGH = 30.0
"""… but so many seconds at least, where they are left."""
LEAST = 5.0
"""Seconds that must be left to begin another trial."""
SECONDS = 20.0
"""A rate is measured for at most so long."""


class Device(NamedTuple):
    """What is looked at."""

    torch_device: torch.device
    name: str
    precision: Precision
    """What the scale's runs are trained in there."""
    threads: int
    """Of a processor, for one operation."""

    @property
    def about(self) -> dict[str, Any]:
        """The columns that all rows of its table share."""
        return {
            "device": self.name,
            "kind": self.torch_device.type,
            "torch": torch.__version__,
            "threads": self.threads,
        }


class Worker:
    """A process that runs trials one after another, and is replaced if one of them kills it."""

    def __init__(self, threads: int) -> None:
        self.context = multiprocessing.get_context("spawn")
        self.threads = threads
        self._begin()

    def _begin(self) -> None:
        self.ours, theirs = self.context.Pipe()
        arguments = (theirs, self.threads)
        self.process = self.context.Process(target=_serve, args=arguments)
        self.process.start()
        theirs.close()

    def do(self, seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function returns; a HypersphereError says why it returned nothing within so many seconds."""
        self.ours.send((function, arguments))
        problem = f"not finished in {seconds:.0f} s"
        try:
            if self.ours.poll(seconds):
                returned, failure = self.ours.recv()
                if failure is None:
                    return returned
                raise HypersphereError(failure)
        except EOFError:
            problem = "its process died, perhaps for want of memory"
        self.end()
        self._begin()
        raise HypersphereError(problem)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.ours.close()


def _serve(theirs: Connection, threads: int) -> None:
    """Run what comes until nobody asks any more; what trials print is for nobody."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (until the process ends)
    make_deterministic(threads)
    while True:
        try:
            function, arguments = theirs.recv()
        except EOFError:
            return
        try:
            theirs.send((function(*arguments), None))
        except Exception as error:  # whatever a trial raises is a row's note
            theirs.send((None, _sentence(error)))
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def _sentence(error: Exception) -> str:
    """Why a trial gave nothing, without the place in the program."""
    if devices.is_out_of_memory(error):
        return "the device has not enough memory for a step"
    if isinstance(error, HypersphereError):
        return str(error)
    return f"{type(error).__name__}: {devices.first_line(error)}"


class Look:
    """A look at a device, with what it has found so far."""

    def __init__(self, root: Path, device: Device, trials: Sequence[Trial], minutes: float) -> None:
        self.root = root
        """The project, whose data/rates has what is found."""
        self.device = device
        self.trials = trials
        self.until = time.monotonic() + 60 * minutes
        self.rows: list[dict[str, Any]] = []
        self.ways: list[dict[str, Any]] = []
        self.worker = Worker(device.threads)

    @property
    def left(self) -> float:
        """Seconds."""
        return self.until - time.monotonic()

    def lines(self) -> Iterator[str]:
        """A line for each trial; tables and page are written after each."""
        methods_repeated: set[str] = set()
        try:
            for trial in self.trials:
                if self.left < LEAST:
                    break
                row = self._rate(trial)
                self.rows.append(row)
                self.write()
                yield page.line(row)
                method = trial.run.method.name
                if not row["note"] and method not in methods_repeated:
                    methods_repeated.add(method)
                    row |= self._repeats(trial)
                    self.write()
                    yield page.repeated(row)
                if not row["note"] and not self.ways:
                    for compared in self._compared(trial):
                        self.ways.append(compared)
                        self.write()
                        yield page.compared(compared)
        finally:
            self.worker.end()
            self.write()
        reached = len(self.rows)
        yield f"looked at {reached} of {len(self.trials)} kinds of runs, most hours first"
        yield f"written   {rates.file_of(self.root, self.device.name)}"

    def _seconds(self) -> float:
        """What one trial may take."""
        return max(0.0, min(self.left, max(ENOUGH, self.left / SHARE)))

    def _rate(self, trial: Trial) -> dict[str, Any]:
        """A row of the table of rates."""
        run = trial.run
        row: dict[str, Any] = self.device.about | {
            "run": run.name,
            "method": run.method.name,
            "network": rates.network(run, trial.size.side),
            "side": run.views.side or trial.size.side,
            "batch": run.batch.size,
            "micro": run.batch.micro,
            "precision": self.device.precision,
            "note": "",
        }
        limit = self._seconds()
        timed = min(SECONDS, limit / 3)
        asked = (trial, self.device.torch_device, self.device.precision, timed)
        try:
            found: rate.Rate = self.worker.do(limit, rate.of, *asked)
        except HypersphereError as error:
            return row | {"note": str(error)}
        return row | columns_of(found, self.device)

    def _repeats(self, trial: Trial) -> dict[str, Any]:
        asked = (trial, self.device.torch_device, self.device.precision)
        try:
            found: repeats.Repeats = self.worker.do(self._seconds(), repeats.of, *asked)
        except HypersphereError as error:
            return {"note": f"bytes: {error}"}
        words = {True: "yes", False: "no"}
        return {"equal": words[found.equal], "resumed": words[found.resumed]}

    def _compared(self, trial: Trial) -> Iterator[dict[str, Any]]:
        """A row for each way to train faster, and for each other library."""
        device = self.device.torch_device
        of_run = {"device": self.device.name, "torch": torch.__version__, "run": trial.run.name}
        for name, function, arguments in (*_ways(trial, device), *_others(trial, device)):
            if self.left < LEAST:
                return
            limit = self._seconds()
            row = of_run | {"compared": name, "times": "", "note": ""}
            try:
                times = self.worker.do(limit, function, *arguments, min(SECONDS, limit / 2))
                row["times"] = f"{times:.3g}"
            except HypersphereError as error:
                row["note"] = str(error)
            yield row

    def write(self) -> None:
        """Write both tables and the page, each whole."""
        name = self.device.name
        rates.write(rates.file_of(self.root, name), rates.COLUMNS, self.rows)
        rates.write(rates.file_of(self.root, name, "-ways.csv"), rates.WAYS, self.ways)
        words = page.text(self.device.about, self.rows, self.ways, len(self.trials))
        files.write_text(rates.file_of(self.root, name, ".md"), words)


Asked = tuple[str, Callable[..., float], tuple[Any, ...]]
"""A comparison by its name: a function and its arguments but the last, seconds."""


def _ways(trial: Trial, device: torch.device) -> Iterator[Asked]:
    for way in ways.WAYS:
        if way.only_on in ("", device.type):
            yield way.name, ways.ratio, (trial, way, device)


def _others(trial: Trial, device: torch.device) -> Iterator[Asked]:
    for workers in dict.fromkeys((1, others.all_workers())):
        yield f"a step of lightly, workers: {workers}", others.lightly, (trial, device, workers)
    yield "views by kornia", others.kornia, (trial, device)


def columns_of(found: rate.Rate, device: Device) -> dict[str, Any]:
    """A rate as columns of the table."""
    rated = rates.peak(device.name, device.precision)
    tflops = found.tflops
    return {
        "steps": found.steps,
        "milliseconds": f"{found.milliseconds:.4g}",
        **{part: f"{share:.3f}" for part, share in found.shares.items()},
        "idle": _printed(found.idle, 1.0),
        "images_a_second": f"{found.images_a_second:.4g}",
        "tflops": _printed(tflops, 1.0),
        "peak_share": _printed(tflops, rated[0]) if rated else "",
        "memory_gb": _printed(found.peak_bytes, 1e9),
        "predicted_gb": _printed(found.predicted_bytes, 1e9),
    }


def _printed(value: float | None, unit: float) -> str:
    return "" if value is None else f"{value / unit:.4g}"
