"""What a results folder holds: the files that manifests list. Whatever else lies there is no result.

The archive packs what is listed here, and `hypersphere verify` names the rest.
"""

from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

from hypersphere import files
from hypersphere.config import records
from hypersphere.config.plan import Plan
from hypersphere.file_names import MANIFEST
from hypersphere.provenance import datapackage, markers


def manifests(plan: Plan, weights: bool) -> list[Path]:
    """The manifests of all results of a scale, whatever ``only`` chooses; ``weights``: those of runs, too."""
    studied = []
    for paper in plan.config.papers:
        studied += [(paper, name) for name in plan.config.exact_artifacts(paper)]
    paths = markers.of_tables(plan, plan.made_artifacts, studied)
    if plan.records is None:
        runs = list(plan.runs.values())
        paths += markers.evaluations(plan, runs)
        paths += [plan.run_folder(run.name) / MANIFEST for run in runs if weights]
    return paths


def checksums_of(manifest: Path) -> dict[Path, str]:
    """A manifest and its files, each with its sha256.

    A run's settings and times, which are no results, are listed while they are as they were written.
    """
    content = files.read_sealed(manifest)
    checksums = {manifest: files.sha256(manifest)}
    for name, checksum in content.get("files", {}).items():
        checksums[manifest.parent / name] = checksum
    for name, checksum in content.get("beside", {}).items():
        path = manifest.parent / name
        if files.problem(path, checksum) is None:
            checksums[path] = checksum
    return checksums


def checksums_of_records(plan: Plan) -> dict[Path, str]:
    """The tables of records in a results folder, which say themselves whether they are whole, each with its sha256.

    With them goes their description, which records of an earlier version lack.
    """
    folder = plan.config.results / records.FOLDER
    paths = [folder / f"{name}.csv" for name in records.TABLES]
    if not any(path.is_file() for path in paths):
        return {}
    records.read_folder(folder, plan.config.scale_name, plan.config.scale.level)
    described = folder / datapackage.FILE
    if described.is_file():
        paths.append(described)
    return {path: files.sha256(path) for path in paths}


def others(results: Path, known: Collection[Path]) -> Iterator[Path]:
    """What lies in a results folder and is not ``known``; a folder in which nothing is known is named once.

    Locks and empty folders are not named.
    """
    holding = {results, *chain.from_iterable(path.parents for path in known)}
    for folder in sorted(holding - {*known}):
        if not (folder.is_dir() and folder.is_relative_to(results)):
            continue
        for path in sorted(folder.iterdir()):
            if path in holding or path in known or path.name.endswith(".lock"):
                continue
            empty = path.is_dir() and not path.is_symlink() and not any(path.iterdir())
            if not empty:
                yield path
