"""From config to runs, batches and cells. Imports no torch: Snakemake calls this to build its DAG."""

import copy
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hypersphere import files
from hypersphere.declared import config as cfg
from hypersphere.declared.artifacts import Evaluation, Paper
from hypersphere.declared.run import Dataset, Run
from hypersphere.errors import HypersphereError

MANIFEST = "manifest.json"
UNFINISHED = "unfinished-"
"""How the names of folders begin that hold a run in training: one for each code, dataset and device it began with."""
RESUME = "resume.safetensors"
"""The state to go on from, in such a folder."""


@dataclass(frozen=True)
class Cell:
    """One run as a paper sees it: which row, which column, which seed."""

    paper: str
    method: str
    variant: str
    dataset: str
    """The published dataset."""
    run: Run

    @property
    def key(self) -> dict[str, str | int]:
        """The columns that every tidy table starts with."""
        return {
            "paper": self.paper,
            "method": self.method,
            "variant": self.variant,
            "dataset": self.dataset,
            "measured_on": self.run.dataset.name,
            "seed": self.run.seed,
            "run": self.run.name,
        }


@dataclass(frozen=True)
class BatchOfRuns:
    """Runs of one method and dataset that one job trains and one job probes."""

    id: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Plan:
    """Everything that a scale asks for."""

    config: cfg.Config
    cells: tuple[Cell, ...]
    batches: tuple[BatchOfRuns, ...]

    @property
    def runs(self) -> dict[str, Run]:
        """Every distinct run by name; a run that several cells share is here once."""
        return {cell.run.name: cell.run for cell in self.cells}

    @property
    def datasets(self) -> dict[str, Dataset]:
        """Every dataset that a run trains on, by name."""
        return {run.dataset.name: run.dataset for run in self.runs.values()}

    def batch(self, identifier: str) -> BatchOfRuns:
        """The batch of that id.

        Raises:
            HypersphereError: no such batch at this scale.
        """
        for batch in self.batches:
            if batch.id == identifier:
                return batch
        raise HypersphereError(f"no batch '{identifier}' at scale {self.config.scale_name}")

    def batch_of(self, run: str) -> BatchOfRuns:
        """The batch that trains a run of this plan."""
        return next(batch for batch in self.batches if run in {one.name for one in batch.runs})

    def run(self, name: str) -> Run:
        """The run of that name.

        Raises:
            HypersphereError: no such run at this scale.
        """
        if name not in self.runs:
            raise HypersphereError(
                f"no run '{name}' at scale {self.config.scale_name}; `hypersphere plan` lists those there are"
            )
        return self.runs[name]

    @property
    def evaluations(self) -> list[Evaluation]:
        """The probes of all papers, each metric once, with the parameters that the scale replaces."""
        declared = {e.metric: e for paper in self.config.papers.values() for e in paper.evaluations}
        return [self._scaled(evaluation) for evaluation in declared.values()]

    def _scaled(self, evaluation: Evaluation) -> Evaluation:
        probe = evaluation.probe
        replaced = {"name": probe.name, **probe.parameters, **self.config.scale.probes.get(probe.name, {})}
        file = self.config.root / "config" / "scales" / f"{self.config.settings.scale}.yaml"
        value = {**evaluation.model_dump(), "probe": replaced}
        return cfg.validate(Evaluation, value, file, f"probes.{probe.name}")

    @property
    def evaluation_files(self) -> list[Path]:
        """results/<scale>/evaluations/<batch or pixels-dataset>.csv; beside each lies its manifest, ending in .json."""
        names = [batch.id for batch in self.batches] + [f"pixels-{name}" for name in self.datasets]
        return [self.config.results / "evaluations" / f"{name}.csv" for name in names]

    def run_folder(self, name: str) -> Path:
        """results/<scale>/runs/<run>."""
        return self.config.results / "runs" / name

    def marker(self, batch: BatchOfRuns) -> Path:
        """results/<scale>/batches/<batch>.json: all that Snakemake sees of a batch of runs."""
        return self.config.results / "batches" / f"{batch.id}.json"

    def data_folder(self, dataset: Dataset) -> Path:
        """data/processed/<dataset>."""
        return self.config.root / "data" / "processed" / dataset.folder

    def asked(self, run: Run) -> list[tuple[Evaluation, list[Dataset]]]:
        """What the papers that have a run ask of it: each probe once, and the datasets that it looks at.

        That is the run's own dataset, or, for transfer, each other one that those papers train on.
        """
        wanted: dict[str, dict[str, Dataset]] = {}
        for paper in self._papers_of[run.name]:
            for evaluation in self.config.papers[paper].evaluations:
                others = {d.name: d for d in self._datasets_of[paper].values() if d.name != run.dataset.name}
                seen = others if evaluation.transfer else {run.dataset.name: run.dataset}
                wanted.setdefault(evaluation.metric, {}).update(seen)
        return [(each, list(wanted[each.metric].values())) for each in self.evaluations if each.metric in wanted]

    @cached_property
    def _papers_of(self) -> dict[str, list[str]]:
        found: dict[str, dict[str, None]] = {}
        for cell in self.cells:
            found.setdefault(cell.run.name, {})[cell.paper] = None
        return {name: list(papers) for name, papers in found.items()}

    @cached_property
    def _datasets_of(self) -> dict[str, dict[str, Dataset]]:
        found: dict[str, dict[str, Dataset]] = {}
        for cell in self.cells:
            found.setdefault(cell.paper, {})[cell.run.dataset.name] = cell.run.dataset
        return found


def make(root: Path, overrides: dict[str, Any] | None = None) -> Plan:
    """Load config/ under ``root`` and expand it.

    Raises:
        HypersphereError: a sentence naming the file, the field and the allowed values.
    """
    config = cfg.load(root, overrides or {})
    cells = tuple(cell for paper in config.papers.values() for cell in _cells(config, paper))
    return Plan(config, cells, _batches(cells, config.scale.runs_per_job))


def _cells(config: cfg.Config, paper: Paper) -> list[Cell]:
    wanted: dict[tuple[str, str], None] = {}
    for artifact in paper.measured.values():
        wanted.update({(row, column): None for row in artifact.rows for column in artifact.columns})
    cells = []
    for row, published in wanted:
        used = config.scale.datasets[published]
        if used is None:
            continue
        method, _, variant = row.partition(".")
        for seed in config.scale.seeds:
            run = resolve(config, paper, method, variant, config.datasets[used], seed)
            cells.append(Cell(paper.paper, method, variant, published, run))
    return cells


def resolve(config: cfg.Config, paper: Paper, method: str, variant: str, dataset: Dataset, seed: int) -> Run:
    """Merge paper, method, variant and scale into one validated run.

    Raises:
        HypersphereError: the merged run is not valid; the sentence names the file that set the field.
    """
    folder = config.root / "config"
    paper_file, scale_file = (
        folder / "papers" / f"{paper.paper}.yaml",
        folder / "scales" / f"{config.settings.scale}.yaml",
    )
    own = config.scale.per_paper.get(paper.paper, cfg.Replaced())
    layers: list[tuple[Path, str, dict[str, Any]]] = [
        (paper_file, "run", paper.run),
        (paper_file, f"methods.{method}", paper.methods[method]),
        (paper_file, f"variants.{variant}", paper.variants[variant]),
        (scale_file, "run", config.scale.run),
        (scale_file, f"methods.{method}", config.scale.methods.get(method, {})),
        (scale_file, f"per_paper.{paper.paper}.run", own.run),
        (scale_file, f"per_paper.{paper.paper}.methods.{method}", own.methods.get(method, {})),
    ]
    merged: dict[str, Any] = {}
    for _, _, layer in layers:
        merged = merge(merged, layer)
    merged |= {"dataset": dataset.model_dump(), "seed": seed}
    try:
        _shrink(merged, config.scale)
        return Run.model_validate(merged)
    except ValidationError as error:
        problem = error.errors()[0]
        location = [str(part) for part in problem["loc"]]
        # A component's own complaint names its parameter first; another layer may have set the rest of the component.
        parameter = re.match(r"Value error, ([a-z_]+): ", problem["msg"])
        file, where = _blame(layers, location + ([parameter[1]] if parameter else []))
        raise HypersphereError(f"{file}: {cfg.sentence(Run, error, where)}") from None
    except (KeyError, TypeError, ArithmeticError) as error:
        raise HypersphereError(f"{paper_file}: methods.{method}: {error} is missing or not a number") from None


def _shrink(run: dict[str, Any], scale: cfg.Scale) -> None:
    """Apply the scale's epochs, batch divisor and learning-rate factor in place."""
    schedule = run["schedule"]
    if scale.epochs != "published":
        if "horizon" in schedule and schedule["horizon"] is not None:  # as much longer than training as it was
            schedule["horizon"] = round(schedule["horizon"] * scale.epochs / schedule["epochs"])
        schedule["epochs"] = scale.epochs
    for key in ("size", "micro"):
        run["batch"][key] = run["batch"][key] // scale.batch_divisor
    run["optimiser"]["learning_rate"] = run["optimiser"]["learning_rate"] * scale.learning_rate_factor


def merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Deep merge; a component given by another ``name`` replaces the one below whole, parameters included."""
    result = copy.deepcopy(below)
    for key, value in above.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and value.get("name", old.get("name")) == old.get("name"):
            result[key] = merge(old, value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def _blame(layers: list[tuple[Path, str, dict[str, Any]]], location: list[str]) -> tuple[Path, str]:
    """The file and section that last set the deepest known part of ``location``."""
    for depth in range(len(location), 0, -1):
        for file, section, layer in reversed(layers):
            value: Any = layer
            for part in location[:depth]:
                value = value.get(part) if isinstance(value, dict) else None
            if value is not None:
                return file, section
    return layers[1][0], layers[1][1]


def _batches(cells: tuple[Cell, ...], size: int) -> tuple[BatchOfRuns, ...]:
    """Group runs of one method and dataset, at most ``size`` to a job; the id is the content of the batch.

    Importing torch takes seconds, so runs of seconds share a job; a finished run is skipped, so that sharing costs
    nothing when one of them has to be trained again.
    """
    groups: dict[tuple[str, str], dict[str, Run]] = {}
    for cell in cells:
        groups.setdefault((cell.run.method.name, cell.run.dataset.name), {})[cell.run.name] = cell.run
    batches = []
    for (method, dataset), group in groups.items():
        runs = list(group.values())
        jobs = -(-len(runs) // size)
        for part in (tuple(runs[i * len(runs) // jobs : (i + 1) * len(runs) // jobs]) for i in range(jobs)):
            batches.append(BatchOfRuns(f"{method}-{dataset}-{files.digest([run.name for run in part], 8)}", part))
    return tuple(batches)
