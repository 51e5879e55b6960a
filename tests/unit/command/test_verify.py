"""Whatever Snakemake leaves behind where it fails, `hypersphere verify` says in a sentence what it knows."""

import errno
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from hypersphere import files
from hypersphere.command import preview, verify
from hypersphere.config import plan as planning
from hypersphere.config.validation import LISTED
from hypersphere.errors import DamagedError, HypersphereError

from ...fixtures import Refused

LOGS: dict[str, dict[str, str]] = {
    "no log": {},
    "an empty log": {"a": ""},
    "blank lines": {"a": "\n\n"},
    "a traceback": {"a": "Traceback\nKeyError: 1\n\n"},
    "a traceback and an empty log": {"a": "Traceback\nKeyError: 1\n", "b": ""},
    "a sentence": {"a": "hypersphere: a file is missing\n", "b": "Traceback\nKeyError: 1\n"},
}
OUTPUTS = {"nothing": "", "a blank line": "\n", "an error": "building the DAG\nan error\n"}


@pytest.mark.parametrize("logs", LOGS)
def test_a_snakemake_that_fails_is_a_sentence(
    project_root: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused, logs: str
) -> None:
    """It ended with an error, or was killed, whatever it said."""
    plan = planning.make(project_root)
    files.write_text(plan.config.results / "claims.csv", "id\n")
    for status in (1, -9):
        for output in OUTPUTS.values():

            def failing(
                root: Path, *settings: Any, left: str = output, status: int = status
            ) -> Any:
                for name, content in LOGS[logs].items():
                    files.write_text(root / "logs" / f"{name}.log", content)
                return subprocess.CompletedProcess([], status, left, "")

            monkeypatch.setattr(preview, "snakemake", failing)
            with refused("results/quick" if logs != "no log" else "snakemake"):
                verify._rebuild(plan)


def test_what_no_manifest_lists_is_named_and_left_alone(
    project_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a person or a kill left; a run that is begun is no leftover, and of many things a few are named."""
    plan = planning.make(project_root)
    results, (done, begun, *_) = plan.config.results, plan.runs
    manifest = plan.run_folder(done) / "manifest.json"
    files.write_text(manifest.with_name("encoder.safetensors"), "weights")
    checksum = files.sha256(manifest.with_name("encoder.safetensors"))
    files.write_sealed(manifest, {"status": "finished", "files": {"encoder.safetensors": checksum}})
    files.write_text(plan.run_folder(begun) / "unfinished-0a1b2c3d" / "resume.safetensors", "")
    left = [results / ".env", manifest.parent / "unfinished-0a1b2c3d", results / "tables"]
    for path in (
        left[0],
        left[1] / "resume.safetensors",
        left[2] / "norms" / "note.md",
        results / "batches" / "a.json",
    ):
        files.write_text(path, "left")
    before = sorted(project_root.rglob("*"))

    def said() -> list[str]:
        with pytest.raises(HypersphereError):  # most runs are missing
            verify.verify(plan, [], rebuild=False)
        return [
            line for line in capsys.readouterr().out.splitlines() if line.startswith("left alone: ")
        ]

    assert sorted(said()) == sorted(f"left alone: {path}: no manifest lists it" for path in left)
    assert sorted(project_root.rglob("*")) == before
    for number in range(20):
        files.write_text(results / f"note{number}", "left")
    assert said()[-1] == f"left alone: {20 + len(left) - LISTED} more that no manifest lists"


def test_a_full_folder_for_temporary_files_is_named_and_no_result_is_said_to_be_lost(
    project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    """Whether it is full as the project is laid out there, or in a job; `make mend` forgets what is damaged alone."""
    plan = planning.make(project_root)
    files.write_text(plan.config.results / "claims.csv", "id\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    def in_a_job(root: Path, *settings: Any) -> Any:
        said = "hypersphere: a.csv: cannot be written (No space left on device); nothing half-written is left\n"
        files.write_text(root / "logs" / "a.log", said)
        return subprocess.CompletedProcess([], 1, "", "")

    def at_once(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for place, name, full in ((preview, "snakemake", in_a_job), (shutil, "copytree", at_once)):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, full)
            with refused("TMPDIR", "temporary"):
                verify._rebuild(plan)
            with pytest.raises(HypersphereError) as caught:
                verify._rebuild(plan)
        assert not isinstance(caught.value, DamagedError)
        assert list(temporary.iterdir()) == []
