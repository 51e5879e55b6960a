"""The code in papers' folders: found by name, imported as papers.<id>, and a part of the digests of what it makes."""

import importlib
from pathlib import Path

import pytest

from hypersphere.config import paper_code
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.provenance import digests, sources

from ...fixtures import Refused
from ...golden.released import configured

STUDY = "from hypersphere.exact.study import Context, ExactStudy\n\n\ndef {0}(context: Context) -> ExactStudy: ...\n"


def folder(root: Path, **files: str) -> Path:
    """A paper's folder with these files, where ``__`` stands for a slash."""
    for name, text in files.items():
        path = root.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture(autouse=True)
def _released_again() -> object:
    yield
    paper_code.admit(configured().folders)


def test_a_folder_anywhere_is_a_package_and_another_of_that_name_replaces_it(
    tmp_path: Path,
) -> None:
    first, second = (
        folder(tmp_path / one / "mine", theorems=f"STATEMENTS = ('{one}',)\n") for one in ("a", "b")
    )
    for place, said in ((first, "a"), (second, "b"), (first, "a")):
        paper_code.admit({"mine": place})
        module = paper_code.theorems("mine")
        assert module == "papers.mine.theorems"
        assert (said,) == importlib.import_module(module).STATEMENTS
        assert sources.source_of(module) == place / "theorems.py"


def test_a_study_is_the_papers_own_or_shared(tmp_path: Path) -> None:
    paper_code.admit(
        {"mine": folder(tmp_path / "mine", studies__waves__compute=STUDY.format("waves"))}
    )
    own, shared = paper_code.study("mine", "waves"), paper_code.study("mine", "sentences")
    assert own is not None
    assert shared is not None
    assert (own.compute, own.draw) == (
        "papers.mine.studies.waves.compute",
        "papers.mine.studies.waves.draw",
    )
    assert (shared.compute, shared.draw) == (
        "hypersphere.exact.sentences",
        "hypersphere.report.drawings.sentences",
    )
    assert paper_code.study("mine", "cosine_field") is None
    assert paper_code.studies("mine") == ["printed_numbers", "sentences", "waves"]
    assert paper_code.theorems("mine") is None


def test_a_study_says_which_plug_in_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plug-in that is there lacks nothing; a module answers for itself."""
    (tmp_path / "asked.py").write_text("def missing() -> str:\n    return 'install it'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for needs, expected in (("hypersphere_text", ""), ("asked", "install it")):
        text = f"NEEDS = {needs!r}\n" + STUDY.format(f"of_{needs}")
        paper_code.admit(
            {"mine": folder(tmp_path / needs / "mine", **{f"studies__of_{needs}__compute": text})}
        )
        code = paper_code.study("mine", f"of_{needs}")
        assert code is not None
        assert code.missing == expected


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("STATEMENTS = (nobody,)\n", ["line 1", "NameError"]),
        ("import nobody_at_all\n", ["line 1", "ModuleNotFoundError"]),
        ("ANOTHER = 1\n", []),
        ("A = (\n", ["line 1", "SyntaxError"]),
    ],
)
def test_what_is_wrong_in_a_papers_code_is_one_sentence(
    tmp_path: Path, refused: Refused, text: str, place: list[str]
) -> None:
    paper_code.admit({"mine": folder(tmp_path / "mine", theorems=text)})
    with refused("mine/theorems.py", *place):
        paper_code.load("papers.mine.theorems", "STATEMENTS")


def test_an_error_of_a_papers_code_names_the_file_its_last_line_there_and_what_was_computed(
    tmp_path: Path, refused: Refused
) -> None:
    """Whether the file raises or what it calls does; a sentence stays as it is."""
    code = "import math\n\n\ndef own():\n    return 1 // 0\n\n\ndef called():\n    return math.sqrt(-1)\n"
    paper_code.admit({"mine": folder(tmp_path / "mine", theorems=code)})
    file = tmp_path / "mine" / "theorems.py"
    for name, line, error in (("own", 5, "ZeroDivisionError"), ("called", 9, "ValueError")):
        place = "mine/theorems.py", f"line {line}", "mine.lemma", error
        with refused(*place), paper_code.blaming(file, "mine.lemma"):
            paper_code.load("papers.mine.theorems", name)()
    with pytest.raises(HypersphereError, match=r"^said$"), paper_code.blaming(file, "mine.lemma"):
        raise HypersphereError("said")


def test_what_is_wrong_in_our_own_code_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModuleNotFoundError):
        paper_code.load("hypersphere.exact.nothing", "nothing")


@pytest.fixture
def own_code(project_root: Path) -> Plan:
    """The small project, whose paper has its own copies of its theorems and its study."""
    assert not any(path.is_symlink() for path in (project_root / "papers").rglob("*"))
    return planning.make(project_root, {"scale": "tiny"})


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("theorems.py", {"theory"}),
        ("studies/cosine_field/compute.py", {"simulated"}),
        ("studies/cosine_field/draw.py", {"drawn"}),
    ],
)
def test_an_edit_of_a_papers_code_changes_the_digests_of_what_it_makes(
    own_code: Plan, tmp_path: Path, file: str, changed: set[str]
) -> None:
    def every() -> dict[str, str]:
        sources.forget()
        return {
            "theory": digests.theory_digest(own_code),
            "simulated": digests.simulation_digest(own_code, "embedding_norms"),
            "drawn": digests.artifact_digest(own_code, "embedding_norms", "fig1"),
            "run": digests.run_digest(own_code.batches[0].runs[0]),
        }

    before = every()
    path = own_code.config.folders["embedding_norms"] / file
    path.write_text(path.read_text() + "\n\nADDED = 1\n")
    after = every()
    assert {name for name in before if before[name] != after[name]} == changed
    sources.forget()
