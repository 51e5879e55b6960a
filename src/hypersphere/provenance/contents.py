"""What a results folder holds: the files that manifests list. Whatever else lies there is no result.

The archive packs what is listed here, and `hypersphere verify` names the rest.
"""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from hypersphere import files
from hypersphere.config import records
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.provenance import markers


def manifests(plan: Plan, weights: bool) -> list[Path]:
    """The manifests of all results of a scale, whatever ``only`` chooses; ``weights``: those of runs, too."""
    studied = [
        (paper, name) for paper in plan.config.papers for name in plan.config.exact_artifacts(paper)
    ]
    runs = list(plan.runs.values()) if plan.records is None else []
    found = [
        *markers.of_tables(plan, plan.made_artifacts, studied),
        *markers.evaluations(plan, runs),
    ]
    return found + [plan.run_folder(run.name) / MANIFEST for run in runs if weights]


def listed(manifest: Path) -> dict[Path, str]:
    """A manifest and its files, each with its sha256.

    A run's settings and times, which are no results, are listed while they are as they were written.
    """
    content, folder = files.read_sealed(manifest), manifest.parent
    found = {manifest: files.sha256(manifest)}
    found |= {
        folder / name: checksum for name, checksum in files.mapping(content.get("files")).items()
    }
    beside = {
        folder / name: checksum for name, checksum in files.mapping(content.get("beside")).items()
    }
    return found | {
        path: checksum for path, checksum in beside.items() if files.problem(path, checksum) is None
    }


def recorded(plan: Plan) -> dict[Path, str]:
    """The tables of records in a results folder, which say themselves whether they are whole, each with its sha256."""
    folder = plan.config.results / records.FOLDER
    paths = [folder / f"{name}.csv" for name in records.TABLES]
    if not any(path.is_file() for path in paths):
        return {}
    records.read_folder(folder, plan.config.scale_name, plan.config.scale.level)
    return {path: files.sha256(path) for path in paths}


def others(results: Path, known: Collection[Path]) -> Iterator[Path]:
    """What lies in a results folder and is not ``known``; a folder in which nothing is known is named once.

    Locks and empty folders are not named.
    """
    holding = {folder for path in known for folder in path.parents}
    for folder, folders, names in os.walk(results, followlinks=True):
        here = Path(folder)
        for name in sorted([*folders, *names]):
            path = here / name
            empty = path.is_dir() and not path.is_symlink() and next(path.rglob("*"), None) is None
            if not (path in holding or path in known or name.endswith(".lock") or empty):
                yield path
        folders[:] = sorted(
            name for name in folders if here / name in holding and here / name not in known
        )
