"""A checkout has the bytes of its commit, whatever git is told about ends of lines."""

import codecs
import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.pythons

ROOT = Path(__file__).resolve().parents[2]
UNIX, WINDOWS = b"one\ntwo\n", b"one\r\ntwo\r\n"
FILES = {
    **{
        f"a.{ending}": UNIX
        for ending in ("txt", "csv", "yaml", "json", "md", "svg", "py", "lock", "html", "typ")
    },
    **{f"windows.{ending}": WINDOWS for ending in ("txt", "csv", "md")},
    "Makefile": UNIX,
    "mixed.csv": UNIX + WINDOWS,
    "mark.csv": codecs.BOM_UTF8 + UNIX,
    "image.png": b"\x89PNG\r\n\x1a\n",
    "data/latin.txt": "café\n".encode("latin-1"),
}
"""Of every kind that is tracked, and some that are not yet."""
SETTINGS = [
    ("core.autocrlf=true", "core.eol=crlf"),
    ("core.autocrlf=input", "core.eol=lf"),
    ("core.autocrlf=false", "core.eol=crlf"),
    ("core.autocrlf=true", "core.safecrlf=false"),
]


def git(folder: Path, *words: str) -> str:
    """What git says under the settings of no person and no computer."""
    nobody = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_COUNT": "0",
    }
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, env=os.environ | nobody, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_clone_has_the_bytes_that_were_committed(
    settings: tuple[str, ...], tmp_path: Path
) -> None:
    """Those of a file with the ends of lines of Windows, too: nothing is made alike. The control has no attributes."""
    options = [word for one in settings for word in ("-c", one)]
    for attributes in (True, False):
        made, clone = (tmp_path / f"{name}-{attributes}" for name in ("made", "clone"))
        (made / "data").mkdir(parents=True)
        for name, content in FILES.items():
            (made / name).write_bytes(content)
        if attributes:
            (made / ".gitattributes").write_bytes((ROOT / ".gitattributes").read_bytes())
        git(made, "init", "--quiet")
        git(made, *options, "add", "--all")
        git(made, "commit", "--quiet", "--message", "all")
        git(tmp_path, *options, "clone", "--quiet", str(made), str(clone))
        equal = {name: (clone / name).read_bytes() == content for name, content in FILES.items()}
        assert all(equal.values()) == (attributes or "core.autocrlf=false" in settings), equal


def test_git_changes_no_tracked_file(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the checkout was made without git")
    named = git(ROOT, "ls-files", "-z")
    listed = subprocess.run(
        ["git", "check-attr", "-z", "--stdin", "text"],
        cwd=ROOT,
        input=named,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    told = dict(zip(listed[::3], listed[2::3], strict=False))
    assert {name for name in named.split("\0") if name} == {name for name in told if name}
    assert {value for name, value in told.items() if name} == {"unset"}
