"""The confirmed comparisons of our studies: in words, for docs/laptop.md and the paper, and drawn as a forest."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.config import coordinates
from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.study import AGAIN, BEST, CHECKS, PRINTED, TIMES
from hypersphere.provenance import tables
from hypersphere.report import figures, intervals, style, words

Row = Mapping[str, Any]
INTERVALS = {"welch": ("Welch", "Holm"), "paired": ("paired", "Holm"), "dunnett": ("Welch", "Dunnett")}
"""By a study's test, the heads of the two intervals: each comparison's own, and after correction for all of them."""

WIDEST = 9
"""Readings beside each other that a page can take."""


def head(config: Config, paper: str, name: str) -> list[str]:
    """Of the comparisons. If anything was tuned, the second column is named by it: ``rate ÷ printed rate (rate)``."""
    about, study = config.papers[paper], config.papers[paper].studies[name]
    multiplied = [about.label(key.removesuffix(TIMES)) for key in study.tuned if key.endswith(TIMES)]
    fields = " and ".join(map(about.label, study.tuned)) + (f" ({', '.join(multiplied)})" if multiplied else "")
    tuned = [fields] if fields else []
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
            named = zip(short_names(config, paper, rows), rows, strict=True)
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
        told = keys or ["method", "variant"]  # of one arm alone
        arm = " ".join(words.value(about, key, point[key]) for key in told if key in point)
        found.append(arm + _against(config, paper, row, rows))
    return found


def _told_apart(points: Sequence[Coordinates], keys: Sequence[str]) -> set[tuple[Scalar | None, ...]]:
    return {tuple(point.get(key) for key in keys) for point in points}


def _against(config: Config, paper: str, row: Row, rows: Sequence[Row]) -> str:
    """`` against default``: what the arm and its baseline do not share, if another row has another baseline."""
    if all(other["baseline"] == row["baseline"] for other in rows if other["coordinates"] == row["coordinates"]):
        return ""
    arm, baseline = (coordinates.parse(row[key], paper) for key in ("coordinates", "baseline"))
    apart = [key for key in baseline if arm.get(key) != baseline[key]]
    return f" against {words.point(config.papers[paper], baseline, apart)}"


def _comparison(config: Config, paper: str, name: str, row: Row) -> list[str]:
    decimals, seeds = MEASURES[row["measure"]].decimals, config.papers[paper].studies[name].seeds
    declared = seeds.again if AGAIN in row["coordinates"] else seeds.confirmation
    intervals = (words.interval(row[f"low{kind}"], row[f"high{kind}"], decimals) for kind in ("", "_holm"))
    means = (words.number(row[key], decimals) for key in ("mean", "baseline_mean"))
    came_to = {"coordinates": row["came_to"], "baseline": row["baseline_came_to"]}
    values = ((_tuned(config, paper, name, row[key]), number) for key, number in came_to.items())
    tuned = dict.fromkeys(f"{value} ({number})" if number else value for value, number in values)
    return [
        *([" against ".join(tuned)] if config.papers[paper].studies[name].tuned else []),
        *means,
        words.signed(row["effect"], decimals),
        *intervals,
        f"{row['n']:g}" + (f" of {len(declared)}" if row["n_missing"] else ""),
        direction(row),
    ]


def called(row: Row) -> list[str]:
    """What a comparison is counted as, of ``Counted``; empty: none of these."""
    return row["called"].split("; ") if row["called"] else []


def direction(row: Row) -> str:
    """``ahead`` or ``behind``, and ``within 1`` if within the study's margin; else ``open``, or why none is read."""
    if row["n_missing"] or row["level"]:
        return "not finished" if row["n_missing"] else "not read: an arm is level"
    said = {"ahead": "ahead", "behind": "behind", "level": f"within {row['margin']:g}"}
    return ", ".join(text for one, text in said.items() if one in called(row)) or "open"


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
            # An arm that is compared with several things has its own baseline first.
            of_arm.setdefault(arm, {}).setdefault(words.point(about, readings, readings), "{} ({})".format(*shown))
    columns = list(dict.fromkeys(column for cells in of_arm.values() for column in cells))
    arms = {_arm(config, paper, name, arm): cells for arm, cells in of_arm.items()}
    if len(columns) > WIDEST:
        by_reading = [[column, *(cells.get(column, "–") for cells in arms.values())] for column in columns]
        return ["mean of the arm (of its baseline)", *arms], by_reading
    return ["arm (its baseline)", *columns], [
        [arm, *(cells.get(one, "–") for one in columns)] for arm, cells in arms.items()
    ]


# The forest

NAME = "studies"
"""Of the files of the forest."""
COLOURS = {"ahead": "#0072B2", "behind": "#B8660B", "within": "#8A4F9E"}
"""By the first word of a direction; grey for every other. None says good or bad."""


def forest(config: Config, compared: pd.DataFrame) -> list[tuple[str, str, Sequence[Row]]]:
    """Document, study and comparisons by the primary measure of every study that has confirmation runs."""
    found = list[tuple[str, str, Sequence[Row]]]()
    for paper, about in config.papers.items():
        for study in about.studies:
            rows = tables.rows(compared[(compared["paper"] == paper) & (compared["artifact"] == study)])
            found += [(paper, study, rows)] if rows else []
    return found


def caption(config: Config, compared: pd.DataFrame) -> str:
    """What is drawn, what it is worth, and every comparison in words."""
    said = []
    for paper, study, rows in forest(config, compared):
        named = zip(names(config, paper, study, rows), rows, strict=True)
        arms = (f"{name} {_effect(row)} ({direction(row)})" for name, row in named)
        said.append(f"{config.papers[paper].studies[study].question} {'; '.join(arms)}.")
    return " ".join(said)


def build(config: Config, compared: pd.DataFrame, folder: Path) -> None:
    """Write studies.{svg,png}."""
    with style.applied():
        figures.save(draw(config, compared), [folder / f"{NAME}.svg", folder / f"{NAME}.png"], "")


def draw(config: Config, compared: pd.DataFrame) -> Figure:
    """Each study's comparisons under its question, on one axis of points; its margin is shaded."""
    frame = figures.Frame(
        "Our own studies: differences from the baseline",
        f"Points, with the {words.confidence(config)} interval of each comparison (thick) and after the study's "
        "correction (thin). Shaded: the margin within which arms count as equal.",
        "Not a reproduction: small encoders on reduced data. Question, arms, margin and test of each study were fixed "
        "before its first confirmation run. Without a thin line: an A/A arm, the baseline again with other seeds.",
    )
    sections = []
    for paper, study, rows in forest(config, compared):
        about = config.papers[paper].studies[study]
        tuned = ", each arm at its best values" if about.tuned else ""
        title = f"{about.question} In {words.measure(about.measure)}{tuned}"
        lines = [_drawn(name, row) for name, row in zip(short_names(config, paper, rows), rows, strict=True)]
        sections.append(intervals.Section(title, lines, about.margin))
    return intervals.drawn(frame, sections, "difference from the baseline, points")


def _drawn(name: str, row: Row) -> intervals.Row:
    said = f"{_effect(row)}, {direction(row)}, n = {row['n']:g}"
    colour = next((one for word, one in COLOURS.items() if direction(row).startswith(word)), style.GREY)
    marks = [intervals.Mark(row["effect"], colour, hollow=not row["in_family"])]
    return intervals.Row(name, said, marks, colour, (row["low"], row["high"]), (row["low_holm"], row["high_holm"]))


def _effect(row: Row) -> str:
    return words.signed(row["effect"], MEASURES[row["measure"]].decimals)
