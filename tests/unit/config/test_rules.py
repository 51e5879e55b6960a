"""config/statistics.yaml as it stands, and what is said of a wrong one."""

from pathlib import Path

import pytest

from hypersphere.config import rules
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
