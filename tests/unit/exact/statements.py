"""What the tests of all documents' statements share."""

from typing import Any

from hypersphere.config.claims import PRINTED
from hypersphere.exact.statement import Finding, Statement, examine


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
    return examine(statement, 10).counterexample
