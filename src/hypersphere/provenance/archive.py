"""One reproducible zip of sources, evidence and results, for an archive such as Zenodo or for an evaluation committee.

In it, below one folder: all files of the commit, the results of one scale, ``ro-crate-metadata.json`` (RO-Crate 1.1)
that describes them, and ``manifest.json``, which holds the checksum of each. Equal contents give equal bytes: names are
sorted, times are those of the commit, and nothing tells which machine packed it.
"""

import hashlib
import json
import os
import struct
import subprocess
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError

MANIFEST, CRATE, SIDECAR = "manifest.json", "ro-crate-metadata.json", ".sha256"
SCHEMA = 1
LARGEST_MANIFEST = 2**26
"""Bytes; a manifest is read whole."""
WEIGHTS = "runs"
"""The folder of a scale's results that holds weights."""
HIDDEN = (".lock", "batches/")
"""What a scale's results hold beside results."""
BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OSError)
"""What reading a damaged zip may raise; a flipped bit can also ask for a password or for an unknown compression."""
MODE = {False: 0o100644, True: 0o100755}
"""A file's type and permissions, by whether it is a program."""
TYPES = {
    **{".py": "text/x-python", ".md": "text/markdown", ".csv": "text/csv", ".html": "text/html", ".tex": "text/x-tex"},
    **{".json": "application/json", ".yaml": "application/yaml", ".yml": "application/yaml", ".pdf": "application/pdf"},
    **{
        ".svg": "image/svg+xml",
        ".png": "image/png",
        ".txt": "text/plain",
        ".lock": "text/plain",
        ".toml": "text/plain",
    },
}
BYTES = "application/octet-stream"
CRATE_CONTEXT = "https://w3id.org/ro/crate/1.1/context"
CRATE_STANDARD = "https://w3id.org/ro/crate/1.1"


def pack(plan: Plan, target: Path | None = None, weights: bool = False) -> Path:
    """Write the archive of the current commit and the results of the plan's scale, and its checksum beside it.

    Args:
        plan: names the scale.
        target: the zip to write; by default ``hypersphere-<version>-<scale>.zip``.
        weights: add the runs' folders, with their weights.

    Raises:
        HypersphereError: this is no git checkout, a file differs from the commit, or the scale has no results.
    """
    root, name = plan.config.root, plan.config.scale_name
    commit, time = _commit(root)
    sources = [root / line for line in _git(root, "ls-files", "-z").split("\0") if line]
    results = sorted(_results(plan.config.results, weights))
    version = _version(root)
    folder = f"hypersphere-{version}-{name}"
    target = target or root / f"{folder}.zip"
    content = {path.relative_to(root).as_posix(): path for path in (*sources, *results)}
    _check_packable(content)
    _check_whole(results)
    about = {"schema": SCHEMA, "version": version, "commit": commit, "date": f"{time:%Y-%m-%d}", "scale": name}
    crate = _as_json(_crate(about, content, plan.config.scale.describe)).encode()
    sums = {CRATE: hashlib.sha256(crate).hexdigest()}
    with files.replacing(target) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, file in sorted(content.items()):
            data = file.read_bytes()
            sums[path] = hashlib.sha256(data).hexdigest()
            _add(archive, f"{folder}/{path}", data, time, bool(file.stat().st_mode & 0o100))
        _add(archive, f"{folder}/{CRATE}", crate, time)
        manifest = files.sealed(about | {"files": sums})
        _add(archive, f"{folder}/{MANIFEST}", _as_json(manifest).encode(), time)
    files.write_text(_sidecar(target), f"{files.sha256(target)}  {target.name}\n")
    return target


def check(path: Path) -> str:
    """Compare an archive with its checksum, if that lies beside it, and all that it holds with its manifest.

    Returns:
        A sentence that says what was checked.

    Raises:
        HypersphereError: it is no archive of this project, or it is damaged: the message names each file that is
            missing, was changed or does not belong to it.
    """
    beside = _sidecar(path)
    expected = files.read_text(beside).split()[:1] if beside.exists() else None
    if expected == []:
        raise HypersphereError(f"{beside}: is empty; it must begin with the archive's sha256")
    files.check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            folder, manifest = _manifest(path, archive)
            problems = list(_problems(archive, folder, manifest["files"]))
    except FileNotFoundError:
        raise HypersphereError(f"{path}: the file is missing") from None
    except BROKEN as error:
        raise HypersphereError(f"{path}: no readable zip file ({error})") from None
    if problems:
        raise HypersphereError("; ".join(f"{path}: {problem}" for problem in problems))
    if expected and [files.sha256(path)] != expected:
        raise HypersphereError(f"{path}: its bytes are not those that {beside.name} names")
    whole = f"its bytes are those that {beside.name} names" if expected else f"there is no {beside.name} beside it"
    count = len(manifest["files"])
    return f"{path.name}: {count} files of commit {manifest['commit'][:12]}, scale {manifest['scale']}, sound; {whole}"


def _manifest(path: Path, archive: zipfile.ZipFile) -> tuple[str, dict[str, Any]]:
    """The archive's one folder and its manifest."""
    folders = {name.partition("/")[0] for name in archive.namelist()}
    folder = next(iter(folders)) if len(folders) == 1 else ""
    where = f"{path}: {folder}/{MANIFEST}"
    try:
        entry = archive.getinfo(f"{folder}/{MANIFEST}")
        if entry.file_size > LARGEST_MANIFEST:
            raise HypersphereError(f"{where}: has {entry.file_size:,} bytes, and may have {LARGEST_MANIFEST:,}")
        manifest = json.loads(archive.read(entry))
    except (KeyError, RecursionError, *BROKEN):
        raise HypersphereError(f"{path}: has no readable {MANIFEST}: it is no archive of hypersphere") from None
    manifest = files.unsealed(where, manifest)
    if manifest.get("schema") != SCHEMA:
        raise HypersphereError(f"{where}: schema: must be {SCHEMA} (given: {str(manifest.get('schema'))[:40]})")
    sums = manifest.get("files")
    if not isinstance(sums, dict) or not all(isinstance(checksum, str) for checksum in sums.values()):
        raise HypersphereError(f"{where}: files: must be a checksum for each file")
    for key in ("commit", "scale"):
        if not isinstance(manifest.get(key), str):
            raise HypersphereError(f"{where}: {key}: must be text")
    return folder, manifest


def _problems(archive: zipfile.ZipFile, folder: str, sums: Mapping[str, str]) -> Iterator[str]:
    """A few words for each file that is not as the manifest has it."""
    held = {name.removeprefix(f"{folder}/") for name in archive.namelist()} - {MANIFEST}
    for name in sorted(sums.keys() - held):
        yield f"{name}: is missing"
    for name in sorted(held - sums.keys()):
        yield f"{name}: does not belong to it"
    for name in sorted(held & sums.keys()):
        try:
            checksum = hashlib.sha256()
            with archive.open(f"{folder}/{name}") as member:  # in pieces: it may be of any size
                while piece := member.read(2**20):
                    checksum.update(piece)
            found = checksum.hexdigest()
        except BROKEN:
            found = ""
        if found != sums[name]:
            yield f"{name}: was changed"


def _crate(about: Mapping[str, Any], content: Iterable[str], scale: str) -> dict[str, Any]:
    """The description of the archive for machines, by RO-Crate 1.1."""
    entities: list[dict[str, Any]] = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": CRATE_STANDARD},
            "about": {"@id": "./"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"hypersphere {about['version']}, results of the scale {about['scale']}",
            "description": "Sources, evidence and results: what four papers and a lecture report on the geometry of "
            f"contrastive learning, rebuilt from raw data. Scale: {scale}.",
            "datePublished": about["date"],
            "license": {"@id": "LICENSE"},
            "version": about["commit"],
            "hasPart": [{"@id": name} for name in sorted(content)],
        },
        *(
            {"@id": name, "@type": "File", "encodingFormat": TYPES.get(Path(name).suffix, BYTES)}
            for name in sorted(content)
        ),
    ]
    return {"@context": CRATE_CONTEXT, "@graph": entities}


def _results(folder: Path, weights: bool) -> Iterator[Path]:
    """The files of a scale's results.

    Raises:
        HypersphereError: there are none.
    """
    if not (folder / "claims.csv").exists():
        raise HypersphereError(f"{folder}: has no finished results; run make reproduce first")
    for path in folder.rglob("*"):
        inside = path.relative_to(folder).as_posix()
        wanted = weights or not inside.startswith(f"{WEIGHTS}/")
        if (
            (path.is_symlink() or path.is_file())
            and wanted
            and not any(inside.startswith(one) or path.name == one for one in HIDDEN)
        ):
            yield path


def _check_packable(content: Mapping[str, Path]) -> None:
    """Check that each file is one of the project's own, with a name that an archive can hold.

    Raises:
        HypersphereError: one is a link, which could lead anywhere, or its name is no text.
    """
    for name, path in content.items():
        shown = name.encode("utf-8", "backslashreplace").decode()
        if shown != name:
            raise HypersphereError(f"{path.parent}/{Path(shown).name}: a name that is no UTF-8 cannot be packed")
        if path.is_symlink() or not path.is_file():
            raise HypersphereError(f"{path}: is no file of its own; put the file itself there, or remove it")


def _check_whole(results: Iterable[Path]) -> None:
    """Check that results have the checksums of the manifests beside them.

    Raises:
        HypersphereError: one was altered, or its manifest was.
    """
    there = set(results)
    for proof in sorted(path for path in there if path.suffix == ".json"):
        content = files.read_mapping(proof)
        if files.SEAL not in content or not isinstance(content.get("files"), dict):
            continue
        for name, checksum in files.unsealed(proof, content)["files"].items():
            path = proof.parent / name
            if path in there and (problem := files.problem(path, checksum)):
                raise HypersphereError(f"{path}: {problem}; `make mend` makes it again")


def _commit(root: Path) -> tuple[str, datetime]:
    """The current commit and its time.

    Raises:
        HypersphereError: a file of it was changed, or a new one is neither committed nor ignored.
    """
    changed = _git(root, "status", "--porcelain").splitlines()
    if changed:
        raise HypersphereError(f"{root / changed[0][3:]}: differs from the commit; commit or undo it, then pack again")
    commit, seconds = _git(root, "log", "-1", "--format=%H %ct").split()
    return commit, datetime.fromtimestamp(int(seconds), UTC)


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise HypersphereError(f"{root}: packing an archive needs git and a checkout with a commit") from None
    return os.fsdecode(done.stdout)


def _version(root: Path) -> str:
    return str(files.read_yaml(root / "CITATION.cff")["version"])


def _add(archive: zipfile.ZipFile, name: str, data: bytes, time: datetime, program: bool = False) -> None:
    entry = zipfile.ZipInfo(name, time.timetuple()[:6])
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, MODE[program] << 16
    entry.create_system = 3  # Unix, on every system
    archive.writestr(entry, data)


def _as_json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _sidecar(path: Path) -> Path:
    return path.with_name(path.name + SIDECAR)
