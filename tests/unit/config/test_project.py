"""Every mistake in config/ is one sentence with the file, the field and what is allowed; the command exits with 2."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere import files
from hypersphere.command import cli, preview
from hypersphere.config import plan as planning
from hypersphere.config import project as cfg
from hypersphere.config.project import Config
from hypersphere.config.validation import LONGEST
from hypersphere.errors import HypersphereError

from ...fixtures import Names, Project, Refused
from .conftest import table

STUDY = {"draw": "study_table", "title": "A study", "study": "printed_numbers"}
MISTAKES: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("mistakes.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(project: Project, refused: Refused, name: str) -> None:
    """A plan is shown when all of it is read."""
    changes = dict(MISTAKES[name])
    place = changes.pop("at")
    command, texts = changes.pop("command", {}), changes.pop("files", {})
    rows, errata = changes.pop("claims", []), changes.pop("errata", [])
    root = project(**changes)
    folder = root / "papers" / "p"
    for file, text in {**texts, "papers/p/errata.yaml": yaml.safe_dump(errata)}.items():
        files.write_text(root / file, text)
    table(folder, *rows)
    with refused(place):
        next(preview.lines(planning.make(root, command)))


def test_a_long_value_is_not_repeated(project: Project) -> None:
    for length, repeated in ((LONGEST - 2, True), (LONGEST - 1, False)):  # and two quotes
        word = "x" * length
        root = project(scale={"epochs": word})
        with pytest.raises(HypersphereError) as caught:
            planning.make(root)
        assert (word in str(caught.value)) == repeated


def test_the_command_says_it_in_one_line(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    names: Names,
) -> None:
    def complaint(root: Path, *options: str) -> str:
        monkeypatch.chdir(root)
        assert cli.main(["pretrain", *options]) == 2
        captured = capsys.readouterr()
        assert (captured.out, captured.err.count("\n"), captured.err[-1]) == ("", 1, "\n")
        return captured.err.strip()

    root = project()
    for setting in ("epoch=3", "epochs", "seeds=[0", "epochs={"):
        typed = setting.partition("=")[0] if setting == "epoch=3" else setting
        names(complaint(root, "--set", setting), "hypersphere", "command line", typed)
    names(complaint(root, "x"), "hypersphere", "no run 'x'")
    wrong = project(config={"onyl": ["p"]})
    names(complaint(wrong), "hypersphere", "config/config.yaml", "onyl")
    names(complaint(root.parent), "hypersphere", str(root.parent))


@pytest.fixture
def loaded(project: Project) -> Callable[..., Config]:
    """The config of ``project(…)``, with the overrides of a command line."""
    return lambda overrides=None, **changes: cfg.load(project(**changes), overrides or {})


@pytest.mark.parametrize(
    ("only", "table", "other"),
    [
        ([], True, True),
        (["p"], True, True),
        (["p/table"], True, False),
        ("p/table p/other", True, True),
    ],
)
def test_only_chooses_papers_and_artifacts(
    loaded: Callable[..., Config], only: Any, table: bool, other: bool
) -> None:
    """Text is what ``make reproduce ONLY=…`` hands over."""
    for where in ({"config": {"only": only}}, {"overrides": {"only": only}}):
        config = loaded(paper={"artifacts.other": STUDY}, **where)
        assert (config.asks_for("p", "table"), config.asks_for("p", "other")) == (table, other)


def test_changed_numbers_go_to_a_folder_of_their_own(loaded: Callable[..., Config]) -> None:
    """And no change of which results are asked for, of the device, or of how jobs are cut."""
    others = [
        loaded(changed).results.name for changed in ({"epochs": 3}, {"epochs": 4}, {"seeds": [0]})
    ]
    assert len({*others, "small"}) == 4
    assert all(name.startswith("small-") for name in others)
    how: list[dict[str, Any]] = [
        {"runs_per_job": 7},
        {"resources": {"mem_mb": 1, "runtime": 2, "gpu": 1}},
    ]
    for same in ({}, {"device": "cpu"}, {"scale": "small"}, {"only": "p/table"}, *how):
        assert loaded(same).results.name == "small"
    for cut in how:
        assert loaded(cut).scale != loaded().scale  # the control: it is heard
        assert loaded(cut | {"epochs": 3}).results.name == others[0]


def test_every_paper_is_read_in_the_order_shown(project: Project) -> None:
    root = project()
    folder = root / "papers"
    for name, order in {"lecture": {"order": 2}, "margins": {"order": 1}, "another": {}}.items():
        files.write_text(
            folder / name / "paper.yaml", yaml.safe_dump({"paper": name, "title": name, **order})
        )
    assert list(planning.make(root).config.papers) == ["margins", "lecture", "another", "p"]


def test_a_relative_folder_of_data_is_relative_to_the_project(
    loaded: Callable[..., Config], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir("/")
    assert loaded({"data_root": "inside"}).settings.data_root == str(tmp_path / "inside")


@pytest.mark.parametrize(
    ("needed", "folder"), [("human_labels", "human"), ("sentence_tasks", "text/tasks")]
)
def test_a_study_that_needs_what_a_scale_or_folder_has_not_is_left_out(
    loaded: Callable[..., Config], tmp_path: Path, needed: str, folder: str
) -> None:
    """Labels of people are downloaded; what only lies in the folder of data is waited for."""
    paper = {"artifacts.plain": STUDY, "artifacts.needy": STUDY | {"needs": [needed]}}
    rich = {"provides": [needed]}
    both, fetched = {"plain", "needy"}, needed == "human_labels"
    assert loaded(paper=paper).exact_artifacts("p").keys() == {"plain"}
    assert loaded(paper=paper, scale=rich).exact_artifacts("p").keys() == (
        both if fetched else {"plain"}
    )
    assert loaded({"evidence_only": True}, paper=paper, scale=rich).exact_artifacts("p").keys() == {
        "plain"
    }  # nor downloaded
    data = {"data_root": str(tmp_path / "data")}
    (tmp_path / "data").mkdir()
    assert loaded(data, paper=paper, scale=rich).exact_artifacts("p").keys() == {"plain"}
    (tmp_path / "data" / folder).mkdir(parents=True)
    for shown in (data, data | {"evidence_only": True}):
        assert loaded(shown, paper=paper, scale=rich).exact_artifacts("p").keys() == both
