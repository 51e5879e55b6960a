"""`hypersphere artifact`, `studies` and `claims`, as they are typed: what each writes, and waits for."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml

from hypersphere.command import cli
from hypersphere.config import plan as planning
from hypersphere.provenance import stop, tables
from hypersphere.report import writer
from hypersphere.simulations.study import COLUMNS as ANSWERS

from ...fixtures import Approve
from ..statistics.world import World, at, claim

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
def typed(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
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


def test_an_artifact_is_its_tidy_tables_and_the_files_it_is_shown_in(world: World, typed: Typed) -> None:
    assert typed("artifact", "norms", "table5") == (0, [], [])
    tidy = {f"statistics/norms/table5/{name}.csv" for name in ("measurements", "summary", "effects", "runs", "claims")}
    files = {path.relative_to(world.plan.config.results).as_posix() for path in world.plan.outputs("norms", "table5")}
    assert files == {f"tables/norms/table5.{form}" for form in ("csv", "md", "tex")}
    assert results(world) == tidy | files | {f"statistics/norms/table5/{name}.json" for name in ("manifest", "claims")}
    page = (world.plan.config.results / "tables" / "norms" / "table5.md").read_text()
    assert page.partition("### Verdicts on table5")[2].count("| quick only |") == 1  # of claim a
    assert "51.1" in page


def test_claims_are_of_what_there_is(world: World, typed: Typed) -> None:
    def verdicts() -> dict[str, str]:
        table = pd.read_csv(world.plan.config.results / "claims.csv", keep_default_na=False)
        return dict(zip(table["id"], table["verdict"], strict=True))

    assert typed("claims") == (0, ["2 numbers and comparisons of trained encoders, printed: 2 not run"], [])
    assert verdicts() == {"a": "not run", "b": "not run"}
    typed("artifact", "norms", "table5")
    counted = "2 numbers and comparisons of trained encoders, printed"
    assert typed("claims") == (0, [f"{counted}: 1 quick only, 1 not run"], [])
    assert verdicts() == {"a": "quick only", "b": "not run"}


def test_studies_are_judged_and_drawn_without_any_run(
    world: World, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The made-up one has no drawing, so that drawing is replaced here."""
    drawn: list[tuple[str, str]] = []
    monkeypatch.setattr(writer, "build", lambda results, paper, artifact: drawn.append((paper, artifact)))
    file = world.root / "config" / "papers" / "norms" / "paper.yaml"
    document = yaml.safe_load(file.read_text())
    document["artifacts"]["figure"] = {"draw": "study_table", "title": "t", "study": "entropy_limits"}
    file.write_text(yaml.safe_dump(document))
    answers = pd.DataFrame([("entropy_limits", "s", "as printed", "value", 0, "7")], columns=ANSWERS)
    world.plan = planning.make(world.root)
    tables.write(world.plan.config.results / "simulations" / "norms", {"answers": (answers, ANSWERS)})
    world.claims(claim("a"), claim("s", artifact="figure", metric="steps", reported=7))
    assert typed("studies", "norms") == (0, [], [])
    judged = pd.read_csv(world.plan.config.results / "statistics" / "norms" / "studies.csv")
    assert judged[["id", "verdict"]].to_numpy().tolist() == [["s", "exact"]]
    assert drawn == [("norms", "figure")]
    assert results(world) == {
        *(f"simulations/norms/{name}" for name in ("answers.csv", "manifest.json")),
        *(f"statistics/norms/{name}" for name in ("studies.csv", "manifest.json")),
    }


def test_what_there_is_not_is_a_sentence(world: World, typed: Typed, approve: Approve) -> None:
    for words in (
        *("artifact norms table9", "artifact norms/tabel5", "artifact norms left", "artifact lmcl table5"),
        *("simulate lmcl", "prepare digit", "pretrain", "evaluate", "studies lmcl"),
        "claims --set scales=huge",
    ):
        status, out, (complaint,) = typed(*words.split())
        assert (status, out) == (2, [])
        approve(complaint)
        assert results(world) == set()


def test_a_damaged_evaluation_is_said_and_its_proof_is_gone(world: World, typed: Typed, approve: Approve) -> None:
    """So that it is measured again by the next Snakemake."""
    run = next(cell.run for cell in world.plan.artifacts["norms", "table5"] if cell.run)
    path = world.plan.evaluation(run.name, world.plan.protocols["norms"]["knn"].digest)
    path.write_text(path.read_text().replace("51", "99"))
    status, _, (complaint,) = typed("artifact", "norms", "table5")
    assert status == 2
    approve(complaint)
    assert not path.with_suffix(".json").exists()
    assert results(world) == set()
