"""`hypersphere`, its version, names as the plan and logs print them, and what each command writes and waits for."""

import re
import tomllib
from collections.abc import Callable
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest
import yaml

from hypersphere.audit import command as audit
from hypersphere.command import campaign, cli
from hypersphere.config import plan as planning
from hypersphere.config import settings
from hypersphere.config.run import read
from hypersphere.exact.study import COLUMNS as ANSWERS
from hypersphere.judging import command as judging
from hypersphere.provenance import stop, tables
from hypersphere.report import writer
from hypersphere.training import pretrain

from ...fixtures import Names, Planned, Project, Refused
from ..statistics.world import World, at, claim

pytestmark = pytest.mark.pythons

ROOT = Path(__file__).resolve().parents[3]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_only_the_audit_needs_no_project_of_which_a_run_is_shown_by_its_state_its_fields_and_its_manifest(
    tmp_path: Path,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli.stop, "exit_in_order", lambda: None)
    # alone it prints its help
    assert cli.main(["grim", "89.413", "--n-test", "10000"]) == cli.main([]) == 0
    assert cli.main(["plan"]) == 2
    monkeypatch.chdir(project())
    capsys.readouterr()
    assert cli.main(["plan", "--folder"]) == 0  # for scripts: nothing is planned for it
    assert capsys.readouterr().out == "results/small\n"
    assert cli.main(["plan", "simclr-default-cats-s0"]) == 0
    first, *fields, last = capsys.readouterr().out.splitlines()
    state, name = first.split()
    assert state == "missing"
    assert any("temperature" in line and "paper.yaml" in line for line in fields)
    assert last.split() == ["manifest", f"results/small/runs/{name}/manifest.json"]


def test_one_run_is_printed_whole_as_a_file_from_which_it_is_the_same_run(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    root = project()
    monkeypatch.chdir(root)
    monkeypatch.setattr(stop, "exit_in_order", lambda: None)
    assert cli.main(["plan", "--yaml", "simclr-cut3-cats-s0"]) == 0
    file = tmp_path / "run.yaml"
    file.write_text(capsys.readouterr().out)
    assert read(file) == planning.make(root).run("simclr-cut3-cats-s0")
    assert file.read_text() == read(file).as_yaml()
    for words in ([], ["simclr-cut3-cats-s0", "simclr-cut3-cats-s1"]):
        assert cli.main(["plan", "--yaml", *words]) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"encodr": {"name": "resnet8"}}, "encodr: unknown; did you mean encoder?"),
        ({"seed": ...}, "seed: this key is required"),
        ({"batch": {"size": 8, "micro": 3}}, "batch.size: 8 is not a multiple of micro 3"),
        ({"kind": "text"}, "method: simclr is for runs of kind image, not text"),
        ({"dataset": {"name": "birds"}}, "dataset birds: source: it has no loader yet"),
        (None, "must be a mapping"),
    ],
)
def test_a_file_that_is_no_run_is_refused_before_anything_is_written(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: Any,
    said: str,
) -> None:
    root = project()
    run = yaml.safe_load(planning.make(root).run("simclr-cut3-cats-s0").as_yaml())
    changed = change and {
        key: value for key, value in {**run, **change}.items() if value is not ...
    }
    file = root / "run.yaml"
    file.write_text(yaml.safe_dump(changed))
    monkeypatch.chdir(root)
    monkeypatch.setattr(stop, "exit_in_order", lambda: None)
    for words, sentence in (
        (["--from", str(file)], said),
        (["--from", str(file), run["seed"]], "--from"),
    ):
        assert cli.main(["pretrain", *map(str, words)]) == 2
        shown = capsys.readouterr().err
        assert sentence in shown
        assert shown.count("\n") == 1
        assert "birds" in said or sentence == "--from" or str(file) in shown
    assert not (root / "results").exists()


def test_the_help_has_each_command_once_with_a_short_line_and_set_explains_itself_in_each() -> None:
    grouped = [*chain.from_iterable(cli.GROUPS.values())]
    assert sorted(grouped) == sorted({*cli.COMMANDS, *audit.COMMANDS, *judging.COMMANDS})
    top, commands = cli.parser()
    lines = top.format_help().splitlines()
    assert max(map(len, lines)) <= 80
    for wanted, names in cli.GROUPS.items():
        below = lines[lines.index(f"{wanted}:") + 1 :][: len(names)]
        assert [line.split()[0] for line in below] == [*names]
        assert all(len(line.split()) > 4 for line in below)
    scales = [path.stem for path in (ROOT / "config" / "scales").glob("*.yaml")]
    for name in cli.COMMANDS:
        help = " ".join(commands[name].format_help().split())
        assert all(scale in help for scale in scales)
        examples = re.findall(r"--set (\S+=\S+?)(?=[; ])", help)
        settings.parse(example for example in examples if example != "KEY=VALUE]")
        assert "seeds=[0,1]" in examples


@pytest.mark.parametrize("installed", [True, False])
def test_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], installed: bool
) -> None:
    if not installed:
        monkeypatch.setattr(
            cli.metadata, "version", Mock(side_effect=metadata.PackageNotFoundError)
        )
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"hypersphere {VERSION}\n"


def test_runs_and_batches_are_named_as_the_console_prints_them_and_runs_without_their_digest(
    planned: Planned, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    plan = planned()
    batch = plan.batches[0]
    first = batch.runs[0]
    assert cli.find(plan, [first.name.rpartition("-")[0], first.name]) == ([], [first])
    assert cli.find(plan, [batch.id, first.name]) == ([batch], [first])
    with refused("no run 'simclr-defalt-cats-s0'"):
        cli.find(plan, ["simclr-defalt-cats-s0"])
    with refused("name runs or batches;"):
        cli.find(plan, [])
    trained: list[str] = []
    monkeypatch.setattr(
        pretrain, "pretrain_batch", lambda plan, batch, save: trained.append(batch.id)
    )
    monkeypatch.setattr(
        pretrain, "pretrain", lambda plan, runs, save: trained.extend(run.name for run in runs)
    )
    for words in ([batch.id], [first.name]):
        cli.pretrain(plan, names=words, file=None, save_every=1.0)
    assert trained == [batch.id, first.name]


Typed = Callable[..., tuple[int, list[str], list[str]]]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """SimCLR was trained and measured on what stands for the dataset ten."""
    made = World(tmp_path, level="quick")
    made.say("table5", at(), [51.0, 51.1, 51.2])
    made.claims(claim("a"), claim("b", artifact="epochs", setting="epoch=50"))
    made.write()
    return made


@pytest.fixture
def typed(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typed:
    """``typed("claims")``: the command's status, and the lines of what it says and complains of."""
    monkeypatch.chdir(world.root / "config")
    monkeypatch.setattr(stop, "exit_in_order", lambda: None)

    def type_(*words: str) -> tuple[int, list[str], list[str]]:
        status = cli.main(words)
        said = capsys.readouterr()
        return status, said.out.splitlines(), said.err.splitlines()

    return type_


def results(world: World) -> set[str]:
    """Files of the results folder that no run and no probe writes."""
    folder = world.plan.config.results
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in found if not name.startswith(("runs/", "evaluations/"))}


def test_an_artifact_is_its_tidy_tables_and_the_files_it_is_shown_in_and_its_claims_are_judged(
    world: World, typed: Typed
) -> None:
    def verdicts() -> dict[str, str]:
        table = pd.read_csv(world.plan.config.results / "claims.csv", keep_default_na=False)
        return dict(zip(table["id"], table["verdict"], strict=True))

    assert typed("claims") == (
        0,
        ["2 numbers and comparisons of trained encoders, published: 2 not run"],
        [],
    )
    assert verdicts() == {"a": "not run", "b": "not run"}
    before = results(world)
    assert typed("artifact", "norms/table5") == (0, [], [])
    tidy = {
        f"statistics/norms/table5/{name}.csv"
        for name in ("measurements", "summary", "effects", "runs", "claims")
    }
    tidy |= {f"statistics/norms/table5/{name}.json" for name in ("manifest", "claims")}
    assert results(world) - before == tidy | {
        f"tables/norms/table5.{form}" for form in ("csv", "md", "tex", "json")
    }
    page = (world.plan.config.results / "tables" / "norms" / "table5.md").read_text()
    assert page.partition("### Verdicts on table5")[2].count("| quick only |") == 1  # of claim a
    assert "51.1" in page
    counted = "2 numbers and comparisons of trained encoders, published"
    assert typed("claims") == (0, [f"{counted}: 1 quick only, 1 not run"], [])
    assert verdicts() == {"a": "quick only", "b": "not run"}


def test_studies_are_drawn_without_any_run(
    world: World, typed: Typed, monkeypatch: pytest.MonkeyPatch, names: Names
) -> None:
    """The made-up one has no drawing, so that drawing is replaced here."""
    drawn: list[tuple[str, str]] = []
    monkeypatch.setattr(
        writer, "build", lambda results, paper, artifact: drawn.append((paper, artifact))
    )
    file = world.root / "papers" / "norms" / "paper.yaml"
    document = yaml.safe_load(file.read_text())
    document["artifacts"]["figure"] = {
        "draw": "study_table",
        "title": "t",
        "study": "printed_numbers",
    }
    file.write_text(yaml.safe_dump(document))
    answers = pd.DataFrame(
        [("printed_numbers", "s", "as printed", "value", 0, "7")], columns=ANSWERS
    )
    world.plan = planning.make(world.root)
    tables.write(
        world.plan.config.results / "simulations" / "norms", {"answers": (answers, ANSWERS)}
    )
    world.claims(claim("a"), claim("s", artifact="figure", metric="steps", reported=7))
    assert typed("studies", "norms") == (0, ["norms: 1 artifact of exact studies drawn"], [])
    assert drawn == [("norms", "figure")]
    (complaint,) = typed("artifact", "norms/figure")[2]
    names(complaint, "hypersphere", "artifact")
    assert results(world) == {
        *(f"simulations/norms/{name}" for name in ("answers.csv", "manifest.json")),
    }


UNKNOWN = {
    "artifact norms/table9": "hypersphere: artifact: 'norms/table9'",
    "artifact norms/tabel5": "hypersphere: artifact: 'norms/tabel5'",
    "artifact norms/left": "hypersphere: artifact: norms/left",
    "artifact lmcl/table5": "hypersphere: artifact: 'lmcl'",
    "simulate lmcl": "hypersphere: simulate: 'lmcl'",
    "prepare digit": "hypersphere: prepare: 'digit'",
    "pretrain": "hypersphere: name runs or batches;",
    "evaluate": "hypersphere: name runs or batches;",
    "studies lmcl": "hypersphere: studies: 'lmcl'",
    "simulate norms": "hypersphere: simulate: norms",
    "studies norms": "hypersphere: studies: norms",
    "claims --set scales=huge": "hypersphere: command line: scales",
    "plna --verbose": "hypersphere: command: 'plna'",
}
"""What is typed, and what the sentence names."""


def test_what_there_is_not_is_a_sentence(world: World, typed: Typed, names: Names) -> None:
    for words, place in UNKNOWN.items():
        status, out, (complaint,) = typed(*words.split())
        assert (status, out) == (2, [])
        names(complaint, place)
        assert results(world) == set()


NOT_MINUTES = ["nan", "inf", "-inf", "-1", "-0", "0", "", " ", "1e400", "1:30", "ten", "NaN"]
WRONG = [
    *(("campaign", "--minutes", value) for value in NOT_MINUTES),
    *(("campaign", "--minutes", "1", "--jobs", value) for value in ("0", "-2")),
    *(
        ("pretrain", "RUN", "--save-every", value)
        for value in ("nan", "inf", "-1", "", "1e400", "often")
    ),
    *(
        (command, "--memory", value)
        for command in ("cost", "rehearse")
        for value in ("nan", "0", "-80", "", "80GB")
    ),
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_a_number_that_cannot_be_is_a_sentence(
    world: World, typed: Typed, words: tuple[str, ...]
) -> None:
    """No time is later than nan. Nothing is begun."""
    flag, value = words[-2:]
    given = [*words[:-2], f"{flag}={value}"]  # with a blank, argparse would take -1 for an option
    status, out, (complaint,) = typed(*given)
    assert (status, out) == (2, [])
    assert complaint.startswith(f"hypersphere: {words[0]}: {flag}: must be ")
    assert results(world) == set()


@pytest.mark.parametrize(
    ("text", "minutes"), [("1", 1.0), ("0.5", 0.5), ("1e3", 1000.0), (".5", 0.5), ("1e-9", 1e-9)]
)
def test_minutes_are_passed_on(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, text: str, minutes: float
) -> None:
    given: list[float] = []
    monkeypatch.setattr(campaign, "run", lambda plan, minutes, jobs, part: given.append(minutes))
    assert typed("campaign", "--minutes", text) == (0, [], [])
    assert given == [minutes]


def test_a_damaged_evaluation_is_said_and_its_proof_is_gone(
    world: World, typed: Typed, names: Names
) -> None:
    """So that it is measured again by the next Snakemake."""
    run = next(cell.run for cell in world.plan.artifacts["norms", "table5"] if cell.run)
    path = world.plan.evaluation_file(run.name, world.plan.protocols["norms"]["knn"].digest)
    path.write_text(path.read_text().replace("51", "99"))
    status, _, (complaint,) = typed("artifact", "norms/table5")
    assert status == 2
    names(complaint, "hypersphere", path)
    assert not path.with_suffix(".json").exists()
    assert results(world) == set()
