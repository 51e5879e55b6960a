"""A document in a folder of its own: written by a command, taken in, and gone with its folder."""

import shutil
from pathlib import Path

import pytest

from hypersphere.command import new_paper, preview
from hypersphere.config import claims, project, questions
from hypersphere.config import plan as planning
from hypersphere.errors import HypersphereError

ROOT = Path(__file__).parents[3]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The declarations of this repository, without its documents' claims."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copytree(ROOT / "paper", tmp_path / "paper")
    return tmp_path


def test_the_written_folder_is_a_whole_document_and_leaves_no_trace(root: Path) -> None:
    before = planning.make(root, {})
    folder = new_paper.write(before.config, "mine", None)
    plan = planning.make(root, {})
    assert list(plan.runs_of("mine", "table1")) == list(dict.fromkeys(plan.runs_of("mine", "table1")))
    assert len(plan.runs_of("mine", "table1")) == 2 * 2  # two variants, two seeds
    listed = claims.load(plan.config.claims_file("mine"))
    assert not any(claims.why_not_measured(plan, "mine", one) for one in listed)
    assert claims.load_sentences(plan.config.sentences_file("mine")).keys() <= {one.id for one in listed}
    assert questions.load(plan.config)["mine_temperature"][0] == folder / "findings.yaml"
    shutil.rmtree(folder)
    assert planning.make(root, {}).runs == before.runs


def test_a_folder_elsewhere_is_taken_in_by_a_setting(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    config = project.load(root, {})
    folder = new_paper.write(config, "mine", elsewhere)
    assert "mine" not in project.load(root, {}).papers
    taken = project.load(root, {"papers": [str(folder)]})
    assert (taken.paper_file("mine"), taken.claims_file("mine")) == (folder / "paper.yaml", folder / "claims.csv")
    assert taken.scale_name == config.scale_name  # other documents' results stay where they are


def test_without_claims_the_document_is_made_and_others_are_judged(root: Path) -> None:
    folder = new_paper.write(project.load(root, {}), "mine", None)
    (folder / "claims.csv").unlink()
    plan = planning.make(root, {})
    assert plan.runs_of("mine", "table1")
    said = list(preview.claims(plan))
    assert str(folder / "claims.csv") in said[0]
    shutil.rmtree(folder)
    assert preview.bound(plan) == preview.bound(planning.make(root, {}))


@pytest.mark.parametrize("name", ["margins", "two words", "../mine"])
def test_a_name_that_is_taken_or_is_no_name_writes_nothing(root: Path, name: str) -> None:
    before = {path.name for path in (root / "config/papers").iterdir()}
    with pytest.raises(HypersphereError, match="new-paper: name"):
        new_paper.write(project.load(root, {}), name, None)
    assert [path.name for path in (root / "config/papers").iterdir() if path.name not in before] == []


def test_one_name_for_two_documents_and_a_folder_that_holds_none_are_refused(root: Path) -> None:
    folder = new_paper.write(project.load(root, {}), "mine", None)
    copy = shutil.copytree(folder, root / "copy" / "mine")
    with pytest.raises(HypersphereError, match="mine is the name of another document"):
        project.load(root, {"papers": [str(copy)]})
    (copy / "paper.yaml").unlink()
    with pytest.raises(HypersphereError, match=r"holds no paper\.yaml"):
        project.load(root, {"papers": [str(copy)]})
