"""The command's lines, and its sentences for what is no accuracy."""

from pathlib import Path

import pytest

from hypersphere.command import cli, grim
from hypersphere.errors import HypersphereError


def test_a_mean_of_three_decimals() -> None:
    """89.413 of 10,000 images: thirds, sevenths and eighths of a hundredth end so (tests of granularity)."""
    first, truncated, rounded = grim.lines("89.413", None, 10_000)
    assert first.startswith("as measured: n = 3")
    assert rounded.partition(": ")[2] == first.partition(": ")[2]  # a hundredth is one image of 10,000
    assert truncated.startswith("truncated: n = ")


def test_one_decimal_is_uninformative() -> None:
    assert grim.lines("61.8", None, 10_000)[0].startswith("as measured: uninformative")


def test_nothing_fits_is_said_as_an_assumption_that_fails() -> None:
    """61.005 of 100 images, with one: none of the means of up to ten runs of whole percents is printed so."""
    assert grim.lines("61.005", None, 100)[0] == "as measured: no number of runs up to 10: an assumption fails"


def test_a_standard_deviation_excludes_more() -> None:
    """Two runs of 10,000 images: their standard deviation is 0.00707 times a whole number. 0.025 is none, 0.028 is."""
    alone, beside, other = (grim.lines("50.000", std, 10_000)[0] for std in (None, "0.025", "0.028"))
    assert alone.startswith("as measured: n = 1, 2, 3")
    assert " 2," not in beside
    assert "n = 2, " in other
    assert len(grim.lines("50.000", "0.025", 10_000)) == 4


@pytest.mark.parametrize(
    ("mean", "std", "images", "said"),
    [
        # at most 0.05 points above 99.95, two runs are at most 0.07 apart in standard deviation
        ("99.95", "0.20", 10_000, "no number"),
        # of n runs in [0, 100] with a mean of 89.41, the standard deviation is at most 44
        ("89.41", "99", 10_000, "no number"),
        # five squares with a sum can make up any number; three often cannot
        ("89.413456", "0.123456", 10_000_000, "n = 5, 7"),
        # near the ends, where few sets exist: given up for some, and said so
        ("59", "49.16085", 1000, "n = 7; too many to try for n = 4, "),
    ],
)
def test_every_search_ends(mean: str, std: str, images: int, said: str) -> None:
    assert grim.lines(mean, std, images)[0].startswith(f"as measured: {said}")


def test_it_needs_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["grim", "89.413", "--n-test", "10000"]) == 0
    assert cli.main(["plan"]) == 2  # the control: there is none here


@pytest.mark.parametrize(
    ("mean", "std", "images", "said"),
    [
        ("abc", None, 100, "MEAN: must be a number"),
        ("101", None, 100, "MEAN: must be a number"),
        ("nan", None, 100, "MEAN: must be a number"),
        ("1e-30", None, 100, "MEAN: must be a number"),
        ("50", "-1", 100, "STD: must be a number"),
        ("50", None, 0, "--n-test: must be between 1"),
    ],
)
def test_wrong_calls(mean: str, std: str | None, images: int, said: str) -> None:
    with pytest.raises(HypersphereError, match=said):
        grim.lines(mean, std, images)
