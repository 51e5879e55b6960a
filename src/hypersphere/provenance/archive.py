"""One reproducible zip of sources, evidence and results, for an archive such as Zenodo or for an evaluation committee.

In it, below one folder: all files of the commit, the results of one scale, and ``SHA256SUMS``, by which `sha256sum -c`
checks what was unpacked. `git archive` writes the commit, whose id is the zip's comment. Equal contents give equal
bytes: names are sorted, times are those of the commit, and nothing tells which machine packed it.
"""

import hashlib
import os
import subprocess
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError


def pack(plan: Plan, weights: bool = False) -> Path:
    """Write the archive of the current commit and the results of the plan's scale, and its checksum beside it.

    It is ``hypersphere-<version>-<scale>.zip``. ``weights`` adds the runs' folders. Markers are left out.
    """
    root, results = plan.config.root, plan.config.results
    if changed := _git(root, "status", "--porcelain").splitlines():
        raise HypersphereError(f"{root / changed[0][3:]}: differs from the commit; commit or undo it, then pack again")
    if not (results / "claims.csv").exists():
        raise HypersphereError(f"{results}: has no finished results; run make reproduce first")
    hidden = ("batches/",) if weights else ("batches/", "runs/")
    made = []
    for path in sorted(results.rglob("*")):
        name = path.relative_to(results).as_posix()
        if path.name == ".lock" or name.startswith(hidden) or not (path.is_symlink() or path.is_file()):
            continue
        if not name.isprintable() or "\\" in name:
            raise HypersphereError(f"{results}: {name!a} is a name that cannot be packed")
        if path.is_symlink():  # it could lead anywhere
            raise HypersphereError(f"{path}: is no file of its own; put the file itself there, or remove it")
        made.append(path)
    time = datetime.fromtimestamp(int(_git(root, "log", "-1", "--format=%ct")), UTC).timetuple()[:6]
    folder = f"hypersphere-{files.read_yaml(root / 'CITATION.cff')['version']}-{plan.config.scale_name}"
    target = root / f"{folder}.zip"
    with files.replacing(target) as temporary:
        _git(root, "archive", "--format=zip", f"--prefix={folder}/", f"--output={temporary.resolve()}", "HEAD")
        with zipfile.ZipFile(temporary, "a") as archive:

            def add(name: str, content: bytes) -> None:
                entry = zipfile.ZipInfo(f"{folder}/{name}", time)
                entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3  # Unix, on every system
                entry.external_attr = 0o100644 << 16
                archive.writestr(entry, content)

            for path in made:
                add(path.relative_to(root).as_posix(), path.read_bytes())
            names = [name for name in archive.namelist() if not name.endswith("/")]
            sums = [f"{hashlib.sha256(archive.read(name)).hexdigest()}  {name.partition('/')[2]}\n" for name in names]
            add("SHA256SUMS", "".join(sums).encode())
    files.write_text(target.with_name(f"{target.name}.sha256"), f"{files.sha256(target)}  {target.name}\n")
    return target


def _git(root: Path, *arguments: str) -> str:
    """The output of git, which writes local times into a zip: here those of UTC."""
    own = ("-c", "core.autocrlf=false", "-c", "core.attributesFile=/dev/null")  # whatever the user has set
    try:
        done = subprocess.run(
            ["git", *own, *arguments], cwd=root, env=os.environ | {"TZ": "UTC"}, capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        said = os.fsdecode(getattr(error, "stderr", b"") or str(error).encode()).strip().splitlines()[-1:]
        why = f" ({said[0]})" if said else ""
        raise HypersphereError(f"{root}: packing an archive needs git and a checkout with a commit{why}") from None
    return os.fsdecode(done.stdout)
