"""A document in a folder of its own: copied, taken in, and gone with its folder."""

import shutil
from pathlib import Path

import pytest

from hypersphere.config import claims, project, questions
from hypersphere.config import plan as planning
from hypersphere.config.validation import read_mapping

from ...fixtures import Refused

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "mine"


@pytest.fixture
def root(config_root: Path) -> Path:
    """The declarations of this repository, and the pages of its paper."""
    shutil.copytree(ROOT / "paper", config_root / "paper")
    return config_root


def test_a_copy_of_the_example_is_a_whole_document_and_leaves_no_trace(root: Path) -> None:
    folder = shutil.copytree(EXAMPLE, root / project.PAPERS / "mine")
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


def test_a_folder_elsewhere_is_taken_in_by_a_setting(root: Path) -> None:
    taken = project.load(root, {"papers": [str(EXAMPLE)]})
    assert (taken.paper_file("mine"), taken.claims_file("mine")) == (EXAMPLE / "paper.yaml", EXAMPLE / "claims.csv")
    assert taken.scale_name == project.load(root, {}).scale_name  # other documents' results stay where they are


def test_one_name_for_two_documents_and_a_folder_that_holds_none_are_refused(root: Path, refused: Refused) -> None:
    copy = shutil.copytree(EXAMPLE, root / "copy" / "margins")
    with refused():
        project.load(root, {"papers": [str(copy)]})
    (copy / "paper.yaml").unlink()
    with refused():
        project.load(root, {"papers": [str(copy)]})
