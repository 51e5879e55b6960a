"""`hypersphere.results.load`: each table has the types of its columns, and what is not there is one sentence."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from hypersphere.provenance import tables
from hypersphere.provenance.columns import FINDINGS
from hypersphere.report.evidence import REPORT, SEALED_TOGETHER
from hypersphere.results import load

from ..fixtures import Refused
from ..golden.released import ROOT
from .statistics.world import World, at, claim


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two arms of SimCLR: 51 and 53 %, with the claim that the first has 51 %."""
    made = World(tmp_path)
    made.say("table5", at(), (50.0, 51.0, 52.0))
    made.say("table5", at("simclr.cut3"), (52.0, 53.0, 54.0))
    made.measure("table5")
    made.judged(claim("c"))
    return made


def test_results_of_a_scale_and_of_an_artifact_are_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim's published number is text, because some claims have a word in its place."""
    inside = world.root / "papers" / "norms"
    monkeypatch.chdir(inside)
    claims = load("claims", scale="paper").set_index("id")
    assert (claims.loc["c", "reported"], claims.loc["c", "n"]) == ("51", 3.0)
    effects = load("effects", scale="paper", artifact="norms/table5").set_index("coordinates")
    assert effects.loc[at("simclr.cut3"), "effect"] == 2.0
    assert effects["low_power"].dtype == bool
    elsewhere = load("effects", scale="paper", artifact="norms/table5", root=str(world.root))
    assert elsewhere.set_index("coordinates").equals(effects)


def test_every_table_of_the_report_is_read(tmp_path: Path) -> None:
    """As the report writes them: three tables with one manifest, and findings.csv with another."""
    together = {name: (one_row(kinds), kinds) for name, kinds in SEALED_TOGETHER.items()}
    tables.write(tmp_path / REPORT, together)
    tables.write(tmp_path / REPORT, {"findings": (one_row(FINDINGS), FINDINGS)})
    for name, kinds in {**SEALED_TOGETHER, "findings": FINDINGS}.items():
        read = load(name, root=tmp_path)
        assert read.shape == (1, len(kinds))
        assert all((read[column].dtype == float) == (kinds[column] == "number") for column in kinds)


def one_row(kinds: tables.Columns) -> pd.DataFrame:
    """A table with a row of ones, which are text in columns of text."""
    values = {"text": "1", "number": 1.0, "flag": True}
    return pd.DataFrame([{column: values[kind] for column, kind in kinds.items()}])


@pytest.mark.parametrize(
    ("table", "numbers", "texts"),
    [
        ("runs", ["seed", "epochs", "seconds"], ["key", "name", "run"]),
        ("measurements", ["epoch", "value", "n_test"], ["measure", "status"]),
        ("history", ["epoch", "loss", "norm"], ["key"]),
        ("protocols", ["threads"], ["protocol", "content"]),
        ("environments", [], ["environment", "content"]),
        ("datasets", [], ["dataset", "counts"]),
    ],
)
def test_every_table_of_records_is_read_with_its_types(
    table: str, numbers: list[str], texts: list[str]
) -> None:
    read = load(table, scale="laptop", root=ROOT)
    assert len(read) > 0
    assert all(read[column].dtype == float for column in numbers)
    assert all(isinstance(value, str) for column in texts for value in read[column])


def test_what_is_not_there_is_refused(
    world: World, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = world.root
    report = root / "results" / "report"
    with refused(report / "claims.csv"):
        load("claims", root=root)
    with refused(root / "evidence" / "laptop" / "runs.csv"):
        load("runs", scale="laptop", root=root)
    with refused("load", "table"):
        load("effects", root=root)
    with refused("load", "table"):
        load("ladder", scale="paper", root=root)
    with refused("load", "artifact"):
        load("effects", artifact="norms/table5", root=root)
    monkeypatch.chdir(root.parent)
    with refused(root.parent):
        load("claims")


def test_an_altered_table_is_refused(world: World, refused: Refused) -> None:
    folder = world.root / "results" / "paper"
    kept = folder / "kept"
    shutil.copy(folder / "claims.csv", kept)
    with (folder / "claims.csv").open("a") as file:
        file.write("\n")
    with refused(folder / "claims.csv"):
        load("claims", scale="paper", root=world.root)
    shutil.copy(kept, folder / "claims.csv")
    assert len(load("claims", scale="paper", root=world.root)) == 1
