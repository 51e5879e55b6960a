"""What settings and scales mean once they are read: what is chosen, which seeds, and what stands for a dataset."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere.config import plan as planning
from hypersphere.config import project as cfg
from hypersphere.config.project import Config
from hypersphere.errors import HypersphereError

Project = Callable[..., Path]
STUDY = {"draw": "study_table", "title": "A study", "study": "cosine_field"}


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
        (folder / f"{name}.yaml").write_text(yaml.safe_dump({"paper": name, "title": name, **order}))
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
