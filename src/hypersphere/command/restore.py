"""`make restore`: fetch a release's results with DVC, check them, and have Snakemake take them as up to date.

After a clone and `dvc pull`, modification times are random, and Snakemake has no record of how the files were made. So
`snakemake --touch --forceall` sets the times in the order of the DAG, and records this checkout's code and settings as
those that made the files. Every step before it checks that this record will be true.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from hypersphere import files
from hypersphere.command import preview, verify
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config, load
from hypersphere.errors import HypersphereError
from hypersphere.provenance import exact

HELP = "docs/dvc.md says how"


def restore(plan: Plan) -> None:
    """Pull with DVC's own check of bytes, verify the manifests, touch, and check that nothing is left to do."""
    root, results = plan.config.root, plan.config.results.relative_to(plan.config.root).as_posix()
    own = load(root, {}).scale_name
    if plan.config.scale_name != own:
        raise HypersphereError(
            f"config/config.yaml: scale: is {own}, and DVC restores that one; set it to {plan.config.scale_name}"
        )
    lock = root / "dvc.lock"
    if not lock.is_file() or f"path: {results}/" not in lock.read_text(encoding="utf-8"):
        raise HypersphereError(f"dvc.lock: does not list {results}; check out a release of that scale ({HELP})")
    if not _call(root, "dvc", "remote", "list"):
        raise HypersphereError(f".dvc/config: names no remote to pull from; add one ({HELP})")
    remote = _call(root, "dvc", "config", "core.remote")
    _call(root, "dvc", "remote", "modify", "--local", remote, "verify", "true")
    if subprocess.run([sys.executable, "-m", "dvc", "pull"], cwd=root, check=False).returncode:
        raise HypersphereError("dvc pull: failed for the reason that it gives above; nothing was restored")
    changed = json.loads(_call(root, "dvc", "status", "--json"))
    if changed:
        entries = [entry for stage in changed.values() for entry in stage if isinstance(entry, dict)]
        paths = sorted({path for entry in entries for kind in entry.values() for path in kind}) or ["dvc.yaml"]
        raise HypersphereError(
            f"{', '.join(paths)}: changed since the results of dvc.lock were made; check out that release ({HELP})"
        )
    verify.verify(plan, [], rebuild=False)
    _separate(plan.config.results)
    _originals(plan.config)
    _call(root, "snakemake", "reproduce", "--touch", "--forceall", "--cores", "1")
    if "Nothing to be done" not in preview.dry_run(root, {}, "reproduce"):
        raise HypersphereError(f"{results}: is not what Snakemake would make; `make plan VERBOSE=1` says why")
    print(f"{results}: restored, nothing is left to do")


def _separate(results: Path) -> None:
    """Make files of equal bytes copies, because DVC makes them links of one object of its cache, with one time for all.

    A figure's numbers can be those of the study that it shows, and Snakemake wants what is made to be the newer.
    """
    seen = set()
    for path in sorted(path for path in results.rglob("*") if path.is_file()):
        inode = path.stat().st_ino
        if inode in seen:
            with files.replacing(path) as copy:
                shutil.copy2(path, copy)
        seen.add(inode)


def _originals(config: Config) -> None:
    """Fill results/exact, which no release has, from the scale's copies of it: they have the same bytes."""
    copies, originals = exact.of_scale(config), exact.shared(config)
    originals.folder.mkdir(parents=True, exist_ok=True)
    for file in copies.folder.glob("theory*"):
        shutil.copy2(file, originals.folder / file.name)
    for paper, folder in copies.studies.items():
        if folder.is_dir():
            shutil.copytree(folder, originals.studies[paper], dirs_exist_ok=True)


def _call(root: Path, program: str, *arguments: str) -> str:
    """The output of a Python program of this environment, which must succeed."""
    command = [sys.executable, "-m", program, *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        raise HypersphereError(
            f"{program} {' '.join(arguments)}: failed with status {done.returncode} for the reason that it gives above"
        )
    return done.stdout.strip()
