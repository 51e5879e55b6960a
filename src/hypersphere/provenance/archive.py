"""One reproducible zip of sources, evidence and results, for an archive such as Zenodo or for an evaluation committee.

In it, below one folder: all files of the commit, the results of one scale that manifests list, their description as an
RO-Crate (``crate.py``), and ``SHA256SUMS``, by which `sha256sum -c` checks what was unpacked. `git archive` writes the
commit, whose id is the zip's comment. Equal contents give equal bytes: names are sorted, times are those of the commit,
and nothing tells which machine packed it.
"""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from hypersphere import files
from hypersphere.config import citation
from hypersphere.config.citation import Citation
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError, in_one_line
from hypersphere.provenance import contents, crate

SUMS = "SHA256SUMS"
"""The file with the checksum of every other file of the archive."""
MENDING = "; `make mend` makes it again, then pack again"


def pack(plan: Plan, weights: bool = False) -> Path:
    """Write the archive of the current commit and the results of the plan's scale, and its checksum beside it.

    It is ``hypersphere-<version>-<scale>.zip``. ``weights`` adds the runs' folders. Markers are left out. What lies
    among the results and no manifest lists is named on standard error, and left out.

    Raises:
        HypersphereError: the checkout differs from its commit, or a result is missing or not as its manifest says. No
            archive is written, and one that was there stays.
    """
    root = plan.config.root
    cited = citation.required(root)
    folder = f"hypersphere-{cited.version}-{plan.config.scale_name}"
    target = root / f"{folder}.zip"
    place = git(root, "rev-parse", "--absolute-git-dir").strip()
    lock = FileLock(Path(place) / "hypersphere-archive.lock")
    try:
        with lock.acquire(timeout=0):
            files.sweep(root, f"{target.name}*")  # what a killed one left
            _write(plan, target, cited, weights)
    except Timeout:
        raise HypersphereError(
            f"{target}: another process is packing an archive here; wait for it"
        ) from None
    return target


def _results(plan: Plan, weights: bool) -> dict[Path, str]:
    """The results to pack, sorted, each with its sha256. Whatever else lies among them is named."""
    results = plan.config.results
    if not any(results.glob("claims.*")):
        raise HypersphereError(f"{results}: has no finished results; run make reproduce first")
    checksums = contents.checksums_of_records(plan)
    for manifest in contents.manifests(plan, weights):
        try:
            checksums |= contents.checksums_of(manifest)
        except HypersphereError as error:
            raise HypersphereError(f"{error}{MENDING}") from None
    apart = {results / "batches"}
    if not weights:
        apart.add(results / "runs")
    for path in contents.others(results, checksums.keys() | apart):
        name = in_one_line(str(path.relative_to(plan.config.root)))
        print(f"left out: {name}: no manifest lists it", file=sys.stderr)
    return dict(sorted(checksums.items()))


def _write(plan: Plan, target: Path, cited: Citation, weights: bool) -> None:
    root = plan.config.root
    folder = target.stem
    for line in git(root, "status", "--porcelain").splitlines():
        raise HypersphereError(
            f"{root / line[3:]}: differs from the commit; commit or undo it, then pack again"
        )
    results = _results(plan, weights)
    commit, seconds = git(root, "log", "-1", "--format=%H %ct").split()
    committed = datetime.fromtimestamp(int(seconds), UTC)
    time = committed.timetuple()[:6]
    beside = target.with_name(f"{target.name}.sha256")
    with files.replacing(target) as temporary:
        output = f"--output={temporary.resolve()}"
        git(root, "archive", "--format=zip", f"--prefix={folder}/", output, "HEAD")
        with zipfile.ZipFile(temporary, "a") as archive:

            def add(name: str, content: bytes) -> None:
                entry = zipfile.ZipInfo(f"{folder}/{name}", time)
                entry.compress_type = zipfile.ZIP_DEFLATED
                # Unix, on every system
                entry.create_system = 3
                entry.external_attr = 0o100644 << 16
                archive.writestr(entry, content)

            for path, checksum in results.items():
                add(path.relative_to(root).as_posix(), _checked_bytes(path, checksum))
            packed = {name.removeprefix(f"{folder}/") for name in archive.namelist()}
            packed.add(SUMS)
            results_folder = plan.config.results.relative_to(root).as_posix()
            about = crate.metadata(packed, cited, results_folder, commit, committed)
            add(crate.FILE, f"{json.dumps(about, indent=1, sort_keys=True)}\n".encode())
            sums = ""
            for name in archive.namelist():
                if not name.endswith("/"):
                    checksum = hashlib.sha256(archive.read(name)).hexdigest()
                    sums += f"{checksum}  {name.removeprefix(f'{folder}/')}\n"
            add(SUMS, sums.encode())
        beside.unlink(missing_ok=True)  # an older archive's checksum must not outlive it
    files.write_text(beside, f"{files.sha256(target)}  {target.name}\n")


def _checked_bytes(path: Path, checksum: str) -> bytes:
    """The bytes of a result, which are those that its manifest lists."""
    if problem := files.problem(path, checksum):
        raise HypersphereError(f"{path}: {problem}{MENDING}")
    return path.read_bytes()


def git(root: Path, *arguments: str) -> str:
    """The output of git, which writes local times into a zip: here UTC is local. Its errors are sentences."""
    # whatever the user has set
    own = ("-c", "core.autocrlf=false", "-c", "core.attributesFile=/dev/null")
    variables = os.environ | {"TZ": "UTC"}
    try:
        done = subprocess.run(
            ["git", *own, *arguments], cwd=root, env=variables, capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        words = os.fsdecode(getattr(error, "stderr", b"")) or str(error)
        raise HypersphereError(
            f"{root}: needs git and a checkout with a commit ({' '.join(words.split())})"
        ) from None
    return os.fsdecode(done.stdout)
