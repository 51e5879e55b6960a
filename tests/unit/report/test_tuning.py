"""The curves of tuned studies say what the files of ``hypersphere select`` say."""

import math

import pandas as pd

from hypersphere.report import tuning

from ...golden.released import configured


def test_each_line_is_its_file_s_and_marks_the_selected_value() -> None:
    config = configured()
    compared = 0
    for (paper, name), chosen in config.selected.items():
        study = config.papers[paper].studies[name]
        panels = tuning.of_study(config, paper, name)
        assert bool(panels) == (len(study.tuned) == 1)
        for panel, arms in zip(panels, study.groups, strict=False):
            tuned = [arm for arm in arms if not arm.again]
            table = pd.read_csv(config.folders[paper] / "selected" / f"{name}.csv")
            for line, arm in zip(panel["lines"], tuned, strict=True):
                assert line["label"], arm.text
                rows = table[(table["arm"] == arm.text) & table["mean"].notna()]
                assert [point["mean"] for point in line["points"]] == list(rows["mean"])
                assert [point["std"] for point in line["points"]] == list(rows["std"].fillna(0))
                assert [point["x"] for point in line["points"] if point["chosen"]] == [
                    *chosen[arm.text].values()
                ]
                assert all(math.isfinite(point["mean"]) for point in line["points"])
                compared += len(rows)
    assert compared
