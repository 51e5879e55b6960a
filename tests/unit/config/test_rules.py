"""config/statistics.yaml as it stands, and what is said of a wrong one."""

import json
from pathlib import Path

import pytest

from hypersphere.config import rules
from hypersphere.config.rules import Verdict
from hypersphere.errors import HypersphereError

REPOSITORY = Path(__file__).parents[3]


@pytest.mark.parametrize(("published", "margin"), [(79.9, 1.5), (80.0, 1.0), (95.0, 1.0), (0.0, 1.5)])
def test_margin_is_as_the_design_states_it(published: float, margin: float) -> None:
    # docs/statistics.md: 1 point where the published accuracy is at least 80 %, else 1.5
    assert rules.load(REPOSITORY).margin.of(published) == margin


def test_levels_are_as_the_design_states_them() -> None:
    loaded = rules.load(REPOSITORY)
    assert (loaded.confidence, loaded.equivalence, loaded.power, loaded.low_power_df) == (0.95, 0.90, 0.80, 4)
    assert loaded.alpha == 0.05  # exactly: 1 - 0.95 is 0.050000000000000044


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("confidence: 0.95", "confidence: 95", "confidence: "),
        ("power: 0.80", "pwer: 0.80", r"pwer: unknown; did you mean power\?.*"),
        ("at_least_high: 1.0", "at_least_high: -1.0", "margin.at_least_high: "),
    ],
)
def test_a_wrong_file_is_one_sentence_with_the_field(tmp_path: Path, old: str, new: str, named: str) -> None:
    text = (REPOSITORY / "config" / "statistics.yaml").read_text()
    assert old in text
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "statistics.yaml").write_text(text.replace(old, new))
    with pytest.raises(HypersphereError, match=rf"statistics\.yaml: {named}"):
        rules.load(tmp_path)


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
