"""A study's confirmed comparisons in words, for docs/laptop.md and the paper."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from hypersphere.config import coordinates
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.study import AGAIN, BEST
from hypersphere.provenance import tables
from hypersphere.report import words

Row = Mapping[str, Any]


def head(config: Config, paper: str, name: str) -> list[str]:
    """Of the comparisons. The second column is named by what was tuned: ``rate ÷ printed rate``."""
    about = config.papers[paper]
    tuned = " and ".join(map(about.label, about.studies[name].tuned)) or "tuned"
    return ["arm", tuned, "arm’s mean", "baseline’s", "difference", "Welch", "Holm", "runs", "direction"]


def comparisons(config: Config, paper: str, name: str, compared: pd.DataFrame) -> Iterator[tuple[str, list[list[str]]]]:
    """The comparisons by the primary measure, at the best values of each arm and at printed ones, each with a title.

    ``compared`` is studies.csv. An A/A comparison is in no family, so that it has no corrected interval.
    """
    study = config.papers[paper].studies[name]
    tuned = bool(study.tuned)
    titles = {name: "each arm at its best values" if tuned else "", f"{name}_printed": "all arms at printed values"}
    for artifact, title in titles.items():
        rows = tables.rows(compared[(compared["paper"] == paper) & (compared["artifact"] == artifact)])
        if rows:
            yield title, [_comparison(config, paper, name, row) for row in rows]


def _comparison(config: Config, paper: str, name: str, row: Row) -> list[str]:
    decimals, seeds = MEASURES[row["measure"]].decimals, config.papers[paper].studies[name].seeds
    declared = seeds.again if AGAIN in row["coordinates"] else seeds.confirmation
    intervals = (_interval(row[f"low{kind}"], row[f"high{kind}"], decimals) for kind in ("", "_holm"))
    means = (words.number(row[key], decimals) for key in ("mean", "baseline_mean"))
    return [
        _arm(config, paper, name, row["coordinates"]),
        " against ".join(dict.fromkeys(_tuned(config, paper, name, row[key]) for key in ("coordinates", "baseline"))),
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
    """``ahead`` or ``behind`` after correction, else ``open``; and ``within 1``, if equal within the study's margin.

    None is read before all runs are there, or from an arm that is level with a control. An A/A interval is its own.
    """
    low, high = (row[f"{end}_holm" if row["in_family"] else end] for end in ("low", "high"))
    if row["n_missing"] or row["level"]:
        return "not finished" if row["n_missing"] else "level with a control"
    side = "ahead" if low > 0 else "behind" if high < 0 else ""
    within = f"within {row['margin']:g}" if row["equivalent"] else ""
    return ", ".join(filter(None, (side, within))) or "open"


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
    """The checks of a study: the head, and for each arm its means with the baseline's in brackets; without A/A arms."""
    about = config.papers[paper]
    rows = tables.rows(compared[(compared["paper"] == paper) & (compared["artifact"] == f"{name}_checks")])
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
    listed = [
        [_arm(config, paper, name, arm), *(cells.get(one, "–") for one in columns)] for arm, cells in of_arm.items()
    ]
    return ["arm (its baseline)", *columns], listed
