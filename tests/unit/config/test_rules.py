"""config/statistics.yaml as it stands, and what is said of a wrong one."""

import json

from hypersphere.config import rules
from hypersphere.config.rules import RESULTS, Answer, Verdict

from ...golden.released import ROOT


def test_margin_and_level_are_as_the_design_states_them() -> None:
    """docs/statistics.md: 1 point where the published accuracy is at least 80 %, else 1.5."""
    found = rules.load(ROOT)
    assert [found.margin.of(published) for published in (79.9, 80.0, 95.0, 0.0)] == [
        1.5,
        1.0,
        1.0,
        1.5,
    ]
    assert found.alpha == 0.05  # in binary 1 - 0.95 is 0.050000000000000044


AGREE = {
    "reproduced",
    "exact",
    "exact (erratum)",
    "no counterexample",
    "no counterexample (erratum)",
    "diverged as published",
}
DISAGREE = {"not reproduced", "refuted"}


def test_colours() -> None:
    """What agrees and what disagrees settles a claim, and so does a direction; the rest is neutral."""
    assert {verdict for verdict in Verdict if verdict.answer.tone == "agree"} == AGREE
    assert {verdict for verdict in Verdict if verdict.answer.tone == "disagree"} == DISAGREE
    assert {verdict.answer.tone for verdict in Verdict} == {"agree", "disagree", "neutral"}
    settling = {verdict for verdict in Verdict if verdict.settles}
    assert settling == AGREE | DISAGREE | {"direction only"}
    assert json.dumps([Verdict.NOT_RUN]) == '["not run"]' == f'["{Verdict.NOT_RUN}"]'


def test_every_answer_has_a_result_and_every_result_an_answer() -> None:
    """The words that a reader is told (DESIGN, *Words*): no more, and none that nothing says."""
    assert {answer.result for answer in Answer} == set(RESULTS)
    assert {verdict.answer for verdict in Verdict} | {Answer.OPPOSITE} == set(Answer)


def test_contrary_answers_are_contrary_both_ways_and_none_is_its_own_contrary() -> None:
    for one in Answer:
        assert not one.contradicts(one)
        assert not one.contradicts(Answer.CANNOT_TELL)
        for other in Answer:
            assert one.contradicts(other) == other.contradicts(one)
    agree = {answer for answer in Answer if answer.result == "agrees"}
    disagree = {answer for answer in Answer if answer.result == "disagrees"}
    of_text = {Answer.BORNE, Answer.CONTRADICTED}
    assert all(one.contradicts(two) for one in agree - of_text for two in disagree - of_text)
