"""A study's confirmed comparisons in words, for docs/laptop.md and the paper."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from hypersphere.config import coordinates
from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.study import AGAIN, BEST, CHECKS, PRINTED
from hypersphere.provenance import tables
from hypersphere.report import words

Row = Mapping[str, Any]
INTERVALS = {"welch": ("Welch", "Holm"), "paired": ("paired", "Holm"), "dunnett": ("Welch", "Dunnett")}
"""By a study's test, the heads of the two intervals: each comparison's own, and after correction for all of them."""

WIDEST = 9
"""Readings beside each other that a page can take."""


def head(config: Config, paper: str, name: str) -> list[str]:
    """Of the comparisons. If anything was tuned, the second column is named by it: ``rate ÷ printed rate``."""
    about, study = config.papers[paper], config.papers[paper].studies[name]
    tuned = [" and ".join(map(about.label, study.tuned))] if study.tuned else []
    return ["arm", *tuned, "arm’s mean", "baseline’s", "difference", *INTERVALS[study.test], "runs", "direction"]


def comparisons(config: Config, paper: str, name: str, compared: pd.DataFrame) -> Iterator[tuple[str, list[list[str]]]]:
    """The comparisons by the primary measure, at the best values of each arm and at printed ones, each with a title.

    ``compared`` is studies.csv. An A/A comparison is in no family, so that it has no corrected interval.
    """
    study = config.papers[paper].studies[name]
    tuned = bool(study.tuned)
    titles = {name: "each arm at its best values" if tuned else "", name + PRINTED: "all arms at printed values"}
    for artifact, title in titles.items():
        rows = tables.rows(compared[(compared["paper"] == paper) & (compared["artifact"] == artifact)])
        if rows:
            named = zip(names(config, paper, name, rows), rows, strict=True)
            yield title, [[arm, *_comparison(config, paper, name, row)] for arm, row in named]


def names(config: Config, paper: str, name: str, rows: Sequence[Row]) -> list[str]:
    """The arm of each comparison in full, with its baseline if the arm is compared with others too."""
    arms = (_arm(config, paper, name, row["coordinates"]) for row in rows)
    return [arm + _against(config, paper, row, rows) for arm, row in zip(arms, rows, strict=True)]


def short_names(config: Config, paper: str, rows: Sequence[Row]) -> list[str]:
    """The same by as few coordinates as tell the arms apart: ``SimCLR cut (c=3)``."""
    points = [coordinates.parse(row["coordinates"], paper) for row in rows]
    keys, arms = list[str](), {row["coordinates"] for row in rows}
    for key in dict.fromkeys(key for point in points for key in point):
        if len({point.get(key) for point in points}) > 1 and len(_told_apart(points, keys)) < len(arms):
            keys.append(key)
    about = config.papers[paper]
    found = []
    for point, row in zip(points, rows, strict=True):
        arm = " ".join(words.value(about, key, point[key]) for key in keys if key in point)
        found.append(arm + _against(config, paper, row, rows))
    return found


def _told_apart(points: Sequence[Coordinates], keys: Sequence[str]) -> set[tuple[Scalar | None, ...]]:
    return {tuple(point.get(key) for key in keys) for point in points}


def _against(config: Config, paper: str, row: Row, rows: Sequence[Row]) -> str:
    """`` against default``, if the arm is compared with something else in another row."""
    several = any(other["baseline"] != row["baseline"] for other in rows if other["coordinates"] == row["coordinates"])
    return f" against {_apart(config, paper, row)}" if several else ""


def _apart(config: Config, paper: str, row: Row) -> str:
    """The coordinates of a baseline that its arm does not share: ``default``."""
    arm, baseline = (coordinates.parse(row[key], paper) for key in ("coordinates", "baseline"))
    return words.point(config.papers[paper], baseline, [key for key in baseline if arm.get(key) != baseline[key]])


def _comparison(config: Config, paper: str, name: str, row: Row) -> list[str]:
    decimals, seeds = MEASURES[row["measure"]].decimals, config.papers[paper].studies[name].seeds
    declared = seeds.again if AGAIN in row["coordinates"] else seeds.confirmation
    intervals = (_interval(row[f"low{kind}"], row[f"high{kind}"], decimals) for kind in ("", "_holm"))
    means = (words.number(row[key], decimals) for key in ("mean", "baseline_mean"))
    tuned = dict.fromkeys(_tuned(config, paper, name, row[key]) for key in ("coordinates", "baseline"))
    return [
        *([" against ".join(tuned)] if config.papers[paper].studies[name].tuned else []),
        *means,
        words.signed(row["effect"], decimals),
        *intervals,
        f"{row['n']:g}" + (f" of {len(declared)}" if row["n_missing"] else ""),
        direction(row),
    ]


def _interval(low: float, high: float, decimals: int) -> str:
    """With one decimal more where an end rounds to zero, so that its side of zero is seen."""
    near = any(end != 0 and round(end, decimals) == 0 for end in (low, high))
    return words.interval(low, high, decimals + near)


def direction(row: Row) -> str:
    """``ahead`` or ``behind``, and ``within 1`` if within the study's margin; else ``open``, or why none is read."""
    if row["n_missing"] or row["level"]:
        return "not finished" if row["n_missing"] else "level with a control"
    said = {"ahead": "ahead", "behind": "behind", "level": f"within {row['margin']:g}"}
    return ", ".join(text for one, text in said.items() if one in row["called"].split("; ")) or "open"


def _arm(config: Config, paper: str, name: str, cell: str) -> str:
    point, study = coordinates.parse(cell, cell), config.papers[paper].studies[name]
    return words.point(config.papers[paper], point, [key for key in point if key not in (*study.tuned, "measure")])


def _tuned(config: Config, paper: str, name: str, cell: str) -> str:
    """The selected values of a cell's arm, or its own: ``0.1``; ``–`` where nothing is tuned."""
    point, study = coordinates.parse(cell, cell), config.papers[paper].studies[name]
    selected = config.selected.get((paper, name), {}).get(study.arm(point), {}) if BEST in point.values() else {}
    shown = [coordinates.show(selected.get(key, point.get(key, "–"))) for key in study.tuned]
    return ", ".join(one for one in shown if one != "–") or "–"


def checks(config: Config, paper: str, name: str, compared: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """The checks of a study: the head, and for each arm its means with the baseline's in brackets; without A/A arms.

    Arms are rows, unless there are too many readings for the width of a page.
    """
    about = config.papers[paper]
    rows = tables.rows(compared[(compared["paper"] == paper) & (compared["artifact"] == name + CHECKS)])
    of_arm: dict[str, dict[str, str]] = {}
    for row in rows:
        point = coordinates.parse(row["coordinates"], name)
        readings = {key: value for key, value in point.items() if key in coordinates.READINGS and key != "by"}
        arm = coordinates.text({key: value for key, value in point.items() if key not in (*readings, "by")})
        decimals = MEASURES[row["measure"]].decimals
        shown = (words.number(row[key], decimals) for key in ("mean", "baseline_mean"))
        if point["variant"] != AGAIN:
            of_arm.setdefault(arm, {})[words.point(about, readings, readings)] = "{} ({})".format(*shown)
    columns = list(dict.fromkeys(column for cells in of_arm.values() for column in cells))
    arms = {_arm(config, paper, name, arm): cells for arm, cells in of_arm.items()}
    if len(columns) > WIDEST:
        by_reading = [[column, *(cells.get(column, "–") for cells in arms.values())] for column in columns]
        return ["mean of the arm (of its baseline)", *arms], by_reading
    return ["arm (its baseline)", *columns], [
        [arm, *(cells.get(one, "–") for one in columns)] for arm, cells in arms.items()
    ]
