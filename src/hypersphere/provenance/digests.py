"""The origin of a result: digests of code and settings, versions, processor.

The code digest of a run covers the modules that the run uses: those that the training loop, and the components that the
run names, import inside the package (see `sources`).
"""

import contextlib
import os
import platform
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from hypersphere import DISTRIBUTION, files
from hypersphere.config import claims, paper_code, registry
from hypersphere.config.artifacts import HISTORY, Protocol, Studied
from hypersphere.config.plan import BatchOfRuns, Plan
from hypersphere.config.project import OF_JOBS, Config
from hypersphere.config.run import Dataset, Run
from hypersphere.file_names import MANIFEST
from hypersphere.provenance import data_files
from hypersphere.provenance.sources import closure, code_digest

WRITER = "hypersphere.report.writer"
"""The module that writes the files of every artifact. The module of the artifact's kind gives their content."""
EXACT_CLAIMS = "hypersphere.statistics.exact_claims"
"""The module that judges the claims which theorems and exact studies answer."""
PACKAGES = (
    "torch",
    "torchvision",
    "numpy",
    "safetensors",
    "pytorch_optimizer",
    "hypersphere",
)
"""The packages whose versions a manifest names."""
VECTOR = ("avx", "amx", "fma", "asimd", "sve", "sse4")
"""The beginnings of the names of vector instructions. They change floating-point results."""


def run_digest(run: Run) -> str:
    """Digest of all code that decides a run's bytes, given its data."""
    components = [registry.module_name(kind, name) for kind, name in run.components]
    common = ("hypersphere.training.weights", "hypersphere.training.determinism")
    return code_digest(*common, *components)


def batch_digest(batch: BatchOfRuns) -> str:
    """Digest of all code that decides any of a batch's runs."""
    return files.digest(sorted({run_digest(run) for run in batch.runs}))


def dataset_digest(dataset: Dataset) -> str:
    """Digest of all code and checksums that decide a dataset's bytes."""
    assert dataset.source is not None
    modules = ("hypersphere.datasets.store", registry.module_name("datasets", dataset.source.name))
    code = code_digest(*modules)
    data = data_files.checksums_of(closure(modules))
    return files.digest([code, data]) if data else code


def dataset_inputs(plan: Plan, dataset: Dataset) -> str:
    """Digest of the code that decides a dataset's bytes and, if its source reads a folder, of that folder's listing.

    A folder that is gone counts as it was when the dataset was prepared.
    """
    assert dataset.source is not None
    listed = data_files.folder_digest(dataset.source, plan.config.downloads)
    if listed is None:
        listed = files.read_mapping(plan.data_folder(dataset) / MANIFEST).get(data_files.LISTING)
    code = dataset_digest(dataset)
    return files.digest([code, listed]) if listed else code


def protocol_digest(protocol: Protocol, run: Run | None) -> str:
    """Digest of all code that decides the measurements of a run's weights by a protocol (None: of raw pixels)."""
    modules = {registry.module_name("probes", protocol.probe.name)}
    if run is not None:
        modules |= {registry.module_name("encoders", run.encoder.name)}
        modules |= {registry.module_name("methods", run.method.name)}
    return code_digest("hypersphere.probes.evaluate", *sorted(modules))


def evaluation_digest(plan: Plan, batch: BatchOfRuns) -> str:
    """Digest of the evaluations that a batch's runs need, and of all code that decides them, given the weights.

    Raw pixels are measured beside the runs, and what decides their evaluations is in the digest, too.
    """
    evaluations = []
    for run in batch.runs:
        for digest, one in plan.evaluations[run.name].items():
            evaluations.append(
                [run.name, digest, sorted(one.at), protocol_digest(one.protocol, run)]
            )
    return files.digest(evaluations)


def theory_digest(plan: Plan) -> str:
    """Digest of all code that checks the theorems of the plan's papers and judges their claims, and of these claims."""
    stated = filter(None, map(plan.config.theorems_module, plan.config.papers))
    code = code_digest("hypersphere.exact.theorems", EXACT_CLAIMS, *stated)
    printed = []
    for paper in plan.config.papers:
        for claim in claims.load(plan.config.claims_file(paper)):
            if claim.kind == "theorem":
                printed.append(claim.model_dump(mode="json"))
    return files.digest([code, printed])


def simulation_digest(plan: Plan, paper: str) -> str:
    """Digest of a paper's exact artifacts, labels and sentences, and of the code and rules that make and judge them."""
    config = plan.config
    declared = config.papers[paper]
    artifacts = {}
    for name, artifact in config.exact_artifacts(paper).items():
        artifacts[name] = artifact.model_dump(mode="json")
    open_choices = {name: len(choices) for name, choices in declared.open_choices.items()}
    judged_by = [open_choices, _rules(config)]
    sentences = file_digest(config.sentences_file(paper))
    audit = file_digest(config.audit_file(paper))
    studies = [config.study_code(paper, name).compute for name in config.studies(paper)]
    code = code_digest("hypersphere.exact.studies", EXACT_CLAIMS, *studies)
    return files.digest(
        [
            artifacts,
            declared.labels,
            judged_by,
            sentences,
            audit,
            code,
        ]
    )


def artifact_digest(plan: Plan, paper: str, artifact: str) -> str:
    """Digest of an artifact's declaration, labels, cells and rules of judgement, and of all code that makes it."""
    document = plan.config.papers[paper]
    declared = document.artifacts[artifact]
    module = registry.module_name("kinds", declared.draw)
    declaration = [
        paper,
        artifact,
        declared.model_dump(mode="json"),
        document.title,
        document.datasets,
        document.labels,
    ]
    if isinstance(declared, Studied):
        draw = plan.config.study_code(paper, declared.study).draw
        return files.digest([declaration, code_digest(WRITER, module, draw)])
    cells = []
    runs = set()
    for cell in (*plan.artifacts[paper, artifact], *plan.controls[paper, artifact]):
        name = cell.run.name if cell.run else ""
        measured_by = cell.how.digest if cell.how else HISTORY
        cells.append([cell.text, name, cell.epoch, cell.missing, measured_by])
        runs.add(name)
    code = code_digest(
        "hypersphere.statistics.measure", "hypersphere.statistics.judge", WRITER, module
    )
    recorded = _record_digests(plan, runs)
    # their number is in a column of the claims' table
    open_choices = {name: len(choices) for name, choices in document.open_choices.items()}
    return files.digest(
        [
            declaration,
            open_choices,
            cells,
            _scale(plan),
            *recorded,
            code,
        ]
    )


def _record_digests(plan: Plan, runs: set[str]) -> list[str]:
    """Digests of what records say of runs and their datasets; none where numbers come from runs here."""
    if plan.records is None:
        return []
    digests = []
    for name in sorted(runs):
        for record in plan.records.get(name, ()):
            answers = [one.model_dump() for one in (*record.evaluations, *record.pixels)]
            digests.append(files.digest([record.seal, answers]))
    return [*digests, file_digest(plan.config.evidence / "datasets.csv")]


def studies_digest(plan: Plan, paper: str) -> str:
    """Digest of all that draws the results of a paper's exact studies."""
    return files.digest(
        [artifact_digest(plan, paper, artifact) for artifact in plan.config.exact_artifacts(paper)]
    )


def claims_digest(plan: Plan) -> str:
    """Digest of all that judging the claims reads, except measurements."""
    cells = [artifact_digest(plan, *key) for key in plan.artifacts]
    code = code_digest("hypersphere.statistics.judge")
    return files.digest([cells, _choices(plan.config), _scale(plan), code])


def scorecard_digest(plan: Plan, *texts: str) -> str:
    """Digest of all that a scale's page shows, except results: code, kinds, texts, labels, scale."""
    page = _page(plan.config, "hypersphere.report.scorecard", texts)
    return files.digest([*page, claims_digest(plan)])


def report_digest(config: Config, *texts: str) -> str:
    """Digest of all that the report shows, except results. It is the same for every scale."""
    page = _page(config, "hypersphere.report.report", texts)
    return files.digest([*page, _choices(config), _rules(config)])


def _choices(config: Config) -> Any:
    """The declarations of all documents, as plain data."""
    return {name: paper.model_dump(mode="json") for name, paper in config.papers.items()}


def _page(config: Config, page: str, texts: Iterable[str]) -> list[Any]:
    """The code and the texts of a page."""
    kinds: set[str] = set()
    drawings: set[str] = set()
    for name, paper in config.papers.items():
        kinds.update(artifact.draw for artifact in paper.artifacts.values())
        drawings.update(config.study_code(name, study).draw for study in config.studies(name))
    front = paper_code.front()
    if front:
        drawings.add(front)
    modules = [registry.module_name("kinds", kind) for kind in sorted(kinds)]
    code = code_digest(page, *modules, *sorted(drawings))
    listed = []
    for text in texts:
        file = config.root / text
        inside = file.is_relative_to(config.root)
        name = file.relative_to(config.root).as_posix() if inside else file.name
        listed.append([name, file_digest(file)])
    return [code, listed]


def records_digest(config: Config, scale: str) -> str:
    """Digest of all that judging claims by the records of one scale reads: code, config, printed numbers, records."""
    folder = config.root / "config"
    read = [*folder.glob("*.yaml"), *folder.glob("scales/*.yaml")]
    for paper, place in config.folders.items():
        read += [config.paper_file(paper), config.claims_file(paper), config.answers_file(paper)]
        read += [*place.glob("scales/*.yaml"), *place.glob("selected/*.csv")]
    read += (config.root / "evidence" / scale).glob("*.csv")
    code = code_digest("hypersphere.statistics.judged_records")
    return files.digest([code, [file_digest(file) for file in sorted({*read})]])


def _scale(plan: Plan) -> Any:
    scale = plan.config.scale.model_dump(mode="json", exclude={"threads", "leaves_out", *OF_JOBS})
    return [plan.config.scale_name, scale, _rules(plan.config)]


def _rules(config: Config) -> Any:
    return files.read_yaml(config.root / "config" / "statistics.yaml")


def file_digest(file: Path | str) -> str:
    """Digest of a file's bytes, or ``missing``."""
    return files.sha256(Path(file))[:16] if Path(file).is_file() else "missing"


def environment() -> dict[str, Any]:
    """Versions, the processor, and the instructions that torch computes with, for the manifest."""
    from torch.backends import cpu  # imported here: whoever asks has trained or measured with torch

    versions = dict.fromkeys(PACKAGES, "not installed")
    for name in versions:
        distribution = DISTRIBUTION if name == "hypersphere" else name
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(distribution)
    # Linux alone has the file; elsewhere the vector instructions are not known
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    flags = []
    for line in lines:
        if line.startswith(("flags", "Features")):
            flags = line.partition(":")[2].split()
            break
    return {
        "python": platform.python_version(),
        "packages": versions,
        "platform": sys.platform,
        "machine": platform.machine(),
        "processor_flags": sorted(flag for flag in flags if flag.startswith(VECTOR)),
        "instructions": cpu.get_cpu_capability(),
        "cores": os.cpu_count(),
    }
