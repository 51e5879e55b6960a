"""Studies of our own as every page shows them: their comparisons and checks in words, and a forest of all."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

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
"""The heads of the two intervals, by a study's test: before and after correction for all comparisons."""
EDGES: dict[str, str] = {"lowest": "≤ ", "highest": "≥ "}
"""The sign before a selected value that ends its grid."""
ENDS = "≤ and ≥: the end of its grid, beyond which a better value may lie"
CLOSED = "Closed before its end, so that there is no answer, and differences are estimates."
READ = [key for key in coordinates.READINGS if key != "by"]
"""The coordinates that name a check of an arm."""
WIDEST = 9
"""Readings beside each other that a page can take."""
NAME = "studies"
"""The name of the forest's files."""
CAPTION = "Our own studies: each arm against its baseline, with its margin."
COLOURS = {"ahead": "#0072B2", "behind": "#B8660B", "within": "#8A4F9E"}
"""The colour of a direction, by its first word; other directions are grey. No colour says good or bad."""
DIRECTIONS = {"ahead": "ahead", "behind": "behind", "level": "within {margin:g}"}
"""The words for a direction, by what the comparison counts as."""


@dataclass(frozen=True)
class OurStudy:
    """A study of ours with its tables, by studies.csv."""

    paper: str
    name: str
    plan: Study
    comparisons: Sequence[tuple[str, Table]]
    """The tables of comparisons by the primary measure, each with a title; none without a confirmation run."""
    checks: Table
    limits: Sequence[str]
    """What its answer does not say."""

    @property
    def measure(self) -> str:
        return words.measure(self.plan.measure)

    @property
    def closed(self) -> str:
        """The words in place of an answer if the study is closed; empty if it is not."""
        return f"{CLOSED} {self.plan.closed}" if self.plan.closed else ""


def of_project(config: Config, compared: pd.DataFrame) -> Iterator[OurStudy]:
    """Every study of ours; ``compared`` is studies.csv."""
    by_name = questions.load(config)
    for paper, name, plan in _studies(config):
        limits = by_name[name][1].limits if name in by_name else []
        of_study = list(comparisons(config, paper, name, compared))
        of_checks = checks(config, paper, name, compared)
        yield OurStudy(paper, name, plan, of_study, of_checks, limits)


def _studies(config: Config) -> Iterator[tuple[str, str, Study]]:
    """Every study: its paper, its name and its plan."""
    for paper, document in config.papers.items():
        for name, plan in document.studies.items():
            yield paper, name, plan


def comparisons(
    config: Config, paper: str, name: str, compared: pd.DataFrame
) -> Iterator[tuple[str, Table]]:
    """The comparisons by the primary measure, at the best values of each arm and at printed ones, each with a title.

    If a field was tuned, the second column has its name, ``rate ÷ printed rate (rate)``, and the values of the arm:
    ``0.1 (0.02)``. The baseline's values follow, if they differ. An arm that was not tuned has ``–``. A selected value
    at the end of its grid has a mark (``EDGES``). An A/A comparison is in no family, and has no corrected interval.
    """
    study = config.papers[paper].studies[name]
    tuned = _tuned_fields(config, paper, study)
    title = "each arm at its best values" if tuned else ""
    if study.closed and tuned:
        title += f" ({ENDS})"
    head = ["arm", *tuned, "arm’s mean", "baseline’s", "difference", *INTERVALS[study.test]]
    head += ["runs", "direction"]
    titles = {name: title, name + PRINTED: "all arms at published values"}
    for artifact, title in titles.items():
        rows = _of_artifact(compared, paper, artifact)
        table = [head]
        arms = short_names(config, paper, rows)
        for arm, row in zip(arms, rows, strict=True):
            values = [_values_of_both(config, paper, name, row)] if tuned else []
            table.append([arm, *values, *_numbers(row, study)])
        if rows:
            yield title, table


def _of_artifact(compared: pd.DataFrame, paper: str, artifact: str) -> list[Row]:
    of_paper = compared[compared["paper"] == paper]
    return tables.rows(of_paper[of_paper["artifact"] == artifact])


def _tuned_fields(config: Config, paper: str, study: Study) -> list[str]:
    """The head ``rate ÷ printed rate (rate)`` of the column of tuned values; none where nothing was tuned."""
    if not study.tuned:
        return []
    label = config.papers[paper].label
    head = " and ".join(map(label, study.tuned))
    multiples = [key for key in study.tuned if key.endswith(TIMES)]
    if multiples:
        multiplied = [label(key.removesuffix(TIMES)) for key in multiples]
        head += f" ({', '.join(multiplied)})"
    return [head]


def _values_of_both(config: Config, paper: str, name: str, row: Row) -> str:
    """The values that were selected for an arm and its baseline, or that they have anyway; once if both are alike."""
    study = config.papers[paper].studies[name]
    selected = config.selected.get((paper, name), {})
    values = []
    for cell, multiple in (("coordinates", "came_to"), ("baseline", "baseline_came_to")):
        point = coordinates.parse(row[cell], row[cell])
        value = _tuned_values(study, point, selected)
        if row[multiple]:
            value += f" ({row[multiple]})"
        values.append(value)
    return " against ".join(dict.fromkeys(values))


def _tuned_values(study: Study, point: Coordinates, selection: Selection) -> str:
    """The values of the tuned fields of an arm, as they were selected or as its coordinates give them; ``–``: none."""
    selected: Coordinates = {}
    if BEST in point.values():
        selected = selection.get(study.arm(point), {})
    edges = study.edges(study.arm(point), selected) if selected else {}
    values = []
    for key in study.tuned:
        value = selected.get(key, point.get(key))
        if value is not None:
            edge = EDGES[edges[key]] if key in edges else ""
            values.append(edge + coordinates.show(value))
    return ", ".join(values) or "–"


def _numbers(row: Row, study: Study) -> list[str]:
    """Both means, the difference, its two intervals, the number of runs and the direction."""
    measure = MEASURES[row["measure"]]
    decimals = measure.decimals
    runs = f"{row['n']:g}"
    if row["n_missing"]:
        planned = study.seeds.again if AGAIN in row["coordinates"] else study.seeds.confirmation
        runs += f" of {len(planned)}"
    return [
        words.number(row["mean"], decimals),
        words.number(row["baseline_mean"], decimals),
        words.with_sign(row["effect"], decimals),
        words.interval(row["low"], row["high"], decimals, measure),
        words.interval(row["low_holm"], row["high_holm"], decimals, measure),
        runs,
        direction(row, study),
    ]


def short_names(config: Config, paper: str, rows: Sequence[Row]) -> list[str]:
    """The name of each comparison's arm, by as few coordinates as tell the arms apart: ``SimCLR cut (c=3)``.

    If the arm has several baselines, the name adds the baseline by what the two do not share: `` against default``.
    """
    document = config.papers[paper]
    baselines = defaultdict(set)
    for row in rows:
        baselines[row["coordinates"]].add(row["baseline"])
    keys = _telling_apart([coordinates.parse(arm, paper) for arm in baselines])
    names = []
    for row in rows:
        arm = coordinates.parse(row["coordinates"], paper)
        values = [words.value(document, key, arm[key]) for key in keys if key in arm]
        name = " ".join(values)
        if len(baselines[row["coordinates"]]) > 1:
            baseline = coordinates.parse(row["baseline"], paper)
            apart = [key for key in baseline if arm.get(key) != baseline[key]]
            name += f" against {words.point(document, baseline, apart)}"
        names.append(name)
    return names


def _telling_apart(arms: Sequence[Coordinates]) -> list[str]:
    """The first keys that tell different arms apart; a single arm has method and variant."""
    table = pd.DataFrame(arms, dtype=object)
    keys: list[str] = []
    for key in table.columns:
        told_apart = len(table[keys].drop_duplicates()) if keys else 1
        differs = table[key].nunique(dropna=False) > 1
        if differs and told_apart < len(arms):
            keys.append(key)
    return keys or ["method", "variant"]


def direction(row: Row, study: Study) -> str:
    """The direction in words: ``ahead`` or ``behind``, ``within 1`` (the margin), ``open``, or why there is none."""
    if not row["finished"]:
        return "estimate" if study.closed else "not finished"
    if row["floored"] == "both":
        return "not read: neither arm is above its controls"
    counted = row["called"].split("; ")
    texts = [text for one, text in DIRECTIONS.items() if one in counted]
    return ", ".join(texts).format(margin=row["margin"]) or "open"


def checks(config: Config, paper: str, name: str, compared: pd.DataFrame) -> Table:
    """The table of a study's checks: the means of each arm, with the baseline's mean in brackets.

    A/A arms are left out. Arms are rows, unless the page is too narrow for all readings.
    """
    document = config.papers[paper]
    of_probe = {*coordinates.READINGS, *document.studies[name].tuned}
    cells: dict[tuple[str, str], str] = {}
    for row in _of_artifact(compared, paper, name + CHECKS):
        point = coordinates.parse(row["coordinates"], name)
        if point["variant"] == AGAIN:
            continue
        of_run = [key for key in point if key not in of_probe]
        arm = words.point(document, point, of_run)
        readings = [key for key in READ if key in point]
        reading = words.point(document, point, readings)
        decimals = MEASURES[row["measure"]].decimals
        mean = words.number(row["mean"], decimals)
        baseline = words.number(row["baseline_mean"], decimals)
        # An arm that is compared with several things has its own baseline first.
        cells.setdefault((arm, reading), f"{mean} ({baseline})")
    readings_shown = {reading for _, reading in cells}
    if len(readings_shown) > WIDEST:
        turned = {(reading, arm): cell for (arm, reading), cell in cells.items()}
        return cross_table("mean of the arm (of its baseline)", turned)
    return cross_table("arm (its baseline)", cells)


def cross_table(corner: str, cells: Mapping[tuple[str, str], str]) -> Table:
    """A table of cells by row and column, in their order. The first row is the head, and a dash is a missing cell."""
    columns = list(dict.fromkeys(column for _, column in cells))
    table = [[corner, *columns]]
    for row in dict.fromkeys(row for row, _ in cells):
        texts = [cells.get((row, column), "–") for column in columns]
        table.append([row, *texts])
    return table


def progress(config: Config, counts: pd.DataFrame) -> Table:
    """How many planned runs of each part of each study are recorded; ``counts`` is progress.csv."""
    cells = {}
    for row in tables.rows(counts):
        studies = config.papers[row["paper"]].studies
        question = studies[row["study"]].question
        runs = "{recorded:g} of {planned:g}"
        cells[question, row["part"]] = runs.format_map(row)
    return cross_table("question", cells)


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
    for paper, name, study in _studies(config):
        rows = _of_artifact(compared, paper, name)
        lines = []
        arms = short_names(config, paper, rows)
        for arm, row in zip(arms, rows, strict=True):
            lines.append(_line(arm, row, study))
        if lines:
            section = intervals.Estimates(_title(study), lines, study.margin)
            sections.append(section)
    return intervals.draw(frame, sections, "difference from the baseline, points", layout=layout)


def _title(study: Study) -> str:
    if study.closed:
        return f"{study.question} Closed: estimates"
    tuned = ", each arm at its best values" if study.tuned else ""
    measure = words.measure(study.measure)
    return f"{study.question} In {measure}{tuned}"


def _line(arm: str, row: Row, study: Study) -> intervals.Estimate:
    """A comparison as a line of the forest."""
    measure = MEASURES[row["measure"]]
    effect = words.with_sign(row["effect"], measure.decimals)
    counted_as = direction(row, study)
    first = counted_as.replace(",", " ").split()[0]
    colour = COLOURS.get(first, style.GREY)
    return intervals.Estimate(
        arm,
        f"{effect}, {counted_as}, n = {row['n']:g}",
        [intervals.Mark(row["effect"], colour, hollow=not row["in_family"])],
        colour,
        thick=(row["low"], row["high"]),
        thin=(row["low_holm"], row["high_holm"]),
    )
