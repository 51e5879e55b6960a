"""``hypersphere cost``: what the runs of a plan would take, before anything runs.

Operations are counted on the runs' own modules, and hours follow from one device's stated rate. Nothing is trained, and
no data are needed. ``python -m hypersphere.command.cost`` renews data/costs.csv, with what each artifact takes at the
published scale, and data/pair_costs.csv, with what a comparison takes at the laptop scale.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere import files
from hypersphere.command import memory
from hypersphere.config import claims as ledger
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.datasets.sizes import Size, stated
from hypersphere.errors import HypersphereError
from hypersphere.report import artifact
from hypersphere.training import work
from hypersphere.wording import counted

ROOT = Path(__file__).parents[3]
LEFT_OUT = "probes, exact studies, preparing data, views, simulators, losses, the optimiser's update, memory, waiting"


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


class Cost:
    """The costs of a plan's chosen artifacts, on the device that would train its runs."""

    def __init__(self, plan: Plan) -> None:
        if plan.records is not None:
            raise HypersphereError(
                "cost: evidence_only: numbers come from records, and nothing is trained"
            )
        device = plan.config.settings.device
        on_gpu = device == "cuda" or (device == "auto" and plan.config.scale.resources.gpu > 0)
        self.plan, self.device = plan, GPU if on_gpu else CORE
        self.flops: dict[str, int | str] = {}
        """The operations of each run by its name, or why they are not known."""
        self.sizes: dict[str, Size | None] = {}
        """Of each dataset, as data/images.csv or its source states it; None: unknown."""
        passes: dict[tuple[Any, ...], int | str] = {}  # of one pass, by ``work.key``
        for name, run in plan.chosen_runs.items():
            if run.dataset.name not in self.sizes:
                self.sizes[run.dataset.name] = stated(run.dataset)
            size = self.sizes[run.dataset.name]
            if size is None:
                self.flops[name] = f"the size of {run.dataset.name} is not stated"
                continue
            key = work.key(run, size.side)
            if key not in passes:
                try:
                    passes[key] = work.flops(run, size.side, size.classes)
                except Exception as error:  # any method or encoder may refuse tensors without data
                    problem = " ".join(str(error).split())
                    passes[key] = (
                        f"{run.method.name} with {run.encoder.name} cannot be counted ({problem})"
                    )
            one, steps = (
                passes[key],
                (run.batch.size // run.batch.micro) * work.steps(run, size.train),
            )
            self.flops[name] = one if isinstance(one, str) else one * steps

    def amount(self, keys: Iterable[tuple[str, str]]) -> Amount:
        names = {name for key in keys for name in self.plan.runs_of(*key)}
        known = [flops for name in names if isinstance(flops := self.flops[name], int)]
        cells = sum(not reason for key in keys for reason in self.plan.missing(*key).values())
        return Amount(
            cells, len(names), len(names) - len(known), sum(known), self.hours(sum(known))
        )

    def hours(self, flops: int) -> float:
        return flops / (self.device.tflops * 10**12) / 3600


def lines(cost: Cost, verbose: bool = False, gigabytes: float | None = None) -> Iterator[str]:
    """The table with its assumptions, a row for each document, and for each artifact if ``verbose``.

    What is left out or not known comes after it; then, of a device of so many ``gigabytes``, what does not fit.
    """
    scale, device = cost.plan.config.scale, cost.device
    yield f"scale      {cost.plan.config.scale_name}: {scale.describe}"
    yield f"device     {device.tflops:g} TFLOP/s, stated, not measured: {device.source}"
    yield ""
    amounts: dict[str, Amount] = {}
    for paper in dict.fromkeys(paper for paper, _ in cost.plan.chosen_artifacts):
        keys = [key for key in cost.plan.chosen_artifacts if key[0] == paper]
        amounts[paper] = cost.amount(keys)
        amounts |= {f"{paper}/{name}": cost.amount([(paper, name)]) for _, name in keys if verbose}
    rows = [["", "cells", "runs", f"{device.unit}-hours"]]
    for name, one in {
        **amounts,
        "all, each run once": cost.amount(cost.plan.chosen_artifacts),
    }.items():
        lost = f" ({one.unknown} not known)" if one.unknown else ""
        hours = f"{one.hours:,.0f}" if one.hours >= 10 else f"{one.hours:.2g}"
        rows.append([name, f"{one.cells:,}", f"{one.runs:,}{lost}", hours])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [value.rjust(width) for value, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells])
    yield ""
    yield f"left out   {LEFT_OUT}"
    roughly = [
        f"{name} has about {size.train:,}"
        for name, size in cost.sizes.items()
        if size and size.about
    ]
    if roughly:
        yield f"roughly    to train on: {'; '.join(roughly)}"
    for reason in dict.fromkeys(found for found in cost.flops.values() if isinstance(found, str)):
        yield f"not known  {counted(sum(found == reason for found in cost.flops.values()), 'run')}: {reason}"
    if gigabytes is not None:
        yield ""
        yield from (finding.text for finding in memory.findings(cost.plan, gigabytes))


def as_csv(cost: Cost) -> str:
    """A row for each artifact, and one, ``all``, for all together; numbers in plain units."""
    rows = []
    for key in [*cost.plan.chosen_artifacts, ("all", "")]:
        *amount, hours = cost.amount(cost.plan.chosen_artifacts if key == ("all", "") else [key])
        rows.append([*key, *amount, f"{hours:.6g}"])
    columns = ("paper", "artifact", "cells", "runs", "runs_not_known", "flop", "device_hours")
    return artifact.as_csv(columns, rows)


def pairs_csv(cost: Cost) -> str:
    """A row for each comparison of a document whose two cells are trained: device-hours of a run of each."""
    plan, rows = cost.plan, []
    run_of = {
        (cell.paper, cell.artifact, cell.text): cell.run.name for cell in plan.cells if cell.run
    }
    for paper in plan.config.papers:
        for claim in ledger.of(plan.config, paper):
            names = [run_of.get((paper, claim.artifact, cell)) for cell in claim.cells]
            flops = [cost.flops.get(name, "") for name in names if name]
            known = [one for one in flops if isinstance(one, int)]
            if claim.kind == "comparison" and len(known) == 2:
                rows.append([claim.id, f"{cost.hours(sum(known)):.6g}"])
    return artifact.as_csv(("id", "device_hours"), rows)


if __name__ == "__main__":
    whole = Cost(planning.make(ROOT, {"scale": "paper", "device": "cuda"}))
    files.write_text(ROOT / "data" / "costs.csv", as_csv(whole))
    small = Cost(planning.make(ROOT, {"scale": "laptop"}))
    files.write_text(ROOT / "data" / "pair_costs.csv", pairs_csv(small))
