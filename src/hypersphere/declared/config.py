"""Read and validate everything under config/, with one clear sentence for anything wrong."""

import os
import re
import types
import typing
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    BaseModel,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    TypeAdapter,
    ValidationError,
)

from hypersphere import files
from hypersphere.declared.artifacts import Artifact, Need, Paper, Studied
from hypersphere.declared.recipe import Spec
from hypersphere.declared.registry import Fraction
from hypersphere.declared.run import Dataset
from hypersphere.errors import HypersphereError

Level = Literal["quick", "laptop", "paper"]


Seeds = Annotated[list[NonNegativeInt], Field(min_length=1)]


FOLDERS: dict[Need, str] = {"human_labels": "human"}
"""Where ``data_root`` holds what exact studies need."""


class Settings(Spec):
    """config/config.yaml: what to rebuild and where."""

    scale: str = "quick"
    papers: Annotated[list[str], Field(min_length=1)]
    device: Literal["auto", "cpu", "cuda"] = "auto"
    data_root: str | None = None


class Resources(Spec):
    """What one training job asks of Snakemake: mebibytes, minutes, devices."""

    mem_mb: PositiveInt
    runtime: PositiveInt
    gpu: NonNegativeInt


class Replaced(Spec):
    """What a scale replaces in the runs of one paper."""

    run: dict[str, Any] = Field(default_factory=dict)
    methods: dict[str, dict[str, Any]] = Field(default_factory=dict)


class Scale(Spec):
    """config/scales/<scale>.yaml: how big, and what stands for what."""

    scale: str
    level: Level
    describe: str
    seeds: Seeds
    datasets: dict[str, str | None]
    epochs: PositiveInt | Literal["published"]
    batch_divisor: PositiveInt
    learning_rate_factor: PositiveFloat
    run: dict[str, Any]
    methods: dict[str, dict[str, Any]]
    per_paper: dict[str, Replaced] = Field(default_factory=dict)
    """The same for one paper's runs, on top."""
    probes: dict[str, dict[str, Any]]
    """Parameters to replace, by probe: a bank of hundreds wants fewer neighbours than one of thousands."""
    snapshots: list[Fraction]
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

    def artifacts(self, paper: str) -> dict[str, Artifact]:
        """Every artifact of a paper that this scale makes, by id."""
        return self.papers[paper].measured | self.studied(paper)

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
    for name in settings.papers:
        file = _named(folder / "papers", name, base, "papers")
        papers[name] = validate(Paper, _mapping(file), file)
    listing = folder / "datasets.yaml"
    datasets = {}
    for name, entry in _mapping(listing).items():
        if not isinstance(entry, dict):
            raise HypersphereError(f"{listing}: {name}: must be a mapping of keys to values")
        datasets[name] = validate(Dataset, {"name": name, **entry}, listing, name)
    config = Config(root=root, settings=settings, scale=scale, overrides=overrides, papers=papers, datasets=datasets)
    _cross_check(config, folder, scale_file)
    return config


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


def _cross_check(config: Config, folder: Path, scale_file: Path) -> None:
    known = ", ".join(sorted(config.datasets))
    if len(set(config.scale.seeds)) != len(config.scale.seeds):
        raise HypersphereError(f"{scale_file}: seeds: a seed is listed twice")
    for published, used in config.scale.datasets.items():
        if used is not None and used not in config.datasets:
            raise HypersphereError(f"{scale_file}: datasets.{published}: '{used}' is not one of {known}")
    for name, paper in config.papers.items():
        for method in config.scale.per_paper.get(name, Replaced()).methods:
            if paper.methods and method not in paper.methods:
                allowed = ", ".join(paper.methods)
                raise HypersphereError(f"{scale_file}: per_paper.{name}.methods: '{method}' is not one of {allowed}")
        file = folder / "papers" / f"{name}.yaml"
        for key, artifact in paper.measured.items():
            for row in artifact.rows:
                method, _, variant = row.partition(".")
                if method not in paper.methods or variant not in paper.variants:
                    allowed = f"methods {', '.join(paper.methods)} and variants {', '.join(paper.variants)}"
                    raise HypersphereError(f"{file}: artifacts.{key}.rows: '{row}' is not method.variant of {allowed}")
            for column in artifact.columns:
                if column not in config.scale.datasets:
                    raise HypersphereError(
                        f"{scale_file}: datasets: {column}, a column of {name}'s {key}, is not listed "
                        f"(name a dataset of config/datasets.yaml, or null for none)"
                    )


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


Model = typing.TypeVar("Model", bound=BaseModel)


def validate(model: type[Model], value: Any, file: Path, prefix: str = "") -> Model:
    """Validate ``value``, turning pydantic's first complaint into a sentence about ``file``."""
    try:
        return TypeAdapter(model).validate_python(value)
    except ValidationError as error:
        raise HypersphereError(f"{file}: {sentence(model, error, prefix)}") from None


def sentence(model: type[BaseModel], error: ValidationError, prefix: str = "") -> str:
    """``field: what is wrong; allowed: …`` for the first of pydantic's errors."""
    problem = error.errors()[0]
    # A union adds the name of its member to the location, which is no field of anybody's file.
    location = [
        str(part)
        for part in problem["loc"]
        if not re.search(r"^((study_)?(table|figure)|curves|int|str)$|[-\[]", str(part))
    ]
    field = ".".join(([prefix] if prefix else []) + location)
    message = str(problem["msg"]).removeprefix("Value error, ")
    if re.match(r"[a-z_]+: ", message):  # a component's own complaint names its parameter first
        return f"{field}.{message}"
    if problem["type"] == "extra_forbidden":
        allowed = _keys_at(model, problem["loc"][:-1])
        return f"{field}: unknown key; allowed: {', '.join(allowed)}" if allowed else f"{field}: unknown key"
    if problem["type"] == "missing":
        return f"{field}: this key is required"
    shown = problem["input"]
    given = f" (given: {shown!r})" if isinstance(shown, str | int | float | bool | list | None) else ""
    return f"{field}: {message[:1].lower()}{message[1:]}{given}"


def _keys_at(model: Any, location: tuple[int | str, ...]) -> list[str]:
    """The keys of the model found by walking ``location`` from ``model``."""
    for part in location:
        fields = getattr(model, "model_fields", None)
        model = fields[part].annotation if fields and part in fields else _inside(model, part)
    models = [m for m in [model, *typing.get_args(model)] if hasattr(m, "model_fields")]
    return list(models[0].model_fields) if models else []


def _inside(annotation: Any, part: int | str) -> Any:
    """The element type of a list, dict, Annotated or union that a location steps into."""
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) is Annotated:
        return _inside(arguments[0], part)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        matching = [
            a
            for a in arguments
            if getattr(a, "__name__", "").lower() == str(part).replace("_", "") or hasattr(a, "model_fields")
        ]
        return matching[0] if matching else None
    return arguments[-1] if arguments else None
