"""The plan of a scale: cells, runs, batches and evaluations. Snakemake builds its DAG from it: it imports no torch."""

import itertools
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from hypersphere import files
from hypersphere.config import cells as of_cells
from hypersphere.config import project as cfg
from hypersphere.config import registry
from hypersphere.config.artifacts import Probe, Protocol
from hypersphere.config.cells import Cell, Cells, Listed, is_made, is_probed
from hypersphere.config.project import Layer
from hypersphere.config.records import Records, read_all
from hypersphere.config.run import Dataset, Run
from hypersphere.config.validation import SHOWN, either
from hypersphere.errors import HypersphereError
from hypersphere.file_names import MANIFEST

Item = TypeVar("Item")
At = tuple[int, str]
"""Finished epochs, and the name of the probed dataset."""


@dataclass(frozen=True)
class BatchOfRuns:
    """Runs that one job trains and one job probes."""

    id: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Evaluation:
    """The epochs and datasets at which one protocol measures one run."""

    protocol: Protocol
    at: set[At]


@dataclass(frozen=True)
class Plan:
    """All cells of a scale, and the runs, batches and evaluations that they need."""

    config: cfg.Config
    cells: tuple[Cell, ...]
    """The cells of all artifacts of this scale, including those that cannot be measured."""
    protocols: dict[str, dict[str, Protocol]]
    """The protocols of each paper by name, with the scale's replacements of parameters."""
    records: Records | None = None
    """The records that all numbers come from; None: they come from runs in the results folder."""

    @cached_property
    def artifacts(self) -> dict[tuple[str, str], list[Cell]]:
        """The cells of each artifact made from runs, by paper and artifact."""
        of_artifact: dict[tuple[str, str], list[Cell]] = defaultdict(list)
        for cell in self.cells:
            of_artifact[cell.paper, cell.artifact].append(cell)
        return dict(of_artifact)

    def missing(self, paper: str, artifact: str) -> dict[str, str]:
        """Why the cells of an artifact cannot be measured, by coordinates; empty text where a seed can be."""
        reasons: dict[str, str] = {}
        for cell in self.artifacts.get((paper, artifact), []):
            reasons[cell.text] = cell.missing and reasons.get(cell.text, cell.missing)
        return reasons

    @cached_property
    def made_artifacts(self) -> list[tuple[str, str]]:
        """The artifacts made from runs that have at least one number to show at this scale."""
        return [key for key, cells in self.artifacts.items() if any(map(is_made, cells))]

    @cached_property
    def chosen_artifacts(self) -> list[tuple[str, str]]:
        """Those of them that ``only`` asks for."""
        return [key for key in self.made_artifacts if self.config.asks_for(*key)]

    @cached_property
    def chosen_runs(self) -> dict[str, Run]:
        """The distinct runs that these show, by name."""
        runs: dict[str, Run] = {}
        for key in self.chosen_artifacts:
            runs |= self.runs_of(*key)
        return runs

    @cached_property
    def chosen_batches(self) -> dict[str, BatchOfRuns]:
        """The batches that train these runs, by id; none where they are recorded."""
        batches: dict[str, BatchOfRuns] = {}
        for key in self.chosen_artifacts:
            batches |= {batch.id: batch for batch in self.batches_of(*key)}
        return batches

    @cached_property
    def chosen_studies(self) -> list[tuple[str, str]]:
        """The artifacts made by exact studies that ``only`` asks for."""
        studies = []
        for paper in self.config.papers:
            for name in self.config.exact_artifacts(paper):
                if self.config.asks_for(paper, name):
                    studies.append((paper, name))
        return studies

    @cached_property
    def drawn_together(self) -> dict[str, list[tuple[str, str]]]:
        """The artifacts made from runs that one job draws, by the job's name: ``margins__table2`` or ``margins__1``.

        A job is mostly its imports. From records, where nothing waits for a run, there is one for a document. What is
        asked for by name is drawn alone, so that it waits for its own runs only.
        """
        recorded = self.records is not None
        size = self.config.scale.artifacts_per_job
        if not recorded and (self.config.settings.only or size == 1):
            return {"__".join(key): [key] for key in self.made_artifacts}
        of_job: dict[str, list[tuple[str, str]]] = {}
        for paper in self.config.papers:
            keys = [key for key in self.chosen_artifacts if key[0] == paper]
            count = len(keys)
            jobs = min(1, count) if recorded else math.ceil(count / size)
            for at in range(jobs):
                job = f"{paper}__{at + 1}" if jobs > 1 else paper
                start = at * count // jobs
                stop = (at + 1) * count // jobs
                of_job[job] = keys[start:stop]
        return of_job

    @cached_property
    def controls(self) -> dict[tuple[str, str], list[Cell]]:
        """The cells of the untrained control of each artifact; with records, those that they measure."""
        controls = {
            key: of_cells.untrained_controls(cells) for key, cells in self.artifacts.items()
        }
        if self.records is not None:
            for key, cells in controls.items():
                controls[key] = of_cells.recorded_controls(cells, self.records)
        return controls

    @cached_property
    def runs(self) -> dict[str, Run]:
        """The distinct runs to train, by name; a run that several cells share is listed once."""
        return _measured_runs(self.cells)

    @cached_property
    def _cells_of(self) -> dict[str, list[Cell]]:
        """The cells of each run that is asked for, by its name, those that cannot be measured, too."""
        of_run: dict[str, list[Cell]] = defaultdict(list)
        for cell in self.cells:
            if cell.run is not None:
                of_run[cell.run.name].append(cell)
        return of_run

    @cached_property
    def unmeasured(self) -> dict[str, str]:
        """Why runs that are asked for are not trained, by name: nothing can measure them here."""
        every = self._cells_of.items()
        return {name: cells[-1].missing for name, cells in every if name not in self.runs}

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        """The datasets on which runs are trained or probed, by name."""
        datasets: dict[str, Dataset] = {}
        for cell in filter(is_made, self.cells):
            datasets |= {dataset.name: dataset for dataset in (cell.run.dataset, cell.target)}
        return datasets

    @cached_property
    def prepared_together(self) -> dict[str, list[Dataset]]:
        """The datasets that one job prepares, by the job's name: ``digits-1`` for several of one source, or a folder.

        A new dataset changes no other job's name, so that nothing is made again for it.
        """
        size = self.config.scale.datasets_per_job
        if size == 1:
            return {dataset.folder: [dataset] for dataset in self.datasets.values()}
        of_source: dict[str, list[Dataset]] = defaultdict(list)
        for dataset in self.datasets.values():
            if dataset.source is not None:
                of_source[dataset.source.name].append(dataset)
        jobs = {}
        for source, datasets in of_source.items():
            for number, part in enumerate(_parts(datasets, size), start=1):
                jobs[f"{source}-{number}"] = part
        return jobs

    def preparing(self, names: Collection[str]) -> list[str]:
        """The jobs that prepare datasets."""
        jobs = []
        for job, datasets in self.prepared_together.items():
            if {one.name for one in datasets} & {*names}:
                jobs.append(job)
        return sorted(jobs)

    @cached_property
    def evaluations(self) -> dict[str, dict[str, Evaluation]]:
        """The measurements that each run needs, by its name and the protocol's digest."""
        evaluations: dict[str, dict[str, Evaluation]] = {name: {} for name in self.runs}
        for cell in filter(is_probed, itertools.chain(self.cells, *self.controls.values())):
            # a control may be of another run, whose record gives it
            if cell.run.name in evaluations:
                nothing = Evaluation(cell.how, set())
                one = evaluations[cell.run.name].setdefault(cell.how.digest, nothing)
                one.at.add((cell.epoch, cell.target.name))
        return {run: dict(sorted(of_run.items())) for run, of_run in evaluations.items()}

    def protocols_of_pixels(self, runs: Iterable[Run]) -> dict[str, dict[str, Protocol]]:
        """The protocols that measure raw pixels beside runs, by dataset and digest."""
        protocols: dict[str, dict[str, Protocol]] = {}
        for run in runs:
            for digest, one in self.evaluations[run.name].items():
                if of_cells.on_pixels(one.protocol):
                    for _, dataset in one.at:
                        protocols.setdefault(dataset, {})[digest] = one.protocol
        return {dataset: dict(sorted(protocols[dataset].items())) for dataset in sorted(protocols)}

    def kept_epochs(self, run: Run) -> list[int]:
        """The epochs after which a run's weights are saved, because a probe needs them."""
        epochs = set[int]()
        for asked in self.evaluations.get(run.name, {}).values():
            epochs.update(epoch for epoch, _ in asked.at)
        return sorted(epochs)

    @cached_property
    def batches(self) -> tuple[BatchOfRuns, ...]:
        """The jobs. What is recorded needs none.

        Importing torch takes seconds, so runs of seconds share a job, up to the scale's number: those of one method,
        dataset and set of artifacts first, and then others of the same papers that fit. A finished run is skipped, so
        sharing costs nothing when one of them must be trained again. An artifact waits only for its own runs, and for
        those of its paper that share a job with them.
        """
        if self.records is not None:
            return ()
        groups: dict[tuple[frozenset[tuple[str, str]], str, str], list[Run]] = defaultdict(list)
        for name, run in self.runs.items():
            measured = filter(is_made, self._cells_of[name])
            shown = frozenset((cell.paper, cell.artifact) for cell in measured)
            groups[shown, run.dataset.name, run.method.name].append(run)
        size = self.config.scale.runs_per_job
        jobs: list[list[Run]] = []
        last_of: dict[frozenset[str], list[Run]] = {}
        for (shown, *_), runs in groups.items():
            papers = frozenset(paper for paper, _ in shown)
            for part in _parts(runs, size):
                last = last_of.get(papers)
                if last is not None and len(last) + len(part) <= size:
                    last += part
                else:
                    last_of[papers] = part
                    jobs.append(part)
        return tuple(BatchOfRuns(_identifier(job), tuple(job)) for job in jobs)

    @cached_property
    def batch_of(self) -> dict[str, BatchOfRuns]:
        """The batch that trains each run of this plan, by the run's name."""
        of_run: dict[str, BatchOfRuns] = {}
        for batch in self.batches:
            of_run |= dict.fromkeys((run.name for run in batch.runs), batch)
        return of_run

    def runs_of(self, paper: str, artifact: str) -> dict[str, Run]:
        """The distinct runs that an artifact shows, by name."""
        return _measured_runs(self.artifacts[paper, artifact])

    def batches_of(self, paper: str, artifact: str) -> list[BatchOfRuns]:
        """The batches that train an artifact's runs; none where they are recorded."""
        if self.records is not None:
            return []
        batches = (self.batch_of[run] for run in self.runs_of(paper, artifact))
        return list({batch.id: batch for batch in batches}.values())

    def run(self, name: str) -> Run:
        """The run of that name, which may be given without its digest if no other run begins so."""
        if name in self.runs:
            return self.runs[name]
        matches = [one for one in self.runs if one.startswith(f"{name}-")]
        if len(matches) == 1:
            return self.runs[matches[0]]
        scale = self.config.scale_name
        if matches:
            shown = ", ".join(matches[:SHOWN])
            if len(matches) > SHOWN:
                shown += f" and {len(matches) - SHOWN} more"
            raise HypersphereError(
                f"run '{name}': {len(matches)} begin so at scale {scale}: {shown}; name one"
            )
        for one, reason in self.unmeasured.items():
            if f"{one}-".startswith(f"{name}-"):
                raise HypersphereError(f"run '{one}' is not made at scale {scale}: {reason}")
        hint = "`hypersphere plan --verbose` lists those there are"
        if near := get_close_matches(name, self.runs, SHOWN):
            hint = f"did you mean {either(near)}?"
        raise HypersphereError(f"no run '{name}' at scale {scale}; {hint}")

    def explain(self, name: str) -> list[tuple[str, str, str]]:
        """Every field of a run by its path, with its value and who set it: file and section, or ``default``.

        Where layers compute with a number of others, they follow after a semicolon, each with what it does.
        """
        run = self.run(name)
        cell = self._cells_of[run.name][0]
        paper = self.config.papers[cell.paper]
        published = str(cell.coordinates["dataset"])
        artifact = Layer(self.config.paper_file(cell.paper), paper.section(cell.artifact), {})
        dataset = self.config.stand_in(published, cell.paper) or artifact
        seeds = of_cells.seeds_of(self.config, paper, cell.artifact, cell.coordinates)
        rows = [
            ("dataset", run.dataset.name, self._place(dataset)),
            ("seed", str(run.seed), self._place(seeds)),
        ]
        layers = of_cells.layers_of(self.config, cell)
        for path, value in leaves(run.model_dump(mode="json", exclude={"dataset", "seed"})):
            steps = []
            for layer in layers.setting(path):
                computes = f" ({layer.computes})" if layer.computes else ""
                steps.append(self._place(layer) + computes)
            setters = "; ".join(steps) or "default"
            rows.append((".".join(path), _as_typed(value), setters))
        return rows

    def explain_probes(self, name: str) -> list[tuple[str, str, str]]:
        """Every parameter of the probes that measure a run, as ``evaluation: probe.parameter``, and who set it."""
        probes: dict[tuple[str, str], Probe] = {}
        for cell in filter(is_probed, self._cells_of[self.run(name).name]):
            probes[cell.paper, cell.protocol] = cell.how.probe
        rows = []
        for (paper, protocol), probe in probes.items():
            _, layers = self.config.probe_of(paper, protocol)
            for key, value in probe.parameters.items():
                last = [layer for layer in layers if key in layer.fields][-1]
                what = f"{paper}/{protocol}: {probe.name}.{key}"
                rows.append((what, _as_typed(value), self._place(last)))
        return rows

    def _place(self, setter: Layer | Listed) -> str:
        """A file and a section of it; a file of the project is said as people type it."""
        file = setter.file.as_posix().removeprefix(f"{self.config.root.as_posix()}/")
        return f"{file}: {setter.section}"

    def run_folder(self, name: str) -> Path:
        """results/<scale>/runs/<run>."""
        return self.config.results / "runs" / name

    def marker(self, batch: BatchOfRuns) -> Path:
        """results/<scale>/batches/<batch>.json: the only file of a batch's training that Snakemake knows."""
        return self.config.results / "batches" / f"{batch.id}.json"

    def evaluated_marker(self, identifier: str) -> Path:
        """results/<scale>/batches/<batch>.evaluated.json: the only file of a batch's probes that Snakemake knows."""
        return self.config.results / "batches" / f"{identifier}.evaluated.json"

    def prepared_marker(self, job: str) -> Path:
        """results/<scale>/batches/<job>.prepared.json: the only file of prepared datasets that Snakemake knows."""
        return self.config.results / "batches" / f"{job}.prepared.json"

    def evaluation_file(self, subject: str, digest: str) -> Path:
        """results/<scale>/evaluations/<run or pixels-dataset>/<protocol>.csv; its manifest ends in .json."""
        return self.config.results / "evaluations" / subject / f"{digest}.csv"

    def data_folder(self, dataset: Dataset) -> Path:
        """data/processed/<dataset>."""
        return self.config.data / "processed" / dataset.folder


def _measured_runs(cells: Iterable[Cell]) -> dict[str, Run]:
    """The distinct runs of the cells that are measured, by name."""
    return {cell.run.name: cell.run for cell in filter(is_made, cells)}


def _parts(items: list[Item], size: int) -> list[list[Item]]:
    """A list in parts of that size, of which the last may be smaller."""
    return [items[at : at + size] for at in range(0, len(items), size)]


def _identifier(job: list[Run]) -> str:
    """The id of a batch: its method and dataset, or how many it has, and a digest: ``simclr-cifar10-1f3a9c2e``."""
    methods = {run.method.name for run in job}
    datasets = {run.dataset.name for run in job}
    parts = []
    for names, what in ((methods, "methods"), (datasets, "datasets")):
        several = len(names) > 1
        parts.append(f"{len(names)}{what}" if several else names.pop())
    digest = files.digest([run.name for run in job], 8)
    return "-".join([*parts, digest])


def _as_typed(value: Any) -> str:
    """A value as a person would type it."""
    return value if isinstance(value, str) else files.canonical_json(value)


def leaves(
    fields: Mapping[str, Any], above: tuple[str, ...] = ()
) -> Iterator[tuple[list[str], Any]]:
    """The innermost fields of a run, by path."""
    for key, value in fields.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*above, key))
        else:
            yield [*above, key], value


def table_name(path: Path, at: At) -> Path:
    """The file, beside the evaluation ``path``, of a probe's table for one epoch and dataset.

    Its pictures, one for each row, are one image of that name.
    """
    epoch, dataset = at
    return path.with_name(f"{path.stem}.{epoch:04d}.{dataset}.csv")


def make(root: Path, overrides: dict[str, Any] | None = None) -> Plan:
    """Load config/ under ``root`` and expand it."""
    return of(cfg.load(root, overrides or {}))


def of(config: cfg.Config) -> Plan:
    """The plan of a configuration."""
    maker = Cells(config)
    cells: list[Cell] = []
    for paper in config.papers.values():
        for name, artifact in paper.measured.items():
            here = artifact.made_at is None or config.settings.scale in artifact.made_at
            if here and not artifact.missing and not config.left_out(paper.paper, name):
                cells += maker.of(paper, name, artifact)
    cells = of_cells.without_repeats(cells)
    if not config.settings.evidence_only:
        return Plan(config, tuple(cells), maker.protocols)
    records = read_all(config.evidence, config.scale.level)
    further = of_cells.mark(maker.further(cells, records), config, records)
    declared = of_cells.mark(cells, config, records)
    # all seeds of a point together, the declared ones first
    of_place: dict[object, list[Cell]] = defaultdict(list)
    for cell in itertools.chain(declared, filter(is_made, further)):
        of_place[cell.place].append(cell)
    together = itertools.chain.from_iterable(of_place.values())
    return Plan(config, tuple(together), maker.protocols, records)


TRAINED_ON = "train"
MEASURED_ON = "test"
"""The splits that an image dataset needs to be trained on, and to be measured on."""


def check_sizes(plan: Plan, names: Collection[str] | None = None) -> None:
    """Check that each dataset has the splits, and each prepared one the images, that its runs and probes need.

    How many images it has is known only once it is prepared: what is not prepared is left to the job that prepares it.
    ``names`` are datasets; None: all of the plan.
    """
    for name, dataset in plan.datasets.items():
        if names is not None and name not in names:
            continue
        measured_by = _measured_by(plan, name)
        manifest = plan.data_folder(dataset) / MANIFEST
        # a damaged one is made again
        splits = files.mapping(files.read_mapping(manifest).get("splits"))
        folder = _folder_of_splits(plan, dataset)
        if there := _folders(folder) if folder else list(splits):
            # probes of sentences and of control divide their own data
            pictures = any(
                registry.read_constant("trainers", run.kind, "IMAGES", False)
                for run, _ in measured_by
            )
            needed = [TRAINED_ON, MEASURED_ON] if pictures else [TRAINED_ON]
            _check_splits(name, needed, there, folder or manifest)
        images = files.mapping(splits.get(TRAINED_ON)).get("images")
        if isinstance(images, int):
            for run in plan.runs.values():
                if run.dataset.name == name:
                    run.check_batch(images)
            for run, protocol in measured_by:
                _check_bank(run, protocol.probe, name, images)


def _measured_by(plan: Plan, dataset: str) -> list[tuple[Run, Protocol]]:
    """The runs that are measured on a dataset, and by which protocols."""
    pairs = []
    for run in plan.runs.values():
        for one in plan.evaluations[run.name].values():
            if any(target == dataset for _, target in one.at):
                pairs.append((run, one.protocol))
    return pairs


def _check_bank(run: Run, probe: Probe, dataset: str, images: int) -> None:
    """Refuse a probe that asks for more of the training images than there are."""
    parameter = registry.read_constant("probes", probe.name, "AT_MOST_THE_BANK", "")
    if parameter:
        parameters = registry.schema("probes", probe.name).model_validate(probe.parameters)
        value = getattr(parameters, parameter)
        if value > images:
            raise HypersphereError(
                f"{run.name}: probe {probe.name}: {parameter} {value} is more than the {images} training "
                f"images of {dataset}"
            )


def _folder_of_splits(plan: Plan, dataset: Dataset) -> Path | None:
    """The folder whose folders are the splits of a dataset, if its source reads one and it is there."""
    source = dataset.source
    if source is None:
        return None
    pattern = registry.read_constant("datasets", source.name, "SPLITS", None)
    if pattern is None:
        return None
    folder = plan.config.downloads / pattern.format(**source.parameters)
    return folder if folder.is_dir() else None


def _folders(folder: Path) -> list[str]:
    """The names of the folders in a folder that are not hidden."""
    return [
        path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")
    ]


def _check_splits(dataset: str, needed: list[str], there: list[str], place: Path) -> None:
    """Refuse a dataset whose splits, which ``place`` tells, are not those that its runs and probes need."""
    if not {*needed} <= {*there}:
        listed = " and ".join(needed)
        raise HypersphereError(
            f"dataset {dataset}: its runs and probes need the splits {listed}; {place} has {', '.join(sorted(there))}"
        )
