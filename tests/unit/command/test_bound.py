"""``hypersphere plan --claims``: each claim is counted once, by what would measure it, or with the reason."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hypersphere.command import bound
from hypersphere.command.bound import CELL, DRAWS, NOTHING, STUDY
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan

from ..statistics.world import PAPER, World, claim, gain

STUDIED = {"draw": "study_table", "title": "A study", "study": "cosine_field"}
CLAIMS = (
    claim("cell"),
    gain("compared"),
    claim("study", artifact="studied"),
    claim("statement", kind="theorem", method="", variant="", dataset="", metric="", reported="", sentence="It holds."),
    claim("stand_in", dataset="flowers"),
    claim("no_cell", setting="epoch=7"),
    claim("other_setting", setting="epoch=8"),
    claim("left_out", artifact="left"),
    claim("text", artifact="sentences"),
    claim("undeclared", artifact="table99"),
    gain("not_compared", artifact="transfers", setting="target=hundred", metric="transfer_top1"),
    claim("far", dataset="far"),
)
BY = {"cell": CELL, "compared": CELL, "study": STUDY, "statement": DRAWS}
NO_LOADER = "no loader for far yet"


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    world = World(tmp_path, level="quick", paper={"artifacts": PAPER["artifacts"] | {"studied": STUDIED}})
    world.claims(*CLAIMS)
    return world.plan


def test_each_claim_is_bound_to_what_would_measure_it(plan: Plan) -> None:
    found = {one.claim.id: one for one in bound.bound(plan)}
    assert found.keys() == {one["id"] for one in CLAIMS}
    assert {name: one.by for name, one in found.items()} == dict.fromkeys(found, NOTHING) | BY
    reasons = {name: one.why for name, one in found.items() if one.by == NOTHING}
    place = "method=simclr;variant=default;dataset=ten;epoch={};measure=knn_top1"
    assert reasons == {
        "stand_in": "nothing stands for flowers at this scale",
        "no_cell": f"no cell of table5 has the coordinates {place.format(7)}",
        "other_setting": f"no cell of table5 has the coordinates {place.format(8)}",
        "left_out": "left out at this scale",
        "text": "runs on text",
        "undeclared": "no artifact of this name is declared",
        "not_compared": reasons["not_compared"],
        "far": NO_LOADER,
    }
    assert reasons["not_compared"].startswith("transfers does not compare method=simclr;variant=cut3;dataset=ten")


def test_counts_add_up(plan: Plan) -> None:
    text = list(bound.lines(plan))
    assert text[1] == "claims    12, of which nothing at this scale would measure 8"
    assert [line.split() for line in text[3:5]] == [
        ["document", "claims", "a", "cell", "exact", "study", "draws", "nothing"],
        ["norms", "12", "2", "1", "1", "8"],
    ]
    kinds = {" ".join(line.split()[:2]): [int(word) for word in line.split()[2:]] for line in text[7:10]}
    assert kinds == {
        "value, printed": [9, 1, 1, 0, 7],
        "comparison, printed": [2, 1, 0, 0, 1],
        "theorem, printed": [1, 0, 0, 1, 0],
    }


def test_reasons_are_grouped_and_listed_if_asked_for(plan: Plan) -> None:
    text = list(bound.lines(plan))
    assert "      2  no cell of table5 has the coordinates …" in text
    assert text[-1] == "`hypersphere plan --claims --verbose` lists each of them with its reason"
    listed = list(bound.lines(plan, verbose=True))
    assert f"  norms/table5 far: {NO_LOADER}" in listed
    assert sum(line.startswith("  norms/") for line in listed) == 8


def test_only_restricts_it(plan: Plan) -> None:
    few = planning.make(plan.config.root, {"only": ["norms/studied"]})
    assert [one.claim.id for one in bound.bound(few)] == ["study"]


def test_a_scale_that_leaves_nothing_out_says_nothing_more(
    planned: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: every claim has its cell."""
    row: Sequence[Any] = []
    monkeypatch.setattr(bound, "load", lambda file: row)
    text = list(bound.lines(planned()))
    assert text[1] == "claims    0, of which nothing at this scale would measure 0"
    assert not any("why nothing" in line for line in text)
