"""DVC's remotes, a folder and servers by SSH and S3: what a damaged object does on each."""

import hashlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import Checkout
from .released import alone, dvc, flipped, point
from .served import SERVERS, Remote

pytestmark = pytest.mark.tools
CONTENT = b"weights of some run, as bytes" * 100
NAME = hashlib.md5(CONTENT).hexdigest()


@pytest.fixture(params=SERVERS)
def remote(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Remote]:
    """Each kind of remote, empty."""
    with SERVERS[request.param](tmp_path / "remote", tmp_path / "server") as made:
        yield made


@pytest.fixture
def project(environment: dict[str, str], tmp_path: Path) -> Checkout:
    """A project of DVC with one file."""
    made = Checkout(tmp_path / "project", environment | alone(tmp_path / "home"))
    made.root.mkdir()
    dvc(made, "init", "-q", "--no-scm")
    (made.root / "weights").write_bytes(CONTENT)
    dvc(made, "add", "-q", "weights")
    return made


def pull(place: Checkout) -> tuple[int, str, bytes | None]:
    """Pull as a fresh clone does, without DVC's cache and records: exit status, what it said, what came."""
    weights = place.root / "weights"
    weights.unlink(missing_ok=True)
    for folder in (place.root / ".dvc" / "cache", place.root / ".dvc" / "tmp", Path(place.environment["HOME"]).parent):
        shutil.rmtree(folder, ignore_errors=True)
    done = place.run(sys.executable, "-m", "dvc", "pull")
    return done.returncode, done.stdout + done.stderr, weights.read_bytes() if weights.exists() else None


def test_a_flipped_byte_on_a_remote_is_refused_by_name_with_verify_and_handed_out_without(
    project: Checkout, remote: Remote
) -> None:
    """The pull without `verify` is the control, and why docs/dvc.md asks for it; the last one shows what mends it."""
    point(project.root, remote.settings)
    dvc(project, "push")
    assert remote.read(NAME) == CONTENT

    remote.write(NAME, flipped(CONTENT))
    point(project.root, remote.settings, verify=False)
    status, _, came = pull(project)
    assert (status, came) == (0, flipped(CONTENT))

    remote.write(NAME, flipped(CONTENT))
    point(project.root, remote.settings)
    status, said, came = pull(project)
    assert (status, came) == (1, None)
    assert "Checkout failed for following targets:\nweights\n" in said

    remote.write(NAME, CONTENT)
    status, said, came = pull(project)
    assert (status, came) == (0, CONTENT), said
