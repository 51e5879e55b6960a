"""Variables of other programs that a shell exports, and that must not decide here: ``foreign.txt`` lists them.

Notebooks, modules of a cluster, images of containers and hooks of git export such variables. It needs the standard
library alone, as it comes before everything else.
"""

import os
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from hypersphere import systems

PACKAGE = Path(__file__).resolve().parent
INSTALLING = ("PIP_*", "UV_*", "VIRTUAL_ENV", "CONDA_*")
"""Foreign variables that only pip and uv read. Every activated environment has some of them."""


def names_in(environment: Mapping[str, str]) -> list[str]:
    """The names of the foreign variables of an environment, in alphabetical order.

    A PYTHONPATH by which Python finds this very package is not foreign: its libraries may be there, too.
    """
    lines = PACKAGE.joinpath("foreign.txt").read_text(encoding="ascii").split("\n")
    patterns = [line for line in lines if line and not line.startswith("#")]
    kept = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    names = [
        name
        for name in sorted(environment)
        if _matches(name, patterns) and not _matches(name, kept)
    ]
    folders = environment.get("PYTHONPATH", "").split(os.pathsep)
    if any(Path(folder).resolve() == PACKAGE.parent for folder in folders if folder):
        names.remove("PYTHONPATH")
    return names


def _matches(name: str, patterns: Collection[str]) -> bool:
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in patterns)


def start_again(*program: str, folder: str | Path = ".", kept: Collection[str] = ()) -> None:
    """Replace this process by ``python PROGRAM ARGUMENTS`` without foreign variables, if there are any.

    ``program`` is what this process runs, ``folder`` where it was started, ``kept`` the names of variables that stay.
    Python reads some variables when it starts, so that it is too late to remove them afterwards.
    """
    names = [
        name for name in names_in(os.environ) if name not in kept and not _matches(name, INSTALLING)
    ]
    if not names:
        return
    for name in names:
        del os.environ[name]
    os.chdir(folder)
    command = [sys.executable, *program, *sys.argv[1:]]
    # Windows has no such call: its execv starts another process, and the shell does not wait for that
    if sys.platform == systems.WINDOWS:
        sys.exit(subprocess.run(command, check=False).returncode)
    os.execv(sys.executable, command)
