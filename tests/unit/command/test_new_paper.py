"""A document in a folder of its own: written by a command, taken in, and gone with its folder."""

import math
import shutil
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pandas as pd
import pytest

from hypersphere.audit import command as audit
from hypersphere.command import cli
from hypersphere.config import claims, project, questions, sentences, texts
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.validation import LONGEST_NAME, read_mapping
from hypersphere.errors import HypersphereError
from hypersphere.report import findings as answering

from ...fixtures import Refused
from ..report import made_up

ROOT = Path(__file__).parents[3]


@pytest.fixture
def root(config_root: Path) -> Path:
    """The declarations of this repository, and the pages of its paper."""
    shutil.copytree(ROOT / "paper", config_root / "paper")
    return config_root


def write(config: Config, name: str, parent: Path | None = None) -> Path:
    cli.new_paper(config, name, parent)
    return (parent or config.root / project.PAPERS) / name


@pytest.mark.long
def test_the_written_folder_is_a_whole_document_and_leaves_no_trace(root: Path) -> None:
    folder = write(project.load(root, {}), "mine")
    plan = planning.make(root, {})
    assert list(plan.runs_of("mine", "table1")) == list(
        dict.fromkeys(plan.runs_of("mine", "table1"))
    )
    assert len(plan.runs_of("mine", "table1")) == 2 * 2  # two variants, two seeds
    listed = claims.load(plan.config.claims_file("mine"))
    assert not any(
        claims.why_not_measured(plan, "mine", one) for one in listed if one.kind != "theorem"
    )
    said = read_mapping(plan.config.sentences_file("mine"))
    assert said.keys() <= {one.id for one in listed}
    assert all(sentences.Sentence.model_validate(one) for one in said.values())
    assert questions.load(plan.config)["mine_temperature"][0] == folder / "findings.yaml"
    (folder / "claims.csv").unlink()  # the document is made without claims, and others are judged
    plan = planning.make(root, {})
    assert plan.runs_of("mine", "table1")
    shutil.rmtree(folder)
    assert "mine" not in project.load(root, {}).papers


def test_a_folder_elsewhere_is_taken_in_by_a_setting(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    config = project.load(root, {})
    folder = write(config, "mine", elsewhere)
    assert "mine" not in project.load(root, {}).papers
    taken = project.load(root, {"papers": [str(folder)]})
    assert (taken.paper_file("mine"), taken.claims_file("mine")) == (
        folder / "paper.yaml",
        folder / "claims.csv",
    )
    assert taken.scale_name == config.scale_name  # other documents' results stay where they are


NAMES = (
    "mine",
    "a",
    "Mine2",
    "minemine",
    "determined",
    "ending_",
    "match",
    "margins_1",
    "x" * LONGEST_NAME,
)
"""Names that a person may choose: short, long, with the example's in them, and one like a job of a document's."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """The declarations of this repository, with a document of each name."""
    root = tmp_path_factory.mktemp("written")
    for folder in ("config", "paper", "papers"):
        shutil.copytree(ROOT / folder, root / folder)
    shutil.copy(ROOT / "CITATION.cff", root)
    config = project.load(root, {})
    for name in NAMES:
        write(config, name)
    return planning.make(root, {})


def test_documents_of_any_name_pass_the_plan_and_each_has_jobs_of_its_own(written: Plan) -> None:
    texts.check(written)
    runs = [sorted(written.runs_of(name, "table1")) for name in NAMES]
    assert runs == [runs[0]] * len(NAMES)
    assert len(runs[0]) == 2 * 2
    assert {*chain.from_iterable(written.drawn_together.values())} == set(written.chosen_artifacts)
    only = written.config.settings.model_copy(update={"only": [*written.config.papers]})
    alone = replace(written, config=written.config.model_copy(update={"settings": only}))
    for plan in (written, alone):
        names = [f"artifact_{name}" for name in plan.drawn_together]
        assert len({name.casefold() for name in names}) == len(names) == len(plan.drawn_together)
    assert len(alone.drawn_together) == len(alone.made_artifacts)


@pytest.mark.parametrize("outcome", questions.OUTCOMES)
@pytest.mark.parametrize("rung", ["laptop", "published"])
def test_what_the_command_wrote_has_a_sentence_for_every_outcome(
    written: Plan, outcome: str, rung: str
) -> None:
    """Of a document of any name, as `make report` fills them in."""
    folders = {name: written.config.folders[name] for name in NAMES}
    papers = {name: written.config.papers[name] for name in NAMES}
    config = written.config.model_copy(
        update={"root": ROOT / "nowhere", "papers": papers, "folders": folders}
    )
    made = []
    for name in NAMES:
        (gain,) = [
            one for one in claims.load(config.claims_file(name)) if one.id == f"{name}.t1.gain"
        ]
        printed = gain.direction if gain.reported is None else gain.reported
        measured = {"nothing": math.nan}.get("nothing" if outcome == "not tested" else rung, 2.1)
        row = made_up.comparison(gain.id, printed, measured, 0.5, paper=name, metric=gain.metric)
        made.append(
            row | {"answer": str(outcome)} | ({} if outcome == "not tested" else {"rung": rung})
        )
    found = answering.table_of(config, pd.DataFrame(made), {})
    assert list(found["outcome"]) == [outcome] * len(NAMES)
    assert not found["sentence"].str.contains(r"[{}]|nan|temperature$").any()
    assert (outcome == "not tested") == (not found["sentence"].str.contains(r"\+2.1|1 of 1").any())


# Names that clash

WORDS = ("several", "Several", "all", "everything", "none")
COMMANDS = ("plan", "Plan", "archive", "evidence", "audit", "grim")
DECLARED = (
    "quick",
    "Laptop",
    "only",
    "papers",
    "epochs",
    "table",
    "Grid",
    "method",
    "target",
    "split",
    "cifar10",
)
PYTHON = ("class", "lambda", "None")
YAML = ("null", "yes", "No", "on", "off", "true")
WINDOWS = ("con", "NUL", "com1", "LPT9", "aux", "prn")
NO_NAMES = (
    "",
    " ",
    "two words",
    "../mine",
    "a/b",
    "a.b",
    "a\\b",
    "1st",
    "-x",
    "_x",
    "café",
    "日本",
    "a\nb",
    "a-b",
    "a__b",
)
TAKEN = ("margins", "Margins", "OURS", "draft", "Draft")
CLASHES = (
    *WORDS,
    *COMMANDS,
    *DECLARED,
    *PYTHON,
    *YAML,
    *WINDOWS,
    *NO_NAMES,
    "x" * (LONGEST_NAME + 1),
    *TAKEN,
)


def test_a_name_that_clashes_is_refused_before_anything_is_written(
    root: Path, refused: Refused
) -> None:
    """With words of the command line, of Python, YAML and Windows, with documents there are, and what is no name."""
    (root / project.PAPERS / "draft").mkdir()
    config, before = project.load(root, {}), sorted(root.rglob("*"))
    for name in CLASHES:
        exists = name.casefold() == "draft"
        with refused("new-paper", "papers/draft" if exists else "name"):
            write(config, name)
        with pytest.raises(HypersphereError):
            write(
                config,
                name,
                root / "elsewhere" if name.casefold() != "draft" else root / project.PAPERS,
            )
    assert sorted(root.rglob("*")) == before


def test_every_word_of_the_command_line_is_reserved(root: Path) -> None:
    """Those that are added later, too."""
    words = {
        word.casefold() for of in cli.reserved_names(project.load(root, {})).values() for word in of
    }
    assert words > {*cli.COMMANDS, *audit.COMMANDS}
    assert words > {path.stem for path in (root / "config" / "scales").iterdir()}
    assert "mine" not in words


@pytest.mark.parametrize("place", ["", "  "])
@pytest.mark.parametrize("words", ["new-paper mine --in", "pretrain --from", "evidence import"])
def test_an_empty_path_is_no_place(
    words: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.parser()[0].parse_args([*words.split(), place])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.endswith("names no file and no folder\n")


def test_a_folder_elsewhere_is_made_below_the_home_or_refused(
    root: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = project.load(root, {})
    monkeypatch.setenv("HOME", str(root / "home"))
    arguments = cli.parser()[0].parse_args(["new-paper", "mine", "--in=~/work"])
    cli.new_paper(config, arguments.name, arguments.parent)
    assert (root / "home" / "work" / "mine" / "paper.yaml").is_file()
    with refused("new-paper", "home/work/mine"):
        write(config, "Mine", root / "home" / "work")
    (root / "file").write_text("")
    with refused("file/mine"):
        write(config, "mine", root / "file")


@pytest.mark.parametrize(
    ("name", "field"), [("class", ["paper"]), ("con", ["paper"]), ("several", [])]
)
def test_a_folder_of_such_a_name_is_refused_where_it_is_read(
    root: Path, refused: Refused, name: str, field: list[str]
) -> None:
    """Somebody copied a folder by hand."""
    folder = write(project.load(root, {}), "mine").rename(root / project.PAPERS / name)
    paper = folder / "paper.yaml"
    paper.write_text(paper.read_text().replace("paper: mine", f"paper: '{name}'"))
    with refused(f"papers/{name}/paper.yaml", *field):
        project.load(root, {})


def test_two_documents_of_one_name_are_refused(root: Path, refused: Refused) -> None:
    """Case makes no difference: on some file systems their results would lie in one folder."""
    copy = shutil.copytree(write(project.load(root, {}), "mine"), root / "copy" / "mine")
    with refused("copy/mine/paper.yaml"):
        project.load(root, {"papers": [str(copy)]})
    other = copy.rename(copy.with_name("Mine"))
    with refused("copy/Mine/paper.yaml"):
        project.load(root, {"papers": [str(other)]})
    (other / "paper.yaml").unlink()
    with refused("command line", "papers", "copy/Mine"):
        project.load(root, {"papers": [str(other)]})
