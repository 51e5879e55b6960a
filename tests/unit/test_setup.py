"""`make` in other people's shells, in checkouts that were renamed or copied, and with another Python."""

import json
import os
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    *("Makefile", "requirements.lock", "pyproject.toml", "plugins/text/pyproject.toml"),
    *(
        "workflow/install.py",
        "src/hypersphere/__init__.py",
        "src/hypersphere/foreign.py",
        "src/hypersphere/foreign.txt",
        "src/hypersphere/systems.py",
    ),
)
PROGRAMS = ("hypersphere", "snakemake", "pytest", "mkdocs", "ruff", "mypy", "snakefmt", "uv")
TARGETS = (
    *(
        "reproduce",
        "report",
        "site",
        "evidence",
        "pages",
        "release",
        "store",
        "restore",
        "plan",
        "verify",
        "mend",
        "archive",
    ),
    *("test", "test-long", "test-tools", "test-results", "mutants", "lint", "bench"),
)
FOREIGN = {
    **{
        "PYTHONPATH": "/dev/null/nowhere",
        "PYTHONHOME": "/dev/null/nowhere",
        "PYTHONSTARTUP": "/dev/null/nowhere",
        "PYTHONINSPECT": "1",
    },
    **{
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MATPLOTLIBRC": "/dev/null/nowhere",
    },
    **{"SNAKEMAKE_PROFILE": "/dev/null/nowhere", "OMP_THREAD_LIMIT": "1", "MKL_CBWR": "COMPATIBLE"},
    **{"ATEN_CPU_CAPABILITY": "default", "SOURCE_DATE_EPOCH": "1", "GIT_DIR": "/dev/null/nowhere"},
    **{
        "UV_SYSTEM_PYTHON": "1",
        "UV_TARGET": "/dev/null/nowhere",
        "PIP_USER": "1",
        "PIP_TARGET": "/dev/null/nowhere",
    },
    **{"VIRTUAL_ENV": "/dev/null/nowhere", "CONDA_PREFIX": "/dev/null/nowhere"},
}
TYPED = {
    "SCALE": "2",
    "ONLY": "x",
    "SET": "x",
    "N": "8",
    "SEED": "7",
    "MARKS": "x",
    "PAPER": "x",
    "SINCE": "x",
    "PYTHON": "python2",
    "FILE": "x",
} | {
    **{
        "RERUN": "x",
        "VERBOSE": "1",
        "FOLDER": "1",
        "BIN": "/bin",
        "SETUP": "false",
        "CHOSEN": "x",
        "SETTINGS": "x",
    }
}
"""Names of the Makefile's own, which a shell may export for another reason."""


def program(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


def set_up(root: Path) -> None:
    """Note that .venv was set up here by this Python, as setup would."""
    setup = runpy.run_path(str(root / "workflow" / "install.py"))
    setup["STAMP"].write_text(json.dumps(setup["made_of"]()))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that is set up, with programs that write down how they were called, and in which environment."""
    root = tmp_path / "checkout"
    for name in COPIED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, root / name)
    note = f'{{ echo "> ${{0##*/}} $*"; env; }} >> "{tmp_path}/asked"'
    for name in PROGRAMS:
        program(root / ".venv" / "bin" / name, note)
    program(
        root / ".venv" / "bin" / "python",
        f'case "$*" in *install.py) exec {sys.executable} "$@";; *) {note};; esac',
    )
    set_up(root)
    return root


def make(
    root: Path, *words: str, status: int = 0, **exported: str
) -> subprocess.CompletedProcess[str]:
    given = {"PATH": "/usr/bin:/bin", "HOME": str(root), "LOGNAME": "n"} | exported
    done = subprocess.run(["make", *words], cwd=root, env=given, capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def asked(root: Path) -> list[str]:
    """What programs were called with, and their variables, a line each, since the last time."""
    log = root.parent / "asked"
    lines = log.read_text().splitlines()
    log.unlink()
    return [
        line for line in lines if not line.startswith(("_=", "MAKE", "MFLAGS", "PWD=", "SHLVL="))
    ]


def test_no_program_gets_what_the_shell_exports(checkout: Path) -> None:
    """Nor one of the Makefile's own names, which are typed after `make`; whatever the target."""
    make(checkout, *TARGETS)
    alone = asked(checkout)
    assert {line.split()[1] for line in alone if line.startswith("> ")} >= {*PROGRAMS, "python"}
    make(checkout, *TARGETS, **FOREIGN)
    assert asked(checkout) == alone
    make(checkout, *TARGETS, **TYPED)
    same = [line for line in alone if line.partition("=")[0] not in TYPED]
    assert [line for line in asked(checkout) if line.partition("=")[0] not in TYPED] == same


def test_each_variable_would_have_been_handed_on(checkout: Path) -> None:
    """The control: where the package lists nothing, `make` hands them all on."""
    (checkout / "src" / "hypersphere" / "foreign.txt").write_text("")
    # Python would not even start
    given = {name: value for name, value in FOREIGN.items() if name != "PYTHONHOME"}
    make(checkout, "verify", **given)
    assert {f"{name}={value}" for name, value in given.items()} <= {*asked(checkout)}


def test_a_scale_of_the_environment_is_not_used_and_said_so(checkout: Path) -> None:
    done = make(checkout, "plan", SCALE="laptop")
    assert done.stderr == (
        "note: SCALE of the environment is not used; type it after make, as in `make plan SCALE=laptop`\n"
    )
    assert "> hypersphere plan --set scale=quick" in asked(checkout)
    make(checkout, "plan", "SCALE=laptop")
    assert "> hypersphere plan --set scale=laptop" in asked(checkout)


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"MAKEFLAGS": "i"}, "would hide what fails"),
        ({"MAKEFLAGS": "e"}, "would hide what fails"),
        ({"MAKEFLAGS": "kt"}, "would hide what fails"),
        ({"GNUMAKEFLAGS": "-i"}, "would hide what fails"),
        ({"MAKEFILES": "/dev/null/nowhere"}, "MAKEFILES names other makefiles"),
    ],
)
def test_flags_that_hide_a_failure_are_refused(
    checkout: Path, variables: dict[str, str], said: str
) -> None:
    assert said in make(checkout, "plan", status=2, **variables).stderr
    assert not (checkout.parent / "asked").exists()


@pytest.mark.parametrize("flags", ["k", "s", "-j8", "w", "r"])
def test_other_flags_change_nothing(checkout: Path, flags: str) -> None:
    make(checkout, "plan")
    alone = asked(checkout)
    make(checkout, "plan", MAKEFLAGS=flags)
    assert asked(checkout) == alone


def test_a_home_that_cannot_be_written_has_a_cache_in_the_checkout(checkout: Path) -> None:
    make(checkout, "plan", HOME="/dev/null/nowhere")
    assert f"XDG_CACHE_HOME={checkout}/.snakemake/cache" in asked(checkout)
    make(checkout, "plan")
    assert not any(line.startswith("XDG_CACHE_HOME=") for line in asked(checkout))


def test_a_user_without_a_name_gets_one(checkout: Path) -> None:
    make(checkout, "plan", LOGNAME="")
    (named,) = (line for line in asked(checkout) if line.startswith("LOGNAME="))
    assert named != "LOGNAME="


# What setup itself calls, and with what


PIP = """
case "$*" in
*"config list") printf "%s\\n" "global.index-url='https://mirror'" "global.user='true'" "install.target='/elsewhere'" \
  ":env:.find-links='/wheels /more'" "global.cert='/certificates'" ;;
esac
"""


def installed(root: Path, **exported: str) -> list[str]:
    """Set up anew with stand-ins for venv's Python and uv; what they were called with, and their variables."""
    (root / ".venv" / ".ready").unlink(missing_ok=True)
    log = root.parent / "asked"
    note = f'{{ echo "> $*"; env; }} >> "{log}"'
    for name in ("python", "uv"):
        program(root / "made" / name, note, PIP)
    # `python -m venv` is stood in for: it brings the two programs.
    base = root / "base" / "python3"
    copy = f'mkdir -p "{root}/.venv/bin" && cp "{root}"/made/* "{root}/.venv/bin"'
    program(base, f'case "$*" in *"-m venv"*) {copy};; *) exec {sys.executable} "$@";; esac')
    code = f"import sys, runpy; sys._base_executable = {str(base)!r}; "
    code += "runpy.run_path('workflow/install.py', run_name='__main__')"
    given = {"PATH": "/usr/bin:/bin", "HOME": str(root)} | exported
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=given, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((root / ".venv" / ".ready").read_text())["folder"] == str(root)
    return asked(root)


REDIRECTING = (
    *(
        "UV_SYSTEM_PYTHON",
        "UV_PYTHON",
        "UV_TARGET",
        "UV_PREFIX",
        "UV_BREAK_SYSTEM_PACKAGES",
        "UV_CONFIG_FILE",
    ),
    *(
        "UV_PROJECT_ENVIRONMENT",
        "UV_CONSTRAINT",
        "UV_OVERRIDE",
        "UV_NO_BUILD_ISOLATION",
        "UV_TORCH_BACKEND",
    ),
    *(
        "PIP_USER",
        "PIP_TARGET",
        "PIP_PREFIX",
        "PIP_ROOT",
        "PIP_PYTHON",
        "PIP_CONFIG_FILE",
        "PIP_DRY_RUN",
        "PIP_NO_DEPS",
    ),
    *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYTHONUSERBASE"),
)


def test_setup_installs_into_its_own_environment(checkout: Path) -> None:
    alone = installed(checkout)
    assert installed(checkout, **dict.fromkeys(REDIRECTING, "1")) == alone
    calls = [line for line in alone if line.startswith("> ")]
    assert len(calls) == 4
    for call in calls[2:]:  # uv
        assert f"--no-config --python {checkout}/.venv/bin/python" in call


def test_setup_takes_from_where_the_machine_says_and_no_other_setting(checkout: Path) -> None:
    lines = installed(checkout)
    (call,) = (line for line in lines if "--isolated" in line)
    assert (
        "--index-url=https://mirror --cert=/certificates --find-links=/wheels --find-links=/more"
        in call
    )
    assert "--no-user" in call
    assert "target" not in call
    assert "SSL_CERT_FILE=/certificates" in lines  # uv's name for it
    assert "UV_INDEX_URL=https://mirror" in installed(checkout, UV_INDEX_URL="https://mirror")


def test_a_checkout_that_is_as_it_was_left_installs_nothing(checkout: Path) -> None:
    os.utime(checkout / "requirements.lock", (2**32, 2**32))  # a time says nothing
    assert make(checkout, "setup").stderr == ""
    assert not (checkout.parent / "asked").exists()


def said_by_setup(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What setup says, and does with .venv, where each program that it calls is stood in for by nothing."""
    setup = runpy.run_path(str(root / "workflow" / "install.py"))
    said: list[str] = []
    scope: dict[str, Any] = setup["install"].__globals__

    def run(*command: str) -> None:
        said.append(" ".join(command[1:4]))
        if "venv" in command:
            (root / ".venv").mkdir()

    monkeypatch.setitem(scope, "run", run)
    monkeypatch.setitem(scope, "from_where", dict)
    assert setup["main"]() is None
    return said


def rewritten(root: Path, key: str, value: str) -> Path:
    stamp = root / ".venv" / ".ready"
    stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {key: value}))
    return root


def without_python(root: Path) -> Path:
    (root / ".venv" / "bin" / "python").unlink()
    (root / ".venv" / "bin" / "python").symlink_to("/dev/null/nowhere/python3")
    return root


def without_stamp(root: Path) -> Path:
    (root / ".venv" / ".ready").unlink()
    return root


def emptied_stamp(root: Path) -> Path:
    (root / ".venv" / ".ready").write_text("")
    return root


MOVED: dict[str, Callable[[Path], Path]] = {
    "renamed": lambda root: root.rename(root.with_name("renamed")),
    "copied": lambda root: Path(shutil.copytree(root, root.with_name("copied"), symlinks=True)),
    "of another Python": lambda root: rewritten(root, "python", "3.9"),
    "its Python is gone": without_python,
    "not finished": without_stamp,
    "left by an older setup": emptied_stamp,
}


@pytest.mark.parametrize("how", MOVED)
def test_an_environment_that_is_not_as_it_was_left_is_made_anew(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    (checkout / "results").mkdir()
    (checkout / "results" / "kept").write_text("what was computed")
    root = MOVED[how](checkout)
    old = root / ".venv" / "old"
    old.touch()
    calls = said_by_setup(root, monkeypatch)
    assert calls[0] == "-I -m venv"
    assert not old.exists()
    said = capsys.readouterr().err
    assert said.startswith("setting up .venv with Python 3.")
    assert (f", anew (it is of {checkout})" in said) == (how in ("renamed", "copied"))
    assert (root / "results" / "kept").read_text() == "what was computed"
    monkeypatch.undo()
    if how == "copied":
        assert (checkout / ".venv" / "bin" / "python").exists()  # that of the original


def test_a_new_lock_is_installed_into_the_same_environment(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "requirements.lock").open("a").write("# one more line\n")
    (checkout / ".venv" / "old").touch()
    calls = said_by_setup(checkout, monkeypatch)
    assert "-I -m venv" not in calls
    assert (checkout / ".venv" / "old").exists()


def test_a_link_to_an_environment_elsewhere_is_removed_and_not_what_it_leads_to(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = checkout.parent / "elsewhere"
    (checkout / ".venv").rename(elsewhere)
    (checkout / ".venv").symlink_to(elsewhere)
    rewritten(checkout, "folder", "/another")
    before = sorted(elsewhere.rglob("*"))
    said_by_setup(checkout, monkeypatch)
    assert sorted(elsewhere.rglob("*")) == before


@pytest.mark.parametrize("minor", [8, 10, 11, 12, 13])
def test_another_python_is_refused_by_a_sentence_that_names_those_that_are_admitted(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, minor: int
) -> None:
    asked_for = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    admitted = [one for one in range(30) if SpecifierSet(asked_for).contains(f"3.{one}.9")]
    setup = runpy.run_path(str(checkout / "workflow" / "install.py"))
    monkeypatch.setattr(sys, "version_info", (3, minor, 1))
    monkeypatch.setitem(setup["main"].__globals__, "install", lambda made: None)
    named = " or ".join(f"3.{one}" for one in admitted)
    sentence = (
        f"hypersphere needs Python {named}, and {sys.executable} is 3.{minor}; "
        "name another: make setup PYTHON=..."
    )
    assert setup["main"]() == (None if minor in admitted else sentence)


def test_another_python_that_is_typed_is_used(checkout: Path) -> None:
    other = checkout.parent / "python-other"
    program(other, f'echo "> other $*" >> "{checkout.parent}/asked"')
    make(checkout, "setup", f"PYTHON={other}")
    assert asked(checkout) == ["> other -I workflow/install.py"]


def test_a_python_that_is_typed_is_not_looked_for_in_the_environment_that_it_is_to_make(
    checkout: Path,
) -> None:
    for folder in (checkout / ".venv" / "bin", checkout.parent / "bin"):
        program(folder / "python3", f'echo "> ${{0%/*}}" >> "{checkout.parent}/asked"')
    make(checkout, "setup", "PYTHON=python3", PATH=f"{checkout.parent}/bin:/usr/bin:/bin")
    assert asked(checkout) == [f"> {checkout.parent}/bin"]
