"""The scorecard of finished results: small enough to send, and every link leads somewhere."""

import re

from hypersphere.config.plan import Plan

MOST = 3_000_000
"""Bytes."""


def test_it_is_small_enough_to_send(plan: Plan) -> None:
    assert (plan.config.results / "scorecard.html").stat().st_size < MOST


def test_every_relative_link_names_a_file_or_folder(plan: Plan) -> None:
    page = (plan.config.results / "scorecard.html").read_text(encoding="utf-8")
    links = {link.partition("#")[0] for link in re.findall(r'<a [^>]*href="([^"#][^"]*)"', page)}
    assert len(links) > 100
    links.remove("../report/index.html")  # what `make report` writes
    assert not [link for link in links if not (plan.config.results / link).exists()]
