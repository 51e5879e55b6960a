"""README.md and docs/laptop.md say what the report says; the scorecard is small, and its links lead somewhere."""

import re

from hypersphere.config.plan import Plan
from hypersphere.report import docs

from .conftest import ROOT

MOST = 3_000_000  # bytes: small enough to send


def written(page: str) -> str:
    """What ``make pages`` wrote into a page."""
    found = re.search(f"{docs.BEGIN}(.*?){docs.END}", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1].strip()


def test_pages_are_as_they_are_written_from_the_report(plan: Plan) -> None:
    """After new records: ``make pages``."""
    known = docs.read(plan.config.root)
    assert written("README.md") == docs.lead(known)
    same = written("docs/laptop.md") == docs.laptop(plan.config, known)  # a diff of both would take minutes
    assert same, "the records or the report have changed"


def test_the_page_shows_the_better_protocol_and_no_other_rung(plan: Plan) -> None:
    known = docs.read(plan.config.root)
    name = "norms.t5.simclr.cut3_gain.cifar10_lt"
    one = next(row for row in known.ladder if row["id"] == name) | {"rung": "laptop", "measured": "7.5"}
    steps = [*known.ladder, one, one | {"rung": "published", "measured": "9.5"}]
    text = docs.laptop(plan.config, known._replace(ladder=steps))
    assert ("| +7.5 |" in text, "+9.5" in text) == (True, False)


def test_the_scorecard_is_small_and_every_relative_link_names_a_file_or_folder(plan: Plan) -> None:
    scorecard = plan.config.results / "scorecard.html"
    assert scorecard.stat().st_size < MOST
    hrefs = re.findall(r'<a [^>]*href="([^"#][^"]*)"', scorecard.read_text(encoding="utf-8"))
    links = {link.partition("#")[0] for link in hrefs}
    assert len(links) > 100
    links.remove("../report/index.html")  # what `make report` writes
    assert not [link for link in links if not (plan.config.results / link).exists()]
