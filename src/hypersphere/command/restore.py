"""`make restore`: fetch stored results with DVC, check them, and have Snakemake take them as up to date.

After a clone and `dvc pull`, modification times are random, and Snakemake has no record of how the files were made. So
`snakemake --touch --forceall` sets the times in the order of the DAG, and records this checkout's code and settings as
those that made the files. Every step before it checks that this record will be true.
"""

import json
import os
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

from hypersphere import files
from hypersphere.command import preview, verify
from hypersphere.config.plan import Plan
from hypersphere.config.project import load
from hypersphere.errors import HypersphereError
from hypersphere.statistics import judged_records

HELP = "docs/dvc.md says how"
REPORT = Path("results/report")
"""What is known of every claim; it is stored, too."""


def restore(plan: Plan) -> None:
    """Pull with DVC's own check of bytes, verify the manifests, touch, and check that nothing is left to do."""
    root, results = plan.config.root, name_of_results(plan)
    check_scale(plan)
    lock = root / "dvc.lock"
    locked = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    if f"path: {results}/" not in locked:
        raise HypersphereError(
            f"dvc.lock: does not list {results}; check out a commit that stores that scale ({HELP})"
        )
    remote = default_remote(root)
    call(root, "dvc", "remote", "modify", "--local", remote, "verify", "true")
    move(root, "pull", "nothing was restored")
    if changed := changed_since(root):
        raise HypersphereError(
            f"{changed}: changed since the results of dvc.lock were made; check out their commit ({HELP})"
        )
    verify.verify(plan, [], rebuild=False)
    _separate(plan.config.exact, plan.config.results, root / REPORT)
    # The report shows the claims of every scale that was finished here: with others than its own it is to be made anew.
    own = plan.config.results / "claims.csv"
    others = {*judged_records.finished_here(root)} - {own}
    target = "reproduce" if others else "everything"
    call(root, "snakemake", target, "--touch", "--forceall", "--cores", "1")
    if not nothing_to_do(root, target):
        raise HypersphereError(
            f"{results}: is not what Snakemake would make; `make plan VERBOSE=1` says why"
        )
    print(f"{results}: restored, nothing is left to do")


def name_of_results(plan: Plan) -> str:
    """The results folder, below the project."""
    return plan.config.results.relative_to(plan.config.root).as_posix()


def check_scale(plan: Plan) -> None:
    """Refuse another scale than that of config/config.yaml, the only one that dvc.yaml knows."""
    own = load(plan.config.root, {}).scale_name
    if plan.config.scale_name != own:
        raise HypersphereError(
            f"config/config.yaml: scale: is {own}, and DVC knows that one alone; set it to {plan.config.scale_name}"
        )


def default_remote(root: Path) -> str:
    """The name of the remote that DVC pulls from and pushes to."""
    if not call(root, "dvc", "remote", "list"):
        raise HypersphereError(f".dvc/config: names no remote; add one ({HELP})")
    return call(root, "dvc", "config", "core.remote")


def move(root: Path, verb: str, consequence: str) -> None:
    """Have DVC pull or push; what it says is shown."""
    command = [sys.executable, "-m", "dvc", verb]
    if subprocess.run(command, cwd=root, check=False).returncode:
        raise HypersphereError(
            f"dvc {verb}: failed for the reason that it gives above; {consequence}"
        )


def changed_since(root: Path) -> str:
    """The paths that are not as dvc.lock says, in words; empty if all are."""
    changed = json.loads(call(root, "dvc", "status", "--json"))
    paths: set[str] = set()
    for entry in chain.from_iterable(changed.values()):
        if isinstance(entry, dict):
            paths.update(chain.from_iterable(entry.values()))
    if changed and not paths:
        return "dvc.yaml"
    return ", ".join(sorted(paths))


def nothing_to_do(root: Path, target: str) -> bool:
    """Whether Snakemake finds everything of a target made."""
    return "Nothing to be done" in preview.dry_run(root, {}, target)


def _separate(*folders: Path) -> None:
    """Make files of equal bytes copies, because DVC makes them links of one object of its cache, with one time for all.

    A figure's numbers can be those of the study that it shows, and Snakemake wants what is made to be the newer.
    """
    seen = set()
    for path in chain.from_iterable(sorted(folder.rglob("*")) for folder in folders):
        if not path.is_file():
            continue
        inode = path.stat().st_ino
        if inode in seen:
            with files.replacing(path) as copy:
                shutil.copy2(path, copy)
        seen.add(inode)


def call(root: Path, program: str, *arguments: str, **variables: str) -> str:
    """The output of a Python program of this environment, which must succeed; ``variables`` are added to ours."""
    command = [sys.executable, "-m", program, *arguments]
    environment = os.environ | variables
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        raise HypersphereError(
            f"{program} {' '.join(arguments)}: failed with status {done.returncode} for the reason that it gives above"
        )
    return done.stdout.strip()
