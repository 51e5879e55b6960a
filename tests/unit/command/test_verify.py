"""Whatever Snakemake leaves behind where it fails, `hypersphere verify` says in a sentence what it knows."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from hypersphere import files
from hypersphere.command import preview, verify
from hypersphere.config import plan as planning

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
