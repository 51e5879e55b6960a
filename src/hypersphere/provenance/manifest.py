"""Read and check the manifests of finished runs, evaluations and tables, without importing torch."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.file_names import MANIFEST

AGAIN = "; run again to make it again"
SCORECARD = "scorecard.manifest.json"
"""The manifest of a scale's page, in its results folder."""
ALONE = ("claims", "theory_claims", "theory")
"""Tidy tables that have a manifest of their own, because others lie in the same folder."""


def seal(manifest: Path, paths: Iterable[Path]) -> None:
    """Write a manifest with the checksums of files beside it or below."""
    checksums = {path.relative_to(manifest.parent).as_posix(): files.sha256(path) for path in paths}
    files.write_sealed(manifest, {"files": checksums})


def check_files(
    manifest: Path,
    *names: str,
    largest: float = math.inf,
    remedy: str = AGAIN,
    proof: Path | None = None,
) -> dict[str, Any]:
    """The content of a manifest, after a check of the files that it lists: all of them, or those of ``names``.

    A file of more than ``largest`` bytes must only be there. ``remedy`` ends the sentence of what is wrong.

    Raises:
        DamagedError: the manifest or a file is missing or altered. Snakemake makes both again where ``proof`` is gone,
            which is the manifest itself, if Snakemake knows it.
    """
    proof = proof or manifest
    try:
        content = files.read_sealed(manifest)
    except HypersphereError as error:
        raise DamagedError(f"{error}{remedy}", proof) from None
    listed = content.get("files", {})
    for name in names or listed:
        path = manifest.parent / name
        if path.is_file() and path.stat().st_size > largest:
            continue
        problem = files.problem(path, listed.get(name))
        if problem:
            raise DamagedError(f"{path}: {problem}{remedy}", proof)
    return content


def check_run(plan: Plan, run: str, *names: str) -> dict[str, Any]:
    """The manifest of a run of the plan, after a check of its files; the proof of a run is its batch's marker."""
    again = f"; run again, or: hypersphere pretrain {run}"
    return check_files(
        plan.run_folder(run) / MANIFEST, *names, remedy=again, proof=plan.marker(plan.batch_of[run])
    )


def check_evaluation(path: Path) -> dict[str, Any]:
    """The manifest beside an evaluations file, after a check of this file and its tables."""
    return check_files(path.with_suffix(".json"))


def check_tidy(results: Path, name: str) -> Path:
    """The path of a tidy table (in statistics/ or simulations/, or of ``ALONE``), checked as unaltered."""
    path = results / name
    check_files(tidy_manifest(path), path.name)
    return path


def tidy_manifest(path: Path) -> Path:
    """The file with a tidy table's checksum: the folder's ``manifest.json``, or ``claims.json`` of ``claims.csv``."""
    return path.with_suffix(".json") if path.stem in ALONE else path.with_name(MANIFEST)
