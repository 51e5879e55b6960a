"""docs/laptop.md is what the records say."""

from pathlib import Path

from hypersphere.provenance import columns, tables
from hypersphere.report import docs
from hypersphere.statistics import known

from .conftest import ROOT, Recorded

PAGE = ROOT / "docs" / "laptop.md"


def test_the_page_is_as_it_is_written_from_the_records(recorded: Recorded) -> None:
    """After new records: ``make report``, and then ``python -m hypersphere.report.docs``."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(docs.BEGIN)
    written, found, _ = rest.partition(docs.END)
    assert found
    assert written.strip() == docs.laptop(recorded.config)


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
