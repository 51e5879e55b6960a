"""Read and validate config/ and papers/, with one clear sentence for anything wrong."""

import os
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator
from pydantic_core import PydanticKnownError

from hypersphere import files
from hypersphere.config import coordinates, deciding, paper_code, registry
from hypersphere.config.artifacts import (
    Conditions,
    Need,
    Override,
    Paper,
    Studied,
    When,
    check_conditions,
)
from hypersphere.config.bare_code import behind
from hypersphere.config.coordinates import Scalar
from hypersphere.config.records import FOLDER, Level
from hypersphere.config.run import Dataset, RunFields
from hypersphere.config.study import SeedList, Selection, read_selection, selection_file
from hypersphere.config.validation import (
    COMMAND_LINE,
    Epochs,
    NonNegativeInt,
    PositiveInt,
    Strict,
    check_name,
    each_once,
    read_mapping,
    unknown_key,
    validate,
)
from hypersphere.errors import HypersphereError

FOLDERS: dict[Need, str] = {"human_labels": "human", "sentence_tasks": "text/tasks"}
"""The folder of ``data_root`` that holds what an exact study needs."""
DOWNLOADED = ("human_labels",)
"""What is fetched where there is no ``data_root``."""


class Seeds(Strict):
    """The seeds of a table's cells and of a sweep's. A single list in YAML serves for both."""

    tables: SeedList
    sweeps: SeedList
    compared: SeedList | None = None
    """The seeds of a sweep's runs that a comparison names, because one seed settles nothing; None: ``sweeps``."""
    again_counts: bool = False
    """Whether tables made from records count the runs of A/A arms, which are runs of a baseline with other seeds. A
    study never does: its plan has them apart."""

    @model_validator(mode="before")
    @classmethod
    def _from_one_list(cls, value: Any) -> Any:
        if not isinstance(value, list | dict):
            raise PydanticKnownError("list_type")
        return {"tables": value, "sweeps": value} if isinstance(value, list) else value


Artifacts = Annotated[list[str], AfterValidator(each_once)]
"""Artifacts as ``paper/artifact``."""


PAPERS = "papers"
PAPER = "paper.yaml"
"""The file that makes a folder a paper's. What else is in the folder is listed in docs/own_paper.md."""
SCALES = "scales"
"""The folder, of config/ and of a paper, that has a file for each scale."""
SEVERAL = "several"
"""The document of errata and findings that are about more than one."""
HOW_MANY = (SEVERAL, "all", "everything", "none")
"""Words for how many documents are meant, none of which can be the name of one."""


class Settings(Strict):
    """config/config.yaml: what to rebuild and where."""

    scale: str = "quick"
    only: Annotated[
        Artifacts, BeforeValidator(lambda one: one.split() if isinstance(one, str) else one)
    ] = []
    """Papers, and artifacts as ``paper/artifact``, to make; empty: all. Nothing else is touched."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    runs_per_gpu: PositiveInt = 1
    """Runs that share a GPU, each with its part of the memory. It changes no byte of a run."""
    data_root: str | None = None
    papers: list[str] = []
    """Folders of documents that are kept elsewhere; those in papers/ are found."""
    evidence_only: bool = False
    """Whether numbers come from the records in ``evidence/<scale>/`` alone, so that nothing is trained."""


class Resources(Strict):
    """What one training job asks of Snakemake: mebibytes, minutes, devices."""

    mem_mb: PositiveInt
    runtime: PositiveInt
    gpu: NonNegativeInt


Precision = Literal["float32", "tf32", "bfloat16"]
Compile = Literal["none", "default", "reduce-overhead"]
"""``none``, or the mode of ``torch.compile``; ``reduce-overhead`` records CUDA graphs."""
"""How factors in products of matrices and convolutions of encoder and heads are rounded while a run is trained on a
GPU: not at all; to TF32, with ten bits; or to bfloat16, with seven, on a GPU that has instructions for it. Weights,
gradients, losses, the optimiser and all probes stay in float32, and so does everything on a processor."""


class ScaleOverride(Override):
    """What a scale changes in the runs that match ``when``; without it, in all."""

    when: When = {}
    set: RunFields = {}
    divide: dict[str, PositiveInt] = {}
    """Whole numbers of the run, by path (``method.queue``), divided by these after all overrides; those of
    ``batch.size`` and ``batch.micro`` replace the scale's ``batch_divisor``."""


class UsualEpochs(Strict):
    """How long a scale trains; apart, because an override can set it anew for some runs."""

    epochs: Epochs | Literal["published"]
    """What a paper's own number of epochs becomes; a coordinate that sets another number shrinks in proportion.
    ``schedule.epochs`` in ``overrides`` replaces this number for some runs, unless the command line sets it."""


StandIns = dict[str, str | None]
"""The dataset used in place of a published one, by the published one's name; null: none."""
Parameters = dict[str, dict[str, Any]]
Most = Annotated[int, Field(ge=2)]


class Scale(UsualEpochs):
    """``config/scales/<scale>.yaml``: how big, and which dataset replaces which, for all papers."""

    scale: str
    level: Level
    describe: str
    seeds: Seeds
    datasets: StandIns = {}
    other_datasets: Literal["themselves", "nothing"]
    """What is used in place of datasets that ``datasets`` does not name."""
    leaves_out: Artifacts = []
    """Artifacts, as ``paper/artifact``, that are not made, beside those that papers leave out at this scale."""
    most_values: Most | None = None
    """The most values of an axis that are measured, from the first to the last at even distances; None: all. The
    baselines of these cells are measured, too. An axis of measures stays whole."""
    batch_divisor: PositiveInt = 1
    """Divides the images of each batch and of each pass."""
    overrides: list[ScaleOverride] = []
    """Applied after the papers' own, in this order; then those of a paper at this scale, the artifact's coordinates,
    and those of the command line."""
    probes: Parameters = {}
    """Parameters to replace, by probe: a bank of hundreds needs fewer neighbours than one of thousands."""
    provides: list[Need] = []
    """What exact studies may use at this scale beside their own arithmetic."""
    threads: Annotated[int, Field(ge=1, le=1024)]
    precision: Precision = "float32"
    compile: Compile = "none"
    """How torch compiles encoders: never in a run's name, and measured by ``hypersphere first-look``."""
    runs_per_job: PositiveInt
    artifacts_per_job: PositiveInt = 1
    """The most artifacts of a document that one job draws, which is mostly imports where runs take seconds."""
    datasets_per_job: PositiveInt = 1
    """The most datasets of one source that one job prepares, which is mostly imports where nothing is downloaded."""
    resources: Resources


class AtScale(Strict):
    """How a scale measures one artifact of a paper."""

    seeds: Literal["tables", "sweeps"] | None = None
    """Which of the scale's lists of seeds, in place of the one that the artifact names."""
    most_values: Most | Literal["all"] | None = None
    """The most values of a swept setting here, in place of the scale's number."""


class PaperScale(Strict):
    """``papers/<id>/scales/<scale>.yaml``: what a paper changes at a scale. Each field has the last word."""

    datasets: StandIns = {}
    leaves_out: Annotated[list[str | Conditions], AfterValidator(each_once)] = Field(
        default_factory=list
    )
    """Artifacts that are not made, by their names, and cells, by coordinates: ``{dataset: [stl10, imagenet]}``."""
    artifacts: dict[str, AtScale] = {}
    overrides: list[ScaleOverride] = []
    evaluations: Parameters = {}
    """Parameters of probes to replace, by the paper's own names of evaluations; with a ``name``, the whole probe."""

    @model_validator(mode="after")
    def _of_cells(self) -> Self:
        for at, cells in enumerate(self.leaves_out):
            if isinstance(cells, dict):
                check_conditions(cells, f"leaves_out.{at}.")
        return self

    def of_artifact(self, artifact: str) -> AtScale:
        """How the scale measures one artifact."""
        return self.artifacts.get(artifact, AtScale())

    def leaves_out_cell(self, point: Mapping[str, Scalar]) -> bool:
        """Whether the cell of these coordinates is not made."""
        return any(
            coordinates.covers(cells, point) for cells in self.leaves_out if isinstance(cells, dict)
        )


class Layer(NamedTuple):
    """Fields, and the file and section that set them."""

    file: Path
    """A file, or ``COMMAND_LINE``."""
    section: str
    fields: dict[str, Any]
    computes: str = ""
    """How it computes its numbers from those of the layers below it: ``times 0.1``; empty: it sets them."""


class Placed(NamedTuple):
    """An override of a scale, and where it is written."""

    file: Path
    """Its file, or ``COMMAND_LINE``."""
    section: str
    override: ScaleOverride
    paper: str = ""
    """The paper whose runs it changes; empty: the runs of all."""

    def matches(self, paper: str, run: Mapping[str, Scalar]) -> bool:
        """Whether it changes a paper's run with these coordinates."""
        return self.paper in ("", paper) and self.override.matches(run)


OF_JOBS = ("runs_per_job", "artifacts_per_job", "datasets_per_job", "resources")
"""The fields of a scale that share work out among jobs, and decide no number."""


class Config(BaseModel):
    """The whole configuration, for one scale."""

    root: Path
    settings: Settings
    scale: Scale
    overrides: dict[str, Any]
    """What the command line set."""
    papers: dict[str, Paper]
    folders: dict[str, Path]
    """The folder of each document, with all that is said of it."""
    datasets: dict[str, Dataset]
    selected: dict[tuple[str, str], Selection] = {}
    """The selected values of each study, by document and study; empty before `hypersphere select`."""
    at_scale: dict[str, PaperScale]
    """What each paper changes at this scale."""
    placed: list[Placed]
    """All overrides of this scale, in the order in which they are applied."""
    read: dict[Path, str] = {}
    """The sha256 of every file that this was read from."""

    def source(self, field: str) -> Path:
        """The file that sets a setting or a field of the scale, or ``COMMAND_LINE``."""
        if field in Settings.model_fields:
            return _source(field, self.overrides, _settings_file(self.root))
        return _source(field, self.overrides, _scale_file(self.root, self.settings.scale))

    @property
    def scale_name(self) -> str:
        """The results folder's name; a scale whose numbers were changed is another scale.

        How runs are shared out among jobs, and what a job asks a cluster for, change no byte.
        """
        numbers = Scale.model_fields.keys() - {"scale", *OF_JOBS}
        changed = {key: value for key, value in self.overrides.items() if key in numbers}
        suffix = f"-{files.digest(changed, 6)}" if changed else ""
        return self.settings.scale + suffix

    @property
    def shared_settings(self) -> dict[str, Any]:
        """The settings of the command line that other scales of this project are read with, too."""
        return {key: value for key, value in self.overrides.items() if key == "papers"}

    def exact_artifacts(self, paper: str) -> dict[str, Studied]:
        """The artifacts of a paper that an exact study makes at this scale, by id.

        A ``data_root`` without the files that a study needs leaves it out: most such folders hold torchvision's sets
        alone. Without one they are downloaded if they can be, but not to show what is recorded. Studies of a plug-in
        that is not installed are left out, too.
        """
        available = {need for need in self.scale.provides if self._has(need)}
        artifacts = {}
        for name, artifact in self.papers[paper].studied.items():
            missing = self.study_code(paper, artifact.study).missing
            if available.issuperset(artifact.needs) and not missing:
                artifacts[name] = artifact
        return artifacts

    def _has(self, need: Need) -> bool:
        """Whether what an exact study needs is here, or is downloaded."""
        downloads = self.settings.data_root is None and not self.settings.evidence_only
        return (downloads and need in DOWNLOADED) or (self.downloads / FOLDERS[need]).is_dir()

    def study_code(self, paper: str, study: str) -> paper_code.StudyCode:
        """The code of an exact study that a paper names."""
        paper_code.admit(self.folders)
        code = paper_code.study(paper, study)
        assert code is not None  # _check_paper has looked
        return code

    def theorems_module(self, paper: str) -> str | None:
        """The dotted module of a paper's statements; None if it has none."""
        paper_code.admit(self.folders)
        return paper_code.theorems(paper)

    @property
    def report_figures(self) -> dict[str, str]:
        """The figure of an exact study that the report shows of each paper, if this scale makes the figure."""
        figures = {}
        for name, paper in self.papers.items():
            figure = paper.report.figure if paper.report else None
            if figure and figure in self.exact_artifacts(name):
                figures[name] = figure
        return figures

    def dataset_for(self, published: str, paper: str) -> Dataset | None:
        """The dataset used in place of a published one in a paper's runs at this scale; None: none."""
        if stand_in := self.stand_in(published, paper):
            name = stand_in.fields[published]
        else:
            name = published if self.scale.other_datasets == "themselves" else None
        return None if name is None else self.datasets[name]

    def stand_in(self, published: str, paper: str) -> Layer | None:
        """What says which dataset is used in place of a published one in a paper's runs; None: nothing does."""
        section = f"datasets.{published}"
        of_scale = Layer(self.source("datasets"), section, self.scale.datasets)
        of_paper = Layer(self.scale_file(paper), section, self.at_scale[paper].datasets)
        saying = None
        for layer in _in_order(of_scale, of_paper):
            if published in layer.fields:
                saying = layer
        return saying

    def probe_of(self, paper: str, evaluation: str) -> tuple[str, list[Layer]]:
        """The probe of a paper's evaluation at this scale, and what sets its parameters; the last has the last word."""
        section = f"evaluations.{evaluation}"
        declared = self.papers[paper].evaluations[evaluation].probe
        parameters = dict(self.at_scale[paper].evaluations.get(evaluation, {}))
        replaced = parameters.pop("name", None)
        name = str(replaced or declared.name)
        of_document = {} if replaced else declared.parameters
        of_scale = self.scale.probes.get(name, {})
        layers = [
            Layer(self.paper_file(paper), section, of_document),
            *_in_order(
                Layer(self.source("probes"), f"probes.{name}", of_scale),
                Layer(self.scale_file(paper), section, parameters),
            ),
        ]
        return name, [one for one in layers if one.fields]

    def left_out(self, paper: str, artifact: str) -> bool:
        """Whether this scale does not make an artifact."""
        of_paper = self.at_scale[paper].leaves_out
        return artifact in of_paper or f"{paper}/{artifact}" in self.scale.leaves_out

    def most_values(self, paper: str, artifact: str) -> int | None:
        """The most values of an axis of an artifact that are measured at this scale; None: all."""
        own = self.at_scale[paper].of_artifact(artifact).most_values
        most = own or self.scale.most_values
        return None if most == "all" else most

    def artifact_folder(self, paper: str, artifact: str) -> Path:
        """results/<scale>/statistics/<paper>/<artifact>: the tidy tables from which an artifact is drawn."""
        return self.results / "statistics" / paper / artifact

    def outputs(self, paper: str, artifact: str) -> list[Path]:
        """The files of an artifact in tables/ or figures/; the last is the manifest of the others."""
        kind = registry.artifact_kind(self.papers[paper].artifacts[artifact].draw)
        forms = ("svg", "png", "csv") if kind.folder == "figures" else ("csv", "md", "tex")
        return [
            self.results / kind.folder / paper / f"{artifact}.{form}" for form in (*forms, "json")
        ]

    @property
    def data(self) -> Path:
        """The folder data/, with what is downloaded and what is prepared of it."""
        return self.root / "data"

    @property
    def downloads(self) -> Path:
        """The folder that holds datasets as they are published: ``data_root``, or data/raw."""
        return self.data_root or self.data / "raw"

    @property
    def data_root(self) -> Path | None:
        """The folder that holds datasets as they are published, and is only read; None: they are downloaded."""
        return Path(self.settings.data_root) if self.settings.data_root else None

    def paper_file(self, paper: str) -> Path:
        """The declaration of a document."""
        return self.folders[paper] / PAPER

    def scale_file(self, paper: str) -> Path:
        """What a document changes at this scale."""
        return self.folders[paper] / SCALES / f"{self.settings.scale}.yaml"

    def claims_file(self, paper: str) -> Path:
        """What a document prints."""
        return self.folders[paper] / "claims.csv"

    def sentences_file(self, paper: str) -> Path:
        """What the sentences of a document say of its own numbers."""
        return self.folders[paper] / "sentences.yaml"

    def theorems_file(self, paper: str) -> Path:
        """The statements of a document as code."""
        return self.folders[paper] / f"{paper_code.THEOREMS}.py"

    def audit_file(self, paper: str) -> Path:
        """What an audit of the numbers that a document prints needs to know."""
        return self.folders[paper] / "audit.yaml"

    def selection_file(self, paper: str, study: str) -> Path:
        """The selected values of a study of a document."""
        return selection_file(self.folders[paper], study)

    def answers_file(self, paper: str) -> Path:
        """The rules by which studies of a document are answered, where numbers cannot say them."""
        return self.folders[paper] / deciding.ANSWERS

    @cached_property
    def decides(self) -> dict[tuple[str, str], deciding.Deciding]:
        """What decides each study's answer, by document and study."""
        every = {}
        for paper, document in self.papers.items():
            for name, study in document.studies.items():
                every[paper, name] = deciding.of(self.root, self.folders[paper], name, study)
        return every

    def plans(self, paper: str, study: str) -> list[str]:
        """The names of a study in records: ``ours/<study>=1a2b3c4d``. The name by its present digest comes first."""
        digests = [self.decides[paper, study].digest, *self.papers[paper].studies[study].earlier]
        return [f"{paper}/{study}={digest}" for digest in digests]

    def files_named(self, name: str) -> dict[str, Path]:
        """The files of that name, errata or findings, by document; first that of ``SEVERAL``, in papers/."""
        paths = {}
        for paper in (SEVERAL, *self.papers):
            folder = self.root / PAPERS if paper == SEVERAL else self.folders[paper]
            if (folder / name).is_file():
                paths[paper] = folder / name
        return paths

    def asks_for(self, paper: str, artifact: str) -> bool:
        """Whether ``only`` asks for an artifact.

        More runs of a closed study are made only if its artifact is named; what is recorded of it is always shown.
        """
        only = self.settings.only
        name = f"{paper}/{artifact}"
        if self.papers[paper].closed(artifact) and not self.settings.evidence_only:
            return name in only
        return not only or paper in only or name in only

    def studies(self, paper: str) -> list[str]:
        """The studies that make a paper's artifacts at this scale, each once."""
        artifacts = self.exact_artifacts(paper).values()
        return list(dict.fromkeys(artifact.study for artifact in artifacts))

    @property
    def results(self) -> Path:
        """The results folder; what is made from records alone has its own."""
        suffix = "-evidence" if self.settings.evidence_only else ""
        return self.root / "results" / f"{self.scale_name}{suffix}"

    @property
    def exact(self) -> Path:
        """The folder of theorems and exact studies: the same numbers at every scale, and each scale copies them."""
        return self.root / "results" / "exact"

    def exact_studies(self, paper: str) -> Path:
        """The folder of a paper's exact studies, named by the paper and by the files that some of them need."""
        needs = set[str]()
        for artifact in self.exact_artifacts(paper).values():
            needs.update(artifact.needs)
        return self.exact / "simulations" / "-".join([paper, *sorted(needs)])

    @property
    def evidence(self) -> Path:
        """The folder of this scale's records."""
        return self.root / FOLDER / self.scale_name


def load(root: Path, overrides: dict[str, Any]) -> Config:
    """Read config/ under ``root``; ``overrides`` (command line) replace settings or numbers of the scale."""
    with files.noting() as read:
        config = _load(root, dict(overrides))
        _check_references(config)
    return config.model_copy(update={"read": read})


def _load(root: Path, overrides: dict[str, Any]) -> Config:
    settings = _settings(root, overrides)
    scale_file = _scale_file(root, settings.scale)
    scale, placed, of_command_line = _scale(scale_file, overrides)
    folders = _folders(root, settings)
    paper_code.admit(folders)
    papers = {name: _paper(folder) for name, folder in folders.items()}
    at_scale = {}
    for name, folder in folders.items():
        file = folder / SCALES / scale_file.name
        at_scale[name] = own = _paper_at_scale(file, scale_names(root))
        placed += _placed(file, own.overrides, name)
    placed += of_command_line
    selected = {}
    for name, paper in papers.items():
        for study, declared in paper.studies.items():
            file = selection_file(folders[name], study)
            selected[name, study] = read_selection(file, declared)
    # its parts are checked, and to check a paper again would add the artifacts of its studies again
    return Config.model_construct(
        root=root,
        settings=settings,
        scale=scale,
        overrides=overrides,
        papers=dict(sorted(papers.items(), key=lambda item: item[1].order)),
        folders=folders,
        datasets=_datasets(root / "config" / "datasets.yaml"),
        selected=selected,
        at_scale=at_scale,
        placed=placed,
    )


def _settings_file(root: Path) -> Path:
    return root / "config" / "config.yaml"


def _scale_file(root: Path, scale: str) -> Path:
    return root / "config" / SCALES / f"{scale}.yaml"


def scale_names(root: Path) -> list[str]:
    """The scales that a project declares, each in a file of its own."""
    return sorted(path.stem for path in (root / "config" / SCALES).glob("*.yaml"))


def _source(field: str, overrides: Mapping[str, Any], file: Path) -> Path:
    """The file that sets a field, unless the command line does."""
    return COMMAND_LINE if field in overrides else file


def _settings(root: Path, overrides: dict[str, Any]) -> Settings:
    """The settings, with absolute paths."""
    file = _settings_file(root)
    written = read_mapping(file)
    # before the command line's, so that the file is blamed for its own
    validate(Settings, written, file)
    allowed = sorted({*Settings.model_fields, *Scale.model_fields})
    for key in overrides:
        if key not in allowed:
            raise HypersphereError(f"{COMMAND_LINE}: {key}: {unknown_key(key, allowed)}")
    replaced = {key: value for key, value in overrides.items() if key in Settings.model_fields}
    settings = validate(Settings, {**written, **replaced}, COMMAND_LINE)
    check_name(settings.scale, scale_names(root), f"{_source('scale', replaced, file)}: scale")
    papers = [(root / Path(one).expanduser()).resolve() for one in settings.papers]
    for folder in papers:
        if not (folder / PAPER).is_file():
            where = f"{_source('papers', replaced, file)}: papers"
            raise HypersphereError(f"{where}: {folder}: holds no {PAPER}")
    data = root / Path(settings.data_root).expanduser() if settings.data_root else None
    # which is False, and no error, for a name that no file system takes
    if data and not os.path.isdir(data):
        where = f"{_source('data_root', replaced, file)}: data_root"
        raise HypersphereError(
            f"{where}: {data}: no such folder; give the folder that holds the datasets, or leave it out"
        )
    absolute = {"papers": [*map(str, papers)], "data_root": str(data) if data else None}
    return settings.model_copy(update=absolute)


def _scale(file: Path, overrides: Mapping[str, Any]) -> tuple[Scale, list[Placed], list[Placed]]:
    """A scale with what the command line sets of it; the overrides of its file, and those of the command line."""
    written = read_mapping(file)
    # before the command line's, so that the file is blamed for its own
    scale = validate(Scale, written, file)
    if scale.scale != file.stem:
        raise HypersphereError(
            f"{file}: scale: must be the file's own name (given: '{scale.scale}')"
        )
    replaced = {key: value for key, value in overrides.items() if key in Scale.model_fields}
    changed = validate(Scale, {**written, **replaced, "scale": file.stem}, COMMAND_LINE)
    of_command_line = changed.overrides if "overrides" in replaced else []
    whole = changed.model_copy(update={"overrides": [*scale.overrides, *of_command_line]})
    return whole, _placed(file, scale.overrides), _placed(COMMAND_LINE, of_command_line)


def _in_order(of_scale: Layer, of_paper: Layer) -> list[Layer]:
    """What a scale and a paper at it say, the last word last: it is the paper's, unless the scale's was typed."""
    return [of_paper, of_scale] if of_scale.file == COMMAND_LINE else [of_scale, of_paper]


def _placed(file: Path, overrides: list[ScaleOverride], paper: str = "") -> list[Placed]:
    """The overrides of a file, with where each is written."""
    return [Placed(file, f"overrides.{at}", one, paper) for at, one in enumerate(overrides)]


def _folders(root: Path, settings: Settings) -> dict[str, Path]:
    """The folder of each paper, by its name: those in papers/, and those that the settings name."""
    inside = sorted(file.parent for file in (root / PAPERS).glob(f"*/{PAPER}"))
    alike: dict[str, Path] = {}
    for folder in [*inside, *map(Path, settings.papers)]:
        # Where a file system ignores case, their results would lie in one folder.
        other = alike.setdefault(folder.name.casefold(), folder)
        if other != folder:
            raise HypersphereError(
                f"{folder / PAPER}: {folder.name} is the name of another paper, {other}"
            )
    return {folder.name: folder for folder in alike.values()}


def _paper(folder: Path) -> Paper:
    """What the paper in a folder declares."""
    file = folder / PAPER
    if folder.name == SEVERAL:
        raise HypersphereError(
            f"{file}: {SEVERAL} stands for more than one paper, so none can have this name"
        )
    paper = validate(Paper, read_mapping(file), file)
    if paper.paper != folder.name:
        raise HypersphereError(
            f"{file}: paper: must be the name of its folder (given: '{paper.paper}')"
        )
    return paper


def _paper_at_scale(file: Path, scales: Collection[str]) -> PaperScale:
    """What a paper changes at a scale, in a file of the scale's name; nothing without it."""
    for other in sorted(file.parent.glob("*.yaml")):
        check_name(other.stem, scales, f"{other}: its name is not a scale's")
    return validate(PaperScale, read_mapping(file), file) if file.is_file() else PaperScale()


def _datasets(file: Path) -> dict[str, Dataset]:
    """The datasets that a run, a probe or a table may name."""
    datasets = {}
    for name, entry in read_mapping(file).items():
        if not isinstance(entry, dict):
            raise HypersphereError(f"{file}: {name}: must be a mapping of keys to values")
        if "name" in entry:
            raise HypersphereError(f"{file}: {name}.name: the key is the name; leave it out")
        datasets[name] = validate(Dataset, {"name": name, **entry}, file, str(name))
    return datasets


def of_document(given: Any, key: str, document: str, where: str) -> Any:
    """An entry of a document's errata or findings, with its document, which the folder says and the entry does not."""
    if not isinstance(given, dict):
        return given
    if key in given:
        raise HypersphereError(
            f"{where}.{key}: its folder says which paper it is about; leave it out"
        )
    return {**given, key: document}


def _check_references(config: Config) -> None:
    """Check the names that one file uses of another."""
    for paper in config.papers:
        _check_paper(config, paper)
        _check_at_scale(config, paper)
    _check_stand_ins(config, config.scale.datasets, config.source("datasets"))
    for one in config.placed:
        of_papers = [config.papers[one.paper]] if one.paper else config.papers.values()
        where = f"{one.file}: {one.section}.when"
        _check_conditions(config, of_papers, one.override.when, where)
    where = f"{config.source('probes')}: probes"
    _check_names(config.scale.probes, registry.components("probes"), where)
    for chosen in config.settings.only:
        _check_chosen(config, chosen, "only", whole=True)
    for chosen in config.scale.leaves_out:
        _check_chosen(config, chosen, "leaves_out")


def _check_chosen(config: Config, chosen: str, field: str, whole: bool = False) -> None:
    """Check an artifact, as ``paper/artifact``, or a paper's name where a ``whole`` one can be chosen."""
    paper, slash, _ = chosen.partition("/")
    where = f"{config.source(field)}: {field}"
    check_name(paper, config.papers, where)
    if slash or not whole:
        artifacts = [f"{paper}/{artifact}" for artifact in config.papers[paper].artifacts]
        check_name(chosen, artifacts, where)


def _check_names(names: Iterable[object], known: Collection[str], where: str) -> None:
    for name in names:
        check_name(str(name), known, where)


def _check_conditions(
    config: Config, papers: Iterable[Paper], conditions: Conditions, where: str
) -> None:
    """Check the methods, variants and datasets of conditions on the coordinates of some papers' runs."""
    methods = set[str]()
    variants = set[str]()
    for paper in papers:
        methods.update(paper.methods)
        variants.update(paper.variants)
    for key, known in zip(coordinates.IDENTITY, (methods, variants, config.datasets), strict=True):
        names = coordinates.alternatives(conditions.get(key, []))
        _check_names(names, known, f"{where}.{key}")


def _check_stand_ins(config: Config, stand_ins: StandIns, file: Path) -> None:
    for published, used in stand_ins.items():
        check_name(published, config.datasets, f"{file}: datasets")
        if used is not None:
            check_name(used, config.datasets, f"{file}: datasets.{published}")


def _check_paper(config: Config, document: str) -> None:
    """Check the scales, studies and borrowed methods that a paper names."""
    file = config.paper_file(document)
    paper = config.papers[document]
    scales = scale_names(config.root)
    for name, measured in paper.measured.items():
        plan = measured.plan
        section = f"artifacts.{name}: made_at" if plan is None else f"studies.{plan}.scale"
        _check_names(measured.made_at or (), scales, f"{file}: {section}")
    studies = paper_code.studies(document)
    for name, studied in paper.studied.items():
        check_name(studied.study, studies, f"{file}: artifacts.{name}.study")
    for method, lender in paper.borrows.items():
        lenders = [
            key for key, one in config.papers.items() if method in one.methods and key != document
        ]
        check_name(lender, lenders, f"{file}: borrows.{method}")
    for at, override in enumerate(paper.overrides):
        _check_conditions(config, [paper], override.when, f"{file}: overrides.{at}.when")
    answers = config.answers_file(document)
    for study, asked in paper.studies.items():
        by_words = not asked.answers.numbers and asked.closed is None
        if by_words and behind(answers, study) is None:
            raise HypersphereError(
                f"{file}: studies.{study}.answers: nothing decides what the answer is; give the numbers, or the rule, "
                f"as the function {study} in {answers}"
            )


def _check_at_scale(config: Config, document: str) -> None:
    """Check the names in what a paper changes at this scale; overrides and parameters are checked with the scale's."""
    file = config.scale_file(document)
    paper = config.papers[document]
    own = config.at_scale[document]
    _check_stand_ins(config, own.datasets, file)
    for at, cells in enumerate(own.leaves_out):
        if isinstance(cells, str):
            check_name(cells, paper.artifacts, f"{file}: leaves_out")
        else:
            _check_conditions(config, [paper], cells, f"{file}: leaves_out.{at}")
    _check_names(own.artifacts, paper.measured, f"{file}: artifacts")
    _check_names(own.evaluations, paper.evaluations, f"{file}: evaluations")
    for evaluation, probe in own.evaluations.items():
        if "name" in probe:
            where = f"{file}: evaluations.{evaluation}.name"
            check_name(str(probe["name"]), registry.names("probes"), where)
