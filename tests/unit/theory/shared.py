"""What the tests of all documents' statements share: inputs that hypothesis chooses."""

from typing import Any

import torch
from hypothesis import event, given, settings
from hypothesis import strategies as st

from hypersphere.config.claims import PRINTED
from hypersphere.theory.statement import Finding, Statement, examine


def judge(statement: Statement, false: bool) -> Finding:
    """What 2000 draws find: a false statement is refuted, with a counterexample, and no other."""
    found = examine(statement, 2000)
    assert found.met > 1000
    true = "no counterexample" if statement.reading == PRINTED else "no counterexample (erratum)"
    assert found.verdict == ("refuted" if false else true)
    assert (found.counterexample is not None) == false
    return found


def example(statement: Statement) -> dict[str, Any]:
    """The counterexample that is printed."""
    found = examine(statement, 10).counterexample
    assert found is not None
    return found


def holds(statement: Statement, inputs: st.SearchStrategy[dict[str, Any]], met: int, tried: int = 60) -> None:
    """No chosen inputs contradict the statement, and at least ``met`` of them meet its hypothesis."""
    judged = []

    @settings(max_examples=tried, deadline=None, derandomize=True, database=None)
    @given(inputs)
    def hold(drawn: dict[str, Any]) -> None:
        tensors = {name: torch.as_tensor(value, dtype=torch.float64)[None] for name, value in drawn.items()}
        hypothesis_met, excess = statement.check(**tensors)
        event(f"hypothesis met: {bool(hypothesis_met)}")
        judged.append(bool(hypothesis_met))
        assert not hypothesis_met or excess.item() <= statement.tolerance

    hold()
    assert sum(judged) >= met, f"the hypothesis held for {sum(judged)} of {len(judged)} only"
