"""Studies of our own as every page shows them: their comparisons and checks in words, and a forest of all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.config import coordinates, questions
from hypersphere.config.coordinates import Coordinates
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.study import AGAIN, BEST, CHECKS, PRINTED, TIMES, Selection, Study
from hypersphere.provenance import tables
from hypersphere.provenance.tables import Row
from hypersphere.report import figures, intervals, style, words

Table = list[list[str]]
"""Rows of cells, of which the first is the head."""
INTERVALS = {"welch": ("Welch", "Holm"), "paired": ("paired", "Holm")}
"""By a study's test, the heads of the two intervals: each comparison's own, and after correction for all of them."""
EDGES: dict[str, str] = {"lowest": "≤ ", "highest": "≥ "}
"""Before a selected value that ends its grid."""
ENDS = "≤ and ≥: the end of its grid, beyond which a better value may lie"
CLOSED = "Closed before its end, so that there is no answer, and differences are estimates."
WIDEST = 9
"""Readings beside each other that a page can take."""
NAME = "studies"
"""Of the files of the forest."""
CAPTION = "Our own studies: each arm against its baseline, with its margin."
COLOURS = {"ahead": "#0072B2", "behind": "#B8660B", "within": "#8A4F9E"}
"""By the first word of a direction; grey for every other. None says good or bad."""
DIRECTIONS = {"ahead": "ahead", "behind": "behind", "level": "within {margin:g}"}
"""By what a comparison is counted as."""


@dataclass(frozen=True)
class OurStudy:
    """A study of ours with its tables, by studies.csv."""

    paper: str
    name: str
    plan: Study
    comparisons: Sequence[tuple[str, Table]]
    """By the primary measure, each with a title; none without a confirmation run."""
    checks: Table
    limits: Sequence[str]
    """What its answer does not say."""

    @property
    def measure(self) -> str:
        return words.measure(self.plan.measure)

    @property
    def closed(self) -> str:
        """What stands in place of an answer where it is closed; empty where it is not."""
        return f"{CLOSED} {self.plan.closed}" if self.plan.closed else ""


def of_project(config: Config, compared: pd.DataFrame) -> Iterator[OurStudy]:
    """Every study of ours; ``compared`` is studies.csv."""
    limits = {name: question.limits for name, (_, question) in questions.load(config).items()}
    for paper, document in config.papers.items():
        for name, plan in document.studies.items():
            found = list(comparisons(config, paper, name, compared))
            of_checks = checks(config, paper, name, compared)
            yield OurStudy(paper, name, plan, found, of_checks, limits.get(name, []))


def comparisons(
    config: Config, paper: str, name: str, compared: pd.DataFrame
) -> Iterator[tuple[str, Table]]:
    """The comparisons by the primary measure, at the best values of each arm and at printed ones, each with a title.

    If anything was tuned, the second column is named by it, ``rate ÷ printed rate (rate)``, with the values of an arm,
    and of its baseline if others: ``0.1 (0.02)``; ``–`` for an arm that was not tuned. A selected value at the end of
    its grid has its mark (``EDGES``). An A/A comparison is in no family, so that it has no corrected interval.
    """
    study = config.papers[paper].studies[name]
    tuned = _tuned_fields(config, paper, study)
    titles = {
        name: "each arm at its best values" if tuned else "",
        name + PRINTED: "all arms at published values",
    }
    if study.closed and tuned:
        titles[name] += f" ({ENDS})"
    head = [
        "arm",
        *([tuned] if tuned else []),
        "arm’s mean",
        "baseline’s",
        "difference",
        *INTERVALS[study.test],
    ]
    for artifact, title in titles.items():
        rows = _of_artifact(compared, paper, artifact)
        table = [[*head, "runs", "direction"]]
        for arm, row in zip(short_names(config, paper, rows), rows, strict=True):
            values = [_values_of_both(config, paper, name, row)] if tuned else []
            table.append([arm, *values, *_numbers(row, study)])
        if rows:
            yield title, table


def _of_artifact(compared: pd.DataFrame, paper: str, artifact: str) -> list[dict[str, Any]]:
    return tables.rows(compared[(compared["paper"] == paper) & (compared["artifact"] == artifact)])


def _tuned_fields(config: Config, paper: str, study: Study) -> str:
    """``rate ÷ printed rate (rate)``; empty where nothing was tuned."""
    label = config.papers[paper].label
    multiplied = [label(key.removesuffix(TIMES)) for key in study.tuned if key.endswith(TIMES)]
    return " and ".join(map(label, study.tuned)) + (
        f" ({', '.join(multiplied)})" if multiplied else ""
    )


def _values_of_both(config: Config, paper: str, name: str, row: Row) -> str:
    """What was selected for an arm and for its baseline, or their own values; once if both are alike."""
    study, chosen = config.papers[paper].studies[name], config.selected.get((paper, name), {})
    values = []
    for cell, number in (
        (row["coordinates"], row["came_to"]),
        (row["baseline"], row["baseline_came_to"]),
    ):
        value = _tuned_values(study, coordinates.parse(cell, cell), chosen)
        values.append(f"{value} ({number})" if number else value)
    return " against ".join(dict.fromkeys(values))


def _tuned_values(study: Study, point: Coordinates, chosen: Selection) -> str:
    """The values of the tuned fields of an arm, as they were selected or as its coordinates give them; ``–``: none."""
    selected = chosen.get(study.arm(point), {}) if BEST in point.values() else {}
    edges = study.edges(study.arm(point), selected) if selected else {}
    values = []
    for key in study.tuned:
        value = selected.get(key, point.get(key))
        if value is not None:
            values.append(EDGES.get(edges.get(key, ""), "") + coordinates.show(value))
    return ", ".join(values) or "–"


def _numbers(row: Row, study: Study) -> list[str]:
    """Both means, the difference, its two intervals, the number of runs and the direction."""
    measure = MEASURES[row["measure"]]
    decimals = measure.decimals
    planned = study.seeds.again if AGAIN in row["coordinates"] else study.seeds.confirmation
    of = f" of {len(planned)}" if row["n_missing"] else ""
    return [
        words.number(row["mean"], decimals),
        words.number(row["baseline_mean"], decimals),
        words.signed(row["effect"], decimals),
        words.interval(row["low"], row["high"], decimals, measure),
        words.interval(row["low_holm"], row["high_holm"], decimals, measure),
        f"{row['n']:g}{of}",
        direction(row, study),
    ]


def short_names(config: Config, paper: str, rows: Sequence[Row]) -> list[str]:
    """The arm of each comparison by as few coordinates as tell the arms apart, ``SimCLR cut (c=3)``.

    With its baseline if the arm is compared with others too: `` against default``, by what the two do not share.
    """
    document, names = config.papers[paper], []
    points = [coordinates.parse(row["coordinates"], paper) for row in rows]
    keys = _telling_apart(points, len({row["coordinates"] for row in rows}))
    baselines: dict[str, set[str]] = {}
    for row in rows:
        baselines.setdefault(row["coordinates"], set()).add(row["baseline"])
    for point, row in zip(points, rows, strict=True):
        name = " ".join(words.value(document, key, point[key]) for key in keys if key in point)
        if len(baselines[row["coordinates"]]) > 1:
            baseline = coordinates.parse(row["baseline"], paper)
            apart = [key for key in baseline if point.get(key) != baseline[key]]
            name += f" against {words.point(document, baseline, apart)}"
        names.append(name)
    return names


def _telling_apart(points: Sequence[Coordinates], arms: int) -> list[str]:
    """The first keys that tell as many arms apart; method and variant of one arm alone."""
    table = pd.DataFrame(points, dtype=object)
    keys = list[str]()
    for key in table.columns:
        told_apart = len(table[keys].drop_duplicates()) if keys else 1
        if table[key].nunique(dropna=False) > 1 and told_apart < arms:
            keys.append(key)
    return keys or ["method", "variant"]


def direction(row: Row, study: Study) -> str:
    """``ahead`` or ``behind``, and ``within 1`` if within the study's margin; else ``open``, or why none is read."""
    if not row["finished"]:
        return "estimate" if study.closed else "not finished"
    if row["floored"] == "both":
        return "not read: neither arm is above its controls"
    called = row["called"].split("; ")
    directions = [
        text.format(margin=row["margin"]) for one, text in DIRECTIONS.items() if one in called
    ]
    return ", ".join(directions) or "open"


def checks(config: Config, paper: str, name: str, compared: pd.DataFrame) -> Table:
    """The checks of a study: the head, and for each arm its means with the baseline's in brackets; without A/A arms.

    Arms are rows, unless there are too many readings for the width of a page.
    """
    document, study = config.papers[paper], config.papers[paper].studies[name]
    cells: dict[tuple[str, str], str] = {}
    for row in _of_artifact(compared, paper, name + CHECKS):
        point = coordinates.parse(row["coordinates"], name)
        if point["variant"] == AGAIN:
            continue
        readings = {
            key: value
            for key, value in point.items()
            if key in coordinates.READINGS and key != "by"
        }
        arm = words.point(
            document,
            point,
            [key for key in point if key not in (*readings, *study.tuned, *UNNAMED)],
        )
        decimals = MEASURES[row["measure"]].decimals
        mean, baseline = (
            words.number(row["mean"], decimals),
            words.number(row["baseline_mean"], decimals),
        )
        # An arm that is compared with several things has its own baseline first.
        cells.setdefault((arm, words.point(document, readings, readings)), f"{mean} ({baseline})")
    if len({reading for _, reading in cells}) > WIDEST:
        turned = {(reading, arm): cell for (arm, reading), cell in cells.items()}
        return crossed("mean of the arm (of its baseline)", turned)
    return crossed("arm (its baseline)", cells)


UNNAMED = ("by", "measure")
"""Coordinates of a check that do not name its arm."""


def crossed(corner: str, cells: Mapping[tuple[str, str], str]) -> Table:
    """A table of cells by row and column, in their order; the first row is the head. A dash where there is no cell."""
    rows, columns = (
        dict.fromkeys(row for row, _ in cells),
        dict.fromkeys(column for _, column in cells),
    )
    table = [[corner, *columns]]
    for row in rows:
        table.append([row, *(cells.get((row, column), "–") for column in columns)])
    return table


def progress(config: Config, counts: pd.DataFrame) -> Table:
    """How many runs of each part of each study are recorded, of those that its plan has; ``counts`` is progress.csv."""
    cells = {}
    for row in tables.rows(counts):
        question = config.papers[row["paper"]].studies[row["study"]].question
        cells[question, row["part"]] = f"{row['recorded']:g} of {row['planned']:g}"
    return crossed("question", cells)


def build(config: Config, compared: pd.DataFrame, folder: Path) -> None:
    """Write studies.{svg,png}, and the same for a narrow window as png."""
    intervals.save(folder, NAME, partial(draw, config, compared))


def draw(
    config: Config, compared: pd.DataFrame, layout: intervals.Layout = intervals.PAGE
) -> Figure:
    """Each study's comparisons under its question, on one axis of points; its margin is shaded."""
    frame = figures.Frame(
        "Our own studies: differences from the baseline",
        f"Points, with the {words.confidence(config)} interval of each comparison (thick) and after the study's "
        "correction (thin). Shaded: the margin within which arms count as equal.",
        "Not a reproduction: small encoders on reduced data. Question, arms, margin and test of each study were fixed "
        "before its first confirmation run. Without a thin line: an A/A arm, the baseline again with other seeds.",
    )
    sections = []
    for paper, document in config.papers.items():
        for name, study in document.studies.items():
            rows = _of_artifact(compared, paper, name)
            names = short_names(config, paper, rows)
            lines = [_line(arm, row, study) for arm, row in zip(names, rows, strict=True)]
            if lines:
                sections.append(intervals.Estimates(_title(study), lines, study.margin))
    return intervals.draw(frame, sections, "difference from the baseline, points", layout=layout)


def _title(study: Study) -> str:
    if study.closed:
        return f"{study.question} Closed: estimates"
    tuned = ", each arm at its best values" if study.tuned else ""
    return f"{study.question} In {words.measure(study.measure)}{tuned}"


def _line(arm: str, row: Row, study: Study) -> intervals.Estimate:
    """A comparison as a line of the forest."""
    effect, its = (
        words.signed(row["effect"], MEASURES[row["measure"]].decimals),
        direction(row, study),
    )
    colour = next((colour for word, colour in COLOURS.items() if its.startswith(word)), style.GREY)
    mark = intervals.Mark(row["effect"], colour, hollow=not row["in_family"])
    alone, corrected = (row["low"], row["high"]), (row["low_holm"], row["high_holm"])
    return intervals.Estimate(
        arm, f"{effect}, {its}, n = {row['n']:g}", [mark], colour, alone, corrected
    )
