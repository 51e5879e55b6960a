"""The table of docs/cost.md: as the command's, in Markdown."""

from collections.abc import Callable
from pathlib import Path

from hypersphere.command import cost, cost_page
from hypersphere.command.rates import CORE
from hypersphere.config.plan import Plan

PAGE = Path(__file__).resolve().parents[3] / "docs" / "cost.md"


def test_a_row_for_each_document_and_artifact(planned: Callable[..., Plan]) -> None:
    costs = cost.of(planned(paper={"run.encoder.width": 2}), CORE)
    header, rule, document, artifact, whole, empty, *notes = cost_page.table(costs).splitlines()
    assert header.startswith("| document, artifact | cells | runs | arithmetic | memory | core-hours | kWh |")
    assert rule.count("|") == header.count("|") == artifact.count("|")
    assert document.startswith("| **p** | 8 | 16 |")
    assert artifact.startswith("| `table` | 8 | 16 |")
    assert whole.startswith("| **all, each run once** | 8 | 16 |")
    assert empty == ""
    assert notes == [f"- **left out**: {cost.LEFT_OUT}"]


def test_the_page_has_a_table_of_the_published_scale() -> None:
    """Its columns are those of the command today, with a GPU; its numbers are as old as the page."""
    before, _, rest = PAGE.read_text().partition(cost_page.BEGIN)
    table, end, _ = rest.partition(cost_page.END)
    assert before.startswith("# What a rebuild costs")
    assert end == cost_page.END
    header = table.strip().splitlines()[0]
    assert header == "| document, artifact | cells | runs | arithmetic | memory | GPU-hours | kWh | runs' disk | data |"
    assert "| **all, each run once** |" in table
