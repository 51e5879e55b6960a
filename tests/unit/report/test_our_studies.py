"""The comparisons of a study in words, from made-up rows of studies.csv on the released plan."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hypersphere.config.project import Config
from hypersphere.config.study import Selection
from hypersphere.report import our_studies
from hypersphere.statistics import answers
from hypersphere.statistics.confirmed import COMPARED

from ...golden.released import configured
from .approval import approve

BEST, PRINTED = "optimiser.learning_rate.times=best", "optimiser.learning_rate.times=1"


def row(
    variant: str, times: str = BEST, artifact: str = "step_size", reading: str = "measure=knn_top1"
) -> dict[str, Any]:
    cells = [
        f"method=simsiam;variant={one};dataset=cifar10_lt;{times};{reading}"
        for one in (variant, "default")
    ]
    return {
        **{
            "coordinates": cells[0],
            "baseline": cells[1],
            "paper": "ours",
            "study": "step_size",
            "artifact": artifact,
        },
        **{
            "measure": "knn_top1",
            "mean": 26.0,
            "baseline_mean": 27.0,
            "n": 10,
            "n_missing": 0,
            "effect": -1.0,
        },
        **{
            "low": -2.0,
            "high": 0.5,
            "low_holm": -3.0,
            "high_holm": 1.0,
            "in_family": True,
            "equivalent": False,
        },
        **{"margin": 1.0, "floored": "", "came_to": "", "baseline_came_to": "", "finished": True},
    }


AGAIN = row("again") | {"in_family": False, "low_holm": math.nan, "high_holm": math.nan}
"""Of an A/A arm, which is in no family."""


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
        "not read: neither arm is above its controls": {
            "low_holm": 0.1,
            "high_holm": 3.0,
            "floored": "both",
        },
        "not finished": {"low_holm": 0.1, "high_holm": 3.0, "finished": False},
    }
    study = configured().papers["ours"].studies["step_size"]
    assert [
        our_studies.direction(counted(row("cut3") | changed), study) for changed in said.values()
    ] == [*said]
    assert our_studies.direction(counted(AGAIN | {"low": 0.2, "high": 0.9}), study) == "ahead"
    closed = study.model_copy(update={"closed": "It cannot answer."})
    assert our_studies.direction(counted(row("cut3") | said["not finished"]), closed) == "estimate"


def pair(cell: str, variant: str, baseline: str = "default") -> dict[str, str]:
    return {"coordinates": cell.format(variant), "baseline": cell.format(baseline)}


TEXT = "method=qt_dcl;variant={};dataset=bookcorpus"
SIMCLR, MOCO = "method=simclr;variant={};dataset=", "method=mocov3;variant={};dataset=cifar10"
TOLD_APART = {
    "by baseline": [pair(TEXT, "dp_sum"), pair(TEXT, "uniform"), pair(TEXT, "dp_sum", "uniform")],
    "by method": [pair(SIMCLR + "cifar10_lt", "cut3"), pair(MOCO, "pos")],
    "by dataset": [pair(SIMCLR + "cifar10", "cut3"), pair(SIMCLR + "cifar100", "cut3")],
    "by both": [
        *(pair(SIMCLR + "cifar10_lt", variant) for variant in ("cut3", "gradscale")),
        pair(MOCO, "pos"),
    ],
}
"""Arms of a study by what alone tells them apart."""


def with_closed(config: Config, selected: dict[tuple[str, str], Selection]) -> Config:
    """The study of ``row`` closed, with other selected values."""
    ours = config.papers["ours"]
    closed = ours.studies["step_size"].model_copy(update={"closed": "It cannot answer."})
    papers = config.papers | {
        "ours": ours.model_copy(update={"studies": ours.studies | {"step_size": closed}})
    }
    return config.model_copy(update={"papers": papers, "selected": selected})


def test_a_study_in_words_is_as_approved() -> None:
    """A selected value and what it came to, missing runs, an A/A arm, an interval that ends near zero, and checks.

    And a closed study, of which one selected value ends its grid, and nothing is said of a clear difference.
    """
    arm, times = "method=simsiam;variant={};dataset=cifar10_lt", "optimiser.learning_rate.times"
    chosen = {
        arm.format(variant): {times: rate}
        for variant, rate in (("default", 1), ("cut9", 0.0316), ("cut3", 1))
    }
    config = configured().model_copy(update={"selected": {("ours", "step_size"): chosen}})
    again = AGAIN | {
        "n": 7,
        "n_missing": 3,
        "came_to": "0.12",
        "baseline_came_to": "0.12",
        "finished": False,
    }
    readings = ("by=geometry;measure=norm", "by=knn;epoch=25%;measure=knn_top1")
    checks = [
        row(name, artifact="step_size_checks", reading=one)
        for name in ("cut3", "cut9")
        for one in readings
    ]
    checks[0] |= {"measure": "norm", "mean": 0.5, "baseline_mean": 1.25}
    # the first baseline stays
    twice = checks[0] | {"baseline": checks[2]["coordinates"], "baseline_mean": 9.0}
    compared = table(
        row("cut9") | {"came_to": "0.0038", "baseline_came_to": "0.12"},
        row("cut3") | {"low_holm": -3.0, "high_holm": -0.04},
        again,
        row("cut9", PRINTED, "step_size_printed"),
        *(*checks[:-1], twice),
    )
    lines = list[list[str]]()
    for title, listed in our_studies.comparisons(config, "ours", "step_size", compared):
        lines += [[title], *listed]
    lines += [*our_studies.checks(config, "ours", "step_size", compared)]
    at_edge = {("ours", "step_size"): chosen | {arm.format("cut9"): {times: 10}}}
    estimates = table(
        row("cut9")
        | {"finished": False, "low_holm": -3.0, "high_holm": -0.4, "n": 7, "n_missing": 6}
    )
    for title, listed in our_studies.comparisons(
        with_closed(config, at_edge), "ours", "step_size", estimates
    ):
        lines += [[title], *listed]
    for how, rows in TOLD_APART.items():
        lines += [[how, *our_studies.short_names(config, "ours", rows)]]
    approve("our_studies.txt", "".join(" | ".join(line) + "\n" for line in lines))
    assert list(our_studies.comparisons(config, "ours", "sentences", compared)) == []


def test_the_forest_has_a_line_for_each_comparison_by_the_primary_measure(tmp_path: Path) -> None:
    """By the drawing's own data: two intervals of an arm, one of an A/A arm, and the shaded margin."""
    config = configured()
    listed = table(
        row("cut9"),
        AGAIN,
        row("cut9", PRINTED, "step_size_printed"),
        row("cut9", artifact="step_size_checks"),
    )
    figure = our_studies.draw(config, listed)
    (axis,) = figure.axes
    ends = [sorted(line.get_xdata()) for line in axis.lines if len(line.get_xdata()) == 2]
    assert [one for one in ends if not np.isnan(one).any()] == [
        [-3.0, 1.0],
        [-2.0, 0.5],
        [-2.0, 0.5],
    ]
    assert [len(line.get_xdata()) for line in axis.lines].count(1) == 2
    assert len(axis.get_yticks()) == 2
    (shaded,) = axis.collections[:1]
    assert shaded.get_datalim(axis.transData).intervalx.tolist() == [-1.0, 1.0]
    (behind,) = our_studies.draw(config, table(row("cut9") | {"high_holm": -0.1})).axes
    assert our_studies.COLOURS["behind"] in {mark.get_color() for mark in behind.lines}
    unread = table(row("cut9") | {"high_holm": -0.1, "finished": False})
    for one in (config, with_closed(config, {})):
        (axis,) = our_studies.draw(one, unread).axes
        assert not {mark.get_color() for mark in axis.lines} & {*our_studies.COLOURS.values()}
    our_studies.build(config, listed.iloc[:0], tmp_path)
    assert (tmp_path / "studies.svg").stat().st_size > 0
