"""``hypersphere cost``: what the runs of a plan would take, before anything runs.

Operations are counted on the runs' own modules, and hours follow from a device's rate: measured for a network that a
first look has seen (data/rates), stated for the others. Nothing is trained, and no data are needed.
``python -m hypersphere.command.cost`` renews data/costs.csv, with what each artifact takes at the published scale, and
data/pair_costs.csv, with what a comparison takes at the laptop scale.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from hypersphere import files
from hypersphere.command import memory
from hypersphere.command.templates import fill
from hypersphere.config import claims as ledger
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.datasets.training_sizes import Size, stated
from hypersphere.errors import HypersphereError
from hypersphere.speed import rates
from hypersphere.training import work
from hypersphere.wording import in_one_line

ROOT = Path(__file__).parents[3]


class Device(NamedTuple):
    """What trains a run, and how fast: stated, not measured by this command."""

    unit: str
    """What its hours are called."""
    tflops: float
    """10^12 floating-point operations that it sustains in a second."""
    source: str


GPU = Device(
    "GPU", 120, "one NVIDIA H200; a quarter of its rated 495 TFLOP/s (TF32), which is assumed"
)
CORE = Device("core", 0.02, "one core at 2.5 GHz, on networks of the laptop scale (docs/cost.md)")


class Amount(NamedTuple):
    """What some artifacts need together."""

    cells: int
    runs: int
    """A run that several of them show counts once."""
    unknown: int
    """Runs whose operations are not known, and are in no sum."""
    flops: int
    hours: float
    measured_hours: float
    """Those of them that rest on a measured rate."""


class Cost:
    """The costs of a plan's chosen artifacts, on the device that would train its runs."""

    def __init__(self, plan: Plan, rate: float | None = None) -> None:
        """``rate``: 10^12 operations a second, in place of measured and stated rates."""
        if plan.records is not None:
            raise HypersphereError(
                "cost: evidence_only: numbers come from records, and nothing is trained"
            )
        device = plan.config.settings.device
        asks_for_one = plan.config.scale.resources.gpu > 0
        on_gpu = device == "cuda" or (device == "auto" and asks_for_one)
        self.plan = plan
        self.device = GPU if on_gpu else CORE
        looked_at: dict[str, dict[str, float]] = {}
        if rate is None:
            looked_at = rates.measured(plan.config.root, "cuda" if on_gpu else "cpu")
        else:
            self.device = Device(self.device.unit, rate, "as typed (--rate)")
        self.measured_on = min(looked_at, default="")
        """The device whose measured rates count: of several the first by name; empty: none was looked at."""
        self.measured = looked_at.get(self.measured_on, {})
        """10^12 operations a second, by network."""
        runs = plan.chosen_runs
        datasets = {run.dataset.name: run.dataset for run in runs.values()}
        self.sizes = {name: stated(dataset) for name, dataset in datasets.items()}
        """Of each dataset, as data/images.csv or its source states it; None: unknown."""
        self.flops: dict[str, int | str] = {}
        """The operations of each run by its name, or why they are not known."""
        self.run_hours: dict[str, float] = {}
        """The device-hours of each run whose operations are known."""
        self.measured_runs: set[str] = set()
        """Those of them whose network has a measured rate."""
        self.networks: set[str] = set()
        """Of the runs whose operations are known."""
        passes: dict[tuple[Any, ...], int | str] = {}
        for name, run in runs.items():
            size = self.sizes[run.dataset.name]
            if size is None:
                self.flops[name] = f"the size of {run.dataset.name} is not stated"
                continue
            key = work.key(run, size.side)
            if key not in passes:
                passes[key] = of_a_pass(run, size)
            flops = passes[key]
            passes_of_run = run.batch.size // run.batch.micro * work.steps(run, size.train)
            if isinstance(flops, str):
                self.flops[name] = flops
                continue
            network = rates.network(run, size.side)
            self.networks.add(network)
            if network in self.measured:
                self.measured_runs.add(name)
            self.flops[name] = flops * passes_of_run
            self.run_hours[name] = self.hours(flops * passes_of_run, network)

    def amount(self, keys: Iterable[tuple[str, str]]) -> Amount:
        names: set[str] = set()
        cells = 0
        for key in keys:
            names.update(self.plan.runs_of(*key))
            missing = list(self.plan.missing(*key).values())
            cells += missing.count("")
        known = [flops for flops in map(self.flops.get, names) if isinstance(flops, int)]
        unknown = len(names) - len(known)
        hours = sum(self.run_hours.get(name, 0.0) for name in sorted(names))
        measured = sum(self.run_hours[name] for name in sorted(names & self.measured_runs))
        return Amount(cells, len(names), unknown, sum(known), hours, measured)

    def hours(self, flops: int, network: str) -> float:
        """The hours of so many operations of a network."""
        tflops = self.measured.get(network, self.device.tflops)
        return flops / (tflops * 10**12) / 3600

    @property
    def seen(self) -> int:
        """How many networks of the plan have a measured rate."""
        return len(self.networks & self.measured.keys())


def of_a_pass(run: Run, size: Size) -> int | str:
    """The operations of one pass of a run's model, or why they are not known."""
    try:
        return work.flops(run, size.side, size.classes)
    except Exception as error:  # any method or encoder may refuse tensors without data
        model = f"{run.method.name} with {run.encoder.name}"
        return f"{model} cannot be counted ({in_one_line(error)})"


def lines(cost: Cost, verbose: bool = False, gigabytes: float | None = None) -> Iterator[str]:
    """The table with its assumptions, a row for each document, and for each artifact if ``verbose``.

    What is left out or not known comes after it; then, of a device of so many ``gigabytes``, what does not fit.
    """
    chosen = cost.plan.chosen_artifacts
    amounts: dict[str, Amount] = {}
    for paper, of_paper in groupby(chosen, itemgetter(0)):
        keys = list(of_paper)
        amounts[paper] = cost.amount(keys)
        if verbose:
            amounts |= {"/".join(key): cost.amount([key]) for key in keys}
    amounts["all, each run once"] = cost.amount(chosen)
    text = fill(
        "cost.txt",
        config=cost.plan.config,
        device=cost.device,
        cost=cost,
        amounts=amounts,
        about={name: size.train for name, size in cost.sizes.items() if size and size.about},
        unknown=Counter(flops for flops in cost.flops.values() if isinstance(flops, str)),
    )
    yield from text.splitlines()
    if gigabytes is not None:
        yield ""
        for finding in memory.findings(cost.plan, gigabytes):
            yield finding.text


def as_csv(cost: Cost) -> str:
    """A row for each artifact, and one, ``all``, for all together; numbers in plain units."""
    chosen = cost.plan.chosen_artifacts
    rows = [(*key, *cost.amount([key])) for key in chosen]
    rows.append(("all", "", *cost.amount(chosen)))
    return in_csv(rows, "paper artifact cells runs runs_not_known flop device_hours measured_hours")


def pairs_csv(cost: Cost) -> str:
    """A row for each comparison of a document whose two cells are trained: device-hours of a run of each."""
    run_of: dict[tuple[str, str, str], str] = {}
    for cell in cost.plan.cells:
        if cell.run:
            run_of[cell.paper, cell.artifact, cell.text] = cell.run.name
    rows = []
    for paper in cost.plan.config.papers:
        for claim in ledger.of(cost.plan.config, paper):
            names = [run_of.get((paper, claim.artifact, cell), "") for cell in claim.cells]
            hours = [cost.run_hours[name] for name in names if name in cost.run_hours]
            if claim.kind == "comparison" and len(hours) == 2:
                rows.append((claim.id, sum(hours)))
    return in_csv(rows, "id device_hours")


def in_csv(rows: list[tuple[Any, ...]], columns: str) -> str:
    """Rows below their header, hours with six digits."""
    table = pd.DataFrame(rows, columns=columns.split())
    return table.to_csv(index=False, float_format="%.6g", lineterminator="\n")


if __name__ == "__main__":
    whole = Cost(planning.make(ROOT, {"scale": "paper", "device": "cuda"}))
    files.write_text(ROOT / "data" / "costs.csv", as_csv(whole))
    small = Cost(planning.make(ROOT, {"scale": "laptop"}))
    files.write_text(ROOT / "data" / "pair_costs.csv", pairs_csv(small))
