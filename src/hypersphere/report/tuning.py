"""The curves that a study's values were chosen from, as plain data: the measure of each arm along its grid."""

import math
from pathlib import Path
from typing import Any

from hypersphere.config import coordinates
from hypersphere.config.project import Config
from hypersphere.config.study import Tried, selection_file
from hypersphere.config.validation import read_table
from hypersphere.report import words


def of_study(config: Config, paper: str, name: str) -> list[dict[str, Any]]:
    """A panel for each group of arms, with a line for each arm; none unless one field was tuned."""
    document = config.papers[paper]
    study = document.studies[name]
    file = selection_file(config.folders[paper], name)
    if len(study.tuned) != 1 or not file.is_file():
        return []
    points = curves(file)
    panels = []
    for arms in study.groups:
        lines = []
        for arm in arms:
            if not arm.again:
                variant = str(arm.point["variant"])
                label = document.phrases.get(variant) or document.label(variant)
                lines.append({"variant": variant, "label": label, "points": points[arm.text]})
        shared = arms[0].point
        panels.append(
            {"title": words.point(document, shared, ("method", "dataset")), "lines": lines}
        )
    return panels


def curves(file: Path) -> dict[str, list[dict[str, Any]]]:
    """The mean and the standard deviation at each value of a selection file, by arm.

    Values at which every run diverged are left out.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for row in read_table(file, Tried._fields):
        of_arm = found.setdefault(row["arm"], [])
        mean = float(row["mean"] or "nan")
        std = float(row["std"] or "nan")
        (value,) = coordinates.parse(row["value"], str(file)).values()
        if not math.isnan(mean):
            spread = 0.0 if math.isnan(std) else std
            of_arm.append(
                {
                    "x": value,
                    "mean": mean,
                    "std": spread,
                    "n": row["n"],
                    "chosen": row["chosen"] == "yes",
                }
            )
    return found
