"""Read and check the manifests of finished runs, evaluations and tables, without importing torch."""

from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.plan import MANIFEST, Plan
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
    """The manifest of a finished run, after a check that its files (all, or those of ``names``) are unaltered.

    Raises:
        HypersphereError: a file is missing or altered; the sentence names it.
    """
    manifest = read_manifest(folder)
    for name in names or manifest["files"]:
        if problem := files.problem(folder / name, manifest["files"].get(name)):
            raise HypersphereError(f"{folder / name}: {problem}; {_again(folder)}")
    return manifest


def _again(folder: Path) -> str:
    return f"run again, or: hypersphere pretrain {folder.name}"


def check_run(plan: Plan, run: str, *names: str) -> dict[str, Any]:
    """As ``check_files``, for a run of the plan. Its error is a DamagedError, so that Snakemake trains it again."""
    try:
        return check_files(plan.run_folder(run), *names)
    except HypersphereError as error:
        raise DamagedError(str(error), plan.marker(plan.batch_of(run))) from None


def check_evaluation(path: Path) -> dict[str, Any]:
    """The manifest beside an evaluations file, after a check (``check_listed``) of this file and its tables."""
    proof = path.with_suffix(".json")
    manifest = check_listed(path, proof)
    for name in manifest["files"].keys() - {path.name}:
        check_listed(path.with_name(name), proof)
    return manifest


def check_tidy(results: Path, name: str) -> Path:
    """The path of a tidy table (in statistics/ or simulations/, or theory.csv or claims.csv), checked as unaltered."""
    path = results / name
    check_listed(path, tidy_manifest(path))
    return path


def tidy_manifest(path: Path) -> Path:
    """The file with a tidy table's checksum: the folder's ``manifest.json``, ``claims.json`` or ``theory.json``."""
    return path.with_suffix(".json") if path.stem in ("claims", "theory") else path.with_name(MANIFEST)


def check_listed(path: Path, proof: Path) -> dict[str, Any]:
    """The manifest ``proof``, after a check that ``path`` has the checksum that it lists.

    Raises:
        DamagedError: one of the two is missing or altered. Snakemake makes both again the next time.
    """
    try:
        manifest = files.read_sealed(proof)
    except HypersphereError as error:
        raise DamagedError(f"{error}; run again to make it again", proof) from None
    if problem := files.problem(path, manifest["files"].get(path.name)):
        raise DamagedError(f"{path}: {problem}; run again to make it again", proof)
    return manifest
