"""How a study's comparisons are tested: Dunnett, pairs, A/A arms, equivalence, and cells level with a control."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from .world import PAPER, World, gain

VARIANTS = ["default", "cut3", "cut9", "again"]
STUDY: dict[str, Any] = {
    "question": "?",
    "title": "Cuts",
    "arms": [{"method": "simclr", "dataset": "ten", "variant": VARIANTS}],
    "measure": "knn_top1",
    "seeds": {"confirmation": [0, 1, 2, 3], "again": [10, 11, 12, 13]},
    "margin": 1.0,
    "hours": 1,
    "answers": {"yes": "a", "no": "b", "unclear": "c"},
    "scale": "laptop",
}
SAID = {
    "default": [60.0, 61.0, 62.0, 63.0],
    "cut3": [60.2, 61.1, 62.2, 63.1],
    "cut9": [66.0, 67.5, 65.0, 68.0],
    "again": [61.0, 61.5, 62.5, 61.0],
}


def _effects(root: Path, said: dict[str, list[float]] = SAID, **study: Any) -> dict[str, dict[str, Any]]:
    """effects.csv of the study, by variant."""
    paper = copy.deepcopy(PAPER) | {"studies": {"s": STUDY | study}}
    paper["variants"] |= {"again": {}}
    world = World(root, "laptop", paper=paper)
    for variant, values in said.items():
        world.say("s", f"method=simclr;variant={variant};dataset=ten;measure=knn_top1", values)
    world.of_pixels("digits", "knn", {"knn_top1": 20.0, "knn_top5": 50.0})
    world.measure("s")
    rows = world.table("s", "effects").to_dict("records")
    return {str(row["variant"]): {str(key): value for key, value in row.items()} for row in rows}


def test_an_a_a_arm_keeps_its_own_interval_and_is_in_no_family(tmp_path: Path) -> None:
    """Holm over two comparisons: the smaller p doubles, the larger stays. Three would treble the smaller."""
    effects = _effects(tmp_path)
    assert {name: row["in_family"] for name, row in effects.items()} == {"cut3": True, "cut9": True, "again": False}
    p = {name: stats.ttest_ind(SAID[name], SAID["default"], equal_var=False).pvalue for name in effects}
    assert effects["cut9"]["p_holm"] == pytest.approx(2 * p["cut9"])
    assert effects["cut3"]["p_holm"] == pytest.approx(p["cut3"])
    assert effects["again"]["p"] == pytest.approx(p["again"])
    assert np.isnan(effects["again"]["p_holm"])
    assert effects["again"]["low"] < 0 < effects["again"]["high"]


def test_pairs_are_compared_seed_by_seed_and_the_a_a_arm_is_not(tmp_path: Path) -> None:
    effects = _effects(tmp_path, test="paired")
    assert effects["cut3"]["p"] == pytest.approx(stats.ttest_rel(SAID["cut3"], SAID["default"]).pvalue)
    assert (effects["cut3"]["test"], effects["again"]["test"]) == ("paired", "welch")


def test_one_shared_baseline_by_dunnett(tmp_path: Path) -> None:
    """By the definition, simulated: the maximum of t statistics that share a baseline, and so correlate by a half."""
    effects = _effects(tmp_path, test="dunnett")
    arms = np.array([SAID[name] for name in ("default", "cut3", "cut9")])
    error = np.sqrt(arms.var(axis=1, ddof=1).mean() * 2 / 4)
    random = np.random.default_rng(1)
    draws = random.standard_normal((400_000, 3))
    largest = np.abs(draws[:, 1:] - draws[:, :1]).max(axis=1) / np.sqrt(2) / np.sqrt(random.chisquare(9, 400_000) / 9)
    for name in ("cut3", "cut9"):
        row, t = effects[name], abs(np.mean(SAID[name]) - np.mean(SAID["default"])) / error
        assert row["test"] == "dunnett"
        assert row["p_holm"] == pytest.approx(np.mean(largest > t), abs=0.004)
        half = np.quantile(largest, 0.95) * error
        assert (row["low_holm"], row["high_holm"]) == pytest.approx(
            (row["effect"] - half, row["effect"] + half), abs=0.05
        )
    assert effects["again"]["test"] == "welch"


def test_dunnett_waits_for_all_arms(tmp_path: Path) -> None:
    effects = _effects(tmp_path, {**SAID, "cut3": [None] * 4}, test="dunnett")  # type: ignore[dict-item,list-item]
    assert np.isnan(effects["cut9"]["p_holm"])


def test_equivalence_is_within_the_studys_own_margin(tmp_path: Path) -> None:
    """cut3 differs by 0.15 +- 0.07, paired: within a point, and not within a tenth of one."""
    assert _effects(tmp_path / "one", test="paired")["cut3"]["equivalent"]
    assert not _effects(tmp_path / "tenth", test="paired", margin=0.1)["cut3"]["equivalent"]
    assert not _effects(tmp_path / "wide")["cut3"]["equivalent"]


@pytest.mark.parametrize(("pixels", "level"), [(20.0, ""), (62.0, "at the level of raw pixels")])
def test_a_cell_level_with_raw_pixels_is_marked(tmp_path: Path, pixels: float, level: str) -> None:
    """And a claim about it has no direction: cut3 is 6 points better than a baseline at the level of pixels."""
    world = World(tmp_path, "laptop", seeds=(0, 1, 2, 3))
    world.say("table5", "method=simclr;variant=default;dataset=ten;measure=knn_top1", SAID["default"])
    world.say("table5", "method=simclr;variant=cut3;dataset=ten;measure=knn_top1", SAID["cut9"])
    world.of_pixels("digits", "knn", {"knn_top1": pixels, "knn_top5": 50.0})
    world.measure("table5")
    row = world.table("table5", "summary").loc["method=simclr;variant=default;dataset=ten;measure=knn_top1"]
    assert row["level"] == level
    judged = world.judged(gain("g"))["g"]
    assert judged["direction"] == ("unclear" if level else "same")
    assert (level in judged["why"]) is bool(level) or not level
