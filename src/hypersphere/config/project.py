"""Read and validate everything under config/, with one clear sentence for anything wrong."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from hypersphere import files, strict_yaml
from hypersphere.config import coordinates, registry
from hypersphere.config.artifacts import Need, Paper, Studied
from hypersphere.config.records import FOLDER, Expected
from hypersphere.config.run import Dataset
from hypersphere.config.settings import Replaced, Scale, Settings
from hypersphere.config.study import Selection, read_selection, selection_file
from hypersphere.config.validation import not_one_of, suggest, unknown_key, validate
from hypersphere.errors import HypersphereError

FOLDERS: dict[Need, str] = {"human_labels": "human", "sentence_tasks": "text/tasks"}
"""The folder of ``data_root`` that holds what an exact study needs."""
DOWNLOADED = ("human_labels",)
"""What is fetched where there is no ``data_root``."""
COMMAND_LINE = Path("command line")
"""Stands for a file in sentences about values that the command line set."""
DATA_VARIABLE = "HYPERSPHERE_DATA"
"""The environment variable that sets ``data_root`` where neither config.yaml nor the command line does."""
_NUMBER = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?"


class Config(BaseModel):
    """The whole configuration, for one scale."""

    root: Path
    settings: Settings
    scale: Scale
    overrides: dict[str, Any]
    """What the command line set."""
    papers: dict[str, Paper]
    datasets: dict[str, Dataset]
    selected: dict[tuple[str, str], Selection] = Field(default_factory=dict)
    """The selected values of each study, by document and study; empty before `hypersphere select`."""
    sources: dict[str, Path]
    """Where each setting, and each field of the scale, was set last: a file, or ``COMMAND_LINE``."""

    @property
    def scale_name(self) -> str:
        """The results folder's name; a scale whose numbers were changed is another scale.

        How runs are shared out among jobs, and what a job asks a cluster for, change no byte.
        """
        changed = _scale_overrides(self.overrides)
        changed = {key: value for key, value in changed.items() if key not in {"runs_per_job", "resources"}}
        return f"{self.settings.scale}-{files.digest(changed, 6)}" if changed else self.settings.scale

    def studied(self, paper: str) -> dict[str, Studied]:
        """The artifacts of a paper that an exact study makes at this scale, by id.

        A ``data_root`` without the files that a study needs leaves it out: most such folders hold torchvision's sets
        alone. Without one they are downloaded if they can be, but not to show what is recorded.
        """
        given = self.settings.data_root
        folder = Path(given) if given else self.root / "data" / "raw"
        downloads = given is None and not self.settings.evidence_only
        fetched = DOWNLOADED if downloads else ()
        available = {need for need in self.scale.provides if need in fetched or (folder / FOLDERS[need]).is_dir()}
        return {key: value for key, value in self.papers[paper].studied.items() if set(value.needs) <= available}

    def replaced(self, paper: str) -> Replaced:
        """What the scale replaces in the runs of one paper."""
        return self.scale.per_paper.get(paper, Replaced())

    def used(self, published: str, paper: str) -> Dataset | None:
        """The dataset used in place of a published one in a paper's runs at this scale; None: none."""
        own = self.replaced(paper).datasets
        if published in own:
            return self.datasets[own[published]]
        if published in self.scale.datasets:
            name = self.scale.datasets[published]
        else:
            name = published if self.scale.other_datasets == "themselves" else None
        return None if name is None else self.datasets[name]

    def paper_file(self, paper: str) -> Path:
        """config/papers/<paper>.yaml."""
        return self.root / "config" / "papers" / f"{paper}.yaml"

    def claims_file(self, paper: str) -> Path:
        """paper/claims/<paper>.csv."""
        return self.root / "paper" / "claims" / f"{paper}.csv"

    def sentences_file(self, paper: str) -> Path:
        """paper/sentences/<paper>.yaml."""
        return self.root / "paper" / "sentences" / f"{paper}.yaml"

    def chosen(self, paper: str, artifact: str) -> bool:
        """Whether ``only`` asks for an artifact."""
        only = self.settings.only
        return not only or paper in only or f"{paper}/{artifact}" in only

    def makes(self, paper: str, artifact: str) -> bool:
        """Whether this scale makes an artifact that is made from runs."""
        made_at = self.papers[paper].measured[artifact].made_at
        named = made_at is None or self.settings.scale in made_at
        return named and f"{paper}/{artifact}" not in self.scale.leaves_out

    def studies(self, paper: str) -> list[str]:
        """The studies that make a paper's artifacts at this scale, each once."""
        return list(dict.fromkeys(artifact.study for artifact in self.studied(paper).values()))

    @property
    def results(self) -> Path:
        """The results folder; what is made from records alone has its own."""
        return self.root / "results" / (self.scale_name + ("-evidence" if self.settings.evidence_only else ""))

    @property
    def evidence(self) -> Path:
        """The folder of this scale's records."""
        return self.root / FOLDER / self.scale_name

    @property
    def expected(self) -> Expected:
        """What this scale's records must agree with: its level, and the sizes of test sets that are declared."""
        sizes = {name: test_images(one) for name, one in self.datasets.items()}
        return Expected(self.scale.level, {name: size for name, size in sizes.items() if size is not None})


TEST_IMAGES = {"cifar": 10_000, "mnist": 10_000, "stl10": 8_000}
"""Of the whole sets, by the function that reads them (data/datasets.csv)."""
CLASSES = {"cifar10": 10, "cifar100": 100}
"""Of sets of which a part is taken, class by class."""


def test_images(dataset: Dataset) -> int | None:
    """The size of a dataset's test set, where its declaration or its source decides it."""
    if dataset.source is None or dataset.test_per_class is not None:
        return None
    given = dataset.source.parameters
    if isinstance(given.get("test"), int):
        return int(given["test"])
    if dataset.source.name == "part" and given.get("base") in CLASSES and isinstance(given.get("test_per_class"), int):
        return int(given["test_per_class"]) * CLASSES[given["base"]]
    return TEST_IMAGES.get(dataset.source.name)


def load(root: Path, overrides: dict[str, Any]) -> Config:
    """Read config/ under ``root``; ``overrides`` (command line) replace settings or numbers of the scale.

    Raises:
        HypersphereError: a sentence naming the file, the field and the allowed values.
    """
    folder, overrides = root / "config", _typed(overrides)
    settings, sources = _settings(root, overrides)
    scale_file = _named(folder / "scales", settings.scale, sources["scale"], "scale")
    scale = validate(Scale, _mapping(scale_file), scale_file)
    if scale.scale != scale_file.stem:
        raise HypersphereError(f"{scale_file}: scale: must be the file's own name (given: '{scale.scale}')")
    replaced = _scale_overrides(overrides)
    if replaced:
        scale = validate(Scale, {**_mapping(scale_file), **replaced}, COMMAND_LINE)
    for key in Scale.model_fields.keys() - {"scale"}:
        sources[key] = COMMAND_LINE if key in replaced else scale_file
    papers = {}
    for file in sorted((folder / "papers").glob("*.yaml")):
        papers[file.stem] = validate(Paper, _mapping(file), file)
        if papers[file.stem].paper != file.stem:
            raise HypersphereError(f"{file}: paper: must be the file's own name (given: '{papers[file.stem].paper}')")
    config = Config(
        root=root,
        settings=settings,
        scale=scale,
        overrides=overrides,
        papers=dict(sorted(papers.items(), key=lambda item: item[1].order)),
        datasets=_datasets(folder / "datasets.yaml"),
        selected={
            (name, study): read_selection(selection_file(root, name, study), declared)
            for name, paper in papers.items()
            for study, declared in paper.studies.items()
        },
        sources=sources,
    )
    _cross_check(config)
    return config


def _settings(root: Path, overrides: dict[str, Any]) -> tuple[Settings, dict[str, Path]]:
    """The settings, and where each was set last."""
    file = root / "config" / "config.yaml"
    written = _mapping(file)
    settings = validate(Settings, written, file)  # before the command line's, so that the file is blamed for its own
    allowed = sorted({*Settings.model_fields, *Scale.model_fields})
    for key in overrides:
        if key not in allowed:
            raise HypersphereError(f"{COMMAND_LINE}: {key} is not a setting; {suggest(key, allowed)}")
    changed = {key: value for key, value in overrides.items() if key in Settings.model_fields}
    if changed:
        settings = validate(Settings, {**written, **changed}, COMMAND_LINE)
    sources = {key: COMMAND_LINE if key in changed else file for key in Settings.model_fields}
    return settings.model_copy(update={"data_root": _data_root(settings, root, sources["data_root"])}), sources


def _data_root(settings: Settings, root: Path, source: Path) -> str | None:
    """The folder that holds the datasets, as an absolute path; None: they are downloaded.

    Raises:
        HypersphereError: it does not exist.
    """
    where, given = f"{source}: data_root", settings.data_root
    if given is None:
        where, given = DATA_VARIABLE, os.environ.get(DATA_VARIABLE) or None
    if given is None:
        return None
    folder = root / Path(given).expanduser()
    if not os.path.isdir(folder):  # which is False, and no error, for a name that no file system takes
        raise HypersphereError(
            f"{where}: {folder}: no such folder; give the folder that holds the datasets, or leave it out"
        )
    return str(folder)


def _datasets(file: Path) -> dict[str, Dataset]:
    datasets = {}
    for name, entry in _mapping(file).items():
        if not isinstance(entry, dict):
            raise HypersphereError(f"{file}: {name}: must be a mapping of keys to values")
        if "name" in entry:
            raise HypersphereError(f"{file}: {name}.name: the key is the name; leave it out")
        datasets[name] = validate(Dataset, {"name": name, **entry}, file, str(name))
    return datasets


def _scale_overrides(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The overrides that change the scale itself, which makes it another scale."""
    return {key: value for key, value in overrides.items() if key in Scale.model_fields and key != "scale"}


def _typed(value: Any) -> Any:
    """``value`` with numbers and booleans that came as text inside lists and mappings, as from snakemake --config."""
    if isinstance(value, dict):
        return {key: _typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner) for inner in value]
    if isinstance(value, str) and re.fullmatch(rf"true|false|null|{_NUMBER}", value, re.IGNORECASE):
        return strict_yaml.parse(value)
    return value


def _cross_check(config: Config) -> None:
    """Check the names that one file uses of another.

    Raises:
        HypersphereError: a name is not declared.
    """

    def check(name: str, names: Any, field: str, where: str) -> None:
        if name not in names:
            raise HypersphereError(f"{config.sources[field]}: {where}: {not_one_of(name, names)}")

    scale, papers = config.scale, config.papers
    scales = sorted(path.stem for path in (config.root / "config" / "scales").glob("*.yaml"))
    for document, declared in papers.items():
        for artifact, one in declared.measured.items():
            for scale_name in one.made_at or ():
                if scale_name not in scales:
                    place = f"{config.paper_file(document)}: artifacts.{artifact}: made_at"
                    raise HypersphereError(f"{place}: {not_one_of(scale_name, scales)}")
        for borrowed, source in declared.borrows.items():
            known = [other for other, one in papers.items() if borrowed in one.methods and other != document]
            if source not in known:
                place = f"{config.paper_file(document)}: borrows.{borrowed}"
                raise HypersphereError(f"{place}: {not_one_of(source, known)}")
    for published, used in scale.datasets.items():
        check(published, sorted(config.datasets), "datasets", "datasets")
        if used is not None:
            check(used, sorted(config.datasets), "datasets", f"datasets.{published}")
    for method in scale.methods:
        check(method, sorted({name for paper in papers.values() for name in paper.methods}), "methods", "methods")
    for name, replaced in scale.per_paper.items():
        check(name, papers, "per_paper", "per_paper")
        for method in replaced.methods:
            check(method, papers[name].methods, "per_paper", f"per_paper.{name}.methods")
        for evaluation in replaced.evaluations:
            check(evaluation, papers[name].evaluations, "per_paper", f"per_paper.{name}.evaluations")
        try:
            papers[name].check(replaced.overrides)
        except ValueError as error:
            raise HypersphereError(f"{config.sources['per_paper']}: per_paper.{name}.{error}") from None
        for at, override in enumerate(replaced.overrides):
            for dataset in coordinates.alternatives(override.when.get("dataset", [])):
                where = f"per_paper.{name}.overrides.{at}.when.dataset"
                check(str(dataset), sorted(config.datasets), "per_paper", where)
        for pair in replaced.datasets.items():
            for dataset in pair:
                check(dataset, sorted(config.datasets), "per_paper", f"per_paper.{name}.datasets")
    for probe, parameters in scale.probes.items():
        check(probe, registry.names("probes"), "probes", "probes")
        taken = registry.schema("probes", probe).model_fields
        for key in parameters:
            if key not in taken:
                place = f"{config.sources['probes']}: probes.{probe}.{key}"
                raise HypersphereError(f"{place}: {unknown_key(key, taken, probe)}")
    for chosen, field in (
        (scale.leaves_out, "leaves_out"),
        (scale.swept, "swept"),
        (config.settings.only, "only"),
    ):
        for name in chosen:
            paper, slash, _ = name.partition("/")
            check(paper, papers, field, field)
            if slash or field != "only":
                check(name, [f"{paper}/{artifact}" for artifact in papers[paper].artifacts], field, field)


def _mapping(file: Path) -> dict[str, Any]:
    value = files.read_yaml(file)
    if not isinstance(value, dict):
        raise HypersphereError(f"{file}: must be a mapping of keys to values")
    return value


def _named(folder: Path, name: str, source: Path, field: str) -> Path:
    """The YAML file called ``name`` in ``folder``.

    Raises:
        HypersphereError: there is none; the sentence lists the names of the others.
    """
    available = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in available:
        raise HypersphereError(f"{source}: {field}: {not_one_of(name, available)}")
    return folder / f"{name}.yaml"
