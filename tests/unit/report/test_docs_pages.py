"""docs/laptop.md is what the records say."""

from pathlib import Path

import pandas as pd

from hypersphere.config import plan as planning
from hypersphere.config.study import Tried, selection_file, write_selection
from hypersphere.provenance import columns, tables
from hypersphere.report import docs
from hypersphere.statistics import known
from hypersphere.statistics.confirmed import COMPARED

from .conftest import ROOT, Recorded

RATE = "optimiser.learning_rate.times"
NONE = pd.DataFrame(columns=list(COMPARED))
PAGE = ROOT / "docs" / "laptop.md"


def test_the_page_is_as_it_is_written_from_the_records(recorded: Recorded) -> None:
    """After new records: ``make report``, and then ``python -m hypersphere.report.docs``."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(docs.BEGIN)
    written, found, _ = rest.partition(docs.END)
    assert found
    current = written.strip() == docs.laptop(recorded.config)  # a diff of two long strings would take minutes
    assert current, "the records or the report have changed"


def test_a_tuned_study_shows_the_curves_it_was_tuned_by(tmp_path: Path) -> None:
    """A made-up curve of two of the arms."""
    paper = planning.cfg.load(ROOT, {}).papers["ours"]
    first, second = [*paper.studies["step_size"].grids()][:2]
    config = planning.cfg.load(ROOT, {}).model_copy(update={"root": tmp_path})
    curve = [
        Tried(first, f"{RATE}=0.1", 27.04, 0.5, 3, 0, True),
        Tried(first, f"{RATE}=1", 26.0, 0.5, 3, 0, False),
        Tried(second, f"{RATE}=1", float("nan"), float("nan"), 0, 3, False),
    ]
    write_selection(selection_file(tmp_path, "ours", "step_size"), curve)
    lines = list(docs.studied(config, paper, {"step_size": "It cannot be told yet."}, NONE, {}))
    assert lines[0] == "## Questions of our own: Is every intervention a step size?"
    assert "It cannot be told yet." in lines
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| SimSiam")]
    assert [row[1:] for row in cells] == [["**27.0**", "26.0"], ["–", "diverged"]]
    assert list(docs.studied(config.model_copy(update={"root": tmp_path / "other"}), paper, {}, NONE, {})) == []


def test_the_page_shows_the_better_protocol_and_no_other_rung(recorded: Recorded) -> None:
    folder: Path = recorded.config.root / known.REPORT
    ladder = tables.read(folder / "ladder.csv", columns.LADDER)
    name = "norms.t5.simclr.cut3_gain.cifar10_lt"
    one = ladder[ladder["id"] == name].assign(rung="laptop", scale="laptop", measured="7.5")
    steps = [*tables.rows(ladder), *tables.rows(one), *tables.rows(one.assign(rung="published", measured="9.5"))]
    small = docs.measured(recorded.claims, type(ladder)(steps))
    assert small[name]["measured"] == "7.5"
    assert {row["rung"] for row in small.values()} == set(docs.SMALL)
    assert {row["kind"] for row in small.values()} == {"comparison"}
