"""``hypersphere cost``: what the runs of a plan would take, before anything runs, and the table of docs/cost.md.

Operations are counted on the runs' own modules, and hours follow from one device's stated rate. Nothing is trained, and
no data are needed. ``python -m hypersphere.command.cost docs/cost.md`` renews the table of the published scale
there and in data/costs.csv.
"""

import csv
import io
import math
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config.claims import why_not_made
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.config.run import Dataset, Run
from hypersphere.datasets.sizes import Size, stated
from hypersphere.errors import HypersphereError
from hypersphere.training import work
from hypersphere.wording import counted, renewed

ROOT = Path(__file__).parents[3]
BEGIN, END = "<!-- cost -->", "<!-- end -->"
LEFT_OUT = "probes, exact studies, preparing data, views, simulators, losses, the optimiser's update, memory, waiting"
"""What the numbers leave out, in words."""
COLUMNS = ("paper", "artifact", "cells", "runs", "runs_not_known", "flop", "device_hours")
TITLE = 11
"""Width of what is left of a note's text."""
PREFIXES = ("", "k", "M", "G", "T", "P", "E", "Z")
Key = tuple[str, str]
"""A paper and one of its artifacts."""


class Device(NamedTuple):
    """What trains a run, and how fast: stated, not measured by this command."""

    unit: str
    """What its hours are called."""
    tflops: float
    """10^12 floating-point operations that it sustains in a second."""
    source: str


GPU = Device("GPU", 120, "one NVIDIA H200; a quarter of its rated 495 TFLOP/s (TF32), which is assumed")
CORE = Device("core", 0.02, "one core at 2.5 GHz, on networks of the laptop scale (docs/cost.md)")


class Amount(NamedTuple):
    """What some runs need."""

    cells: int
    runs: int
    unknown: int
    """Runs whose operations are not known, and are in no sum."""
    flops: int


@dataclass(frozen=True)
class Cost:
    """The costs of a plan's chosen artifacts."""

    plan: Plan
    device: Device
    _passes: dict[tuple[Any, ...], int] = field(default_factory=dict)
    """The operations of one pass, by ``work.key``."""

    @cached_property
    def chosen(self) -> list[Key]:
        """The artifacts made from runs at this scale that ``only`` asks for."""
        return [key for key in self.plan.made if self.plan.config.chosen(*key)]

    @cached_property
    def artifacts(self) -> dict[Key, Amount]:
        """The amount of each chosen artifact by itself; a run that several show counts for each."""
        return {key: self.amount([key]) for key in self.chosen}

    @cached_property
    def whole(self) -> Amount:
        """The amount of all chosen artifacts together: each run counts once."""
        return self.amount(self.chosen)

    @cached_property
    def runs(self) -> dict[str, int | str]:
        """The operations of each run by its name, or why they are not known."""
        runs = {name: run for key in self.chosen for name, run in self.plan.runs_of(*key).items()}
        return {name: self._count(run) for name, run in runs.items()}

    def amount(self, keys: list[Key]) -> Amount:
        """The amount of some artifacts together."""
        names = dict.fromkeys(name for key in keys for name in self.plan.runs_of(*key))
        known = [flops for name in names if isinstance(flops := self.runs[name], int)]
        cells = sum(not reason for key in keys for reason in self.plan.missing(*key).values())
        return Amount(cells, len(names), len(names) - len(known), sum(known))

    def hours(self, flops: int) -> float:
        """The hours that a device takes for some operations."""
        return flops / (self.device.tflops * 10**12) / 3600

    def size(self, dataset: Dataset) -> Size | None:
        """The size of a dataset: that of its prepared copy, else the one that data/images.csv states; None: unknown."""
        manifest = self.plan.data_folder(dataset) / MANIFEST
        if manifest.is_file():
            content = files.read_mapping(manifest)
            with suppress(KeyError, TypeError, ValueError, IndexError):  # of another version: it is prepared again
                # Sentences count as if all were of the greatest length.
                shape, names = content["image_shape"], content["class_names"]["class"]
                return Size(float(shape[1]), len(names), int(content["splits"]["train"]["images"]))
        return stated(dataset)

    def _count(self, run: Run) -> int | str:
        size = self.size(run.dataset)
        if size is None:
            return f"the size of {run.dataset.name} is not known until it is prepared"
        steps = work.steps(run, size.train)
        if not steps:
            return f"batch.size {run.batch.size} is more than the {size.train} examples of {run.dataset.name}"
        key = work.key(run, size.side)
        try:
            if key not in self._passes:
                self._passes[key] = work.flops(run, size.side, size.classes)
        except Exception as error:  # any method or encoder may refuse tensors without data
            problem = " ".join(str(error).split())
            return f"{run.method.name} with {run.encoder.name} cannot be counted ({problem})"
        return self._passes[key] * (run.batch.size // run.batch.micro) * steps


def of(plan: Plan, tflops: float | None = None) -> Cost:
    """The cost of a plan's chosen artifacts, on the device that would train its runs.

    ``tflops`` is the rate of that device, from the command line; None: the stated one.
    """
    if plan.records is not None:
        raise HypersphereError("cost: evidence_only: numbers come from records, and nothing is trained")
    device = plan.config.settings.device
    on_gpu = device == "cuda" or (device == "auto" and plan.config.scale.resources.gpu > 0)
    if tflops is None:
        return Cost(plan, GPU if on_gpu else CORE)
    if not (math.isfinite(tflops) and tflops > 0):
        raise HypersphereError(f"cost: --tflops: must be a positive number (given: {tflops:g})")
    return Cost(plan, (GPU if on_gpu else CORE)._replace(tflops=tflops, source="given by --tflops"))


def lines(cost: Cost, verbose: bool = False) -> Iterator[str]:
    """The table with its assumptions and notes; a row for each document, and for each artifact if ``verbose``."""
    config, device = cost.plan.config, cost.device
    yield f"scale      {config.scale_name}: {config.scale.describe}"
    yield f"device     {device.tflops:g} TFLOP/s, stated, not measured: {device.source}"
    yield ""
    rows = table(cost, verbose) if cost.chosen else [["nothing would be trained"]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [value.rjust(width) for value, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()
    yield ""
    yield from notes(cost, verbose)


def table(cost: Cost, verbose: bool) -> list[list[str]]:
    """The header and the rows; the last is of all runs together."""
    amounts: dict[str, Amount] = {}
    for paper in dict.fromkeys(paper for paper, _ in cost.chosen):
        keys = [key for key in cost.chosen if key[0] == paper]
        amounts[paper] = cost.amount(keys)
        if verbose:
            amounts |= {f"  {paper}/{name}": cost.artifacts[paper, name] for _, name in keys}
    rows = [["", "cells", "runs", "operations", f"{cost.device.unit}-hours"]]
    for name, one in {**amounts, "all, each run once": cost.whole}.items():
        lost = f" ({one.unknown} not known)" if one.unknown else ""
        hours = _figure(cost.hours(one.flops))
        rows.append([name, f"{one.cells:,}", f"{one.runs:,}{lost}", _prefixed(one.flops), hours])
    return rows


def notes(cost: Cost, verbose: bool = False) -> Iterator[str]:
    """What sharing saves, what is left out, not known or not made. A title of ``TITLE`` characters begins each note."""
    apart, whole, unit = cost.artifacts.values(), cost.whole, cost.device.unit
    runs, flops = sum(one.runs for one in apart), sum(one.flops for one in apart)
    if runs > whole.runs:
        yield (
            f"shared     {counted(len(apart), 'artifact')} made apart would be {runs:,} runs and "
            f"{_figure(cost.hours(flops))} {unit}-hours; sharing saves {runs - whole.runs:,} runs and "
            f"{_figure(cost.hours(flops - whole.flops))} {unit}-hours"
        )
    yield f"left out   {LEFT_OUT}"
    datasets = {run.dataset.name: run.dataset for key in cost.chosen for run in cost.plan.runs_of(*key).values()}
    sizes = {name: size for name, dataset in datasets.items() if (size := cost.size(dataset)) and size.about}
    if sizes:
        yield f"roughly    to train on: {'; '.join(f'{name} has about {one.train:,}' for name, one in sizes.items())}"
    for reason in dict.fromkeys(found for found in cost.runs.values() if isinstance(found, str)):
        yield f"not known  {counted(sum(found == reason for found in cost.runs.values()), 'run')}: {reason}"
    reasons: dict[str, list[str]] = {}
    for paper, document in cost.plan.config.papers.items():
        for name in document.measured:
            if cost.plan.config.chosen(paper, name) and (reason := why_not_made(cost.plan, paper, name)):
                reasons.setdefault(reason, []).append(f"{paper}/{name}")
    for reason, names in reasons.items():
        yield f"not made   {', '.join(names) if verbose else counted(len(names), 'artifact')}: {reason}"


def _figure(number: float) -> str:
    """Two or three figures: ``0.012``, ``3.4``, ``1,230``; ``<0.001`` for less."""
    if 0 < number < 0.001:
        return "<0.001"
    return f"{float(f'{number:.3g}'):,.0f}" if number >= 99.5 else f"{number:.2g}"


def _prefixed(flops: int) -> str:
    """Three figures with a prefix of the SI: ``4.45 EFLOP``."""
    value, place = float(f"{flops:.3g}"), 0
    while value >= 1000 and place < len(PREFIXES) - 1:
        value, place = value / 1000, place + 1
    return f"{value:.3g} {PREFIXES[place]}FLOP"


def write(cost: Cost, path: Path) -> None:
    """Write a CSV with a row for each artifact, and one, ``all``, for all together; numbers in plain units."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for key, one in {**cost.artifacts, ("all", ""): cost.whole}.items():
        writer.writerow([*key, one.cells, one.runs, one.unknown, one.flops, f"{cost.hours(one.flops):.6g}"])
    files.write_text(path, text.getvalue())


def page(cost: Cost) -> str:
    """The table and its notes in Markdown."""
    header, *rows = table(cost, verbose=True)
    lines = [["document, artifact", *header[1:]], ["---", *["--:"] * (len(header) - 1)]]
    names = [f"`{first.strip()}`" if first.startswith(" ") else f"**{first}**" for first, *_ in rows]
    lines += [[name, *others] for name, (_, *others) in zip(names, rows, strict=True)]
    listed = [f"- **{note[:TITLE].strip()}**: {note[TITLE:]}" for note in notes(cost, verbose=True)]
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), "", *listed])


if __name__ == "__main__":
    path = Path(sys.argv[1])
    whole = of(planning.make(ROOT, {"scale": "paper", "device": "cuda"}))
    files.write_text(path, renewed(path.read_text(encoding="utf-8"), BEGIN, END, page(whole)))
    write(whole, ROOT / "data" / "costs.csv")
