"""What a result was made from: source digests, versions, processor.

The code digest of a run covers the modules that the run really uses, found by following imports inside the package
from the training loop and from the components that the run names (see `sources`).
"""

import os
import platform
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.declared import registry
from hypersphere.declared.artifacts import Studied, Table
from hypersphere.declared.plan import BatchOfRuns, Plan
from hypersphere.declared.run import Component, Dataset, Run
from hypersphere.integrity.sources import code_digest, exists


def run_modules(run: Run) -> tuple[str, ...]:
    """What trains every run, and the components that a run names."""
    named: list[tuple[registry.Kind, Component | None]] = [
        ("methods", run.method),
        ("objectives", run.objective),
        ("objectives", run.regulariser),
        ("logits", run.logits),
        ("encoders", run.encoder),
        ("gradients", run.gradient),
        ("initialisations", run.initialisation),
    ]
    always = [f"hypersphere.training.{module}" for module in ("loop", "weights", "determinism")]
    return (*always, *(registry.module_name(kind, part.name) for kind, part in named if part))


def run_digest(run: Run) -> str:
    """Digest of all code that decides a run's bytes, given its data."""
    return code_digest(*run_modules(run))


def batch_digest(batch: BatchOfRuns) -> str:
    """Digest of all code that decides any of a batch's runs."""
    return files.digest(sorted({run_digest(run) for run in batch.runs}))


def dataset_digest(dataset: Dataset) -> str:
    """Digest of all code that decides a dataset's bytes, given its archives."""
    return code_digest("hypersphere.datasets.store", registry.module_name("datasets", dataset.source.name))


def evaluation_digest(plan: Plan, runs: Sequence[Run] = ()) -> str:
    """Digest of all code and settings that decide what the probes say of runs (or of raw pixels), given its weights."""
    asked = [pair for run in runs for pair in plan.asked(run)] if runs else [(each, []) for each in plan.evaluations]
    modules = {registry.module_name("probes", evaluation.probe.name) for evaluation, _ in asked}
    modules |= {registry.module_name("encoders", run.encoder.name) for run in runs}
    settings = [[each.model_dump(mode="json"), [dataset.name for dataset in targets]] for each, targets in asked]
    fractions = list(plan.config.scale.snapshots)
    return files.digest([code_digest("hypersphere.probes.evaluate", *sorted(modules)), settings, fractions])


def theory_digest(plan: Plan) -> str:
    """Digest of all code that decides what is said of the theorems of the plan's papers."""
    stated = [name for name in plan.config.papers if exists(f"hypersphere.theory.{name}")]
    return code_digest("hypersphere.theory.build", *(f"hypersphere.theory.{name}" for name in stated))


def simulation_digest(plan: Plan, paper: str) -> str:
    """Digest of all code that decides what the exact studies of a paper hand over, and of what is asked of them."""
    studies = (registry.module_name("simulations", name) for name in plan.config.studies(paper))
    asked = {artifact: declared.study for artifact, declared in plan.config.studied(paper).items()}
    return files.digest([asked, code_digest("hypersphere.simulations.build", *studies)])


def artifact_digest(plan: Plan, paper: str, artifact: str) -> str:
    """Digest of all code that draws or lays out one artifact."""
    declared = plan.config.papers[paper].artifacts[artifact]
    if isinstance(declared, Studied):
        return code_digest("hypersphere.present.study", f"hypersphere.present.drawings.{paper}.{artifact}")
    return code_digest(f"hypersphere.present.{'table' if isinstance(declared, Table) else 'figure'}")


def plan_digest(plan: Plan) -> str:
    """Digest of all that statistics and presentation read of the plan: cells, artifacts, labels, scale, rules."""
    papers = {name: paper.model_dump(mode="json") for name, paper in plan.config.papers.items()}
    scale = plan.config.scale.model_dump(mode="json", exclude={"resources", "threads", "runs_per_job"})
    rules = files.read_yaml(plan.config.root / "config" / "statistics.yaml")
    return files.digest([papers, scale, rules, [cell.key for cell in plan.cells]])


def file_digest(path: str) -> str:
    """Digest of a template's bytes, or ``missing``."""
    return files.sha256(Path(path))[:16] if Path(path).is_file() else "missing"


def environment() -> dict[str, Any]:
    """Versions and processor, as the manifest records them."""
    packages = ("torch", "torchvision", "numpy", "safetensors", "pytorch_optimizer", "hypersphere")
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in packages},
        "platform": sys.platform,
        "machine": platform.machine(),
        "processor_flags": _processor_flags(),
        "cores": os.cpu_count(),
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _processor_flags() -> list[str]:
    """The vector instruction sets that change floating-point results (Linux; empty elsewhere)."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []
    flags = next((line.split(":")[1].split() for line in lines if line.startswith(("flags", "Features"))), [])
    return sorted(flag for flag in flags if flag.startswith(("avx", "amx", "fma", "asimd", "sve", "sse4")))
