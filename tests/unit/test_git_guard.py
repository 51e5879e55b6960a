"""No test's git can change the checkout: see GIT_ in tests/conftest.py and tests/git_hooks."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)


def test_the_guard_is_of_this_checkout() -> None:
    """Asked for what changes nothing: HEAD is moved to where it is."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    head = git(ROOT, "rev-parse", "HEAD").stdout.strip()
    done = git(ROOT, "update-ref", "HEAD", head, head)
    assert "a test would change the history of the checkout" in done.stderr
    assert git(Path(__file__).parent, "rev-parse").returncode != 0
