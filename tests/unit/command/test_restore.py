"""`make restore` holds every byte against dvc.lock by itself: here with a cache and a lock laid out by hand."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere.command import restore
from hypersphere.errors import HypersphereError

REPOSITORY = Path(__file__).parents[3]

RUN = "results/quick/runs/a-run/encoder.safetensors"
FILES = {"results/quick/claims.csv": b"id\n", RUN: b"weights", "results/quick/runs/b-run/history.csv": b"epoch\n"}


def md5(content: bytes) -> str:
    """As DVC names an object."""
    return hashlib.md5(content).hexdigest()


def stored(cache: Path, name: str) -> Path:
    """Where DVC keeps an object."""
    return cache / "files" / "md5" / name[:2] / name[2:]


@pytest.fixture
def pulled(tmp_path: Path) -> tuple[Path, Path]:
    """A checkout and a cache after a pull: one file and one folder of two runs are outputs."""
    root, cache = tmp_path / "checkout", tmp_path / "cache"
    listing = []
    objects = []
    for path, content in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
        objects.append((md5(content), content))
        if "/runs/" in path:
            listing.append({"md5": md5(content), "relpath": path.removeprefix("results/quick/runs/")})
    text = json.dumps(listing).encode()
    objects.append((f"{md5(text)}.dir", text))
    for name, content in objects:
        stored(cache, name).parent.mkdir(parents=True, exist_ok=True)
        stored(cache, name).write_bytes(content)
    claims, runs = {"path": "results/quick/claims.csv", "md5": md5(b"id\n")}, {"path": "results/quick/runs"}
    lock = {"schema": "2.0", "stages": {"runs": {"outs": [claims, runs | {"md5": f"{md5(text)}.dir"}]}, "none": {}}}
    (root / "dvc.lock").write_text(yaml.safe_dump(lock))
    return root, cache


def check(pulled: tuple[Path, Path]) -> None:
    """As `make restore` does after the pull."""
    root, cache = pulled
    restore.check(root, restore.recorded(root / "dvc.lock"), cache)


def flip(path: Path) -> None:
    """Alter one byte, in place."""
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)


def test_what_was_pulled_whole_passes(pulled: tuple[Path, Path]) -> None:
    """The control of all that follows."""
    check(pulled)


@pytest.mark.parametrize("path", FILES)
def test_one_altered_byte_is_refused_with_the_name_of_its_file(pulled: tuple[Path, Path], path: str) -> None:
    flip(pulled[0] / path)
    with pytest.raises(HypersphereError, match=f"^{path}: its bytes are not those that dvc.lock names; delete it"):
        check(pulled)
    assert (pulled[0] / path).exists()  # a person may want to look at it


def test_an_altered_file_that_the_cache_shares_is_taken_out_of_the_cache(pulled: tuple[Path, Path]) -> None:
    """As with hard links: an altered file is an altered object, and the next pull would hand it out again."""
    root, cache = pulled
    name = md5(FILES[RUN])
    (root / RUN).unlink()
    (root / RUN).hardlink_to(stored(cache, name))
    flip(root / RUN)
    with pytest.raises(HypersphereError, match="its bytes are not those"):
        check(pulled)
    assert not stored(cache, name).exists()


def test_a_sound_object_stays_in_the_cache(pulled: tuple[Path, Path]) -> None:
    """The control: only what is damaged is removed."""
    flip(pulled[0] / RUN)
    with pytest.raises(HypersphereError):
        check(pulled)
    assert stored(pulled[1], md5(FILES[RUN])).exists()


def test_a_file_that_the_remote_does_not_have_is_named_and_not_those_that_merely_were_not_linked(
    pulled: tuple[Path, Path],
) -> None:
    """DVC links nothing of a folder of which one object is missing."""
    root, cache = pulled
    for path in FILES:
        (root / path).unlink()
    stored(cache, md5(FILES[RUN])).unlink()
    with pytest.raises(HypersphereError, match=f"^{RUN}: the remote has no sound copy of it") as caught:
        check(pulled)
    assert "more like it" not in str(caught.value)
    assert f"{md5(FILES[RUN])[:2]}/{md5(FILES[RUN])[2:]}" in str(caught.value)


def test_several_are_counted(pulled: tuple[Path, Path]) -> None:
    for path in FILES:
        flip(pulled[0] / path)
    with pytest.raises(HypersphereError, match=r"\(and 2 more like it\)$"):
        check(pulled)


def test_a_damaged_list_of_a_folder_is_no_list(pulled: tuple[Path, Path]) -> None:
    """Another list could leave a file out."""
    listed = next(path for path in pulled[1].rglob("*.dir"))
    listed.write_text("[]")
    with pytest.raises(HypersphereError, match=r"^results/quick/runs: the remote has no sound copy of it"):
        check(pulled)
    assert not listed.exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "dvc.lock: the file is missing: check out a release that has it"),
        ("stages: [", "dvc.lock: not valid YAML"),
        ("schema: '2.0'", "dvc.lock: not a lock file of DVC"),
        ("[]", "dvc.lock: not a lock file of DVC"),
        ("stages: {runs: {outs: [{path: a}]}}", "dvc.lock: not a lock file of DVC"),
    ],
)
def test_what_is_no_lock_is_refused_in_a_sentence(tmp_path: Path, text: str | None, sentence: str) -> None:
    if text is not None:
        (tmp_path / "dvc.lock").write_text(text)
    with pytest.raises(HypersphereError) as caught:
        restore.recorded(tmp_path / "dvc.lock")
    assert sentence in str(caught.value)


@pytest.mark.parametrize("stale", [True, False])
def test_results_whose_manifests_name_other_code_are_not_touched(
    pulled: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, stale: bool
) -> None:
    """As when a publisher committed a lock without making the results anew. DVC and Snakemake are replaced here; the
    control is the other parameter."""
    root, cache = pulled
    shutil.copytree(REPOSITORY / "config", root / "config")
    said = {"remote": "store", "cache": str(cache), "status": "{}"}
    touched: list[Path] = []

    def verify(plan: Any, *arguments: Any, **options: Any) -> None:
        if stale:
            raise HypersphereError("code: not that of this checkout")

    monkeypatch.setattr(restore.subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 0))
    monkeypatch.setattr(restore, "_call", lambda root, program, *arguments: said[arguments[0]])
    monkeypatch.setattr(restore.verify, "verify", verify)
    monkeypatch.setattr(restore, "_touch", touched.append)
    if stale:
        with pytest.raises(HypersphereError, match="not that of this checkout"):
            restore.restore(root)
    else:
        restore.restore(root)
    assert touched == ([] if stale else [root])
