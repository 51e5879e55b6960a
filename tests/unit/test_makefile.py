"""The Makefile, the pins, and the guard of this checkout."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text()


def test_every_requirement_of_the_lock_is_pinned_and_hashed_without_address_or_option() -> None:
    """Requirements begin lines; their hashes follow, indented."""
    blocks = re.split(r"\n(?=\S)", LOCK.strip())
    blocks = [block for block in blocks if not block.startswith("#")]
    assert len(blocks) > 50
    for block in blocks:
        assert re.match(r"[a-z0-9][\w.-]*==[\w.!+-]+", block), block.splitlines()[0]
        assert re.search(r"\n    --hash=sha256:[0-9a-f]{64}", block), block.splitlines()[0]
    assert "://" not in LOCK
    assert not re.search(r"^\s*-[a-z-]+ ", LOCK.replace("--hash", ""), flags=re.MULTILINE)
    assert " @ " not in LOCK


def test_conda_gets_every_pin_with_its_marker_and_no_hash() -> None:
    *_, section = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pins = [line.rstrip("\\ ") for line in LOCK.splitlines() if line[:1].isalnum()]
    assert section == {"pip": pins}
    assert any(" ; " in pin for pin in pins)


PROJECTS = [
    tomllib.loads(path.read_text())
    for path in sorted([*ROOT.glob("pyproject.toml"), *ROOT.glob("plugins/*/pyproject.toml")])
]
MINORS = range(30)


def declared() -> set[Requirement]:
    """All that the package and its plug-ins ask for."""
    found: set[Requirement] = set()
    for project in PROJECTS:
        optional = project["project"].get("optional-dependencies", {})
        for listed in (project["project"]["dependencies"], *optional.values()):
            found |= set(map(Requirement, listed))
    return found


def admitted(specifier: str) -> list[int]:
    """The releases 3.n of Python that a specifier admits, each with its later patches."""
    return [minor for minor in MINORS if SpecifierSet(specifier).contains(f"3.{minor}.9")]


def test_every_place_admits_the_same_pythons_and_each_gets_all_that_is_asked_for(
    tmp_path: Path,
) -> None:
    """Of Python 3.13 the lock leaves out dm-control, which has no wheels for it, and so a table."""
    expected = admitted(PROJECTS[0]["project"]["requires-python"])
    for project in PROJECTS:
        assert admitted(project["project"]["requires-python"]) == expected
    python, *_ = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert admitted(python.removeprefix("python ")) == expected
    pins = [Requirement(line.rstrip("\\ ")) for line in LOCK.splitlines() if line[:1].isalnum()]
    for minor in expected:
        here = {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.9"}
        # a marker of its own would be no excuse
        asked = {canonicalize_name(one.name) for one in declared()}
        pinned = {
            canonicalize_name(one.name)
            for one in pins
            if not one.marker or one.marker.evaluate(here)
        }
        assert asked - pinned == set(), f"Python 3.{minor}"


def test_snakemake_is_kept_below_its_next_major() -> None:
    """``command/snakemake_hooks.py`` replaces its methods."""
    (pin,) = re.findall(r"^snakemake==(\S+)", LOCK, flags=re.MULTILINE)
    (asked,) = (one.specifier for one in declared() if one.name == "snakemake")
    assert pin in asked
    assert f"{Version(pin).major + 1}.0" not in asked


def test_the_guard_is_of_this_checkout() -> None:
    """Evaluation for what changes nothing: HEAD is moved to where it is."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    said: dict[str, Any] = {"capture_output": True, "text": True}
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, **said).stdout.strip()
    done = subprocess.run(["git", "update-ref", "HEAD", head, head], cwd=ROOT, **said)
    assert "a test would change the history of the checkout" in done.stderr
    assert subprocess.run(["git", "rev-parse"], cwd=Path(__file__).parent, **said).returncode != 0
