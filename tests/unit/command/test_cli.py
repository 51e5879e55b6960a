"""`hypersphere` without a command, its version, and names as the plan and logs print them."""

import argparse
import re
import tomllib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from hypersphere.command import cli
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.probes import evaluate
from hypersphere.training import pretrain

ROOT = Path(__file__).resolve().parents[3]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_alone_it_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: hypersphere")
    assert "what is known of every claim" in " ".join(out.split())


def test_a_misspelt_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plna", "--verbose"]) == 2
    assert re.fullmatch(
        r"hypersphere: command: 'plna' is not one of \d+ names; did you mean plan\?\n", capsys.readouterr().err
    )


def test_what_needs_no_project_works_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli.stop, "exit_in_order", lambda: None)
    assert cli.main(["check-archive", "none.zip"]) == 2
    assert "none.zip" in capsys.readouterr().err
    assert cli.main(["plan"]) == 2  # the control: there is no project here
    assert "config/config.yaml" in capsys.readouterr().err


def gone(name: str) -> str:
    raise metadata.PackageNotFoundError(name)


@pytest.mark.parametrize("installed", [True, False])
def test_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], installed: bool) -> None:
    if not installed:
        monkeypatch.setattr(cli.metadata, "version", gone)
    with pytest.raises(SystemExit) as caught:
        cli.main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"hypersphere {VERSION}\n"


def test_a_batch_may_be_named_by_its_id_or_by_one_of_its_runs(planned: Callable[..., Plan]) -> None:
    plan = planned()
    for batch in plan.batches:
        short = batch.id.rpartition("-")[0]
        for name in (batch.id, short, *(run.name for run in batch.runs)):
            assert cli.find_batch(plan, name) == batch


def test_runs_may_be_named_with_or_without_digest_and_by_their_batch(planned: Callable[..., Plan]) -> None:
    plan = planned()
    batch = plan.batches[0]
    first = batch.runs[0]
    assert cli.find_runs(plan, [first.name.rpartition("-")[0]]) == [first]
    assert cli.find_runs(plan, [batch.id, first.name]) == list(batch.runs)
    with pytest.raises(HypersphereError, match="no run 'simclr-defalt-cats-s0' at scale small; did you mean"):
        cli.find_runs(plan, ["simclr-defalt-cats-s0"])


@pytest.mark.parametrize("words", [("p", "table"), ("p/table",)])
def test_an_artifact_may_be_named_in_one_word(planned: Callable[..., Plan], words: tuple[str, ...]) -> None:
    assert cli.find_artifacts(planned(), words) == [("p", "table")]


def test_a_study_is_told_from_a_table_of_runs(planned: Callable[..., Plan]) -> None:
    study = {"draw": "study_table", "title": "A study", "study": "cosine_field"}
    with pytest.raises(HypersphereError, match="p/s is an exact study; `hypersphere studies p` makes it"):
        cli.find_artifacts(planned(paper={"artifacts.s": study}), ["p/s"])


@pytest.mark.parametrize(
    "words", [("--pixels", "cats"), ("--pixels", "pixels-cats"), ("--batch", "pixels-cats")], ids=" ".join
)
def test_raw_pixels_may_be_named_as_the_console_does(
    project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(project())
    probed: list[str] = []
    monkeypatch.setattr(evaluate, "evaluate_pixels", lambda plan, dataset: probed.append(dataset))
    monkeypatch.setattr(evaluate, "evaluate_batch", lambda plan, batch: probed.append(batch.id))
    monkeypatch.setattr(cli.stop, "exit_in_order", lambda: None)
    assert cli.main(["evaluate", *words]) == 0
    assert probed == ["cats"]


def test_pretrain_takes_the_names_that_the_console_prints(
    planned: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned()
    trained: list[str] = []
    monkeypatch.setattr(pretrain, "pretrain", lambda plan, runs, save: trained.extend(run.name for run in runs))
    batch = plan.batches[0]
    cli.pretrain(plan, argparse.Namespace(run=[batch.id], batch=None, save_every=1.0))
    assert trained == [run.name for run in batch.runs]


def test_the_results_folder_alone(
    project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For scripts: nothing is planned for it."""
    monkeypatch.chdir(project())
    monkeypatch.setattr(cli.stop, "exit_in_order", lambda: None)
    assert cli.main(["plan", "--folder"]) == 0
    assert capsys.readouterr().out == "results/small\n"
