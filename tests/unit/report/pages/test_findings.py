"""What the scorecard says first: sentences, matrices and the grid, whose numbers are those of the claims."""

import dataclasses
import itertools
import re
from typing import Any

import pytest

from hypersphere.report import claims, findings

from .reading import matrices, section


@pytest.fixture(scope="session")
def page(quick: Any) -> str:
    """The quick page's text."""
    return quick.read("scorecard.html")


def test_the_command_counts_as_the_scorecard_does(page: str, quick: Any) -> None:
    """Of each kind and origin: ``2 quick only, 2 not run``."""
    said = [line.partition(": ")[2] for line in claims.in_words(claims.entries(quick.results))]
    widths = [
        int(width) for width in re.findall(r'class="group edge" colspan="(\d+)"', page.split("by exact verdict")[1])
    ]
    lines = [(line, table[1]) for table in matrices(page, "matrix exact") for line in table[-1:]]
    counts = iter(
        [f"{number} {verdict}" for sums, heads in lines for number, verdict in zip(sums[1:], heads[1:], strict=True)]
    )
    shown = [", ".join(itertools.islice(counts, width)) for width in widths]
    assert sorted(shown) == sorted(said)


def test_the_grid_has_a_square_for_each_printed_claim(quick: Any, page: str) -> None:
    found = re.findall(r'<a class="sq( \w+)?" href="#([^"]+)">(.?)</a>', section(page, "grid"))
    assert [name for _, name, _ in found] == [one["id"] for one in quick.claims if one["origin"] == "printed"]
    marks = {name: (tone.strip(), mark) for tone, name, mark in found}
    assert marks["alpha.cut"] == ("", "○")
    assert marks["alpha.faces"] == ("waiting", "")
    assert marks["alpha.one"] == ("disagree", "✕")
    assert marks["alpha.rate"] == ("agree", "✓")
    assert marks["alpha.sketch"] == ("", "?")
    assert marks["alpha.says"] == ("", "=")


def test_examples_are_the_gravest_and_shortest_sentences_and_the_rest_is_counted(quick: Any) -> None:
    """Of the fixture, by hand: one fails; of three that hold, one has a sentence."""
    entries = claims.entries(quick.results)
    fails, holds = findings.examples(entries, "alpha", lambda claim: 0)
    assert ([claim.id for claim in fails.shown], fails.more) == (["alpha.one"], 0)
    assert ([claim.id for claim in holds.shown], holds.more) == (["alpha.shares"], 2)
    assert findings.examples(entries, "beta", lambda claim: 0) == []
    failing = [dataclasses.replace(fails.shown[0], id=name, artifact=name) for name in ("first", "grave")]
    (found,) = findings.examples(failing, "alpha", lambda claim: claim.id != "grave", most=1)
    assert [claim.id for claim in found.shown] == ["grave"]


def test_every_verdict_has_one_outcome() -> None:
    listed = [verdict for outcome in findings.OUTCOMES.values() for verdict in outcome.verdicts]
    assert sorted(listed) == sorted(claims.ORDER)
    assert set(findings.MARKS) == set(findings.OUTCOMES)
