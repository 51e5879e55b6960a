"""README.md and docs/laptop.md say what the report of the finished results says."""

from pathlib import Path

import pytest

from hypersphere.config.plan import Plan
from hypersphere.report import docs

from .conftest import ROOT


@pytest.mark.parametrize(("page", "part"), [("README.md", docs.lead), ("docs/laptop.md", docs.laptop)])
def test_a_page_is_as_it_is_written_from_the_report(plan: Plan, page: str, part: docs.Part) -> None:
    """After new records: ``make report``, and then ``python -m hypersphere.report.docs``."""
    _, _, rest = Path(ROOT / page).read_text(encoding="utf-8").partition(docs.BEGIN)
    written, found, _ = rest.partition(docs.END)
    assert found
    assert written.strip() == part(plan.config)
