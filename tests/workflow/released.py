"""Results published with DVC, for the tests of what comes before it and of what comes after."""

import json
import shutil
import sys
from pathlib import Path

import yaml

from .conftest import Checkout, Once

ARCHIVE = "data/raw/cifar-10-python.tar.gz"
STRAY = (".lock", "unfinished-0a1b2c3d/resume.safetensors", ".history.csv.0a1b2c3d.part")
"""What a run's folder may hold that is no result."""
GIT = {
    f"GIT_{role}_{what}": "a@b.org"
    for role in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}
GIT |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


def alone(home: Path) -> dict[str, str]:
    """Variables that keep DVC from the configuration and the records of whoever runs the tests."""
    names = (
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_CONFIG_DIRS",
        "XDG_CACHE_HOME",
        "XDG_DATA_HOME",
        "DVC_SITE_CACHE_DIR",
    )
    return {name: str(home / name.lower()) for name in names} | {"DVC_NO_ANALYTICS": "1"}


def dvc(place: Checkout, *arguments: str) -> str:
    """What DVC says."""
    done = place.run(sys.executable, "-m", "dvc", *arguments)
    return done.stdout + done.stderr


def git(place: Checkout, *arguments: str) -> str:
    return place.run("git", *arguments).stdout


def point(root: Path, remote: Path | dict[str, str], verify: bool = True) -> None:
    """Name a folder, or a server by its settings, as this checkout's remote, as docs/dvc.md does."""
    settings = {"url": str(remote)} if isinstance(remote, Path) else remote
    lines = "".join(
        f"{key} = {value}\n" for key, value in (settings | {"verify": str(verify)}).items()
    )
    (root / ".dvc" / "config.local").write_text(
        f"[core]\nremote = store\n['remote \"store\"']\n{lines}"
    )


def publish(finished: Checkout, place: Path, once: Once) -> Checkout:
    """The finished copy as a git repository, its scorecard lost, an archive and evidence there; then published.

    The remote is the folder `remote` beside it, what DVC and `make store` said in `repro.log` and `store.log`. Tests
    only read it.
    """
    made = Checkout(place / "checkout", finished.environment | alone(place / "home") | GIT)

    def make() -> None:
        shutil.copytree(finished.root, made.root, symlinks=True)
        git(made, "init", "-q")
        git(made, "add", "-A")
        git(made, "commit", "-qm", "sources")
        (made.results / "scorecard.html").unlink()
        (made.root / ARCHIVE).parent.mkdir()
        (made.root / ARCHIVE).write_bytes(b"an archive")
        run = min((made.results / "runs").iterdir())
        for name in STRAY:
            (run / name).parent.mkdir(exist_ok=True)
            (run / name).write_bytes(b"no result")
        made.hypersphere("pack", run.name)
        (place / "repro.log").write_text(dvc(made.equipped(), "repro"))
        (made.root / "dvc.lock").unlink()  # `store` writes its own
        point(made.root, place / "remote")
        (place / "store.log").write_text(made.hypersphere("store").stdout)
        git(made, "add", "dvc.lock")
        git(made, "commit", "-qm", "results")

    once(place, make)
    return made


def listed(place: Checkout, folder: str) -> dict[str, str]:
    """The md5 of each file of an output that is a folder."""
    stages = yaml.safe_load((place.root / "dvc.lock").read_text())["stages"]
    md5 = {out["path"]: out["md5"] for stage in stages.values() for out in stage["outs"]}[folder]
    text = (place.root / ".dvc/cache/files/md5" / md5[:2] / md5[2:]).read_text()
    return {entry["relpath"]: entry["md5"] for entry in json.loads(text)}


def objects(folder: Path) -> dict[str, Path]:
    """Objects of a cache or remote, by the md5 that is their name."""
    return {path.parent.name + path.name: path for path in folder.glob("files/md5/*/*")}


def rewrite(path: Path, content: bytes) -> None:
    """Write into a file, in place, as nothing of ours does; it may be read-only."""
    mode = path.stat().st_mode
    path.chmod(0o644)
    path.write_bytes(content)
    path.chmod(mode)


def plant(path: Path, content: bytes) -> None:
    """Put a read-only object into a remote, whether one of that name is there or DVC has deleted it as damaged."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    path.chmod(0o444)
