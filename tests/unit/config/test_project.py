"""Every mistake in config/ is one sentence with the file, the field and what is allowed; the command exits with 2."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere import files
from hypersphere.command import cli
from hypersphere.config import plan as planning
from hypersphere.config import project as cfg
from hypersphere.config.project import Config
from hypersphere.errors import HypersphereError

Project = Callable[..., Path]
Refused = Callable[..., str]
STUDY = {"draw": "study_table", "title": "A study", "study": "cosine_field"}

MISTAKES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("mistakes.yaml").read_text(encoding="utf-8"))
PLACES = {
    "config": "config.yaml",
    "paper": "papers/p/paper.yaml",
    "scale": "scales/small.yaml",
    "datasets": "datasets.yaml",
}


def whole(change: Any) -> Any:
    """A change of conftest's project, in which ``...`` removes a key."""
    if isinstance(change, dict):
        return {key: whole(value) for key, value in change.items()}
    return ... if change == "(removed)" else change


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["said"][:60])
def test_mistakes(refused: Refused, mistake: dict[str, Any]) -> None:
    said = refused(**whole(mistake["change"]))
    assert re.sub(r"is not one of (\d+ names|([\w.]+, ){5,}[\w.]+)", "is not one of …", said) == mistake["said"]


def test_without_a_mistake_nothing_is_said(project: Project) -> None:
    """Control for all of the above."""
    assert planning.make(project()).cells


def test_a_study_is_taken_too(project: Project) -> None:
    """Control for those of a study."""
    assert planning.make(project(paper={"artifacts.table": STUDY})).config.studied("p").keys() == {"table"}


# The command


def command(root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Standard error of a command that plans and then does nothing; it must exit with 2."""
    monkeypatch.chdir(root)
    assert cli.main(["pretrain", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("hypersphere: ")
    assert captured.err.endswith("\n")
    assert captured.err.count("\n") == 1
    return captured.err


def test_the_command_says_it_in_one_line(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = command(project(config={"onyl": ["p"]}), monkeypatch, capsys)
    assert "config.yaml: onyl: unknown; did you mean only?" in said


@pytest.mark.parametrize("text", ["", "[1, 2]", "scale: [", "\x00", "scale: quick: x"])
@pytest.mark.parametrize("file", PLACES.values())
def test_a_file_that_is_no_mapping(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file: str, text: str
) -> None:
    root = project()
    (root / "config" / file).write_text(text)
    error = command(root, monkeypatch, capsys)
    assert file in error
    assert "must be a mapping" in error or "not valid YAML" in error


SETTINGS = {
    "epoch=3": ["command line", "epoch is not a setting", "epochs"],
    "papers=[p]": ["command line: papers", "holds no paper.yaml"],
    "epochs=-3": ["command line: epochs", "greater than 0"],
    "seeds=[]": ["command line: seeds"],
    "only=q": ["command line: only: 'q' is not one of p"],
    "scale=huge": ["scale: 'huge' is not one of small"],
    "epochs": ["epochs", "KEY=VALUE"],
    "device=tpu": ["command line: device"],
    "seeds=[0": ["seeds=[0"],
    "epochs={": ["epochs={"],
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_mistakes_on_the_command_line(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    error = command(project(), monkeypatch, capsys, "--set", setting)
    for word in SETTINGS[setting]:
        assert word in error


def test_outside_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert "config/config.yaml" in command(tmp_path, monkeypatch, capsys)


def test_unknown_run_and_batch(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project()
    assert "no run 'x' at scale small" in command(root, monkeypatch, capsys, "x")
    assert "no batch 'x' at scale small" in command(root, monkeypatch, capsys, "--batch", "x")


def test_from_a_folder_below_the_root(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Control for all of the above."""
    monkeypatch.chdir(project() / "config" / "scales")
    assert cli.main(["snapshots"]) == 0
    assert capsys.readouterr().err == ""


# Any value anywhere


@pytest.fixture
def loaded(project: Project) -> Callable[..., Config]:
    """The config of ``project(…)``, with the overrides of a command line."""
    return lambda overrides=None, **changes: cfg.load(project(**changes), overrides or {})


@pytest.mark.parametrize(
    ("only", "table", "other"),
    [([], True, True), (["p"], True, True), (["p/table"], True, False), ("p/table p/other", True, True)],
)
def test_only_chooses_papers_and_artifacts(loaded: Callable[..., Config], only: Any, table: bool, other: bool) -> None:
    """Text is what ``make reproduce ONLY=…`` hands over."""
    for where in ({"config": {"only": only}}, {"overrides": {"only": only}}):
        config = loaded(paper={"artifacts.other": STUDY}, **where)
        assert (config.chosen("p", "table"), config.chosen("p", "other")) == (table, other)


def test_only_is_the_same_scale(loaded: Callable[..., Config]) -> None:
    assert loaded({"only": "p/table"}).results == loaded().results


@pytest.mark.parametrize(
    ("seeds", "tables", "sweeps"), [([4, 5], [4, 5], [4, 5]), ({"tables": [0, 1, 2], "sweeps": [7]}, [0, 1, 2], [7])]
)
def test_seeds_are_one_list_or_two(
    loaded: Callable[..., Config], seeds: Any, tables: list[int], sweeps: list[int]
) -> None:
    for where in ({"scale": {"seeds": seeds}}, {"overrides": {"seeds": seeds}}):
        found = loaded(**where).scale.seeds
        assert (found.tables, found.sweeps) == (tables, sweeps)


def test_a_seed_on_the_command_line_may_be_text(loaded: Callable[..., Config]) -> None:
    """As Snakemake's --config hands it over."""
    assert loaded({"seeds": ["0", "3"]}).scale.seeds.tables == [0, 3]


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ({}, {"cats": "cats", "dogs": "dogs", "birds": "birds"}),
        ({"other_datasets": "nothing"}, {"cats": None, "dogs": None, "birds": None}),
        ({"datasets": {"cats": "few_cats", "dogs": None}}, {"cats": "few_cats", "dogs": None, "birds": "birds"}),
        (
            {"datasets": {"cats": "few_cats"}, "other_datasets": "nothing"},
            {"cats": "few_cats", "dogs": None, "birds": None},
        ),
    ],
)
def test_what_stands_for_a_dataset(
    loaded: Callable[..., Config], scale: dict[str, Any], expected: dict[str, str | None]
) -> None:
    config = loaded(scale=scale)
    found = {name: config.used(name, "p") for name in expected}
    assert {name: one and one.name for name, one in found.items()} == expected


def test_changed_numbers_go_to_a_folder_of_their_own(loaded: Callable[..., Config]) -> None:
    names = [
        loaded(overrides).results.name
        for overrides in ({"epochs": 3}, {"epochs": 4}, {"seeds": [0]}, {}, {"device": "cpu"}, {"scale": "small"})
    ]
    assert len(set(names)) == 4
    assert set(names[3:]) == {"small"}
    assert all(name.startswith("small-") for name in names[:3])


@pytest.mark.parametrize("how", [{"runs_per_job": 7}, {"resources": {"mem_mb": 1, "runtime": 2, "gpu": 1}}])
def test_how_jobs_are_cut_changes_no_folder(loaded: Callable[..., Config], how: dict[str, Any]) -> None:
    assert loaded(how).results == loaded().results
    assert loaded(how).scale != loaded().scale  # the control: it is heard
    assert loaded(how | {"epochs": 3}).results == loaded({"epochs": 3}).results


def test_every_paper_is_read_in_the_order_shown(project: Project) -> None:
    root = project()
    folder = root / "config" / "papers"
    for name, order in {"lecture": {"order": 2}, "margins": {"order": 1}, "another": {}}.items():
        files.write_text(folder / name / "paper.yaml", yaml.safe_dump({"paper": name, "title": name, **order}))
    assert list(cfg.load(root, {}).papers) == ["margins", "lecture", "another", "p"]


def test_a_paper_with_methods_alone_asks_for_nothing(project: Project) -> None:
    assert planning.make(project(paper={"artifacts": {}})).cells == ()


def test_the_environment_may_name_the_folder_of_data(
    loaded: Callable[..., Config], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path is relative to the project, from whatever folder the command is called."""
    elsewhere, inside = tmp_path / "elsewhere", tmp_path / "inside"
    elsewhere.mkdir()
    inside.mkdir()
    monkeypatch.setenv("HYPERSPHERE_DATA", str(elsewhere))
    monkeypatch.chdir(elsewhere)
    assert loaded().settings.data_root == str(elsewhere)
    assert loaded({"data_root": "inside"}).settings.data_root == str(inside)
    monkeypatch.setenv("HYPERSPHERE_DATA", "")
    assert loaded().settings.data_root is None


@pytest.mark.parametrize("source", ["command line", "config.yaml", "HYPERSPHERE_DATA"])
def test_a_folder_of_data_that_does_not_exist_is_an_error(
    loaded: Callable[..., Config], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    changes: dict[str, Any] = {"config": {"data_root": "gone"}} if source == "config.yaml" else {}
    if source == "HYPERSPHERE_DATA":
        monkeypatch.setenv(source, "gone")
    where = {"config.yaml": f"{tmp_path / 'config' / source}: data_root", "HYPERSPHERE_DATA": source}
    with pytest.raises(HypersphereError) as caught:
        loaded({"data_root": "gone"} if source == "command line" else {}, **changes)
    expected = f"{where.get(source, f'{source}: data_root')}: {tmp_path / 'gone'}: no such folder; "
    assert str(caught.value).startswith(expected)


def test_a_study_that_needs_what_a_scale_has_not_is_left_out(loaded: Callable[..., Config], tmp_path: Path) -> None:
    paper = {"artifacts.plain": STUDY, "artifacts.needy": STUDY | {"needs": ["human_labels"]}}
    rich = {"provides": ["human_labels"]}
    assert loaded(paper=paper).studied("p").keys() == {"plain"}
    assert loaded(paper=paper, scale=rich).studied("p").keys() == {"plain", "needy"}
    data = tmp_path / "data"
    data.mkdir()
    assert loaded({"data_root": str(data)}, paper=paper, scale=rich).studied("p").keys() == {"plain"}
    (data / "human").mkdir()
    assert loaded({"data_root": str(data)}, paper=paper, scale=rich).studied("p").keys() == {"plain", "needy"}


def test_a_study_of_files_that_are_not_fetched_waits_for_them(loaded: Callable[..., Config], tmp_path: Path) -> None:
    paper = {"artifacts.plain": STUDY, "artifacts.needy": STUDY | {"needs": ["sentence_tasks"]}}
    rich = {"provides": ["sentence_tasks"]}
    assert loaded(paper=paper, scale=rich).studied("p").keys() == {"plain"}
    (tmp_path / "data" / "text" / "tasks").mkdir(parents=True)
    given = {"data_root": str(tmp_path / "data")}
    assert loaded(given, paper=paper, scale=rich).studied("p").keys() == {"plain", "needy"}
