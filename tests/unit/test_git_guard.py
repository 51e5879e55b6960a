"""No test's git can change the checkout: see GIT_ in tests/conftest.py and tests/git_hooks."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMIT = ("-c", "user.name=n", "-c", "user.email=e", "commit", "--allow-empty", "-qm", "x")


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with this one's hook in it, which stands for the checkout."""
    root = tmp_path / "checkout"
    hook = root / "tests" / "git_hooks" / "reference-transaction"
    hook.parent.mkdir(parents=True)
    hook.write_bytes((ROOT / "tests" / "git_hooks" / "reference-transaction").read_bytes())
    hook.chmod(0o755)
    assert git(tmp_path, "init", "-q", str(root)).returncode == 0
    assert git(root, *COMMIT).returncode == 0  # the hook that is asked is the real checkout's, and allows it
    return root


def guard(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root))
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(root / "tests" / "git_hooks"))


@pytest.mark.parametrize("arguments", [COMMIT, ("tag", "x"), ("branch", "x")], ids=lambda words: words[-1])
def test_no_branch_or_tag_of_the_checkout_moves(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    guard(monkeypatch, checkout)
    before = git(checkout, "for-each-ref").stdout
    done = git(checkout, *arguments)
    assert done.returncode != 0
    assert "a test would change the history of the checkout" in done.stderr
    assert git(checkout, "for-each-ref").stdout == before != ""


def test_a_repository_of_a_tests_own_changes_even_inside_the_checkout(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard(monkeypatch, checkout)
    inside = checkout / "temporary"
    inside.mkdir()
    assert git(inside, "add", "-A").returncode != 0  # it finds no repository: not the one above it
    assert git(inside, "init", "-q").returncode == 0
    assert git(inside, *COMMIT).returncode == 0


def test_the_guard_is_of_this_checkout() -> None:
    """Asked for what changes nothing: HEAD is moved to where it is."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    head = git(ROOT, "rev-parse", "HEAD").stdout.strip()
    done = git(ROOT, "update-ref", "HEAD", head, head)
    assert "a test would change the history of the checkout" in done.stderr
    assert git(Path(__file__).parent, "rev-parse").returncode != 0
