"""The comparisons of a study in words, from made-up rows of studies.csv on the released plan."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hypersphere.config import plan as planning
from hypersphere.report import confirmed
from hypersphere.statistics import answers
from hypersphere.statistics.confirmed import COMPARED

from .conftest import ROOT

BEST, PRINTED = "optimiser.learning_rate.times=best", "optimiser.learning_rate.times=1"
KNN = {
    **dict.fromkeys(("came_to", "baseline_came_to"), ""),
    "measure": "knn_top1",
    "mean": 26.0,
    "baseline_mean": 27.0,
    "n": 10,
    "n_missing": 0,
    "effect": -1.0,
    "level": "",
}
WIDE = {
    "low": -2.0,
    "high": 0.5,
    "low_holm": -3.0,
    "high_holm": 1.0,
    "in_family": True,
    "equivalent": False,
    "margin": 1.0,
}


def row(
    variant: str, times: str = BEST, artifact: str = "step_size", reading: str = "measure=knn_top1"
) -> dict[str, Any]:
    cells = (f"method=simsiam;variant={one};dataset=cifar10_lt;{times};{reading}" for one in (variant, "default"))
    return {**KNN, **WIDE, "paper": "ours", "study": "step_size", "artifact": artifact} | dict(
        zip(("coordinates", "baseline"), cells, strict=True)
    )


def counted(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"called": "; ".join(answers.called(row))}


def table(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(map(counted, rows), columns=list(COMPARED))


def test_a_direction_is_read_from_the_corrected_interval_and_from_no_arm_at_a_control() -> None:
    said = {
        "ahead": {"low_holm": 0.1, "high_holm": 3.0},
        "behind": {"low_holm": -3.0, "high_holm": -0.1},
        "ahead, within 1": {"low_holm": 0.1, "high_holm": 0.8, "equivalent": True},
        "within 1": {"equivalent": True},
        "open": {"high": -0.5},  # clear before the correction alone
        "not read: an arm is level": {"low_holm": 0.1, "high_holm": 3.0, "level": "level with pixels"},
        "not finished": {"low_holm": 0.1, "high_holm": 3.0, "n_missing": 1},
    }
    assert {name: confirmed.direction(counted(row("cut3") | changed)) for name, changed in said.items()} == {
        name: name for name in said
    }
    again = {"in_family": False, "low": 0.2, "high": 0.9, "low_holm": float("nan"), "high_holm": float("nan")}
    assert confirmed.direction(counted(row("again") | again)) == "ahead"


def test_each_arm_is_shown_with_its_selected_value_its_baseline_s_and_the_runs_it_lacks() -> None:
    config = planning.cfg.load(ROOT, {})
    selected = {
        "method=simsiam;variant=default;dataset=cifar10_lt": 1,
        "method=simsiam;variant=cut9;dataset=cifar10_lt": 0.01,
    }
    chosen = {arm: {"optimiser.learning_rate.times": value} for arm, value in selected.items()}
    config = config.model_copy(update={"selected": {("ours", "step_size"): chosen}})
    again = row("again") | {
        "n": 7,
        "n_missing": 3,
        "in_family": False,
        "low_holm": float("nan"),
        "high_holm": float("nan"),
    }
    rates = {"came_to": "0.002", "baseline_came_to": "0.12"}
    again |= dict.fromkeys(rates, "0.12")
    listed = table(row("cut9") | rates, again, row("cut9", PRINTED, "step_size_printed"))
    (_, best), (_, printed) = confirmed.comparisons(config, "ours", "step_size", listed)
    cells = [dict(zip(confirmed.head(config, "ours", "step_size"), one, strict=True)) for one in (*best, *printed)]
    assert [[*one.values()][1] for one in cells] == [
        "0.01 (0.002) against 1 (0.12)",
        "1 (0.12)",
        "1",
    ]
    assert [one["runs"] for one in cells] == ["10", "7 of 10", "10"]
    assert [one["arm"] for one in cells] == ["cut (c=9)", "baseline again", "SimSiam cut (c=9)"]  # one alone
    assert [one["Holm"] for one in cells] == ["[−3.0, +1.0]", "–", "[−3.0, +1.0]"]
    assert list(confirmed.comparisons(config, "ours", "sentences", listed)) == []


def test_an_arm_with_two_baselines_says_against_which() -> None:
    """As in the study of sentences, where the sum is compared with none and with uniformity."""
    config, end = planning.cfg.load(ROOT, {}), "dataset=bookcorpus;target=text_mr;measure=text_accuracy"
    pairs = [("dp_sum", "default"), ("uniform", "default"), ("dp_sum", "uniform")]
    rows = [
        {key: f"method=qt_dcl;variant={one};{end}" for key, one in zip(("coordinates", "baseline"), pair, strict=True)}
        for pair in pairs
    ]
    label = config.papers["ours"].label
    shown = confirmed.names(config, "ours", "sentences", rows)
    assert [f"against {label(baseline)}" in name for name, (_, baseline) in zip(shown, pairs, strict=True)] == [
        True,
        False,
        True,
    ]
    assert len(set(shown)) == len(shown)
    short = [
        f"{label('dp_sum')} against {label('default')}",
        label("uniform"),
        f"{label('dp_sum')} against {label('uniform')}",
    ]
    assert confirmed.short_names(config, "ours", rows) == short


def test_a_short_name_has_what_tells_an_arm_apart() -> None:
    """Two methods on two sets: an arm is its method and variant if these alone tell it apart, else its set too."""
    config, cell = planning.cfg.load(ROOT, {}), "method={};variant={};dataset={};measure=knn_top1"

    def short(*arms: tuple[str, str, str]) -> list[str]:
        rows = [{"coordinates": cell.format(*arm), "baseline": cell.format(arm[0], "default", arm[2])} for arm in arms]
        return confirmed.short_names(config, "ours", rows)

    assert short(("simclr", "cut3", "cifar10_lt"), ("mocov3", "pos", "cifar10")) == ["SimCLR", "MoCo v3"]
    first, second = short(("simclr", "cut3", "cifar10"), ("simclr", "cut3", "cifar100"))
    assert (first, second) == ("CIFAR-10", "CIFAR-100")
    ours = short(("simclr", "cut3", "cifar10_lt"), ("simclr", "gradscale", "cifar10_lt"), ("mocov3", "pos", "cifar10"))
    assert ours == ["SimCLR cut (c=3)", "SimCLR GradScale (p=1)", "MoCo v3 + pos. (s=20)"]


def test_the_side_of_zero_of_an_interval_is_seen() -> None:
    near = table(row("cut9") | {"low_holm": -3.0, "high_holm": -0.04})
    ((_, (shown,)),) = confirmed.comparisons(planning.cfg.load(ROOT, {}), "ours", "step_size", near)
    assert "[−3.00, −0.04]" in shown
    assert "[−2.0, +0.5]" in shown


def test_checks_have_an_arm_a_row_and_a_reading_a_column() -> None:
    config = planning.cfg.load(ROOT, {})
    readings = ("by=geometry;measure=norm", "by=knn;epoch=25%;measure=knn_top1")
    rows = [row(arm, artifact="step_size_checks", reading=one) for arm in ("cut3", "cut9", "again") for one in readings]
    rows[0] |= {"measure": "norm", "mean": 0.5, "baseline_mean": 1.25}
    twice = rows[0] | {"baseline": rows[2]["coordinates"], "baseline_mean": 9.0}  # the first baseline stays
    head, listed = confirmed.checks(config, "ours", "step_size", table(*rows[:-1], twice))
    assert len(head) == 3
    assert [len(one) for one in listed] == [3, 3]
    assert listed[0][1:] == ["0.50 (1.25)", "26.0 (27.0)"]


def test_the_forest_has_a_line_for_each_comparison_by_the_primary_measure(tmp_path: Path) -> None:
    """By the drawing's own data: two intervals of an arm, one of an A/A arm, and the shaded margin."""
    config = planning.cfg.load(ROOT, {})
    again = row("again") | {"in_family": False, "low_holm": float("nan"), "high_holm": float("nan")}
    listed = table(
        row("cut9"), again, row("cut9", PRINTED, "step_size_printed"), row("cut9", artifact="step_size_checks")
    )
    said = confirmed.caption(config, listed)
    assert said.count("(open)") == 2
    figure = confirmed.draw(config, listed)
    (axis,) = figure.axes
    ends = [sorted(line.get_xdata()) for line in axis.lines if len(line.get_xdata()) == 2]
    assert [one for one in ends if not np.isnan(one).any()] == [[-3.0, 1.0], [-2.0, 0.5], [-2.0, 0.5]]
    assert [len(line.get_xdata()) for line in axis.lines].count(1) == 2
    assert len(axis.get_yticks()) == 2
    (shaded,) = axis.collections[:1]
    assert shaded.get_datalim(axis.transData).intervalx.tolist() == [-1.0, 1.0]
    confirmed.build(config, listed.iloc[:0], tmp_path)
    assert (tmp_path / "studies.svg").stat().st_size > 0
