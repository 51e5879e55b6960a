"""One reproducible zip of sources, evidence and results, for an archive such as Zenodo or for an evaluation committee.

In it, below one folder: all files of the commit, the results of one scale, and ``SHA256SUMS``, by which `sha256sum -c`
checks what was unpacked. The zip's comment is the commit. Equal contents give equal bytes: names are sorted, times are
those of the commit, and nothing tells which machine packed it.
"""

import hashlib
import os
import subprocess
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError

SUMS = "SHA256SUMS"
HIDDEN = ("batches/", "runs/")
"""Folders of a scale's results that are left out: markers, and the runs' weights unless they are asked for."""


def pack(plan: Plan, target: Path | None = None, weights: bool = False) -> Path:
    """Write the archive of the current commit and the results of the plan's scale, and its checksum beside it.

    By default it is ``hypersphere-<version>-<scale>.zip``. ``weights`` adds the runs' folders, with their weights.
    """
    root, results = plan.config.root, plan.config.results
    if changed := _git(root, "status", "--porcelain").splitlines():
        raise HypersphereError(f"{root / changed[0][3:]}: differs from the commit; commit or undo it, then pack again")
    if not (results / "claims.csv").exists():
        raise HypersphereError(f"{results}: has no finished results; run make reproduce first")
    hidden = HIDDEN[:1] if weights else HIDDEN
    made = [
        path
        for path in results.rglob("*")
        if (path.is_symlink() or path.is_file())
        and path.name != ".lock"
        and not path.relative_to(results).as_posix().startswith(hidden)
    ]
    sources = [root / line for line in _git(root, "ls-files", "-z").split("\0") if line]
    content = {path.relative_to(root).as_posix(): path for path in (*sources, *made)}
    for name, path in content.items():
        if not name.isprintable() or "\\" in name:
            raise HypersphereError(f"{path.parent}: {path.name!a} is a name that cannot be packed")
        if path.is_symlink() or not path.is_file():  # a link could lead anywhere
            raise HypersphereError(f"{path}: is no file of its own; put the file itself there, or remove it")
    _check_whole(made)
    commit, seconds = _git(root, "log", "-1", "--format=%H %ct").split()
    time = datetime.fromtimestamp(int(seconds), UTC).timetuple()[:6]
    folder = f"hypersphere-{files.read_yaml(root / 'CITATION.cff')['version']}-{plan.config.scale_name}"
    target = target or root / f"{folder}.zip"
    sums = ""
    with files.replacing(target) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        archive.comment = commit.encode()
        for name in (*sorted(content), SUMS):
            data = sums.encode() if name == SUMS else content[name].read_bytes()
            program = name != SUMS and content[name].stat().st_mode & 0o100
            entry = zipfile.ZipInfo(f"{folder}/{name}", time)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3  # Unix, on every system
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            archive.writestr(entry, data)
            sums += f"{hashlib.sha256(data).hexdigest()}  {name}\n"
    files.write_text(target.with_name(f"{target.name}.sha256"), f"{files.sha256(target)}  {target.name}\n")
    return target


def _check_whole(results: Iterable[Path]) -> None:
    """Check that results have the checksums of the manifests beside them."""
    there = set(results)
    for proof in sorted(path for path in there if path.suffix == ".json"):
        content = files.read_mapping(proof)
        if files.SEAL not in content or not isinstance(content.get("files"), dict):
            continue
        for name, checksum in files.unsealed(proof, content)["files"].items():
            path = proof.parent / name
            if path in there and (problem := files.problem(path, checksum)):
                raise HypersphereError(f"{path}: {problem}; run again to make it again")


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise HypersphereError(f"{root}: packing an archive needs git and a checkout with a commit") from None
    return os.fsdecode(done.stdout)
