"""`hypersphere` without a command, its version, and names as the plan and logs print them."""

import argparse
import re
import tomllib
from importlib import metadata
from pathlib import Path
from unittest.mock import Mock

import pytest

from hypersphere.command import cli
from hypersphere.training import pretrain

from ...fixtures import Approve, Planned, Project, Refused

ROOT = Path(__file__).resolve().parents[3]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_a_misspelt_command(capsys: pytest.CaptureFixture[str], approve: Approve) -> None:
    assert cli.main(["plna", "--verbose"]) == 2
    approve(re.sub(r"\d+ names", "… names", capsys.readouterr().err.strip()))


def test_only_the_audit_needs_no_project(
    tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli.stop, "exit_in_order", lambda: None)
    assert cli.main(["grim", "89.413", "--n-test", "10000"]) == cli.main([]) == 0  # alone it prints its help
    assert cli.main(["plan"]) == 2
    monkeypatch.chdir(project())
    capsys.readouterr()
    assert cli.main(["plan", "--folder"]) == 0  # for scripts: nothing is planned for it
    assert capsys.readouterr().out == "results/small\n"


def test_the_plan_of_a_run_has_its_state_each_field_and_its_manifest(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project())
    monkeypatch.setattr(cli.stop, "exit_in_order", lambda: None)
    assert cli.main(["plan", "simclr-default-cats-s0"]) == 0
    first, *fields, last = capsys.readouterr().out.splitlines()
    state, name = first.split()
    assert state == "missing"
    assert any("temperature" in line and "paper.yaml" in line for line in fields)
    assert last.split() == ["manifest", f"results/small/runs/{name}/manifest.json"]


@pytest.mark.parametrize("installed", [True, False])
def test_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], installed: bool) -> None:
    if not installed:
        monkeypatch.setattr(cli.metadata, "version", Mock(side_effect=metadata.PackageNotFoundError))
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"hypersphere {VERSION}\n"


def test_runs_and_batches_are_named_as_the_console_prints_them_and_runs_without_their_digest(
    planned: Planned, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    plan = planned()
    batch = plan.batches[0]
    first = batch.runs[0]
    assert cli.find(plan, [first.name.rpartition("-")[0], first.name]) == ([], [first])
    assert cli.find(plan, [batch.id, first.name]) == ([batch], [first])
    for wrong in (["simclr-defalt-cats-s0"], []):
        with refused():
            cli.find(plan, wrong)
    trained: list[str] = []
    monkeypatch.setattr(pretrain, "pretrain_batch", lambda plan, batch, save: trained.append(batch.id))
    monkeypatch.setattr(pretrain, "pretrain", lambda plan, runs, save: trained.extend(run.name for run in runs))
    for words in ([batch.id], [first.name]):
        cli.pretrain(plan, argparse.Namespace(run=words, save_every=1.0))
    assert trained == [batch.id, first.name]


def test_an_artifact_may_be_named_in_one_word(planned: Planned, refused: Refused) -> None:
    """And an exact study is told from a table of runs."""
    study = {"draw": "study_table", "title": "A study", "study": "cosine_field"}
    plan = planned(paper={"artifacts.s": study})
    assert cli.find_artifacts(plan, ("p", "table")) == cli.find_artifacts(plan, ("p/table",)) == [("p", "table")]
    with refused():
        cli.find_artifacts(plan, ["p/s"])
