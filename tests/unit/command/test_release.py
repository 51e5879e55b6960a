"""`make release` builds what is committed and described, from an empty folder on; the archive is stood in for here."""

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hypersphere import DISTRIBUTION, files
from hypersphere.command import release
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan

from ...conftest import PROJECT, ROOT
from ...fixtures import Refused

PACKAGE = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "small"
version = "1.2.3"
[tool.setuptools]
py-modules = ["small"]
"""
CHANGELOG = """\
# Changelog

## 1.2.3 (2026-01-31)

### Added

- A line.

## 1.2.2 (2025-01-01)

- Old.
"""
DESCRIBED = {
    "pyproject.toml": PACKAGE,
    "CITATION.cff": "version: 1.2.3\ndate-released: 2026-01-31\n",
    "CHANGELOG.md": CHANGELOG,
    "small.py": "ANSWER = 42\n",
    ".gitignore": "/dist\n/results\n",
}
NOTES = "1.2.3 (2026-01-31)\n\n### Added\n\n- A line.\n"


def git(root: Path, *arguments: str) -> str:
    person = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
    command = ["git", *person, *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A committed project of one module."""
    root = tmp_path / "project"
    shutil.copytree(PROJECT, root)
    for name, content in DESCRIBED.items():
        (root / name).write_text(content)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        git(root, *command)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Nobody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "nobody@example.org")

    def pack(plan: Plan) -> Path:
        for name in ("a.zip", "a.zip.sha256"):
            files.write_text(root / name, "an archive")
        return root / "a.zip"

    monkeypatch.setattr(release.archive, "pack", pack)
    return planning.make(root, {"scale": "tiny"})


def test_it_builds_what_installs_with_notes_and_checksums_and_tags_the_commit(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second call builds the same wheel, and leaves the tag. `sha256sum` is the independent implementation."""
    root = plan.config.root
    release.release(plan)
    made = root / "dist" / "1.2.3"
    wheel = made / "small-1.2.3-py3-none-any.whl"
    named = {"small-1.2.3.tar.gz", "a.zip", "CITATION.cff", "NOTES.md", "SHA256SUMS", wheel.name}
    assert {path.name for path in made.iterdir()} == named
    checking = ["sha256sum", "--strict", "-c", "SHA256SUMS"]
    checked = subprocess.run(checking, cwd=made, capture_output=True, text=True, check=True)
    assert checked.stdout.count(": OK") == len(named) - 1
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "installed")
    program = [sys.executable, "-c", "import small; print(small.ANSWER)"]
    said = subprocess.run(program, cwd=tmp_path / "installed", capture_output=True, text=True)
    assert said.stdout == "42\n"
    assert git(root, "rev-parse", "v1.2.3^{commit}") == git(root, "rev-parse", "HEAD")
    assert git(root, "tag", "--list", "--format=%(contents)", "v1.2.3").rstrip() == NOTES.rstrip()
    assert (made / "NOTES.md").read_text() == NOTES
    assert capsys.readouterr().out.startswith("dist/1.2.3: built, tag v1.2.3; next: git push")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    tag = git(root, "rev-parse", "v1.2.3")
    release.release(plan)
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() == digest
    assert git(root, "rev-parse", "v1.2.3") == tag
    assert not list(root.glob("a.zip*"))


def edited(file: str, old: str, new: str) -> Callable[[Path], object]:
    return lambda root: (root / file).write_text((root / file).read_text().replace(old, new))


def tagged_before(root: Path) -> None:
    git(root, "tag", "v1.2.3")
    git(root, "commit", "--quiet", "--allow-empty", "--message", "more")


SPOILS: dict[str, tuple[tuple[str, ...], Callable[[Path], object]]] = {
    "no project": (("pyproject.toml",), lambda root: (root / "pyproject.toml").unlink()),
    "no TOML": (("pyproject.toml",), edited("pyproject.toml", "[project]", "[project")),
    "no citation": (("CITATION.cff",), lambda root: (root / "CITATION.cff").unlink()),
    "another version": (("CITATION.cff", "version"), edited("CITATION.cff", "1.2.3", "1.2.4")),
    "no version": (("CITATION.cff", "version"), edited("pyproject.toml", 'version = "1.2.3"', "")),
    "no section": (("CHANGELOG.md",), edited("CHANGELOG.md", "## 1.2.3", "## 1.2.4")),
    "unreleased": (("CHANGELOG.md", "1.2.3"), edited("CHANGELOG.md", "2026-01-31", "unreleased")),
    "no date": (("CHANGELOG.md", "1.2.3"), edited("CITATION.cff", "date-released: 2026-01-31", "")),
    "an old tag": (("pyproject.toml", "version"), tagged_before),
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_what_does_not_agree_is_refused_and_nothing_is_built(
    plan: Plan, refused: Refused, spoil: str
) -> None:
    root = plan.config.root
    place, harm = SPOILS[spoil]
    harm(root)
    with refused("project/" + place[0], *place[1:]):
        release.release(plan)
    assert not (root / "dist").exists()
    assert git(root, "tag", "--list", "--points-at", "HEAD") == ""


def test_a_build_that_fails_leaves_no_tag_and_the_old_folder(plan: Plan, refused: Refused) -> None:
    root = plan.config.root
    edited("pyproject.toml", "setuptools.build_meta", "nothing.at_all")(root)
    git(root, "commit", "--quiet", "--all", "--message", "broken")
    files.write_text(root / "dist" / "1.2.3" / "old", "kept")
    with refused("uv build"):
        release.release(plan)
    assert [path.name for path in (root / "dist" / "1.2.3").iterdir()] == ["old"]
    assert git(root, "tag") == ""


def test_the_files_of_this_repository_agree_on_their_version_and_names() -> None:
    """What `make release` refuses at the end is seen while it is cheap to mend; the date is written on the day."""
    project = files.read_toml(ROOT / "pyproject.toml")["project"]
    assert release.released_version(ROOT) == project["version"]
    assert project["name"] == DISTRIBUTION
    assert f"## {project['version']} (" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
