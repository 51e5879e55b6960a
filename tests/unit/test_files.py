"""Atomic writes, canonical digests, sentences for what cannot be read, and words that pages share."""

import ast
import codecs
import contextlib
import errno
import hashlib
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from hypersphere import files
from hypersphere.audit import command as audit_command
from hypersphere.audit import table as audit_table
from hypersphere.config import bare_code, claims, registry, rules, texts, validation
from hypersphere.config import plan as planning
from hypersphere.errors import HypersphereError
from hypersphere.judging import reading as judged_runs
from hypersphere.provenance import data_files, sources, tables
from hypersphere.wording import count_of, replace_between

from ..fixtures import Refused

pytestmark = pytest.mark.pythons

PROJECT = Path(__file__).parents[1] / "project"


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    with contextlib.suppress(RuntimeError), files.replacing(path) as temporary:
        temporary.write_text("new, half of i")
        assert path.read_text() == "old"
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_equal_content_is_equal_bytes_whose_digest_is_sha256_of_canonical_json(
    tmp_path: Path,
) -> None:
    files.write_json(tmp_path / "a", {"b": 1, "a": [0.1]})
    files.write_json(tmp_path / "b", {"a": [0.1], "b": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert files.read_json(tmp_path / "a") == {"a": [0.1], "b": 1}
    with pytest.raises(ValueError, match="Out of range"):
        files.write_json(tmp_path / "c", float("nan"))
    assert not (tmp_path / "c").exists()
    files.write_text(tmp_path / "a", "x\ny\r\nµ")
    assert (tmp_path / "a").read_bytes() == "x\ny\r\nµ".encode()  # newlines are written as given
    (tmp_path / "a").write_bytes(b"abc")
    # FIPS 180-2, App. B.1
    assert (
        files.sha256(tmp_path / "a")
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    expected = hashlib.sha256(b'{"a":[1,2.5,null],"b":"x"}').hexdigest()
    assert files.digest({"b": "x", "a": (1, 2.5, None)}, 64) == expected
    assert files.digest({"b": "x", "a": [1, 2.5, None]}) == expected[:16]


@pytest.mark.parametrize("read", [files.read_json, files.read_yaml])
def test_what_cannot_be_read_is_said(
    tmp_path: Path, refused: Refused, read: Callable[[Path], object]
) -> None:
    for content in (None, b"{", b"[1,\n2", b"a\xff"):
        if content is not None:
            (tmp_path / "a").write_bytes(content)
        with refused("a"):
            read(tmp_path / "a")
    with refused("FOLDER"):
        read(tmp_path)
    assert files.reason(OSError(13, "Permission denied", "x")) == "x: Permission denied"
    assert files.reason(OSError("a\nb.")) == "a b"


def test_a_folder_replaces_the_one_before_whole(tmp_path: Path, refused: Refused) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "old").touch()
    with files.replacing(path, folder=True) as ours:
        (ours / "new").touch()
        assert [p.name for p in path.iterdir()] == ["old"]
    assert [p.name for p in path.iterdir()] == ["new"]
    with refused("folder"), files.replacing(path, folder=True):
        raise OSError("disk full.")
    assert [p.name for p in path.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [path]


def test_what_killed_writers_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    kept = [tmp_path / name for name in ("a", ".a.lock", "a.part", ".b.1.part")]
    for path in [*kept, tmp_path / ".a.0123.part"]:
        path.touch()
    (tmp_path / ".a.4567.part").mkdir()
    files.sweep(tmp_path, "a")
    assert sorted(tmp_path.iterdir()) == sorted(kept)
    files.sweep(tmp_path)
    assert not kept[-1].exists()


def test_a_sealed_file_shows_any_change(tmp_path: Path, refused: Refused) -> None:
    path, value = tmp_path / "a", {"b": 1, "c": {"d": [0.1, None]}}
    files.write_sealed(path, value)
    assert files.read_sealed(path) == value
    for altered in (value, value | {"b": 2, "seal": files.read_json(path)["seal"]}, [], {}):
        files.write_json(path, altered)
        with refused("a"):
            files.read_sealed(path)


def test_writers_side_by_side_leave_one_whole_file(tmp_path: Path) -> None:
    path, texts = tmp_path / "a", [str(i) * 100_000 for i in range(8)]
    threads = [threading.Thread(target=files.write_text, args=(path, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in texts
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def in_time() -> Iterator[None]:
    """A read that does not end is a failure."""
    before = signal.signal(signal.SIGALRM, Mock(side_effect=TimeoutError))
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize(
    "read",
    [
        files.read_text,
        files.read_json,
        files.read_yaml,
        files.sha256,
        claims.load,
        lambda path: tables.read(path, {}),
    ],
)
def test_what_is_no_regular_file_is_refused_and_not_waited_for(
    tmp_path: Path, read: Callable[[Path], object], refused: Refused
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "device").symlink_to("/dev/null")
    for name in ("pipe", "link", "device"):
        with refused(name):
            read(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: 1e-3", {"a": 0.001}),  # YAML 1.2; PyYAML reads text
        ("a: 2024-01-02", {"a": "2024-01-02"}),  # PyYAML makes a date
        ("a: &x {b: 1}\nc: {<<: *x, b: 2}", {"a": {"b": 1}, "c": {"b": 2}}),
        ("[true, null, .inf, 'x']", [True, None, float("inf"), "x"]),
        ("[010, -08, 1:30, 1_0, 0x10, =]", [10, -8, "1:30", "1_0", "0x10", "="]),
        ("[.5e1, 5.e3, -1., 1e5, +.5]", [5.0, 5000.0, -1.0, 100000.0, 0.5]),
    ],
)
def test_values_of_yaml(text: str, value: object) -> None:
    parsed = files.parse_yaml(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    "text", ["010", "08", ".5e1", "5.e3", "1e3", "1:30", "1_0", "yes", "null", "=", ".inf", "~", ""]
)
def test_text_that_looks_like_a_value_is_written_so_that_it_is_read_as_text(text: str) -> None:
    assert files.parse_yaml(files.as_yaml({"a": text})) == {"a": text}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: 1\nb: 2\na: 3", "line 3"),
        ("- {x: {y: 1}, x: 2}", "line 1"),
        ("a: !!python/object/apply:os.system [ls]", "line 1, column 4"),
        ("a: [", "line 2, column 1"),
        ("--- 1\n--- 2", "line 2, column 1"),
    ],
)
def test_yaml_that_is_refused(text: str, place: str) -> None:
    """The words are PyYAML's, in one line and with the place in the text."""
    with pytest.raises(ValueError, match=rf"^[^\n]*\b{place}\b[^\n]*$"):
        files.parse_yaml(text)


def test_a_noun_follows_its_count() -> None:
    said = [count_of(count, "epoch") for count in (1, "1", 0, 10, "64, 128")]
    assert said == ["1 epoch", "1 epoch", "0 epochs", "10 epochs", "64, 128 epochs"]


def test_what_is_between_the_marks_is_replaced() -> None:
    page = "# Title\n<!-- a -->\nold\nlines\n<!-- end -->\nafter\n<!-- end -->\n"
    new = replace_between(page, "<!-- a -->", "<!-- end -->", "new")
    assert new == "# Title\n<!-- a -->\nnew\n<!-- end -->\nafter\n<!-- end -->\n"
    assert replace_between(new, "<!-- a -->", "<!-- end -->", "new") == new


EDITED = [
    *PROJECT.glob("config/**/*.yaml"),
    *PROJECT.glob("papers/**/*.yaml"),
    *PROJECT.glob("papers/**/*.csv"),
]
MARKED = sorted(path.relative_to(PROJECT).as_posix() for path in EDITED)
"""Every .yaml and .csv of a small project."""


def read_whole(root: Path) -> list[object]:
    """What a plan, the ledger of claims and the rules say of a project."""
    plan = planning.make(root)
    texts.check(plan)
    every = [claims.of(plan.config, paper) for paper in plan.config.papers]
    return [plan.config.papers, plan.datasets, sorted(plan.runs), every, rules.load(root)]


def test_a_byte_order_mark_before_any_file_that_people_edit_changes_nothing(
    project_root: Path,
) -> None:
    """Spreadsheets and some editors put it there. Each file gets one, and those before keep theirs."""
    assert {Path(name).suffix for name in MARKED} == {".yaml", ".csv"}
    before = read_whole(project_root)
    for name in MARKED:
        path = project_root / name
        path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
        assert read_whole(project_root) == before, name


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "text": ("a\r\nb", files.read_text),
    "YAML": ("a: 1", files.read_yaml),
    "JSON": ('{"a": 1}', files.read_json),
    "a table": ("id,kind\nx,value\n", lambda path: validation.read_table(path, ["id", "kind"])),
    "a quoted first column": (
        '"id",kind\nx,value\n',
        lambda path: validation.read_table(path, ["id", "kind"]),
    ),
    "a tidy table": (
        "id,n\nx,1\n",
        lambda path: tables.read(path, {"id": "text", "n": "number"}).to_dict("list"),
    ),
    "a table of data": ("dataset,file\na,b\n", data_files.rows.__wrapped__),
    "code": ("def f() -> int:\n    return 1\n", lambda path: bare_code.behind(path, "f")),
    "a component": (
        "LISTED = 1\n",
        lambda path: ast.unparse(registry.definitions.__wrapped__(path)["LISTED"]),
    ),
    "a module": ("import os\nX = os.sep\n", lambda path: sources._parse.__wrapped__(path, "m", 0)),
    "an audited table": ("where,row,mean\nt,a,90.1\n", audit_table.read),
    "judged runs": (
        "arm,value\na,1\na,2\nb,1\nb,2\n",
        lambda path: judged_runs.read(path, judged_runs.Asked("a")),
    ),
    "audited sentences": ("t: a is best", lambda path: audit_command.sentences(path, {"t"})),
}
"""Readers of files that people write, and a file that each reads."""


@pytest.mark.parametrize("reader", READERS)
def test_a_byte_order_mark_is_no_part_of_what_is_read(reader: str, tmp_path: Path) -> None:
    text, read = READERS[reader]
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    plain = read(path)
    path.write_bytes(codecs.BOM_UTF8 + text.encode())
    assert read(path) == plain


def test_only_the_first_mark_is_left_out(tmp_path: Path) -> None:
    """A second one is part of the text, as Unicode says; it is not lost in silence."""
    (tmp_path / "a").write_bytes(2 * codecs.BOM_UTF8 + b"x")
    assert files.read_text(tmp_path / "a") == "\ufeffx"


def test_a_full_folder_for_temporary_files_is_named_whatever_is_written_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    """By an error of the system's, or by a sentence that it was turned into; other errors stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    full = OSError(errno.ENOSPC, "No space left on device", "a")

    def plainly(folder: Path) -> None:
        raise full

    def in_a_sentence(folder: Path) -> None:
        with files.writing(folder / "b"):
            raise full

    for write in (plainly, in_a_sentence):
        with refused("TMPDIR", "FOLDER"), files.temporary_folder("what is made again") as folder:
            write(folder)
        assert list(tmp_path.iterdir()) == []
    for error in (
        OSError(errno.EACCES, "Permission denied"),
        HypersphereError("another"),
        RuntimeError("x"),
    ):
        with pytest.raises(type(error)) as caught, files.temporary_folder("what is made again"):
            raise error
        assert caught.value is error
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with refused("TMPDIR", "gone"), files.temporary_folder("what is made again"):
        pytest.fail("there is no folder")
