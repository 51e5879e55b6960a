"""Have Snakemake make all that follows from runs and evaluations again in another folder, and compare the bytes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypersphere.command import preview
from hypersphere.config import plan as planning
from hypersphere.config.cells import raw_pixels
from hypersphere.config.plan import Plan
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.wording import counted

FOLDERS = ("statistics", "simulations", "tables", "figures")
"""Folders of the results that hold nothing but what is rebuilt here."""
KEPT = ("runs", "evaluations", "batches")
"""Folders of the results that are not rebuilt."""


def check(plan: Plan, overrides: dict[str, Any]) -> None:
    """Rebuild statistics, theory, simulations, claims, tables, figures, scorecard and paper, and compare them.

    With the setting ``only``, just what it chooses.

    Raises:
        DamagedError: files differ when made again, belong to no artifact, or cannot be made again because what they are
            made from is damaged. The proofs are those files.
        HypersphereError: Snakemake cannot start.
    """
    with elsewhere(plan, overrides, *KEPT) as again:
        before, after = plan.config.results, again.config.results
        unproven, reasons = _make(again, overrides)
        made = [name for name in _names(("**/*",), after) if name.partition("/")[0] not in KEPT]
        differing = sorted(name for name in _differing(before, after, made) if name not in unproven)
        rebuilt = _names(tuple(f"{folder}/**/*" for folder in FOLDERS), before)
        strays = [] if plan.config.settings.only else [name for name in rebuilt if name not in {*made, *unproven}]
        sentences = [
            *([f"{', '.join(differing)}: differ when made again"] if differing else []),
            *([f"{', '.join(strays)}: nothing of this checkout makes them"] if strays else []),
            *([f"{counted(len(unproven), 'file')} cannot be made again ({'; '.join(reasons)})"] if unproven else []),
            *([] if made or unproven else ["has no file to compare"]),
        ]
        if sentences:
            wrong = [before / name for name in (*differing, *strays, *unproven)]
            raise DamagedError(f"{before}: {'; '.join(sentences)}", *wrong)


def _make(plan: Plan, overrides: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Have Snakemake run all rules but those that prepare, train and measure.

    Returns:
        The files, relative to the results, that could not be made, and the reasons.
    """
    root, results, papers = plan.config.root, plan.config.results, plan.config.papers
    _mark(plan)
    rules = ["all", "theory", "claims", "scorecard", "paper", *(f"artifact_{p}_{a}" for p, a in plan.made)]
    rules += [f"{kind}_{paper}" for paper in papers if plan.config.studied(paper) for kind in ("simulate", "studies")]
    allowed = ("--allowed-rules", *rules) if plan.records is None else ()  # from records nothing is trained anyway
    given = overrides | ({"data_root": plan.config.settings.data_root} if plan.config.settings.data_root else {})
    command = [sys.executable, "-m", "snakemake", "--cores", "all", *allowed]
    command += ["--config", *(f"{key}={json.dumps(value)}" for key, value in given.items())] if given else []
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if not done.returncode:
        return [], []
    logs = [path.read_text(errors="replace").splitlines() for path in sorted((root / "logs").glob("**/*.log"))]
    said = [line for log in logs for line in log if line.startswith("hypersphere: ")]
    if not logs:
        raise HypersphereError(f"snakemake: {(done.stdout + done.stderr).strip().splitlines()[-1]}")
    _mark(plan)  # a job that meets damage removes a marker
    jobs = preview.dry_run(root, given, allowed)
    left = [root / name for job in jobs for name in job.output.split(", ")]
    names = [path.relative_to(results).as_posix() for path in left if not path.exists()]
    return names, list(dict.fromkeys(line.removeprefix("hypersphere: ") for line in said)) or [logs[-1][-1]]


def _mark(plan: Plan) -> None:
    """Make markers that are lost, which `verify` names: what follows is made from the evaluations themselves."""
    (plan.config.results / "batches").mkdir(exist_ok=True)
    for key in plan.made:
        batches, pixels = plan.batches_of(*key), map(raw_pixels, plan.pixels_of(*key))
        for marker in [*map(plan.marker, batches), *map(plan.evaluated_marker, [*(b.id for b in batches), *pixels])]:
            if not marker.exists():  # else the file that it links to would be touched
                marker.touch()


def _names(patterns: tuple[str, ...], *sides: Path) -> list[str]:
    """The files under any of the folders that match a pattern, relative to it."""
    return sorted(
        {
            path.relative_to(side).as_posix()
            for side in sides
            for pattern in patterns
            for path in side.glob(pattern)
            if path.is_file() and not path.name.startswith(".")
        }
    )


def _differing(before: Path, after: Path, names: Sequence[str]) -> list[str]:
    """The files that are in one folder only or differ in bytes."""
    return [name for name in names if _bytes(before / name) != _bytes(after / name)]


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def compare(before: Path, after: Path, patterns: tuple[str, ...]) -> None:
    """Compare the files of two folders that match the patterns.

    Raises:
        HypersphereError: files are in one folder only or differ in bytes; the sentence names them.
    """
    names = _names(patterns, before, after)
    if not names:
        raise HypersphereError(f"{before}: has no file to compare")
    differing = _differing(before, after, names)
    if differing:
        raise HypersphereError(f"{before}: {', '.join(differing)}: differ when made again")


@contextmanager
def elsewhere(plan: Plan, overrides: dict[str, Any], *kept: str) -> Iterator[Plan]:
    """The same plan in a temporary folder with all of the project, and of its results the ``kept`` parts.

    These are folders of links to the files, so that whoever removes a file there removes a link.

    Raises:
        HypersphereError: the block raised one; paths of the temporary folder are replaced by those of the project.
    """
    with tempfile.TemporaryDirectory(prefix="hypersphere-verify-") as temporary:
        root = Path(temporary).resolve()
        for path in plan.config.root.iterdir():
            if path.name in ("config", "paper"):  # typst reads no link that leaves its folder
                shutil.copytree(path, root / path.name)
            elif path.name not in ("results", "logs") and not path.name.startswith("."):
                (root / path.name).symlink_to(path)
        other = planning.make(root, {**overrides, "data_root": plan.config.settings.data_root})
        other.config.results.mkdir(parents=True)
        for name in kept:
            if (plan.config.results / name).is_dir():
                shutil.copytree(plan.config.results / name, other.config.results / name, copy_function=os.symlink)
        try:
            yield other
        except HypersphereError as error:
            error.args = (str(error).replace(str(root), str(plan.config.root)),)
            raise
