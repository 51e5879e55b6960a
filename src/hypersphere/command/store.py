"""`make store`: check the results of a scale, record them in dvc.lock, and push data, weights and results with DVC.

Nothing is made: what is not finished, not verified or of an uncommitted source is refused, because nobody could restore
it. Who then commits dvc.lock has published the results.
"""

import subprocess

from hypersphere.command import restore, verify
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError

LOCK = "dvc.lock"


def store(plan: Plan) -> None:
    """Check that all of the scale is made of this commit, verify it, write dvc.lock, and push."""
    root, results = plan.config.root, restore.name_of_results(plan)
    restore.check_scale(plan)
    restore.default_remote(root)
    status = ["git", "status", "--porcelain", "--", ".", f":!{LOCK}"]
    done = subprocess.run(status, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise HypersphereError(f"{root}: storing results needs git and a checkout with a commit")
    if uncommitted := done.stdout.splitlines():
        raise HypersphereError(
            f"{uncommitted[0][3:]}: differs from the commit; commit or undo it, then store again"
        )
    if not restore.nothing_to_do(root, "everything"):
        raise HypersphereError(
            f"{results}: is not finished; `make reproduce` makes the rest, `make plan` says what"
        )
    verify.verify(plan, [], rebuild=False)
    for folder in (plan.config.data / "raw", plan.config.results / "evidence"):
        folder.mkdir(parents=True, exist_ok=True)  # both may stay empty, and dvc.yaml lists them
    restore.call(root, "dvc", "commit", "--force")
    if changed := restore.changed_since(root):
        raise HypersphereError(f"{changed}: changed while {LOCK} was written; store again")
    restore.move(root, "push", f"{LOCK} is written; store again")
    print(f"{results}: pushed; next: git add {LOCK} and commit it")
