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

from hypersphere import files
from hypersphere.config import claims, paper_code, registry
from hypersphere.config.artifacts import HISTORY, Paper, Protocol, Studied
from hypersphere.config.plan import MANIFEST, BatchOfRuns, Plan
from hypersphere.config.project import OF_JOBS, Config
from hypersphere.config.run import Dataset, Run
from hypersphere.provenance import data_files
from hypersphere.provenance.sources import closure, code_digest

WRITER = "hypersphere.report.writer"
"""Writes the files of every artifact; the module of the artifact's kind gives what is in them."""
EXACT_CLAIMS = "hypersphere.statistics.exact_claims"
"""Judges the claims that theorems and exact studies answer."""


def run_digest(run: Run) -> str:
    """Digest of all code that decides a run's bytes, given its data."""
    common = "hypersphere.training.weights", "hypersphere.training.determinism"
    return code_digest(
        *common, *(registry.module_name(kind, name) for kind, name in run.components)
    )


def batch_digest(batch: BatchOfRuns) -> str:
    """Digest of all code that decides any of a batch's runs."""
    return files.digest(sorted({run_digest(run) for run in batch.runs}))


def dataset_digest(dataset: Dataset) -> str:
    """Digest of all code and checksums that decide a dataset's bytes."""
    assert dataset.source is not None
    modules = ("hypersphere.datasets.store", registry.module_name("datasets", dataset.source.name))
    code, data = code_digest(*modules), data_files.counted(closure(modules))
    return files.digest([code, data]) if data else code


def dataset_inputs(plan: Plan, dataset: Dataset) -> str:
    """Digest of the code that decides a dataset's bytes and, if its source reads a folder, of that folder's listing.

    A folder that is gone counts as it was when the dataset was prepared.
    """
    assert dataset.source is not None
    listed = data_files.listed(dataset.source, plan.config.downloads)
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

    What decides the evaluations of raw pixels beside them is among it.
    """
    asked = [
        (run, digest, one)
        for run in batch.runs
        for digest, one in plan.evaluations[run.name].items()
    ]
    return files.digest(
        [
            [run.name, digest, sorted(one.at), protocol_digest(one.protocol, run)]
            for run, digest, one in asked
        ]
    )


def theory_digest(plan: Plan) -> str:
    """Digest of all code that checks the theorems of the plan's papers and judges their claims, and of these claims."""
    stated = filter(None, map(plan.config.theorems_module, plan.config.papers))
    code = code_digest("hypersphere.exact.theorems", EXACT_CLAIMS, *stated)
    printed = []
    for paper in plan.config.papers:
        listed = claims.load(plan.config.claims_file(paper))
        printed += [claim.model_dump(mode="json") for claim in listed if claim.kind == "theorem"]
    return files.digest([code, printed])


def simulation_digest(plan: Plan, paper: str) -> str:
    """Digest of a paper's exact artifacts, labels and sentences, and of all code and rules of results and claims."""
    studies = (plan.config.study_code(paper, name).compute for name in plan.config.studies(paper))
    declared = plan.config.papers[paper]
    asked = {
        name: one.model_dump(mode="json")
        for name, one in plan.config.exact_artifacts(paper).items()
    }
    read = [plan.config.sentences_file(paper), plan.config.audit_file(paper)]
    code = code_digest("hypersphere.exact.studies", EXACT_CLAIMS, *studies)
    judged_by = [_choices_left(declared), _rules(plan.config)]
    return files.digest(
        [asked, declared.labels, judged_by, *(file_digest(str(one)) for one in read), code]
    )


def artifact_digest(plan: Plan, paper: str, artifact: str) -> str:
    """Digest of an artifact's declaration, labels, cells and rules of judgement, and of all code that makes it."""
    document = plan.config.papers[paper]
    declared = document.artifacts[artifact]
    module = registry.module_name("kinds", declared.draw)
    asked: list[Any] = [paper, artifact, declared.model_dump(mode="json")]
    asked += [document.title, document.datasets, document.labels]
    if isinstance(declared, Studied):
        return files.digest(
            [asked, code_digest(WRITER, module, plan.config.study_code(paper, declared.study).draw)]
        )
    cells, runs = [], set[str]()
    for cell in (*plan.artifacts[paper, artifact], *plan.controls[paper, artifact]):
        name, measured_by = (
            cell.run.name if cell.run else "",
            cell.how.digest if cell.how else HISTORY,
        )
        cells.append([cell.text, name, cell.epoch, cell.missing, measured_by])
        runs.add(name)
    recorded = [  # none where numbers come from runs here
        files.digest(
            [record.seal, [one.model_dump() for one in (*record.evaluations, *record.pixels)]]
        )
        for name in sorted(runs)
        for record in (plan.records or {}).get(name, ())
    ]
    if plan.records is not None:
        recorded.append(file_digest(str(plan.config.evidence / "datasets.csv")))
    code = code_digest(
        "hypersphere.statistics.measure", "hypersphere.statistics.judge", WRITER, module
    )
    return files.digest([asked, _choices_left(document), cells, _scale(plan), *recorded, code])


def studies_digest(plan: Plan, paper: str) -> str:
    """Digest of all that draws the results of a paper's exact studies."""
    return files.digest(
        [artifact_digest(plan, paper, artifact) for artifact in plan.config.exact_artifacts(paper)]
    )


def _choices_left(paper: Paper) -> dict[str, int]:
    """How many choices a document leaves open, by method: a column of claims."""
    return {name: len(choices) for name, choices in paper.open_choices.items()}


def claims_digest(plan: Plan) -> str:
    """Digest of all that judging the claims reads, except measurements."""
    cells = {f"{p}/{a}": artifact_digest(plan, p, a) for p, a in plan.artifacts}
    return files.digest(
        [cells, _choices(plan.config), _scale(plan), code_digest("hypersphere.statistics.judge")]
    )


def scorecard_digest(plan: Plan, *texts: str) -> str:
    """Digest of all that the page of a scale shows, except results: code, kinds, texts, labels, scale."""
    return files.digest(
        [*_page(plan.config, "hypersphere.report.scorecard", texts), claims_digest(plan)]
    )


def report_digest(config: Config, *texts: str) -> str:
    """Digest of all that the report shows, except results. It is the same for every scale."""
    page = _page(config, "hypersphere.report.report", texts)
    return files.digest([*page, _choices(config), _rules(config)])


def _choices(config: Config) -> Any:
    """What documents declare."""
    return {name: paper.model_dump(mode="json") for name, paper in config.papers.items()}


def _page(config: Config, page: str, texts: Iterable[str]) -> list[Any]:
    """The code and the texts of a page."""
    declared = {
        artifact.draw for paper in config.papers.values() for artifact in paper.artifacts.values()
    }
    drawings = {
        config.study_code(p, name).draw for p in config.papers for name in config.studies(p)
    }
    front = paper_code.front()
    kinds = [registry.module_name("kinds", draw) for draw in sorted(declared)]
    code = code_digest(page, *kinds, *drawings, *([front] if front else []))
    root = config.root
    listed = []
    for file in (root / text for text in texts):
        name = file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name
        listed.append([name, file_digest(str(file))])
    return [code, listed]


def records_digest(config: Config, scale: str) -> str:
    """Digest of all that judging claims by the records of one scale reads: code, config, printed numbers, records."""
    folder = config.root / "config"
    read = [*folder.glob("*.yaml"), *folder.glob("scales/*.yaml")]
    for paper, place in config.folders.items():
        read += [config.paper_file(paper), config.claims_file(paper), config.answers_file(paper)]
        read += [*place.glob("scales/*.yaml"), *place.glob("selected/*.csv")]
    read += (config.root / "evidence" / scale).glob("*.csv")
    return files.digest(
        [
            code_digest("hypersphere.statistics.judged_records"),
            [file_digest(str(one)) for one in sorted({*read})],
        ]
    )


def _scale(plan: Plan) -> Any:
    scale = plan.config.scale.model_dump(mode="json", exclude={"threads", "leaves_out", *OF_JOBS})
    return [plan.config.scale_name, scale, _rules(plan.config)]


def _rules(config: Config) -> Any:
    return files.read_yaml(config.root / "config" / "statistics.yaml")


def file_digest(path: str) -> str:
    """Digest of a template's bytes, or ``missing``."""
    return files.sha256(Path(path))[:16] if Path(path).is_file() else "missing"


def environment() -> dict[str, Any]:
    """Versions, the processor, and the instructions that torch computes with, for the manifest."""
    from torch.backends import cpu  # whoever asks has trained or measured with it

    packages = ("torch", "torchvision", "numpy", "safetensors", "pytorch_optimizer", "hypersphere")
    versions = dict.fromkeys(packages, "not installed")
    for name in packages:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    # of Linux; elsewhere the processor's vector instruction sets are not known
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    flags = next(
        (line.split(":")[1].split() for line in lines if line.startswith(("flags", "Features"))), []
    )
    vector = ("avx", "amx", "fma", "asimd", "sve", "sse4")  # they change floating-point results
    return {
        "python": platform.python_version(),
        "packages": versions,
        "platform": sys.platform,
        "machine": platform.machine(),
        "processor_flags": sorted(flag for flag in flags if flag.startswith(vector)),
        "instructions": cpu.get_cpu_capability(),
        "cores": os.cpu_count(),
    }
