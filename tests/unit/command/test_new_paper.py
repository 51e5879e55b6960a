"""A document in a folder of its own: written by a command, taken in, and gone with its folder."""

import shutil
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest

from hypersphere.command import cli
from hypersphere.config import claims, project, questions
from hypersphere.config import plan as planning
from hypersphere.config.project import Config
from hypersphere.config.validation import read_mapping

from ...fixtures import Refused

ROOT = Path(__file__).parents[3]


@pytest.fixture
def root(config_root: Path) -> Path:
    """The declarations of this repository, and the pages of its paper."""
    shutil.copytree(ROOT / "paper", config_root / "paper")
    return config_root


def write(config: Config, name: str, parent: Path | None = None) -> Path:
    cli.new_paper(SimpleNamespace(config=config), Namespace(name=name, parent=parent))
    return (parent or config.root / project.PAPERS) / name


def test_the_written_folder_is_a_whole_document_and_leaves_no_trace(root: Path) -> None:
    folder = write(project.load(root, {}), "mine")
    plan = planning.make(root, {})
    assert list(plan.runs_of("mine", "table1")) == list(dict.fromkeys(plan.runs_of("mine", "table1")))
    assert len(plan.runs_of("mine", "table1")) == 2 * 2  # two variants, two seeds
    listed = claims.load(plan.config.claims_file("mine"))
    assert not any(claims.why_not_measured(plan, "mine", one) for one in listed)
    said = read_mapping(plan.config.sentences_file("mine"))
    assert said.keys() <= {one.id for one in listed}
    assert all(claims.Sentence.model_validate(one) for one in said.values())
    assert questions.load(plan.config)["mine_temperature"][0] == folder / "findings.yaml"
    (folder / "claims.csv").unlink()  # the document is made without claims, and others are judged
    plan = planning.make(root, {})
    assert plan.runs_of("mine", "table1")
    shutil.rmtree(folder)
    after = planning.make(root, {})
    assert after.runs.keys() == plan.runs.keys() - plan.runs_of("mine", "table1").keys()


def test_a_folder_elsewhere_is_taken_in_by_a_setting(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    config = project.load(root, {})
    folder = write(config, "mine", elsewhere)
    assert "mine" not in project.load(root, {}).papers
    taken = project.load(root, {"papers": [str(folder)]})
    assert (taken.paper_file("mine"), taken.claims_file("mine")) == (folder / "paper.yaml", folder / "claims.csv")
    assert taken.scale_name == config.scale_name  # other documents' results stay where they are


def test_a_name_that_is_taken_or_none_and_two_documents_of_one_name_are_refused(root: Path, refused: Refused) -> None:
    config, before = project.load(root, {}), sorted((root / "config/papers").iterdir())
    for name in ("margins", "two words", "../mine"):
        with refused():
            write(config, name)
    assert sorted((root / "config/papers").iterdir()) == before
    copy = shutil.copytree(write(config, "mine"), root / "copy" / "mine")
    with refused():
        project.load(root, {"papers": [str(copy)]})
    (copy / "paper.yaml").unlink()
    with refused():
        project.load(root, {"papers": [str(copy)]})
