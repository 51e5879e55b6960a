"""Read and validate everything under config/, with one clear sentence for anything wrong."""

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from hypersphere import files
from hypersphere.declared.artifacts import Need, Paper, Studied
from hypersphere.declared.recipe import Spec
from hypersphere.declared.run import Dataset
from hypersphere.declared.validation import validate
from hypersphere.errors import HypersphereError

Level = Literal["quick", "laptop", "paper"]


DOCUMENTS = ("margins", "lmcl", "embedding_norms", "double_metric", "lecture")
FOLDERS: dict[Need, str] = {"human_labels": "human"}
"""Where ``data_root`` holds what exact studies need."""


def _distinct(seeds: list[int]) -> list[int]:
    if len(set(seeds)) != len(seeds):
        raise ValueError("a seed is listed twice")
    return seeds


SeedList = Annotated[list[NonNegativeInt], Field(min_length=1), AfterValidator(_distinct)]


class Seeds(Spec):
    """The seeds of every cell of a table, and of a sweep's; one list serves for both."""

    tables: SeedList
    sweeps: SeedList

    @model_validator(mode="before")
    @classmethod
    def _one_list(cls, value: Any) -> Any:
        return {"tables": value, "sweeps": value} if isinstance(value, list) else value


def _words(value: Any) -> Any:
    """A command line's text as the list that it stands for."""
    return value.split() if isinstance(value, str) else value


class Settings(Spec):
    """config/config.yaml: what to rebuild and where."""

    scale: str = "quick"
    only: Annotated[list[str], BeforeValidator(_words)] = Field(default_factory=list)
    """Papers, and artifacts as ``paper/artifact``, to make; empty: all. Nothing else is touched."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    data_root: str | None = None


class Resources(Spec):
    """What one training job asks of Snakemake: mebibytes, minutes, devices."""

    mem_mb: PositiveInt
    runtime: PositiveInt
    gpu: NonNegativeInt


class Replaced(Spec):
    """What a scale replaces in the runs of one paper."""

    epochs: PositiveInt | None = None
    run: dict[str, Any] = Field(default_factory=dict)
    methods: dict[str, dict[str, Any]] = Field(default_factory=dict)


class Scale(Spec):
    """config/scales/<scale>.yaml: how big, and what stands for what."""

    scale: str
    level: Level
    describe: str
    seeds: Seeds
    datasets: dict[str, str | None] = Field(default_factory=dict)
    """What stands for a published dataset; null: nothing."""
    other_datasets: Literal["themselves", "nothing"]
    """What stands for those that ``datasets`` does not name."""
    leaves_out: list[str] = Field(default_factory=list)
    """Artifacts, as ``paper/artifact``, that this scale does not make."""
    epochs: PositiveInt | Literal["published"]
    """What a paper's own number of epochs becomes; a coordinate that sets another number shrinks in proportion."""
    batch_divisor: PositiveInt
    learning_rate_factor: PositiveFloat
    run: dict[str, Any]
    methods: dict[str, dict[str, Any]]
    per_paper: dict[str, Replaced] = Field(default_factory=dict)
    """The same for one paper's runs, on top."""
    probes: dict[str, dict[str, Any]]
    """Parameters to replace, by probe: a bank of hundreds wants fewer neighbours than one of thousands."""
    provides: list[Need] = Field(default_factory=list)
    """What exact studies may use at this scale beside their own arithmetic."""
    threads: PositiveInt
    runs_per_job: PositiveInt
    resources: Resources


class Config(BaseModel):
    """All of it, for one scale."""

    root: Path
    settings: Settings
    scale: Scale
    overrides: dict[str, Any]
    papers: dict[str, Paper]
    datasets: dict[str, Dataset]

    @property
    def scale_name(self) -> str:
        """The results folder's name; a scale whose numbers were changed is another scale."""
        changed = _numbers(self.overrides)
        return f"{self.settings.scale}-{files.digest(changed, 6)}" if changed else self.settings.scale

    def studied(self, paper: str) -> dict[str, Studied]:
        """The artifacts of a paper that an exact study makes at this scale, by id.

        A ``data_root`` that lacks what a study needs leaves it out: most such folders hold torchvision's sets alone.
        """
        root = self.settings.data_root
        here = {need for need in self.scale.provides if root is None or (Path(root) / FOLDERS[need]).is_dir()}
        return {key: value for key, value in self.papers[paper].studied.items() if set(value.needs) <= here}

    def used(self, published: str) -> Dataset | None:
        """What stands for a published dataset at this scale; None: nothing."""
        if published in self.scale.datasets:
            name = self.scale.datasets[published]
        else:
            name = published if self.scale.other_datasets == "themselves" else None
        return None if name is None else self.datasets[name]

    def paper_file(self, paper: str) -> Path:
        """config/papers/<paper>.yaml."""
        return self.root / "config" / "papers" / f"{paper}.yaml"

    @property
    def scale_file(self) -> Path:
        """config/scales/<scale>.yaml."""
        return self.root / "config" / "scales" / f"{self.settings.scale}.yaml"

    def chosen(self, paper: str, artifact: str) -> bool:
        """Whether ``only`` asks for an artifact."""
        only = self.settings.only
        return not only or paper in only or f"{paper}/{artifact}" in only

    def studies(self, paper: str) -> list[str]:
        """The studies that make them, each once."""
        return list(dict.fromkeys(artifact.study for artifact in self.studied(paper).values()))

    @property
    def results(self) -> Path:
        """The results folder."""
        return self.root / "results" / self.scale_name


def load(root: Path, overrides: dict[str, Any]) -> Config:
    """Read config/ under ``root``; ``overrides`` (command line) replace settings or numbers of the scale.

    Raises:
        HypersphereError: a sentence naming the file, the field and the allowed values.
    """
    folder = root / "config"
    overrides = _typed(overrides)
    for key in overrides:
        if key not in Settings.model_fields and key not in Scale.model_fields:
            allowed = ", ".join(sorted({*Settings.model_fields, *Scale.model_fields}))
            raise HypersphereError(f"command line: {key} is not a setting; allowed: {allowed}")
    base = folder / "config.yaml"
    chosen = {**_mapping(base), **{k: v for k, v in overrides.items() if k in Settings.model_fields}}
    settings = validate(Settings, _mapping(base), base)
    settings = validate(Settings, chosen, Path("command line")) if overrides else settings
    if settings.data_root is None and os.environ.get("HYPERSPHERE_DATA"):
        settings = settings.model_copy(update={"data_root": os.environ["HYPERSPHERE_DATA"]})
    scale_file = _named(folder / "scales", settings.scale, base, "scale")
    numbers = _numbers(overrides)
    scale = validate(Scale, _mapping(scale_file), scale_file)
    if numbers:
        scale = validate(Scale, {**_mapping(scale_file), **numbers}, Path("command line"))
    papers = {}
    for file in sorted((folder / "papers").glob("*.yaml"), key=_place):
        papers[file.stem] = validate(Paper, _mapping(file), file)
        if papers[file.stem].paper != file.stem:
            raise HypersphereError(f"{file}: paper: must be the file's own name (given: '{papers[file.stem].paper}')")
    listing = folder / "datasets.yaml"
    datasets = {}
    for name, entry in _mapping(listing).items():
        if not isinstance(entry, dict):
            raise HypersphereError(f"{listing}: {name}: must be a mapping of keys to values")
        datasets[name] = validate(Dataset, {"name": name, **entry}, listing, name)
    config = Config(root=root, settings=settings, scale=scale, overrides=overrides, papers=papers, datasets=datasets)
    _cross_check(config, scale_file)
    return config


def _place(file: Path) -> tuple[int, str]:
    """The documents in the order in which they are shown; others after them."""
    return (DOCUMENTS.index(file.stem) if file.stem in DOCUMENTS else len(DOCUMENTS)), file.stem


def _numbers(overrides: dict[str, Any]) -> dict[str, Any]:
    """The overrides that change the scale itself, which makes it another scale."""
    return {key: value for key, value in overrides.items() if key in Scale.model_fields and key != "scale"}


def _typed(value: Any) -> Any:
    """``value`` with numbers and booleans that came as text inside lists and mappings, as from snakemake --config."""
    if isinstance(value, dict):
        return {key: _typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner) for inner in value]
    if isinstance(value, str) and re.fullmatch(r"true|false|null|[-+]?[0-9][-+.0-9e]*", value, re.IGNORECASE):
        return yaml.safe_load(value)
    return value


def _cross_check(config: Config, scale_file: Path) -> None:
    known = ", ".join(sorted(config.datasets))
    for published, used in config.scale.datasets.items():
        for name, where in ((published, "datasets"), (used, f"datasets.{published}")):
            if name is not None and name not in config.datasets:
                raise HypersphereError(f"{scale_file}: {where}: '{name}' is not one of {known}")
    for name, replaced in config.scale.per_paper.items():
        if name not in config.papers:
            raise HypersphereError(f"{scale_file}: per_paper: '{name}' is not one of {', '.join(config.papers)}")
        for method in replaced.methods:
            if method not in config.papers[name].methods:
                allowed = ", ".join(config.papers[name].methods) or "none: the paper has no methods"
                raise HypersphereError(f"{scale_file}: per_paper.{name}.methods: '{method}' is not one of {allowed}")
    for stem in config.scale.leaves_out:
        _check_artifact(config, stem, f"{scale_file}: leaves_out")
    source = "command line" if "only" in config.overrides else config.root / "config" / "config.yaml"
    for stem in config.settings.only:
        if stem not in config.papers:
            _check_artifact(config, stem, f"{source}: only")


def _check_artifact(config: Config, stem: str, where: str) -> None:
    paper, slash, artifact = stem.partition("/")
    if paper not in config.papers:
        raise HypersphereError(f"{where}: '{paper}' is not one of {', '.join(config.papers)}")
    if not slash or artifact not in config.papers[paper].artifacts:
        allowed = ", ".join(config.papers[paper].artifacts)
        raise HypersphereError(f"{where}: '{stem}': the artifacts of {paper} are {allowed}")


def _mapping(file: Path) -> dict[str, Any]:
    value = files.read_yaml(file)
    if not isinstance(value, dict):
        raise HypersphereError(f"{file}: must be a mapping of keys to values")
    return value


def _named(folder: Path, name: str, source: Path, field: str) -> Path:
    """The YAML file called ``name`` in ``folder``, or a sentence listing those there are."""
    available = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in available:
        raise HypersphereError(f"{source}: {field}: '{name}' is not one of {', '.join(available)}")
    return folder / f"{name}.yaml"
