"""Output on terminals of other encodings, and the exit status of a crash: each command as a process of its own."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hypersphere import __main__ as door
from hypersphere import foreign, terminal

ROOT = Path(__file__).resolve().parents[2]
AUDIT = "row,mean,std,claims\nλ “ü”,93.1,0.2,B > λ “ü”\nB,92.0,0.3,\n"
RUNS = "arm,value\na,91\na,92\na,93\nλ,1\nλ,2\nλ,3\n"
COMMANDS = {
    "an audit": (["audit", "n.csv"], 1, "holds in 0 of 1"),
    "grim": (
        ["grim", "93.12", "0.2", "--n-test", "10000"],
        0,
        "read as 93.12 +/- 0.2 percent of 10000 test examples",
    ),
    "help": (["--help"], 0, "usage: hypersphere"),
    "a sentence": (["audit", "–λ.csv"], 2, "-\\u03bb.csv: No such file"),
    "judge": (["judge", "r.csv", "--baseline", "a"], 0, "\\u03bb is worse than a: -90"),
    "a plan": (["plan", "--folder"], 0, "results/"),
    "a setting": (["plan", "--set", "scale=λ"], 2, "\\u03bb"),
}


def said(words: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "hypersphere", *words]
    return subprocess.run(command, cwd=folder, env=os.environ | variables, capture_output=True)


@pytest.mark.parametrize(
    ("command", "encoding"),
    [("an audit", "latin-1"), ("an audit", "koi8-r"), ("an audit", "utf-8"), ("grim", "cp437")],
)
def test_what_an_encoding_lacks_is_spelt(tmp_path: Path, command: str, encoding: str) -> None:
    """The same words and status in each encoding, and no question mark in place of a character."""
    (tmp_path / "n.csv").write_text(AUDIT, encoding="utf-8")
    words, status, expected = COMMANDS[command]
    done = said(words, tmp_path, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (status, b"")
    shown = done.stdout.decode(encoding)
    assert expected in shown.replace("±", "+/-")
    assert "?" not in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_speaks_ascii(tmp_path: Path, command: str) -> None:
    (tmp_path / "n.csv").write_text(AUDIT, encoding="utf-8")
    (tmp_path / "r.csv").write_text(RUNS, encoding="utf-8")
    words, status, expected = COMMANDS[command]
    folder = ROOT if words[0] == "plan" else tmp_path
    done = said(words, folder, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == status
    assert expected.encode("ascii") in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "encoding", "written"),
    [
        ("93.1 ± 0.2", "ascii", b"93.1 +/- 0.2"),
        ("93.1 ± 0.2", "latin-1", b"93.1 \xb1 0.2"),
        ("−3 ≥ …", "latin-1", b"-3 >= ..."),
        ("“a” λ", "cp437", b'"a" \\u03bb'),
        ("“a”", "cp1252", b"\x93a\x94"),
        ("caf\udce9", "utf-8", b"caf\xe9"),  # a name that is no UTF-8, as the file system has it
        ("\U0001f600", "ascii", b"\\U0001f600"),
    ],
)
def test_characters(text: str, encoding: str, written: bytes) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    terminal.use(stream, None, io.StringIO())
    stream.write(text)
    stream.flush()
    assert raw.getvalue() == written


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        RecursionError(),
        ImportError("of another Python"),
        UnicodeEncodeError("ascii", "λ", 0, 1, "x"),
    ],
)
@pytest.mark.parametrize("command", ["audit", "grim", "judge", "plan"])
def test_a_crash_has_a_status_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    error: Exception,
) -> None:
    """1 would say that a number is impossible, and 2 that a sentence says why."""

    def crash(*_: object) -> int:
        raise error

    rooms = {"plan": "command.cli", "judge": "judging.command"}
    monkeypatch.setattr(f"hypersphere.{rooms.get(command, 'audit.command')}.main", crash)
    monkeypatch.setattr(sys, "argv", ["hypersphere", command])
    # it would replace the process of these tests
    monkeypatch.setattr(foreign, "start_again", lambda *_: None)
    assert door.run() == 70
    assert type(error).__name__ in capsys.readouterr().err


def test_the_status_of_impossible_numbers_is_1(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("row,mean,n_test\na,104.0,100\n")
    assert said(["audit", "n.csv"], tmp_path).returncode == 1
