"""A download survives what servers and networks do to it, against a real server on this machine.

Expected bytes are those the server was given; what was asked for and sent is read off the server's own log.
"""

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.datasets.reading import download
from hypersphere.datasets.reading.download import fetch, partial_file
from hypersphere.errors import HypersphereError

CONTENT = np.random.default_rng(0).bytes(300_000)
MD5 = hashlib.md5(CONTENT).hexdigest()
PORTION = 70_000  # bytes that an interrupted answer brings: more than a block, and no multiple of it


@pytest.fixture
def served(server: Any) -> Any:
    """The server, offering CONTENT."""
    server.archive = CONTENT
    return server


def begun(target: Path, content: bytes) -> Path:
    """What an interrupted run would have left."""
    partial = partial_file(target)
    partial.parent.mkdir(parents=True)
    partial.write_bytes(content)
    return partial


def left(target: Path) -> list[str]:
    """What lies in the target's folder, but for the lock."""
    return sorted(path.name for path in target.parent.iterdir() if path.suffix != ".lock")


def sentence(url: str, target: Path) -> str:
    """What a fetch that must fail says: one line that names the file."""
    with pytest.raises(HypersphereError) as caught:
        fetch(url, target, MD5)
    said = str(caught.value)
    assert str(target) in said
    assert "\n" not in said
    return said


@pytest.mark.parametrize("kind", ["", "no length", "chunked", "trickle"])
def test_a_file_is_fetched_once(served: Any, target: Path, kind: str) -> None:
    served.habits.fault = kind
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT
    assert left(target) == [target.name]
    fetch(served.url, target, MD5)
    assert served.ranges_asked == [None]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_dropped_connection_is_resumed_and_no_byte_is_sent_twice(served: Any, target: Path, ranges: bool) -> None:
    """Control: a server that knows no ranges sends the portions again."""
    served.habits.first, served.habits.portion, served.habits.ranges = ["closed"] * 3, PORTION, ranges
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT
    kept = [PORTION * i if ranges else PORTION for i in range(1, 4)]
    assert served.ranges_asked == [None, *(f"bytes={size}-" for size in kept)]
    assert served.sent == len(CONTENT) + (0 if ranges else 3 * PORTION)


def test_drops_are_survived_as_long_as_each_answer_brings_something_new(
    served: Any, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "ATTEMPTS", 2)
    served.habits.fault, served.habits.portion = "closed", len(CONTENT) // 15
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT
    assert (len(served.log), served.sent) == (15, len(CONTENT))


@pytest.mark.parametrize("fault", ["closed", "reset", "stalled"])
def test_what_arrived_before_giving_up_is_kept_for_the_next_run(
    served: Any, target: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """Control of the test above: here the server knows no ranges, so that after the first answer nothing is new."""
    monkeypatch.setattr(download, "ATTEMPTS", 2)
    monkeypatch.setattr(download, "STALLED", 0.4)
    served.habits.fault, served.habits.portion, served.habits.ranges = fault, PORTION, False
    said = sentence(served.url, target)
    assert served.url in said
    kept = partial_file(target).stat().st_size
    assert f"{kept:,} of {len(CONTENT):,} bytes are kept, run again to resume" in said
    assert left(target) == [partial_file(target).name]
    if fault != "reset":  # a reset may throw away what had arrived
        assert kept == PORTION
        assert len(served.log) == 3
    asked = len(served.log)
    served.habits.fault, served.habits.ranges = "", True
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT
    assert served.ranges_asked[asked:] == [f"bytes={kept}-" if kept else None]
    assert served.log[-1].sent == len(CONTENT) - kept


def test_a_slow_server_is_waited_for_and_a_silent_one_is_not(
    served: Any, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten pieces take longer than a silence may last; each comes in time. One attempt: a break would be final."""
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    monkeypatch.setattr(download, "STALLED", 1.2)
    served.habits.fault, served.habits.pause = "trickle", 0.15
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT
    assert served.ranges_asked == [None]
    served.habits.fault, served.habits.portion = "stalled", 0
    assert "timed out" in sentence(served.url, target.with_name("other"))


def test_an_earlier_runs_partial_file_is_gone_on_with(served: Any, target: Path) -> None:
    begun(target, CONTENT[:123_456])
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT
    assert served.ranges_asked == ["bytes=123456-"]
    assert served.sent == len(CONTENT) - 123_456


def test_a_partial_file_with_a_flipped_byte_is_refused_and_recovered_from(served: Any, target: Path) -> None:
    """Control of the test above: the checksum, not the size, decides."""
    begun(target, bytes([CONTENT[0] ^ 1]) + CONTENT[1:123_456])
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT
    assert served.ranges_asked == ["bytes=123456-", None]


@pytest.mark.parametrize(
    ("there", "asked"),
    [
        pytest.param(CONTENT, [f"bytes={len(CONTENT)}-"], id="whole"),
        pytest.param(CONTENT + b"more", [f"bytes={len(CONTENT) + 4}-", None], id="too long"),
        pytest.param(CONTENT[:-1] + b"\0", [f"bytes={len(CONTENT)}-", None], id="another file"),
    ],
)
def test_a_partial_file_with_nothing_beyond_it_is_kept_if_it_is_right(
    served: Any, target: Path, there: bytes, asked: list[str | None]
) -> None:
    """The server answers 416; a run killed just before its last step must not pay twice."""
    begun(target, there)
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT
    assert served.ranges_asked == asked
    assert served.sent == len(CONTENT) * (len(asked) - 1)


@pytest.mark.parametrize(
    ("lie", "seen"),
    [("other range", "sent another range"), ("other bytes", "the pieces do not make the published file")],
)
def test_a_server_that_lies_about_ranges_is_asked_from_the_start(
    served: Any, target: Path, capsys: pytest.CaptureFixture[str], lie: str, seen: str
) -> None:
    """The first lie shows in the answer's head, before a byte of it is added; the second only in the checksum."""
    begun(target, CONTENT[:PORTION])
    served.habits.fault = lie
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT
    assert served.ranges_asked == [f"bytes={PORTION}-", None]
    assert seen in capsys.readouterr().out


def test_a_redirect_is_followed_and_the_range_goes_with_it(served: Any, target: Path) -> None:
    begun(target, CONTENT[:PORTION])
    fetch(f"{served.address}/moved/archive.bin", target, MD5)
    assert target.read_bytes() == CONTENT
    wanted = f"bytes={PORTION}-"
    assert [(asked.path, asked.range) for asked in served.log] == [
        ("/moved/archive.bin", wanted),
        ("/archive.bin", wanted),
    ]


@pytest.mark.parametrize("status", ["403", "404", "410"])
def test_a_final_refusal_is_not_repeated(served: Any, target: Path, status: str) -> None:
    served.habits.fault = status
    said = sentence(served.url, target)
    assert served.url in said
    assert status in said
    assert left(target) == []
    assert len(served.log) == 1


@pytest.mark.parametrize("status", ["500", "503", "429"])
def test_a_passing_refusal_is_waited_out(served: Any, target: Path, status: str) -> None:
    """Control of the test above: these are asked again."""
    served.habits.first = [status, status]
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT
    assert len(served.log) == 3


def test_an_unreachable_server_is_a_sentence(
    server: Any, target: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(download, "ATTEMPTS", 3)
    url = server.url
    server.shutdown()
    server.server_close()  # the port is ours no longer, and nobody listens there
    said = sentence(url, target)
    assert url in said
    assert "0 of an unknown number of bytes are kept" in said
    assert capsys.readouterr().out.count("requesting the rest") == 2
    assert left(target) == []


@pytest.mark.parametrize("fault", ["wrong byte", "half a file"])
def test_another_file_is_deleted_and_the_next_run_recovers(served: Any, target: Path, fault: str) -> None:
    served.habits.fault = fault
    said = sentence(served.url, target)
    assert served.url in said
    assert MD5 in said
    assert left(target) == []
    assert served.ranges_asked == [None]  # it came in one answer: asking again would bring the same
    served.habits.fault = ""
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT


def test_another_file_in_pieces_is_given_up_after_one_fetch_from_the_start(served: Any, target: Path) -> None:
    begun(target, b"\0" * PORTION)
    served.habits.fault = "wrong byte"
    assert MD5 in sentence(served.url, target)
    assert left(target) == []
    assert served.ranges_asked == [f"bytes={PORTION}-", None]


@pytest.mark.parametrize("harm", ["flipped", "truncated", "empty"])
def test_a_damaged_file_is_replaced_only_by_a_whole_one(
    served: Any, target: Path, harm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = {"flipped": b"\0" + CONTENT[1:], "truncated": CONTENT[:-1], "empty": b""}[harm]
    target.parent.mkdir()
    target.write_bytes(damaged)
    other_name = target.with_name("link")  # a hard link, as DVC's cache may be
    os.link(target, other_name)
    served.habits.fault = "404"
    sentence(served.url, target)
    assert target.read_bytes() == damaged
    served.habits.fault = ""
    fetch(served.url, target, MD5)
    assert target.read_bytes() == CONTENT
    assert other_name.read_bytes() == damaged  # nothing was written in place
    assert f"{target}: damaged" in capsys.readouterr().out


def test_progress_is_told_in_lines(
    served: Any, target: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(download, "NEWS", 0.0)
    fetch(served.url, target, MD5)
    told = capsys.readouterr().out.splitlines()
    assert told[-2:] == [f"{target}: 300,000 of 300,000 bytes", f"{target}: fetched whole, 300,000 bytes"]
    monkeypatch.setattr(download, "NEWS", 3600.0)  # control
    fetch(served.url, target.with_name("other"), MD5)
    assert len(capsys.readouterr().out.splitlines()) == 1
