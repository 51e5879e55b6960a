"""Read and check the manifests of finished runs, evaluations and tables, without importing torch."""

import math
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.errors import DamagedError, HypersphereError

AGAIN = "; run again to make it again"


def check_listed(manifest: Path, *names: str, largest: float = math.inf, remedy: str = "") -> dict[str, Any]:
    """The content of a manifest, after a check of the files that it lists: all of them, or those of ``names``.

    A file of more than ``largest`` bytes must only be there.

    Raises:
        HypersphereError: the manifest or a file is missing or altered; ``remedy`` ends the sentence.
    """
    content = _read(manifest, remedy)
    listed = files.mapping(content.get("files"))
    for name in names or listed:
        path = manifest.parent / name
        large = path.is_file() and path.stat().st_size > largest
        if not large and (problem := files.problem(path, listed.get(name))):
            raise HypersphereError(f"{path}: {problem}{remedy}")
    return content


def _read(manifest: Path, remedy: str) -> dict[str, Any]:
    try:
        return files.read_sealed(manifest)
    except HypersphereError as error:
        raise HypersphereError(f"{error}{remedy}") from None


def check_proof(proof: Path, *names: str, largest: float = math.inf, remedy: str = AGAIN) -> dict[str, Any]:
    """As ``check_listed``, of a manifest that Snakemake knows.

    Raises:
        DamagedError: the manifest or a file is missing or altered. Snakemake makes both again the next time.
    """
    try:
        return check_listed(proof, *names, largest=largest, remedy=remedy)
    except HypersphereError as error:
        raise DamagedError(str(error), proof) from None


def read_manifest(folder: Path) -> dict[str, Any]:
    """A run's manifest, without a look at the run's files."""
    return _read(folder / MANIFEST, _train(folder))


def check_files(folder: Path, *names: str) -> dict[str, Any]:
    """The manifest of a finished run, after a check that its files (all, or those of ``names``) are unaltered."""
    return check_listed(folder / MANIFEST, *names, remedy=_train(folder))


def _train(folder: Path) -> str:
    return f"; run again, or: hypersphere pretrain {folder.name}"


def check_run(plan: Plan, run: str, *names: str) -> dict[str, Any]:
    """As ``check_files``, for a run of the plan. Its error is a DamagedError, so that Snakemake trains it again."""
    try:
        return check_files(plan.run_folder(run), *names)
    except HypersphereError as error:
        raise DamagedError(str(error), plan.marker(plan.batch_of(run))) from None


def check_evaluation(path: Path) -> dict[str, Any]:
    """The manifest beside an evaluations file, after a check of this file and its tables."""
    return check_proof(path.with_suffix(".json"))


def check_tidy(results: Path, name: str) -> Path:
    """The path of a tidy table (in statistics/ or simulations/, or theory.csv or claims.csv), checked as unaltered."""
    path = results / name
    check_proof(tidy_manifest(path), path.name)
    return path


def tidy_manifest(path: Path) -> Path:
    """The file with a tidy table's checksum: the folder's ``manifest.json``, ``claims.json`` or ``theory.json``."""
    return path.with_suffix(".json") if path.stem in ("claims", "theory") else path.with_name(MANIFEST)
