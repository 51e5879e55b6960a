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

            def failing(root: Path, *settings: Any, left: str = output, status: int = status) -> Any:
                for name, content in LOGS[logs].items():
                    files.write_text(root / "logs" / f"{name}.log", content)
                return subprocess.CompletedProcess([], status, left, "")

            monkeypatch.setattr(preview, "snakemake", failing)
            with refused():
                verify._rebuild(plan)


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
            with refused():
                verify._rebuild(plan)
            with pytest.raises(HypersphereError) as caught:
                verify._rebuild(plan)
        assert not isinstance(caught.value, DamagedError)
        assert list(temporary.iterdir()) == []
