"""``hypersphere cost``: what the runs of a plan would cost, before anything runs.

Operations and bytes are counted on the runs' own modules; time follows from a device's stated rates, and money and
energy from time. Nothing is trained, and no data are needed.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hypersphere import files
from hypersphere.command.rates import Rates
from hypersphere.config.plan import Plan
from hypersphere.config.reasons import why_not_made
from hypersphere.config.run import Dataset, Run
from hypersphere.datasets.preparing import sizes
from hypersphere.datasets.preparing.sizes import Sizes
from hypersphere.errors import HypersphereError
from hypersphere.training.work import Counting, Work, steps
from hypersphere.wording import counted

LEFT_OUT = "probes, exact studies, preparing data, views, simulators, the loss, the optimiser's update, waiting"
"""What the numbers leave out, in words."""
COLUMNS = [
    *("paper", "artifact", "cells", "runs", "runs_not_known", "flop", "bytes_moved", "device_hours"),
    *("kilowatt_hours", "price", "bytes_of_runs", "bytes_of_datasets"),
]
TITLE = 11
"""Width of what is left of a line's text."""
PREFIXES = ("", "k", "M", "G", "T", "P", "E", "Z")


@dataclass(frozen=True)
class Amount:
    """What some runs need."""

    cells: int
    runs: int
    work: Work
    seconds: float
    """Of one device."""
    stored: int
    """Bytes of the runs' weights and snapshots."""
    datasets: int
    """Bytes of the prepared datasets that they are trained or probed on."""
    lost: tuple[str, ...]
    """The names of runs whose cost is not known."""


@dataclass(frozen=True)
class Cost:
    """The costs of a plan's chosen artifacts."""

    plan: Plan
    rates: Rates

    @cached_property
    def artifacts(self) -> dict[tuple[str, str], Amount]:
        """Of each chosen artifact by itself; a run that several show counts for each."""
        return {key: self._amount([key]) for key in self.chosen}

    @cached_property
    def papers(self) -> dict[str, Amount]:
        """Of each document by itself."""
        names = dict.fromkeys(paper for paper, _ in self.chosen)
        return {name: self._amount([key for key in self.chosen if key[0] == name]) for name in names}

    @cached_property
    def whole(self) -> Amount:
        """Of all together: each run once."""
        return self._amount(self.chosen)

    @cached_property
    def chosen(self) -> list[tuple[str, str]]:
        """The artifacts made from runs at this scale that ``only`` asks for."""
        return [key for key in self.plan.made if self.plan.config.chosen(*key)]

    @cached_property
    def unknown(self) -> dict[str, list[str]]:
        """Runs whose cost is not known, by the reason."""
        reasons: dict[str, list[str]] = {}
        for name, found in self._runs.items():
            if isinstance(found, str):
                reasons.setdefault(found, []).append(name)
        return reasons

    @cached_property
    def datasets(self) -> dict[str, Sizes | None]:
        """The sizes of the datasets on which chosen runs are trained or probed; None: not known."""
        return {dataset.name: self._sizes[dataset.folder] for dataset in self._datasets(self.chosen)}

    @cached_property
    def _runs(self) -> dict[str, tuple[Work, int] | str]:
        """The whole work of each run and the bytes that it leaves, or why they are not known."""
        counting, runs = Counting(), {}
        for key in self.chosen:
            for name, run in self.plan.runs_of(*key).items():
                if name not in runs:
                    runs[name] = self._count(counting, run)
        return runs

    def _count(self, counting: Counting, run: Run) -> tuple[Work, int] | str:
        known = self._sizes[run.dataset.folder]
        if known is None:
            return f"the size of {run.dataset.name} is not known until it is prepared"
        count = steps(run, known.train)
        if not count:
            what = "pairs of sentences" if known.sentences else "images"
            return f"batch.size {run.batch.size} is more than the {known.train} {what} of {run.dataset.name}"
        try:
            model = counting.of(run, known.words or known.side, known.classes)
        except Exception as error:  # any method or encoder may refuse tensors without data
            problem = " ".join(str(error).split())
            return f"{run.method.name} with {run.encoder.name} cannot be counted ({problem})"
        saved = 1 + sum(epoch != run.schedule.epochs for epoch in self.plan.kept_epochs(run))
        return model.step * count, model.stored * saved

    @cached_property
    def _sizes(self) -> dict[str, Sizes | None]:
        used = self.plan.datasets.values()
        return {dataset.folder: sizes.of(dataset, self.plan.data_folder(dataset)) for dataset in used}

    def _amount(self, keys: list[tuple[str, str]]) -> Amount:
        names = dict.fromkeys(name for key in keys for name in self.plan.runs_of(*key))
        known = [found for name in names if not isinstance(found := self._runs[name], str)]
        works = [work for work, _ in known]
        stored = [self._sizes[dataset.folder] for dataset in self._datasets(keys)]
        return Amount(
            cells=sum(not reason for key in keys for reason in self.plan.missing(*key).values()),
            runs=len(names),
            work=sum(works, Work()),
            seconds=sum(self.rates.seconds(work.flops, work.bytes) for work in works),
            stored=sum(size for _, size in known),
            datasets=sum(one.bytes for one in stored if one is not None),
            lost=tuple(name for name in names if isinstance(self._runs[name], str)),
        )

    def _datasets(self, keys: Iterable[tuple[str, str]]) -> list[Dataset]:
        """The datasets of artifacts' runs and probes, each once."""
        cells = [cell for key in keys for cell in self.plan.artifacts[key] if cell.run and not cell.missing]
        found = [one for cell in cells if cell.run for one in (cell.run.dataset, cell.target) if one is not None]
        return list({one.folder: one for one in found}.values())


def of(plan: Plan, rates: Rates) -> Cost:
    """The cost of a plan's chosen artifacts.

    Raises:
        HypersphereError: its numbers come from records, so that nothing would be trained.
    """
    if plan.records is not None:
        raise HypersphereError("cost: evidence_only: numbers come from records, and nothing is trained")
    return Cost(plan, rates)


def lines(cost: Cost, verbose: bool = False) -> Iterator[str]:
    """The table, with its assumptions and what it leaves out; a row for each document, or each artifact too."""
    rates, scale = cost.rates, cost.plan.config.scale
    yield f"scale      {cost.plan.config.scale_name}: {scale.describe}"
    price = "" if rates.price is None else f", {rates.price:g} an hour"
    yield f"device     {rates.device}: {rates.tflops:g} TFLOP/s, {rates.bandwidth:g} TB/s, {rates.watts:g} W{price}"
    yield f"           stated, not measured; {rates.source}"
    yield ""
    yield from _aligned(list(table(cost, verbose))) if cost.chosen else ["nothing would be trained"]
    yield ""
    yield from notes(cost, verbose)


def notes(cost: Cost, verbose: bool = False) -> Iterator[str]:
    """What sharing saves, what the numbers leave out, and what is not known or not made.

    Each begins with its title, which takes ``TITLE`` characters.
    """
    apart, whole, unit = cost.artifacts.values(), cost.whole, cost.rates.unit
    runs, seconds = sum(one.runs for one in apart), sum(one.seconds for one in apart)
    if runs > whole.runs:
        yield f"shared     {counted(len(apart), 'artifact')} made apart would be {_whole(runs)} runs and " + (
            f"{_figure(seconds / 3600)} {unit}-hours; sharing saves {_whole(runs - whole.runs)} runs and "
            f"{_figure((seconds - whole.seconds) / 3600)} {unit}-hours"
        )
    yield f"left out   {LEFT_OUT}"
    if cost.plan.config.scale.precision != "float32":
        yield f"roughly    memory: counted in float32; {cost.plan.config.scale.precision} moves about half as much"
    about = [f"{name} has about {_whole(one.train)}" for name, one in cost.datasets.items() if one and one.about]
    if about:
        yield f"roughly    to train on: {'; '.join(about)}"
    for reason, names in cost.unknown.items():
        yield f"not known  {counted(len(names), 'run')}: {reason}"
    missing = [name for name, one in cost.datasets.items() if one is None]
    if missing:
        yield f"not known  the disk of {', '.join(missing)}"
    for reason, keys in _not_made(cost.plan).items():
        listed = ", ".join("/".join(key) for key in keys)
        yield f"not made   {listed if verbose else counted(len(keys), 'artifact')}: {reason}"


def _not_made(plan: Plan) -> dict[str, list[tuple[str, str]]]:
    """The chosen artifacts that are made from runs, but not at this scale, by the reason."""
    reasons: dict[str, list[tuple[str, str]]] = {}
    for paper, document in plan.config.papers.items():
        for name in document.measured:
            if plan.config.chosen(paper, name) and (reason := why_not_made(plan, paper, name)):
                reasons.setdefault(reason, []).append((paper, name))
    return reasons


def table(cost: Cost, verbose: bool) -> Iterator[list[str]]:
    """The header and the rows; the last is of all together."""
    price = ["price"] if cost.rates.price is not None else []
    yield ["", "cells", "runs", "arithmetic", "memory", f"{cost.rates.unit}-hours", *price, "kWh", "runs' disk", "data"]
    for paper, amount in cost.papers.items():
        yield [paper, *_cells(amount, cost.rates)]
        if verbose:
            of_paper = {key: one for key, one in cost.artifacts.items() if key[0] == paper}
            yield from ([f"  {name}", *_cells(one, cost.rates)] for (_, name), one in of_paper.items())
    yield ["all, each run once", *_cells(cost.whole, cost.rates)]


def _cells(amount: Amount, rates: Rates) -> list[str]:
    hours = amount.seconds / 3600
    price = [] if rates.price is None else [_figure(hours * rates.price)]
    lost = f" ({len(amount.lost)} not known)" if amount.lost else ""
    return [
        _whole(amount.cells),
        _whole(amount.runs) + lost,
        _prefixed(amount.work.flops, "FLOP"),
        _prefixed(amount.work.bytes, "B"),
        _figure(hours),
        *price,
        _figure(hours * rates.watts / 1000),
        _prefixed(amount.stored, "B"),
        _prefixed(amount.datasets, "B"),
    ]


def _aligned(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [value.rjust(width) for value, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells])


def _whole(number: int) -> str:
    return f"{number:,}"


def _figure(number: float) -> str:
    """Two or three figures: ``0.012``, ``3.4``, ``1,230``; ``<0.001`` for less."""
    if 0 < number < 0.001:
        return "<0.001"
    return f"{float(f'{number:.3g}'):,.0f}" if number >= 99.5 else f"{number:.2g}"


def _prefixed(number: int, unit: str) -> str:
    """Three figures with a prefix of the SI: ``4.45 EFLOP``, ``12.3 TB``."""
    value, place = float(f"{number:.3g}"), 0
    while value >= 1000 and place < len(PREFIXES) - 1:
        value, place = value / 1000, place + 1
    return f"{value:.3g} {PREFIXES[place]}{unit}"


def write(cost: Cost, path: Path) -> None:
    """Write a CSV with a row for each artifact, and one, ``all``, for all together; numbers in plain units.

    Raises:
        HypersphereError: it cannot be written.
    """
    rows: Mapping[tuple[str, str], Amount] = {**cost.artifacts, ("all", ""): cost.whole}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for key, one in rows.items():
        hours, price = one.seconds / 3600, cost.rates.price
        money = "" if price is None else f"{hours * price:.6g}"
        times = [f"{hours:.6g}", f"{hours * cost.rates.watts / 1000:.6g}", money]
        counts = [one.cells, one.runs, len(one.lost), one.work.flops, one.work.bytes]
        writer.writerow([*key, *counts, *times, one.stored, one.datasets])
    files.write_text(path, text.getvalue())
