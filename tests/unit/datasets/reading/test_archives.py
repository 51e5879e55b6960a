"""Files are read from folders, .zip and .tar.gz alike; nothing is ever unpacked into a folder."""

import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hypersphere.datasets.reading import archives
from hypersphere.datasets.reading.archives import Folder, Shelf, Tar, Zip
from hypersphere.errors import HypersphereError

from ..miniatures import tar_gz, write, zipped

FILES = {"b/2.txt": b"two", "a.txt": b"one", "b/c/3.txt": b"three" * 999}
KINDS: dict[str, Callable[[Path, dict[str, bytes]], Shelf]] = {
    "folder": lambda root, files: Folder(write(root / "set", files)),
    "zip": lambda root, files: Zip(put(root / "set.zip", zipped(files, "set")), "set"),
    "tar": lambda root, files: Tar(put(root / "set.tar.gz", tar_gz(files, "set")), "set", lambda name: True),
}


def put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_read_in_any_order(kind: str, tmp_path: Path) -> None:
    shelf = KINDS[kind](tmp_path, FILES)
    assert shelf.names() == sorted(FILES)
    for _ in range(2):
        for name in (*FILES, *reversed(FILES)):
            assert shelf.read(name) == FILES[name]


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_file_is_a_sentence(kind: str, tmp_path: Path) -> None:
    with pytest.raises(HypersphereError, match=r"set.*gone\.txt: (the file is missing|is not in the archive)"):
        KINDS[kind](tmp_path, FILES).read("gone.txt")


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_would_fill_the_memory_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "LARGEST", len(FILES["b/c/3.txt"]) - 1)
    with pytest.raises(HypersphereError, match=r"3\.txt: has 4,995 bytes, and a file may have 4,994"):
        KINDS[kind](tmp_path, FILES).read("b/c/3.txt")


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize("harm", ["truncated", "flipped", "other"])
def test_a_broken_archive_is_a_sentence(kind: str, harm: str, tmp_path: Path) -> None:
    files = {"noise": os.urandom(9_000), "more": os.urandom(9_000)}
    content = zipped(files, "set") if kind == "zip" else tar_gz(files, "set")
    flipped = content[:5_000] + bytes([content[5_000] ^ 1]) + content[5_001:]
    path = put(tmp_path / "set", {"truncated": content[:-9_000], "flipped": flipped, "other": b"words" * 99}[harm])

    def read_all() -> None:
        shelf = Zip(path, "set") if kind == "zip" else Tar(path, "set", lambda name: True)
        for name in files:
            shelf.read(name)

    with pytest.raises(HypersphereError, match="cannot be unpacked") as caught:
        read_all()
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_names_that_leave_their_folder_are_only_names(tmp_path: Path) -> None:
    """Members called ``..`` or by absolute paths are no files of the set, and nothing is written."""
    evil = {"../escaped": b"x", str(tmp_path / "absolute"): b"x", "set/../../up": b"x", "set/fine": b"y"}
    zipped_file, tarred = tmp_path / "in" / "set.zip", tmp_path / "in" / "set.tar.gz"
    zipped_file.parent.mkdir()
    with zipfile.ZipFile(zipped_file, "w") as made:
        for name, content in evil.items():
            made.writestr(name, content)
    put(tarred, tar_gz(evil))
    before = sorted(tmp_path.rglob("*"))
    assert Zip(zipped_file, "set").names() == ["fine"]  # a name with a part that begins with a dot is hidden
    assert Tar(tarred, "set", lambda name: name == "fine").names() == ["fine"]
    assert sorted(tmp_path.rglob("*")) == before


def test_links_in_a_tar_are_no_files(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            member = tarfile.TarInfo(f"set/{kind.decode()}")
            member.type, member.linkname = kind, "/etc/hostname"
            tar.addfile(member)
    assert Tar(put(tmp_path / "set.tar.gz", buffer.getvalue()), "set", lambda name: True).names() == []


def test_only_wanted_files_of_a_tar_are_copied(tmp_path: Path) -> None:
    path = put(tmp_path / "set.tar.gz", tar_gz(FILES, "set"))
    assert Tar(path, "set", lambda name: name.startswith("b/")).names() == ["b/2.txt", "b/c/3.txt"]


def test_hidden_files_and_links_that_lead_back_are_passed_over(tmp_path: Path) -> None:
    folder = write(tmp_path / "set", {**FILES, ".DS_Store": b"x", "b/.hidden/4.txt": b"x", "empty/": b""})
    (folder / "b" / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "linked").symlink_to(folder / "b" / "c", target_is_directory=True)
    assert Folder(folder).names() == sorted([*FILES, "empty/", "linked/3.txt"])


def test_an_encrypted_zip_is_a_sentence(tmp_path: Path) -> None:
    """The flag in both headers says that it is; Python's reader then wants a password."""
    content = bytearray(zipped({"a": b"words"}, "set"))
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.rfind(signature)
        content[at + flags] |= 1
    with pytest.raises(HypersphereError, match="a: cannot be unpacked"):
        Zip(put(tmp_path / "set.zip", bytes(content)), "set").read("a")


@pytest.mark.parametrize("place", ["/dev/zero", "pipe"])
@pytest.mark.parametrize(
    "read",
    [
        lambda path: archives.Zip(path, "b"),
        lambda path: archives.Tar(path, "b", lambda name: True),
        lambda path: archives.PlainTar(path, "b", lambda name: True),
        lambda path: archives.Folder(path.parent).read(path.name),
    ],
    ids=["zip", "tar.gz", "tar", "folder"],
)
def test_a_pipe_or_device_is_a_sentence_and_no_wait(tmp_path: Path, read: Callable[[Path], object], place: str) -> None:
    path = tmp_path / "a"
    if place == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(place)
    with pytest.raises(HypersphereError, match="a: must be a regular file"):
        read(path)
