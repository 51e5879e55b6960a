"""Files are read from folders, .zip and .tar.gz alike; nothing is ever unpacked into a folder."""

import gzip
import os
import re
import resource
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets.reading.archives import Shelf
from hypersphere.errors import HypersphereError

from ..miniatures import tar_gz, write, zipped

FILES = {"b/2.txt": b"two", "a.txt": b"one", "b/c/3.txt": b"three" * 999}
KINDS: dict[str, Callable[[Path, dict[str, bytes]], Shelf]] = {
    "folder": lambda root, files: Shelf(write(root / "set", files)),
    "zip": lambda root, files: packed(root / "set.zip", zipped(files, "set")),
    "tar": lambda root, files: packed(root / "set.tar", gzip.decompress(tar_gz(files, "set"))),
    "tar.gz": lambda root, files: packed(root / "set.tar.gz", tar_gz(files, "set")),
    "tar.gz in order": lambda root, files: packed(
        root / "set.tgz", tar_gz(files, "set"), in_order=True
    ),
}


def packed(path: Path, content: bytes, **given: bool) -> Shelf:
    path.write_bytes(content)
    return Shelf(path, "set", **given)


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_read_in_any_order(kind: str, tmp_path: Path) -> None:
    shelf = KINDS[kind](tmp_path, FILES)
    assert shelf.names() == sorted(FILES)
    for _ in range(2):
        for name in (*FILES, *reversed(FILES)):
            assert shelf.read(name) == FILES[name]
    with pytest.raises(
        HypersphereError, match=re.escape(f"{shelf.place}/gone.txt: the file is missing")
    ):
        shelf.read("gone.txt")


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
@pytest.mark.parametrize("harm", ["truncated", "flipped", "other", "encrypted"])
def test_a_broken_archive_is_a_sentence(kind: str, harm: str, tmp_path: Path, names: Any) -> None:
    """The flag in both headers says that a zip is encrypted; Python's reader then wants a password."""
    files = {
        "noise": np.random.default_rng(0).bytes(9_000),
        "more": np.random.default_rng(1).bytes(9_000),
    }
    content = bytearray(zipped(files, "set") if kind == "zip" else tar_gz(files, "set"))
    if harm == "truncated":
        del content[-9_000:]
    if harm == "other":
        content[:] = b"words" * 99
    if harm == "flipped" or kind == "tar.gz":
        content[5_000 % len(content)] ^= 1
    elif harm == "encrypted":
        for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            content[content.rfind(signature) + flags] |= 1
    with pytest.raises(HypersphereError) as caught:
        [packed(tmp_path / f"set.{kind}", content).read(name) for name in files]
    inside = {"flipped": ["set/noise"], "encrypted": ["set/more"]} if kind == "zip" else {}
    names(caught.value, f"set.{kind}", *inside.get(harm, []))


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_names_that_leave_their_folder_are_only_names(kind: str, tmp_path: Path) -> None:
    """Members called ``..`` or by absolute paths are no files of the set, and nothing is written."""
    evil = {
        "../escaped": b"x",
        str(tmp_path / "absolute"): b"x",
        "set/../../up": b"x",
        "set/fine": b"y",
    }
    path = tmp_path / f"set.{kind}"
    shelf = packed(path, tar_gz(evil) if kind == "tar.gz" else zipped(evil))
    assert shelf.names() == ["fine"]  # a name with a part that begins with a dot is hidden
    assert list(tmp_path.iterdir()) == [path]


def test_links_in_a_tar_lead_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "secret"
    outside.write_bytes(b"x")
    with tarfile.open(tmp_path / "set.tar.gz", mode="w:gz") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo(f"set/{kind.decode()}")
            member.type, member.linkname = kind, str(outside)
            tar.addfile(member)
        tar.add(outside, "set/file")
    assert Shelf(tmp_path / "set.tar.gz", "set").names() == ["file"]


def test_hidden_files_are_passed_over_and_linked_folders_followed(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "set", {**FILES, ".DS_Store": b"x", "b/.hidden/4.txt": b"x", "empty/": b""}
    )
    (folder / "linked").symlink_to(folder / "b" / "c", target_is_directory=True)
    assert Shelf(folder).names() == sorted([*FILES, "empty/", "linked/3.txt"])


@pytest.mark.parametrize("place", ["/dev/zero", "pipe"], ids=["device", "pipe"])
@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a"])
def test_a_pipe_or_device_is_a_sentence_and_no_wait(
    tmp_path: Path, name: str, place: str, refused: Any
) -> None:
    path = tmp_path / name
    if place == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(place)
    with refused(name):
        Shelf(path, "b") if "." in name else Shelf(tmp_path).read(name)


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """No file can grow beyond so many bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# what TMPDIR is, whether it is what Python chose already, and the bytes that it has room for
FULL = {
    "full": ("there", True, 2**20),
    "full at the last byte": ("there", True, 3_010_559),
    "gone": ("gone", True, None),
    "a file": ("file", True, None),
    "nowhere else either": ("gone", False, None),
}


@pytest.mark.parametrize("case", FULL)
def test_a_folder_for_temporary_files_that_cannot_be_used_is_named_and_not_the_archive(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Any
) -> None:
    """The control is the same archive with room for it: its .tar is 3,010,560 bytes, as tarfile pads it."""
    name, chosen, room = FULL[case]
    write(tmp_path, {"there/": b"", "file": b"x"})
    monkeypatch.setenv("TMPDIR", str(tmp_path / name))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name) if chosen else None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / name)])
    content = tar_gz({"noise": np.random.default_rng(0).bytes(3_000_000)}, "set")
    assert len(gzip.decompress(content)) == 3_010_560
    (tmp_path / "set.tar.gz").write_bytes(content)
    with refused("TMPDIR", name), at_most(room or resource.RLIM_INFINITY):
        Shelf(tmp_path / "set.tar.gz", "set")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "there"))
    with at_most(3_010_560):
        assert Shelf(tmp_path / "set.tar.gz", "set").names() == ["noise"]


def test_another_folder_than_that_of_tmpdir_is_taken_where_it_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert packed(tmp_path / "set.tar.gz", tar_gz(FILES, "set")).names() == sorted(FILES)
