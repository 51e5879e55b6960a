"""The confirmed comparisons of our studies: in words, for docs/laptop.md and the paper, and drawn as a forest."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.config import coordinates, questions
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.study import AGAIN, BEST, CHECKS, PRINTED, TIMES, Selection, Study
from hypersphere.provenance import tables
from hypersphere.report import figures, intervals, style, words

Row = Mapping[str, Any]
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


def studied(config: Config, compared: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Every study of ours with its tables (``compared`` is studies.csv) and what its answer does not say.

    Without a confirmation run it has no ``comparisons``. ``closed``: what stands in place of an answer where it is.
    """
    limits = {name: one.limits for name, (_, one) in questions.load(config).items()}
    for paper, about in config.papers.items():
        for name, study in about.studies.items():
            found = {"paper": paper, "name": name, "plan": study, "measure": words.measure(study.measure)}
            found |= {"comparisons": list(comparisons(config, paper, name, compared)), "limits": limits.get(name, [])}
            found |= {"closed": f"{CLOSED} {study.closed}" if study.closed else ""}
            yield found | {"checks": checks(config, paper, name, compared)}


def comparisons(config: Config, paper: str, name: str, compared: pd.DataFrame) -> Iterator[tuple[str, list[list[str]]]]:
    """The comparisons by the primary measure, at the best values of each arm and at printed ones, each with a title.

    Each is a table, the first row of which is its head. If anything was tuned, the second column is named by it, ``rate
    ÷ printed rate (rate)``, with the values of an arm, and of its baseline if others: ``0.1 (0.02)``; ``–`` for an arm
    that was not tuned. A selected value at the end of its grid has its mark (``EDGES``). An A/A comparison is in no
    family, so that it has no corrected interval.
    """
    about, study = config.papers[paper], config.papers[paper].studies[name]
    chosen = config.selected.get((paper, name), {})
    multiplied = [about.label(key.removesuffix(TIMES)) for key in study.tuned if key.endswith(TIMES)]
    tuned = " and ".join(map(about.label, study.tuned)) + (f" ({', '.join(multiplied)})" if multiplied else "")
    head = ["arm", *([tuned] if tuned else []), "arm’s mean", "baseline’s", "difference", *INTERVALS[study.test]]
    titles = {name: "each arm at its best values" if tuned else "", name + PRINTED: "all arms at printed values"}
    if study.closed and tuned:
        titles[name] += f" ({ENDS})"
    for artifact, title in titles.items():
        rows = tables.rows(compared[(compared["paper"] == paper) & (compared["artifact"] == artifact)])
        found = [[*head, "runs", "direction"]]
        for arm, row in zip(short_names(config, paper, rows), rows, strict=True):
            measure = MEASURES[row["measure"]]
            decimals = measure.decimals
            declared = study.seeds.again if AGAIN in row["coordinates"] else study.seeds.confirmation
            values = list[str]()  # of the arm and of its baseline: what was selected, or its own
            for cell, number in ((row["coordinates"], row["came_to"]), (row["baseline"], row["baseline_came_to"])):
                shown = _tuned_values(study, coordinates.parse(cell, cell), chosen)
                values.append(f"{shown} ({number})" if number else shown)
            found.append([arm, " against ".join(dict.fromkeys(values))] if tuned else [arm])
            found[-1] += [words.number(row[key], decimals) for key in ("mean", "baseline_mean")]
            found[-1] += [words.signed(row["effect"], decimals)]
            ends = [(row[f"low{kind}"], row[f"high{kind}"]) for kind in ("", "_holm")]
            found[-1] += [words.interval(*both, decimals, measure) for both in ends]
            of = f" of {len(declared)}" if row["n_missing"] else ""
            found[-1] += [f"{row['n']:g}{of}", direction(row, study)]
        if rows:
            yield title, found


def _tuned_values(study: Study, point: coordinates.Coordinates, chosen: Selection) -> str:
    """The values of the tuned fields of an arm, as they were selected or as its coordinates give them; ``–``: none."""
    selected = chosen.get(study.arm(point), {}) if BEST in point.values() else {}
    edges = study.edges(study.arm(point), selected) if selected else {}
    shown = []
    for key in study.tuned:
        value = selected.get(key, point.get(key))
        if value is not None:
            shown.append(EDGES.get(edges.get(key, ""), "") + coordinates.show(value))
    return ", ".join(shown) or "–"


def short_names(config: Config, paper: str, rows: Sequence[Row]) -> list[str]:
    """The arm of each comparison by as few coordinates as tell the arms apart, ``SimCLR cut (c=3)``.

    With its baseline if the arm is compared with others too: `` against default``, by what the two do not share.
    """
    about, found = config.papers[paper], []
    points = [coordinates.parse(row["coordinates"], paper) for row in rows]
    keys, arms = list[str](), {row["coordinates"] for row in rows}
    for key in dict.fromkeys(key for point in points for key in point):
        told_apart = {tuple(point.get(key) for key in keys) for point in points}
        if len({point.get(key) for point in points}) > 1 and len(told_apart) < len(arms):
            keys.append(key)
    for point, row in zip(points, rows, strict=True):
        told = keys or ["method", "variant"]  # of one arm alone
        name = " ".join(words.value(about, key, point[key]) for key in told if key in point)
        if any(other["baseline"] != row["baseline"] for other in rows if other["coordinates"] == row["coordinates"]):
            baseline = coordinates.parse(row["baseline"], paper)
            apart = [key for key in baseline if point.get(key) != baseline[key]]
            name += f" against {words.point(about, baseline, apart)}"
        found.append(name)
    return found


def direction(row: Row, study: Study) -> str:
    """``ahead`` or ``behind``, and ``within 1`` if within the study's margin; else ``open``, or why none is read."""
    if not row["finished"]:
        return "estimate" if study.closed else "not finished"
    if row["floored"] == "both":
        return "not read: neither arm is above its controls"
    said = {"ahead": "ahead", "behind": "behind", "level": f"within {row['margin']:g}"}
    return ", ".join(text for one, text in said.items() if one in row["called"].split("; ")) or "open"


def checks(config: Config, paper: str, name: str, compared: pd.DataFrame) -> list[list[str]]:
    """The checks of a study: the head, and for each arm its means with the baseline's in brackets; without A/A arms.

    Arms are rows, unless there are too many readings for the width of a page.
    """
    about, study = config.papers[paper], config.papers[paper].studies[name]
    found: dict[tuple[str, str], str] = {}
    for row in tables.rows(compared[(compared["paper"] == paper) & (compared["artifact"] == name + CHECKS)]):
        point = coordinates.parse(row["coordinates"], name)
        readings = {key: value for key, value in point.items() if key in coordinates.READINGS and key != "by"}
        arm = words.point(about, point, [key for key in point if key not in (*readings, "by", *study.tuned, "measure")])
        decimals = MEASURES[row["measure"]].decimals
        shown = (words.number(row[key], decimals) for key in ("mean", "baseline_mean"))
        if point["variant"] != AGAIN:
            # An arm that is compared with several things has its own baseline first.
            found.setdefault((arm, words.point(about, readings, readings)), "{} ({})".format(*shown))
    if len({reading for _, reading in found}) > WIDEST:
        return crossed("mean of the arm (of its baseline)", {(key[1], key[0]): text for key, text in found.items()})
    return crossed("arm (its baseline)", found)


def crossed(corner: str, cells: Mapping[tuple[str, str], str]) -> list[list[str]]:
    """A table of cells by row and column, in their order; the first row is the head. A dash where there is no cell."""
    rows, columns = dict.fromkeys(row for row, _ in cells), dict.fromkeys(column for _, column in cells)
    return [[corner, *columns], *([row, *(cells.get((row, column), "–") for column in columns)] for row in rows)]


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
    studies = [(paper, name, study) for paper, about in config.papers.items() for name, study in about.studies.items()]
    for paper, name, study in studies:
        rows, lines = tables.rows(compared[(compared["paper"] == paper) & (compared["artifact"] == name)]), []
        for arm, row in zip(short_names(config, paper, rows), rows, strict=True):
            effect = words.signed(row["effect"], MEASURES[row["measure"]].decimals)
            its = direction(row, study)
            said = f"{effect}, {its}, n = {row['n']:g}"
            colour = next((one for word, one in COLOURS.items() if its.startswith(word)), style.GREY)
            marks = [intervals.Mark(row["effect"], colour, hollow=not row["in_family"])]
            ends = (row["low"], row["high"]), (row["low_holm"], row["high_holm"])
            lines.append(intervals.Row(arm, said, marks, colour, *ends))
        tuned = ", each arm at its best values" if study.tuned else ""
        title = f"{study.question} In {words.measure(study.measure)}{tuned}"
        if study.closed:
            title = f"{study.question} Closed: estimates"
        sections += [intervals.Section(title, lines, study.margin)] if rows else []
    return intervals.drawn(frame, sections, "difference from the baseline, points")
