"""The manifests of finished runs and of evaluations, read and checked without importing torch."""

from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.declared.plan import MANIFEST, Plan
from hypersphere.errors import DamagedError, HypersphereError


def read_manifest(folder: Path) -> dict[str, Any]:
    """A run's manifest.

    Raises:
        HypersphereError: missing, not JSON, or altered.
    """
    try:
        return files.read_sealed(folder / MANIFEST)
    except HypersphereError as error:
        raise HypersphereError(f"{error}; {_again(folder)}") from None


def check_files(folder: Path, *names: str) -> dict[str, Any]:
    """The manifest of a finished run whose files (all of them, or those of ``names``) are there, unaltered.

    Raises:
        HypersphereError: naming the file that is missing or altered.
    """
    manifest = read_manifest(folder)
    for name in names or manifest["files"]:
        problem = files.problem(folder / name, manifest["files"].get(name))
        if problem:
            raise HypersphereError(f"{folder / name}: {problem}; {_again(folder)}")
    return manifest


def _again(folder: Path) -> str:
    return f"run again, or: hypersphere pretrain {folder.name}"


def check_run(plan: Plan, run: str, *names: str) -> dict[str, Any]:
    """The same for a run of the plan; the next Snakemake trains a damaged one again.

    Raises:
        DamagedError: naming the file that is missing or altered.
    """
    try:
        return check_files(plan.run_folder(run), *names)
    except HypersphereError as error:
        raise DamagedError(str(error), plan.marker(plan.batch_of(run))) from None


def check_evaluation(path: Path) -> dict[str, Any]:
    """The manifest beside an evaluations file; its bytes, and those of the tables beside it, are those that the probes
    wrote.

    Raises:
        DamagedError: a file or the manifest is missing or altered; the next Snakemake evaluates again.
    """
    proof = path.with_suffix(".json")
    manifest = check_listed(path, proof)
    for name in manifest["files"].keys() - {path.name}:
        check_listed(path.with_name(name), proof)
    return manifest


def check_tidy(results: Path, name: str) -> Path:
    """The path of a tidy table (of statistics/ or simulations/, theory.csv or claims.csv), its bytes as written.

    Raises:
        DamagedError: it or its manifest is missing or altered; the next Snakemake makes it again.
    """
    path = results / name
    check_listed(path, tidy_manifest(path))
    return path


def tidy_manifest(path: Path) -> Path:
    """Where the checksum of a tidy table lies: ``statistics/manifest.json``, ``claims.json`` or ``theory.json``."""
    return path.with_suffix(".json") if path.stem in ("claims", "theory") else path.with_name(MANIFEST)


def check_listed(path: Path, proof: Path) -> dict[str, Any]:
    """The manifest ``proof``, which lists the checksum of ``path``.

    Raises:
        DamagedError: either is missing or altered.
    """
    try:
        manifest = files.read_sealed(proof)
    except HypersphereError as error:
        raise DamagedError(f"{error}; run again to make it again", proof) from None
    problem = files.problem(path, manifest["files"].get(path.name))
    if problem:
        raise DamagedError(f"{path}: {problem}; run again to make it again", proof)
    return manifest
