"""What a result was made from: source digests, versions, processor.

The code digest of a run covers the modules that the run really uses, found by following imports inside the package
from the training loop and from the components that the run names. Comments, docstrings and layout are left out, so
only a change of meaning changes the digest.
"""

import ast
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.declared import registry
from hypersphere.declared.artifacts import Studied, Table
from hypersphere.declared.plan import BatchOfRuns, Plan
from hypersphere.declared.run import Component, Dataset, Run

PACKAGE = Path(__file__).parents[1]

# Modules that decide no byte of a run: they check, name and write. A run's values are in its name, and the defaults of
# `spec`, which never change, are pinned by a golden test.
_SILENT = {
    f"hypersphere.{name}"
    for name in (
        *(f"declared.{module}" for module in ("registry", "artifacts", "config", "run", "recipe", "plan")),
        *("errors", "files", "integrity.provenance", "integrity.stop", "integrity.manifest"),
        "datasets.download",  # what arrives is checked against published checksums
    )
}


def _path(module: str) -> Path | None:
    """The source file of a module of this package; None for a name inside a module."""
    stem = PACKAGE.joinpath(*module.split(".")[1:])
    for candidate in (stem.with_suffix(".py"), stem / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _imports(tree: ast.Module) -> set[str]:
    """Dotted names of this package that a module imports, anywhere in it; a name may be a module's member."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] == "hypersphere"}


def _strip(tree: ast.Module) -> str:
    """Source text of the tree without comments, docstrings and layout."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [n for n in body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(tree)


@cache
def _parsed(path: Path, changed_ns: int) -> tuple[str, frozenset[str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = frozenset(_imports(tree))
    return _strip(tree), imports


def closure(modules: Iterable[str]) -> dict[str, str]:
    """Every module of this package that ``modules`` import, directly or not, with its stripped source."""
    waiting, seen = list(modules), {}
    while waiting:
        module = waiting.pop()
        path = _path(module)
        if path is None or module in seen or module in _SILENT:
            continue
        source, imports = _parsed(path, path.stat().st_mtime_ns)
        seen[module] = source
        waiting += imports
    return dict(sorted(seen.items()))


def code_digest(*modules: str) -> str:
    """Digest of the import closure of ``modules``."""
    return files.digest(closure(modules))


def run_modules(run: Run) -> tuple[str, ...]:
    """The training loop and the components that a run names."""
    named: list[tuple[registry.Kind, Component | None]] = [
        ("methods", run.method),
        ("objectives", run.objective),
        ("objectives", run.regulariser),
        ("logits", run.logits),
        ("encoders", run.encoder),
        ("gradients", run.gradient),
        ("initialisations", run.initialisation),
    ]
    loop = ("hypersphere.training.loop", "hypersphere.training.device")
    return (*loop, *(registry.module_name(kind, part.name) for kind, part in named if part))


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
    stated = [name for name in plan.config.papers if _path(f"hypersphere.theory.{name}")]
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
