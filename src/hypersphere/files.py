"""Read files, with a clear sentence for any error, and write them so that no half-written file has its final name."""

import errno
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import tomllib
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from hypersphere.errors import HypersphereError
from hypersphere.wording import in_one_line

PART = ".part"
"""Ending of the names of half-written files and folders, which begin with a dot."""
SEAL = "seal"
"""The key of a manifest with the digest of its other keys."""

# Writing


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the system's error about a write (a full disk, a read-only folder) into a sentence that names ``path``."""
    try:
        yield
    except OSError as error:
        raise HypersphereError(
            f"{path}: cannot be written ({reason(error)}); nothing half-written is left"
        ) from None


def reason(error: OSError) -> str:
    """The system's words in one line: ``No space left on device``, with the file if it is known."""
    words = in_one_line(error.strerror or error).rstrip(".")
    return f"{error.filename}: {words}" if error.filename else words


@contextmanager
def replacing(path: Path, folder: bool = False) -> Iterator[Path]:
    """Yield a temporary file (``folder``: folder) beside ``path``, which replaces it; on failure it is deleted."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}{PART}")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if folder:
                temporary.mkdir()
            yield temporary
            if folder:
                shutil.rmtree(path, ignore_errors=True)
            os.replace(temporary, path)
        finally:
            _remove(temporary)


def sweep(folder: Path, name: str = "*") -> None:
    """Remove the half-written files and folders of ``name`` that killed processes left. Call it only under a lock."""
    for leftover in folder.glob(f".{name}.*{PART}"):
        _remove(leftover)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` (UTF-8, newline endings as given) atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as JSON, keys sorted, so that equal content is equal bytes."""
    write_text(path, json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n")


# Temporary files, in the folder that TMPDIR names

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The system's numbers for: no more bytes can be written here."""


def no_room(error: OSError, what: str) -> HypersphereError:
    """The sentence for ``what`` cannot be written as a temporary file: it names TMPDIR, and the folder that is used."""
    folder = tempfile.tempdir or os.environ.get("TMPDIR", "/tmp")
    why = (error.strerror or str(error)).rstrip(".")
    return HypersphereError(
        f"TMPDIR: {folder}: {what} cannot be written there ({why}); set TMPDIR to a folder with enough room"
    )


@contextmanager
def temporarily(what: str) -> Iterator[None]:
    """Turn the system's error about a temporary file into a sentence that names TMPDIR."""
    try:
        yield
    except OSError as error:
        raise no_room(error, what) from None


def full(error: BaseException) -> OSError | None:
    """The system's error if there was no room for more bytes, also behind the sentence that it was turned into."""
    system = error if isinstance(error, OSError) else error.__context__
    return system if isinstance(system, OSError) and system.errno in FULL else None


@contextmanager
def temporary_folder(what: str) -> Iterator[Path]:
    """A folder that is removed at the end. If there is no room for ``what`` is written into it, TMPDIR is blamed."""
    with temporarily(what):
        made = tempfile.TemporaryDirectory(prefix="hypersphere-")
    with made as name:
        try:
            yield Path(name).resolve()
        except (OSError, HypersphereError) as error:
            if system := full(error):
                raise no_room(system, what) from None
            raise


# Digests and seals


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces, from which names and digests are computed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any, length: int = 16) -> str:
    """First ``length`` hex digits of the sha256 of ``value``'s canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:length]


def sha256(path: Path) -> str:
    """Hex sha256 of a file's bytes. An OSError passes through."""
    check_regular(path)
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def problem(path: Path, expected: str | None) -> str | None:
    """What is wrong with a file that should have the sha256 ``expected``, in words; None if nothing is."""
    if not path.is_file():
        return "the file is missing"
    try:
        return None if sha256(path) == expected else "the file's bytes differ from its manifest"
    except OSError as error:
        return f"cannot be read ({error.strerror})"


def write_sealed(path: Path, value: dict[str, Any]) -> None:
    """Write ``value`` as JSON with a digest of itself, so that a changed field is detected."""
    write_json(path, value | {SEAL: digest(value, 64)})


def read_sealed(path: Path) -> dict[str, Any]:
    """Read what `write_sealed` wrote, without the seal."""
    content = dict(mapping(read_json(path)))
    seal = content.pop(SEAL, None)
    if seal is None or seal != digest(content, 64):
        raise HypersphereError(f"{path}: was altered since it was written")
    return content


# Reading

_NOTES: list[dict[Path, str]] = []


@contextmanager
def noting() -> Iterator[dict[Path, str]]:
    """Yield a mapping in which the sha256 of each text file that is read meanwhile is noted, by its path."""
    notes: dict[Path, str] = {}
    _NOTES.append(notes)
    try:
        yield notes
    finally:
        _NOTES.remove(notes)


def check_regular(path: Path) -> None:
    """Check that reading a file can end: a pipe or a socket may never do, and a device may do anything."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # whoever opens it says so
    # to read a folder is an error of the system's
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise HypersphereError(
            f"{path}: must be a regular file, and is a pipe, a socket or a device"
        )


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, line endings as they are, without the byte order mark that some programs add."""
    check_regular(path)
    try:
        content = path.read_bytes()
        for notes in _NOTES:
            notes[path] = hashlib.sha256(content).hexdigest()
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise HypersphereError(f"{path}: the file is missing") from None
    except OSError as error:
        raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise HypersphereError(f"{path}: not UTF-8 text (byte {error.start})") from None


def _read(path: Path, parse: Callable[[str], Any], kind: str) -> Any:
    text = read_text(path)
    try:
        return parse(text)
    except (ValueError, RecursionError) as error:  # JSON's errors are ValueErrors
        raise HypersphereError(f"{path}: not valid {kind} ({in_one_line(error)})") from None


def read_json(path: Path) -> Any:
    return _read(path, json.loads, "JSON")


def read_toml(path: Path) -> dict[str, Any]:
    return dict(_read(path, tomllib.loads, "TOML"))


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, else an empty one: for a file that may hold anything."""
    return value if isinstance(value, dict) else {}


def read_mapping(path: Path) -> dict[str, Any]:
    """A JSON file's mapping; empty if the file is missing, cannot be read or holds something else."""
    try:
        return mapping(read_json(path))
    except HypersphereError:
        return {}


def read_yaml(path: Path) -> Any:
    return _read(path, parse_yaml, "YAML")


class _YamlLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's safe loader, in C if there is one, with numbers as people write them, and no key twice.

    PyYAML reads 010 as 8, 1:30 as 90 and 1_0 as 10, and ``1e-3`` and ``.5e1`` as text. Here a number is decimal digits
    with at most one point and an exponent: 010 is 10, and what is neither digits nor exponent is text, as dates are.
    """

    def flatten_mapping(self, node: Any) -> None:
        """Check the keys of a mapping before others are merged into it, which may be several times."""
        lines: dict[str, int] = {}
        for key, _ in [] if hasattr(node, "checked") else node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                line, first = key.start_mark.line + 1, lines.get(key.value)
                if first:
                    raise ValueError(
                        f"line {line}: the key '{key.value}' is given twice, first on line {first}"
                    )
                lines[key.value] = line
        node.checked = True
        super().flatten_mapping(node)


_INT, _FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
_NOT_OURS = (_INT, _FLOAT, "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value")
_YamlLoader.yaml_implicit_resolvers = {}
for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items():
    ours = [(tag, pattern) for tag, pattern in resolvers if tag not in _NOT_OURS]
    _YamlLoader.yaml_implicit_resolvers[first] = ours
_YamlLoader.add_implicit_resolver(_INT, re.compile(r"[-+]?[0-9]+$"), [*"-+0123456789"])
_DECIMAL = re.compile(
    r"([-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$", re.ASCII
)
_YamlLoader.add_implicit_resolver(_FLOAT, _DECIMAL, [*"-+.0123456789"])
_YamlLoader.add_constructor(_INT, lambda loader, node: int(loader.construct_scalar(node)))


class _YamlDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """PyYAML's safe dumper, in C if there is one, which also quotes text that our loader takes for a number."""


_YamlDumper.add_implicit_resolver(_FLOAT, _DECIMAL, [*"-+.0123456789"])


def as_yaml(value: Any) -> str:
    """The YAML document of ``value``, keys in their order; the same text from PyYAML's dumper in C, if there is one."""
    return yaml.dump(value, Dumper=_YamlDumper, sort_keys=False)


def parse_yaml(text: str) -> Any:
    """The value of a YAML document; a ValueError if it is none, or if it gives a key twice (PyYAML takes the last)."""
    try:
        return yaml.load(text, _YamlLoader)
    except yaml.YAMLError as error:
        problem = str(error).replace('in "<unicode string>", ', "at ")
        raise ValueError(in_one_line(problem)) from None
