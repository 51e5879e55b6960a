"""Tests of a paper that is kept elsewhere run where they lie."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hypersphere.command import cli

from ...golden.released import configured


@pytest.mark.long
def test_the_tests_that_new_paper_writes_pass_in_any_folder(tmp_path: Path) -> None:
    """The control: without the plug-in nothing is called ``papers.waves``."""
    cli.new_paper(configured(), "waves", tmp_path)
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    alone.pop("PYTHONPATH", None)
    for plug_in, said in (
        (["-p", "hypersphere.command.pytest_papers"], "1 passed"),
        ([], "No module named 'papers'"),
    ):
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            *plug_in,
            str(tmp_path / "waves"),
        ]
        done = subprocess.run(
            command, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False
        )
        assert said in done.stdout, done.stdout
