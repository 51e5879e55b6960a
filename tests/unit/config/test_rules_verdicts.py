"""The words of verdicts: each has a colour and says whether it is final."""

import json

import pytest

from hypersphere.config.rules import Verdict


def test_a_verdict_is_its_word_wherever_it_is_written() -> None:
    assert Verdict.EXACT_ERRATUM == "exact (erratum)"
    assert f"{Verdict.NOT_RUN}" == str(Verdict.NOT_RUN) == "not run"
    assert json.dumps([Verdict.NOT_RUN]) == '["not run"]'
    assert Verdict.NOT_RUN in {"not run"}


@pytest.mark.parametrize(
    ("tone", "words"),
    [
        (
            "agree",
            "reproduced, exact, exact (erratum), no counterexample, no counterexample (erratum), diverged as published",
        ),
        ("disagree", "not reproduced, refuted"),
        (
            "neutral",
            "its table bears it, its table contradicts it, direction only, inconclusive, cannot be judged, "
            "laptop only, quick only, not run",
        ),
    ],
)
def test_colours(tone: str, words: str) -> None:
    assert ", ".join(verdict for verdict in Verdict if verdict.tone == tone) == words


def test_a_coloured_verdict_and_a_direction_settle_and_nothing_else_does() -> None:
    assert {one for one in Verdict if one.settles} == {one for one in Verdict if one.tone != "neutral"} | {
        Verdict.DIRECTION_ONLY
    }
