"""The plan file: what is read is what was written, and what does not fit is made again, never taken."""

import random
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hypersphere.command import cli
from hypersphere.config import plan as planning
from hypersphere.config import plan_file, project, registry
from hypersphere.config.plan import Plan

from ...golden.released import ROOT, released

NOTE = "the plan is made again"
TINY = {"scale": "tiny"}


def alike(one: Plan, other: Plan) -> None:
    """All that commands take from a plan, in its order."""
    assert one.cells == other.cells
    assert one.protocols == other.protocols
    for name in (
        "runs",
        "batches",
        "evaluations",
        "controls",
        "artifacts",
        "datasets",
        "unmeasured",
        "drawn_together",
    ):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert ours == theirs, name
        assert [*ours] == [*theirs], name
    dumps = [[run.model_dump_json() for run in plan.runs.values()] for plan in (one, other)]
    assert dumps[0] == dumps[1]  # equal objects may have their keys in another order


@pytest.mark.parametrize("scale", ["quick", "smoke", "laptop", "workstation", "paper"])
def test_a_plan_of_every_scale_is_read_as_it_was_made(
    scale: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = released(scale)
    config = project.load(ROOT, {"scale": scale}).model_copy(update={"root": tmp_path})
    plan_file.write(replace(made, config=config))
    read = plan_file.load(config)
    assert capsys.readouterr().err == ""
    assert read is not made
    alike(read, made)


@pytest.fixture
def root(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of which the plan was written."""
    plan_file.write(planning.make(project_root, TINY))
    return project_root


@pytest.fixture
def taken(root: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., bool]:
    """Whether the file is taken. Whether it is or not, the plan is the one of now."""

    def check(**settings: object) -> bool:
        config = project.load(root, TINY | settings)
        alike(plan_file.load(config), planning.of(config))
        said = capsys.readouterr().err
        assert said.count("\n") == said.count(NOTE) <= 1
        return NOTE not in said

    return check


def test_a_file_of_other_settings_is_not_taken(root: Path, taken: Callable[..., bool]) -> None:
    assert taken()
    for settings in ({"device": "cpu"}, {"only": ["lecture"]}, {"runs_per_job": 1}, {"threads": 2}):
        file = plan_file.path(project.load(root, TINY | settings))
        if not file.exists():  # it is another scale
            shutil.copytree(root / "logs" / "tiny", file.parent)
        assert not taken(**settings), settings


EDITED = (
    "config/config.yaml",
    "config/datasets.yaml",
    "config/scales/tiny.yaml",
    "papers/lecture/paper.yaml",
    "papers/lecture/scales/tiny.yaml",
)


def test_a_file_from_before_any_file_of_config_changed_is_not_taken(
    root: Path, taken: Callable[..., bool]
) -> None:
    for name in EDITED:
        file = root / name
        before = file.read_bytes()
        file.write_bytes(before + b"# a comment\n")
        assert not taken(), name
        file.write_bytes(before)
        assert taken(), name
    (root / "papers" / "mine").mkdir(parents=True)
    (root / "papers" / "mine" / "paper.yaml").write_text("{paper: mine, title: Mine}")
    assert not taken()


def test_a_file_of_other_code_or_of_another_python_is_not_taken(
    root: Path, taken: Callable[..., bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "more").mkdir()
    packages = (*registry.packages(), registry.Package("more", tmp_path / "more", "more"))
    with monkeypatch.context() as changed:
        changed.setattr(registry, "packages", lambda: packages)
        plan_file.write(planning.make(root, TINY))
        assert taken()
        (tmp_path / "more" / "loss.py").write_text("# code\n")
        assert not taken()
    plan_file.write(planning.make(root, TINY))
    monkeypatch.setattr(plan_file.sys, "executable", "another")
    assert not taken()


def test_a_file_with_any_byte_changed_cut_short_or_missing_is_not_taken(
    root: Path, taken: Callable[..., bool]
) -> None:
    file = plan_file.path(project.load(root, TINY))
    whole = file.read_bytes()
    draws = random.Random(0)
    ends = [0, 1, whole.index(b"\n") - 1, whole.index(b"\n") + 1, len(whole) - 2]
    for place in [*ends, *(draws.randrange(len(whole) - 1) for _ in range(8))]:
        changed = bytearray(whole)
        changed[place] ^= 1 << draws.randrange(7)
        file.write_bytes(changed)
        assert not taken(), place
    for content in (b"", b"{}", b"[]\n{}\n", whole[: len(whole) // 2], whole.splitlines()[1]):
        file.write_bytes(content)
        assert not taken(), content[:20]
    file.unlink()
    assert not taken()


def test_a_file_that_fits_is_read_and_no_plan_is_made(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "of", lambda config: pytest.fail("a plan was made"))
    config = project.load(root, TINY)
    assert plan_file.load(config).runs
    with pytest.raises(pytest.fail.Exception):  # the control
        plan_file.load(project.load(root, TINY | {"device": "cpu"}))


SAME = ("encoder.safetensors", "heads.safetensors", "history.csv", "run.yaml")
"""Files of a run that do not say when, or by which process, it was trained."""


def content(root: Path) -> dict[str, bytes]:
    """All results but those that hold times."""
    found = {}
    for file in sorted((root / "results").rglob("*")):
        if (
            file.is_file()
            and file.suffix != ".lock"
            and ("runs" not in file.parts or file.name in SAME)
        ):
            found[file.relative_to(root).as_posix()] = file.read_bytes()
    return found


def test_every_command_gives_the_same_with_and_without_a_plan_file(
    finished: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = planning.make(finished, TINY)
    batch = plan.batches[0]
    first = batch.runs[0].name
    commands = [
        *(
            "prepare upright",
            f"pretrain {first}",
            f"evaluate {batch.id}",
            f"pack {batch.runs[1].name}",
        ),
        *(
            "artifact embedding_norms/table5",
            "claims",
            "scorecard",
            f"plan {first}",
            "cost",
            "new-paper mine",
        ),
    ]
    said, made = [], []
    for name, words in (("with", ["--as-planned"]), ("without", [])):
        root = tmp_path / name / "project"
        shutil.copytree(finished, root)
        shutil.rmtree(root / "results" / "tiny" / "runs" / first)
        shutil.rmtree(root / "results" / "tiny" / "evaluations")
        plan_file.write(planning.make(root, TINY))
        monkeypatch.chdir(root)
        statuses = [
            cli.main([*command.split(), "--set", "scale=tiny", *words]) for command in commands
        ]
        printed = capsys.readouterr()
        assert NOTE not in printed.err
        text = re.sub(
            r"[0-9.,]+ (s\b|images a second)",
            "SPEED",
            (printed.out + printed.err).replace(str(root), "ROOT"),
        )
        said.append([statuses, *text.splitlines()])
        made.append(content(root))
    assert said[0] == said[1]
    assert made[0] == made[1]
    assert {"evaluations", "runs", "evidence"} <= {name.split("/")[2] for name in made[0]}
