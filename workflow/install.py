"""``make setup``: an environment in .venv with what requirements.lock lists, and nothing anywhere else.

``make`` starts it before every command, as ``python -I install.py``. It returns at once if .venv is as it
was left: of this folder, this Python and this lock. Else it installs, and says so. It has the standard library alone,
and two modules of the package that need no more.
"""

from __future__ import annotations  # a Python that is too old must be able to say so

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".venv"
PYTHON = PLACE / "bin" / "python"
STAMP = PLACE / ".ready"
PROJECTS = (ROOT, *(file.parent for file in sorted(ROOT.glob("plugins/*/pyproject.toml"))))
"""The package, and the plug-ins beside it."""
WHENCE = (
    "index-url",
    "extra-index-url",
    "find-links",
    "trusted-host",
    "cert",
    "client-cert",
    "proxy",
    "timeout",
)
"""The options that say from where pip takes packages. They may be the machine's own, as the lock has checksums."""


def main() -> str | None:
    """Make .venv what it should be; returns a sentence if that cannot be done."""
    sys.path.insert(0, str(ROOT / "src"))
    from hypersphere import systems

    unfit = systems.why_not("make")
    if unfit:
        return unfit
    admitted = pythons()
    if sys.version_info[:2] not in admitted:
        named = " or ".join(f"3.{minor}" for _, minor in admitted)
        return (
            f"hypersphere needs Python {named}, and {sys.executable} is {this()}; "
            "name another: make setup PYTHON=..."
        )
    made = made_of()
    if is_there(made):
        return None
    import fcntl

    with open(__file__) as handle:
        with suppress(OSError):  # a file system may have no locks
            # of two setups at once, the second waits, and finds it done
            fcntl.flock(handle, fcntl.LOCK_EX)
        return None if is_there(made) else install(made)


def pythons() -> list[tuple[int, int]]:
    """The releases of Python that pyproject.toml admits, by ``requires-python = ">=3.A,<3.B"``."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', text)
    assert found is not None
    first, end = map(int, found.groups())
    return [(3, minor) for minor in range(first, end)]


def made_of() -> dict[str, Any]:
    """What .venv is to be made of: where, by which Python, and a digest of the files that say what is in it."""
    says = [ROOT / "requirements.lock", *(project / "pyproject.toml" for project in PROJECTS)]
    content = hashlib.sha256(b"\0".join(file.read_bytes() for file in says)).hexdigest()
    return {"folder": str(ROOT), "python": this(), "content": content}


def this() -> str:
    """The release of the Python that runs this."""
    return ".".join(map(str, sys.version_info[:2]))


def left() -> dict[str, Any]:
    """What .venv was made of, as it was left; nothing if no setup was finished."""
    with suppress(OSError, ValueError):
        return dict(json.loads(STAMP.read_text(encoding="utf-8")))
    return {}


def is_there(made: dict[str, Any]) -> bool:
    """Whether .venv is made of that, and finished."""
    return left() == made and PYTHON.exists()


def install(made: dict[str, Any]) -> str | None:
    """Install into .venv alone, and make it anew first if it is of another folder or another Python."""
    before = left()
    base = sys._base_executable  # type: ignore[attr-defined]  # what runs this may be .venv's own Python
    moved = [
        f"it is of {before[key]}"
        for key in ("folder", "python")
        if before.get(key, made[key]) != made[key]
    ]
    why = f", anew ({moved[0]})" if moved else ""
    print(
        f"setting up .venv with Python {made['python']}, {base}{why}", file=sys.stderr, flush=True
    )
    try:
        if moved or not before or not PYTHON.exists():
            if PLACE.is_symlink():
                PLACE.unlink()
            elif PLACE.exists():
                shutil.rmtree(PLACE)
            run(base, "-I", "-m", "venv", str(PLACE))
        (PLACE / "uv.txt").write_text(pinned("uv"), encoding="utf-8")
        pip = [str(PYTHON), "-I", "-m", "pip", "--isolated", "install", "--quiet"]
        pip.append("--disable-pip-version-check")
        settings = from_where()
        options: list[str] = []
        for name, value in settings.items():
            options += [f"--{name}={one}" for one in value.split()]
        run(*pip, "--no-user", *options, "--require-hashes", "-r", str(PLACE / "uv.txt"))
        # uv reads none of pip's settings; a network with certificates of its own needs this one
        if "cert" in settings:
            os.environ.setdefault("SSL_CERT_FILE", settings["cert"])
        uv = [str(PLACE / "bin" / "uv"), "pip"]
        into = ["--quiet", "--no-config", "--python", str(PYTHON)]
        run(*uv, "sync", *into, "--require-hashes", "requirements.lock")
        editable = [f"--editable=./{project.relative_to(ROOT)}" for project in PROJECTS]
        run(*uv, "install", *into, "--no-deps", "--no-build-isolation", *editable)
    except OSError as error:
        return f"make setup: {error.filename or PLACE}: {error.strerror}"
    except subprocess.CalledProcessError as error:
        return f"make setup: {Path(error.cmd[0]).name} ended with status {error.returncode}; the reason is above"
    STAMP.write_text(json.dumps(made), encoding="utf-8")
    return None


def run(*command: str) -> None:
    """Run a program in this folder without foreign variables; what it says is shown."""
    subprocess.run(command, cwd=ROOT, env=own_environment(), check=True)


def own_environment() -> dict[str, str]:
    """The environment without foreign variables."""
    from hypersphere import foreign

    dropped = foreign.names_in(os.environ)
    return {name: value for name, value in os.environ.items() if name not in dropped}


def pinned(package: str) -> str:
    """The lines of requirements.lock that pin a package: its version, and below it the checksums."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    found = re.search(rf"^{package}==.*\n(?:[ \t].*\n)+", text, flags=re.MULTILINE)
    assert found is not None
    return found[0]


def from_where() -> dict[str, str]:
    """This machine's settings that say from where pip takes packages, by option; no other setting of pip counts."""
    command = [str(PYTHON), "-I", "-m", "pip", "config", "list"]
    listed = subprocess.run(
        command, cwd=ROOT, env=own_environment(), capture_output=True, text=True, check=True
    ).stdout
    settings = {}
    for section in ("global", "install", ":env:"):  # the last one wins
        for name, value in re.findall(rf"^{section}\.([a-z-]+)=(.+)$", listed, flags=re.MULTILINE):
            if name in WHENCE:
                settings[name] = str(ast.literal_eval(value))
    return settings


if __name__ == "__main__":
    sys.exit(main())
