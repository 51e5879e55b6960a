"""The curves that a study's values were chosen from, as plain data: the measure of each arm along its grid."""

from collections.abc import Mapping
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
    tried = read_table(file, Tried._fields)
    panels = []
    for arms in study.groups:
        lines = []
        for arm in arms:
            if not arm.again:
                variant = str(arm.point["variant"])
                label = document.phrases.get(variant) or document.label(variant)
                points = [_point(row) for row in tried if row["arm"] == arm.text and row["mean"]]
                lines.append({"variant": variant, "label": label, "points": points})
        title = words.point(document, arms[0].point, ("method", "dataset"))
        panels.append({"title": title, "lines": lines})
    return panels


def _point(row: Mapping[str, str]) -> dict[str, Any]:
    """The mean and the standard deviation of an arm at a value."""
    (value,) = coordinates.parse(row["value"], row["arm"]).values()
    return {
        "x": value,
        "mean": float(row["mean"]),
        "std": float(row["std"] or 0),
        "n": row["n"],
        "chosen": row["chosen"] == "yes",
    }
