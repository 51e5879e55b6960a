"""README.md says what the report of finished results says; the scorecard is small, and its links lead somewhere."""

import re

from hypersphere.config.plan import Plan
from hypersphere.report import docs

from .conftest import ROOT

MOST = 3_000_000
"""Bytes that are small enough to send."""


def test_the_readme_is_as_it_is_written_from_the_report(plan: Plan) -> None:
    """After new records: ``make pages``."""
    _, _, rest = (ROOT / "README.md").read_text(encoding="utf-8").partition(docs.BEGIN)
    written, found, _ = rest.partition(docs.END)
    assert found
    assert written.strip() == docs.lead(docs.read(plan.config.root))


def test_the_scorecard_is_small_and_every_relative_link_names_a_file_or_folder(plan: Plan) -> None:
    scorecard = plan.config.results / "scorecard.html"
    assert scorecard.stat().st_size < MOST
    hrefs = re.findall(r'<a [^>]*href="([^"#][^"]*)"', scorecard.read_text(encoding="utf-8"))
    links = {link.partition("#")[0] for link in hrefs}
    assert len(links) > 100
    links.remove("../report/index.html")  # what `make report` writes
    assert not [link for link in links if not (plan.config.results / link).exists()]
