"""`make restore`: fetch a release's results with DVC, check every byte, and have Snakemake take them as up to date.

After a clone and `dvc pull`, modification times are random, and Snakemake has no record of how the files were made. So
`snakemake --touch` sets the times in the order of the DAG, and records this checkout's code and settings as those that
made the files. Every step before it checks that this record will be true.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from hypersphere import files
from hypersphere.command import preview, verify
from hypersphere.config import plan as planning
from hypersphere.datasets.reading.download import has_md5
from hypersphere.errors import HypersphereError

LOCK = "dvc.lock"
HELP = "docs/dvc.md says how"


def restore(root: Path, scale: str | None = None) -> None:
    """Pull, compare every byte with dvc.lock, verify the manifests, touch, and check that nothing is left to do.

    Args:
        root: the checkout.
        scale: the scale to restore, which must be that of config/config.yaml, because dvc.yaml follows it.

    Raises:
        HypersphereError: there is nothing to pull or no remote to pull from; a file is missing or altered; the results
            are not of this checkout's code and settings. Snakemake's records are unchanged then.
    """
    plan = planning.make(root)
    config = plan.config
    results = config.results.relative_to(root).as_posix()
    if scale not in (None, config.scale_name):
        raise HypersphereError(
            f"config/config.yaml: scale: is {config.scale_name}, and DVC restores that one; set it to {scale}"
        )
    outputs = recorded(root / LOCK)
    if not any(path.startswith(f"{results}/") for path in outputs):
        raise HypersphereError(f"{LOCK}: does not list {results}; check out a release of that scale ({HELP})")
    if not _call(root, "dvc", "remote", "list"):
        raise HypersphereError(f".dvc/config: names no remote to pull from; add one ({HELP})")
    pulled = subprocess.run([sys.executable, "-m", "dvc", "pull"], cwd=root, check=False)
    check(root, outputs, Path(_call(root, "dvc", "cache", "dir")))
    if pulled.returncode:
        raise HypersphereError("dvc pull: failed for the reason that it gives above; nothing was restored")
    _check_sources(root)
    verify.verify(plan, [], {}, rebuild=False)
    _touch(root)
    print(f"{results}: restored, nothing is left to do")


def recorded(lock: Path) -> dict[str, str]:
    """The md5 that dvc.lock names for each output, by path; that of a folder is of its listing and ends in ``.dir``.

    Raises:
        HypersphereError: the file is missing or not DVC's.
    """
    if not lock.is_file():
        raise HypersphereError(
            f"{lock.name}: the file is missing: check out a release that has it ({HELP}), or make the results here "
            "with `make reproduce`"
        )
    content = files.read_yaml(lock)
    try:
        return {out["path"]: out["md5"] for stage in content["stages"].values() for out in stage.get("outs", [])}
    except (KeyError, TypeError, AttributeError):
        raise HypersphereError(f"{lock.name}: not a lock file of DVC; take it again from the release") from None


def check(root: Path, outputs: dict[str, str], cache: Path) -> None:
    """Recompute the md5 of every file of ``outputs``, trusting neither DVC's records nor the remote.

    A remote without ``verify`` delivers damaged files too, and DVC takes a read-only file of its cache for sound. A
    damaged file of the cache, to which the file in the workspace may be a hard link, is removed, so that the next pull
    fetches it again.

    Raises:
        HypersphereError: files are altered or missing; the sentence names the first and counts the others.
    """
    wrong = [sentence for path, md5 in outputs.items() for sentence in _wrong(root, path, md5, cache)]
    if wrong:
        raise HypersphereError(wrong[0] + (f" (and {len(wrong) - 1} more like it)" if len(wrong) > 1 else ""))


def _wrong(root: Path, path: str, md5: str, cache: Path) -> Iterator[str]:
    """A sentence for each altered or missing file; ``path`` is a file or a folder."""
    stored = cache / "files" / "md5" / md5[:2] / md5[2:]
    remote = f"{stored.parent.name}/{stored.name}"
    folder = md5.endswith(".dir")
    sound = has_md5(stored, md5.removesuffix(".dir"))
    if folder and sound:
        for entry in files.read_json(stored):
            yield from _wrong(root, f"{path}/{entry['relpath']}", entry["md5"], cache)
        return
    if not folder and has_md5(root / path, md5):
        return
    if not sound:
        stored.unlink(missing_ok=True)
    if (root / path).exists() and not folder:
        yield (
            f"{path}: its bytes are not those that {LOCK} names; delete it and run `make restore` again to fetch it "
            f"(if that does not help, the remote's object {remote} is damaged)"
        )
    elif not sound:
        yield (
            f"{path}: the remote has no sound copy of it: its object {remote} is missing or damaged; delete that "
            "object, `dvc push` from a checkout that has the file, and run `make restore` again"
        )


def _check_sources(root: Path) -> None:
    """Check that the results were made from this checkout's code, settings and data, and that no other file is there.

    Raises:
        HypersphereError: something differs; the sentence names it.
    """
    stages = json.loads(_call(root, "dvc", "status", "--json"))
    entries = [entry for stage in stages.values() for entry in stage]
    changed = {kind: _paths(entries, f"changed {kind}") for kind in ("outs", "deps")}
    if changed["outs"]:
        raise HypersphereError(
            f"{changed['outs'][0]}: has files that {LOCK} does not list; remove them (`dvc diff` lists them)"
        )
    if entries:
        source = ", ".join(changed["deps"]) or "dvc.yaml"
        raise HypersphereError(
            f"{source}: changed since the results of {LOCK} were made; check out that release ({HELP})"
        )


def _paths(entries: list[dict[str, dict[str, str]] | str], kind: str) -> list[str]:
    return sorted({path for entry in entries if isinstance(entry, dict) for path in entry.get(kind, {})})


def _touch(root: Path) -> None:
    """Have Snakemake put the files' times in order and record what each is made from.

    Raises:
        HypersphereError: Snakemake failed, or would still run something.
    """
    _call(root, "snakemake", "--touch", "--forceall", "--cores", "1")
    jobs = preview.dry_run(root, {})
    if jobs:
        raise HypersphereError(
            f"{jobs[0].output}: Snakemake would still make it ({jobs[0].reason}), and {len(jobs) - 1} more"
        )


def _call(root: Path, program: str, *arguments: str) -> str:
    """The output of a Python program of this environment.

    Raises:
        HypersphereError: it failed; the sentence is its last line.
    """
    command = [sys.executable, "-m", program, *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines() or ["no output"]
        raise HypersphereError(f"{program} {' '.join(arguments)}: {lines[-1].strip()}")
    return done.stdout.strip()


def main() -> int:
    """Restore the checkout of the current folder; 0, or 2 after a sentence on standard error."""
    parser = argparse.ArgumentParser(prog="make restore", description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--scale", help="the scale to restore; must be that of config/config.yaml")
    try:
        restore(Path.cwd(), parser.parse_args().scale)
    except HypersphereError as error:
        print(f"hypersphere: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
