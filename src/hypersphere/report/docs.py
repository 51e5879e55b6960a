"""Parts of the README and of docs/laptop.md that results/report writes: findings, and what small encoders say.

``python -m hypersphere.report.docs`` writes them anew, with their pictures in docs/images, after `make report` and, for
the curves of tuned studies, `make evidence SCALE=laptop ONLY=ours`.
"""

import math
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere import files
from hypersphere.config import coordinates
from hypersphere.config import plan as planning
from hypersphere.config import questions as ask
from hypersphere.config import rules as rules_file
from hypersphere.config.artifacts import Paper
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.rules import RUNGS, Rung
from hypersphere.config.study import TUNING, Study, read_curve, selection_file
from hypersphere.provenance import columns, tables
from hypersphere.provenance.manifest import check_files, check_tidy, tidy_manifest
from hypersphere.report import confirmed, forest, words
from hypersphere.report.claims import DIRECTIONS
from hypersphere.report.questions import decimals_of, leads, numbers, spanned
from hypersphere.report.writer import pipes
from hypersphere.statistics.known import REPORT, is_level, nothing_differs, of_studies
from hypersphere.wording import counted, renewed

ROOT = Path(__file__).parents[3]
BEGIN = "<!-- written by python -m hypersphere.report.docs -->"
END = "<!-- until here -->"
SMALL: tuple[Rung, ...] = ("laptop", "first_protocol")
"""The rungs of small encoders, the better first."""
HEAD = ("comparison", "printed", "ours", "Welch", "Holm", "n", "direction")
MOST_RUNS = 10
"""Runs an arm that a study has."""
Row = dict[str, Any]


def lead(config: Config) -> str:
    """The findings of the first screen, each with its certainty."""
    findings = tables.rows(tables.read(check_tidy(config.root / REPORT, "findings.csv"), columns.FINDINGS))
    return "\n".join(f"- {row['sentence']} *Certainty: {row['certainty']}.*" for row in leads(findings))


def laptop(config: Config) -> str:
    """What small encoders say: the criteria of replication, then each question."""
    folder = config.root / REPORT
    check_files(tidy_manifest(folder / "claims.csv"), "claims.csv", "ladder.csv", "criteria.csv")
    known = tables.read(folder / "claims.csv", columns.KNOWN)
    ladder = tables.read(folder / "ladder.csv", columns.LADDER)
    criteria = tables.read(folder / "criteria.csv", columns.CRITERIA)
    findings = tables.read(check_tidy(folder, "findings.csv"), columns.FINDINGS)
    small = measured(known, ladder)
    scales = (
        planning.cfg.load(config.root, {"scale": scale}).scale for scale in {one["scale"] for one in small.values()}
    )
    superseded = [scale.superseded for scale in scales if scale.superseded]
    lines = ["## In numbers", "", *_criteria(config, criteria)]
    found, limits = of_studies(config.root), ask.limits(config)
    for name, paper in config.papers.items():
        of_paper = [row for row in tables.rows(findings) if row["paper"] == name]
        answered = []
        for row in of_paper:
            chosen = [small[one] for one in row["about"].split() if one in small]
            if chosen and row["id"] not in paper.studies:
                answered.append((row, chosen))
        if answered:
            differs = (part for _, chosen in answered for one in chosen for part in one["differs"].split("; ") if part)
            lines += [f"## {paper.title}", ""]
            lines += [line for row, chosen in answered for line in _question(paper, row, chosen, superseded)]
            other = "; ".join(dict.fromkeys(differs))
            lines += [f"Other than published, in some or all of these: {other}.", ""] if other else []
        lines += studied(config, paper, {row["id"]: _answer(row) for row in of_paper}, found["studies"], limits)
    ended = [*_progress(config, found["progress"]), *_nothing_differs(config, found), *_prices(config, known)]
    return "\n".join([*lines, *ended]).rstrip()


def measured(known: pd.DataFrame, ladder: pd.DataFrame) -> dict[str, Row]:
    """The comparisons of which small encoders say something, by id: the claim, with the better protocol's evidence."""
    listed = {row["id"]: row for row in tables.rows(known) if row["kind"] == "comparison"}
    steps = [row for row in tables.rows(ladder) if row["rung"] in SMALL and row["id"] in listed]
    return {row["id"]: listed[row["id"]] | row for row in sorted(steps, key=lambda row: -SMALL.index(row["rung"]))}


def _criteria(config: Config, criteria: pd.DataFrame) -> Iterator[str]:
    """How many comparisons agree with the printed ones, by document and protocol."""
    yield from _table(
        ("document", "evidence", "compared", "printed sign", "clear of zero", "printed effect inside ours")
    )
    for row in tables.rows(criteria[criteria["rung"].isin(SMALL)]):
        counts = (f"{row[name]:.0f}" for name in ("compared", "same_sign", "clear", "printed_inside"))
        yield pipes((config.papers[row["paper"]].title, RUNGS[row["rung"]], *counts))
    yield ""


def _question(paper: Paper, row: Mapping[str, Any], chosen: Sequence[Row], superseded: Sequence[str]) -> Iterator[str]:
    yield from (f"### {row['question']}", "", _answer(row, superseded), "")
    shown = [one for one in chosen if not _tells_nothing(one)]
    if shown:
        yield from _table(HEAD)
        yield from (pipes((name, *_cells(one))) for name, one in zip(_names(paper, shown), shown, strict=True))
        yield ""
    left = [(float(one["measured"]), decimals_of(one)) for one in chosen if _tells_nothing(one) and one["measured"]]
    if left and len(chosen) > 1:
        yield from (f"Left out as telling nothing: {spanned(left)} in {counted(len(left), 'comparison')}.", "")


def _answer(row: Mapping[str, Any], superseded: Sequence[str] = ()) -> str:
    """The sentence of a finding, with its certainty and the reasons."""
    reasons = row["reasons"]
    for protocol in superseded:
        reasons = reasons.replace(protocol, "first protocol")
    return f"{row['sentence']} Certainty: {row['certainty']}{f' ({reasons})' if reasons else ''}."


def studied(
    config: Config,
    paper: Paper,
    sentences: Mapping[str, str],
    compared: pd.DataFrame,
    limits: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    """The studies of a document that have begun: the answer so far, the curves, and what confirmation runs say."""
    for name, study in paper.studies.items():
        groups = list(confirmed.comparisons(config, paper.paper, name, compared))
        head, checks = confirmed.checks(config, paper.paper, name, compared)
        file = selection_file(config.root, paper.paper, name)
        if not groups and not file.is_file():
            continue
        yield from (f"## {paper.title}: {study.question}", "")
        yield from ([sentences[name], ""] if name in sentences else [])
        if file.is_file():
            yield from _tuning(paper, name, study, file)
        for title, rows in groups:
            yield from (f"{words.measure(study.measure)} on the confirmation seeds{f', {title}' if title else ''}:", "")
            yield from (*_table(confirmed.head(config, paper.paper, name)), *map(pipes, rows), "")
        if checks:
            yield from (f"Checks{', at the best values' if study.tuned else ''}; the baseline's in brackets:", "")
            yield from (*_table(head), *map(pipes, checks), "")
        if limits.get(name):
            yield from ("What it does not say:", "", *(f"- {one}" for one in limits[name]), "")


def _tuning(paper: Paper, name: str, study: Study, file: Path) -> Iterator[str]:
    """The curves that the arms of a study were tuned by."""
    curves: dict[str, dict[str, str]] = {}
    for one in read_curve(file, study):
        shown = words.number(one.mean, MEASURES[study.measure].decimals) if one.n else "diverged"
        curves.setdefault(one.arm, {})[one.value] = f"**{shown}**" if one.chosen else shown
    values = dict.fromkeys(value for curve in curves.values() for value in curve)
    points = [coordinates.parse(value, str(file)) for value in values]
    alone = len({key for one in points for key in one}) == 1  # which the line above the table names
    heads = [
        ", ".join(map(coordinates.show, one.values())) if alone else words.point(paper, one, [*one]) for one in points
    ]
    yield from (f"![{study.title}: {words.measure(study.measure)} at each value](images/{name}{TUNING}.png)", "")
    tuned, seeds = " and ".join(map(paper.label, study.tuned)), counted(len(study.seeds.tuning), "tuning seed")
    yield f"{words.measure(study.measure)}, the mean of {seeds}, by {tuned}."
    yield from ("Bold: chosen, to be confirmed on other seeds.", "", *_table(("arm", *heads)))
    for arm, curve in curves.items():
        point = coordinates.parse(arm, str(file))
        yield pipes((words.point(paper, point, [*point]), *(curve.get(value, "–") for value in values)))
    yield ""


def _progress(config: Config, progress: pd.DataFrame) -> Iterator[str]:
    """How far the runs of each study are."""
    if progress.empty:
        return
    parts = [*dict.fromkeys(progress["part"])]
    of_study: dict[tuple[str, str], dict[str, str]] = {}
    for row in tables.rows(progress):
        shown = f"{row['recorded']:g} of {row['planned']:g}"
        of_study.setdefault((row["paper"], row["study"]), {})[row["part"]] = shown
    yield from ("## How far the studies are", "")
    yield from _prose("""
        Recorded runs, of those that the plans have. Checks are the arms that decide nothing. The confirmation of a
        tuned study is planned once its best values are selected.
    """)
    yield from _table(("question", *parts))
    for (paper, study), found in of_study.items():
        question = config.papers[paper].studies[study].question
        yield pipes((question, *(found.get(part, "–") for part in parts)))
    yield ""


def _nothing_differs(config: Config, found: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """How often the rules of a study call a difference among runs that differ in their seed alone."""
    rules, percent = rules_file.load(config.root), words.confidence(config)
    splits, compared = nothing_differs(found, rules.confidence)
    if splits:
        yield from ("## Where nothing differs", "")
        yield from _prose(f"""
            The runs of one arm of a study differ in their seed alone. They are split at random into a baseline and
            other arms, which are judged as a study's are: by Welch's test, Holm's correction over the split's
            comparisons, and two one-sided tests. At most {100 * rules.alpha:g} % of splits should call a
            difference. This checks that the tests keep their level with spreads like ours. It cannot show whether
            runs that were made at another time differ: A/A arms do that. In brackets: the least and the greatest
            share of a set of runs.
        """)
        shares = ("splits that call a difference", "comparisons called equal")
        yield from _table(("runs an arm", "arms", "sets of runs", *shares))
    for row in splits:
        differing, level = (
            "{} % ({} to {})".format(*(words.number(row[f"{name}{end}"], 1) for end in ("", "_least", "_most")))
            for name in ("called", "level")
        )
        counts = (f"{row[name]:g}" for name in ("n", "arms", "sets"))
        yield pipes((*counts, differing, f"{level}, within {row['margin']:g}"))
    if splits and compared.comparisons:
        yield ""
        yield from _prose(f"""
            The studies' own A/A comparisons call a difference in {compared.called} of {compared.comparisons}. If
            they were independent, the share would be between {compared.low:.0f} and {compared.high:.0f} % ({percent},
            Clopper and Pearson); those of one study on several tasks share their encoders.
        """)


def _prices(config: Config, known: pd.DataFrame) -> Iterator[str]:
    """The open comparisons that the runs of a study would not answer, with what they would take."""
    rules, rows = rules_file.load(config.root), list[tuple[float, tuple[str, ...]]]()
    margin = rules.margin.at_least_high
    for row in tables.rows(known):
        equal, paper, decimals = row["reported"] == "equal", config.papers[row["paper"]], decimals_of(row)
        needed = row["runs_to_equate" if equal else "runs_to_see"]
        clear = row["low_unadjusted"] > 0 or row["high_unadjusted"] < 0
        if row["rung"] in SMALL and needed > MOST_RUNS and not clear and not math.isnan(row["core_hours"]):
            printed, runs = numbers(row)["printed"], "–" if equal else _roughly(needed)
            shown = (printed, words.number(row["spread"], decimals), runs, _roughly(row["core_hours"]))
            within = -margin < row["low_equal"] and row["high_equal"] < margin
            now = words.interval(row["low_equal"], row["high_equal"], decimals) + (" (equal)" if within else "")
            short = paper.report.short if paper.report else paper.title
            named = f"{short}, {row['source'].split(';')[0]}: {forest.subject(paper, row)}"
            rows.append((row["core_hours"], (named, *shown, _roughly(row["runs_to_equate"]), now)))
    if rows:
        yield from ("## How many runs open comparisons would need", "")
        yield from _prose(f"""
            Comparisons whose interval holds zero, and that need more than {MOST_RUNS} runs an arm to see the
            printed difference, or, where none is printed, to find the arms equal within {margin:g}. Each has
            {100 * rules.power:g} % power, if the true difference is the printed one (or none), before any
            correction. The spread is that of the few runs here, so a number of runs may be a third or three times
            as large. Hours are of one core, for both arms at one rate, counted and not measured
            ([cost.md](cost.md)); a grid of rates comes on top. The last column is the 90 % interval of our effect
            so far: equal, if it is within ±{margin:g}. Verdicts on printed accuracies below {rules.margin.high:g}
            use {rules.margin.below_high:g}. Control tasks have no price here: a run needs its simulator.
        """)
        prices = ("runs to see it", "core-hours", f"runs for equality within {margin:g}")
        yield from _table(("comparison", "printed", "spread", *prices, "effect so far"))
        yield from (pipes(cells) for _, cells in sorted(rows))
        yield ""


def _prose(text: str) -> Iterator[str]:
    """A paragraph, in lines of a page."""
    yield from (*textwrap.wrap(" ".join(text.split()), 120, break_on_hyphens=False), "")


def _roughly(value: float) -> str:
    """Two significant digits."""
    return f"{float(f'{value:.2g}'):,g}"


def _tells_nothing(one: Row) -> bool:
    """Whether a comparison has no interval, or one (Welch's) that holds both zero and the printed difference."""
    low, high = one["low_unadjusted"], one["high_unadjusted"]
    printed = 0.0 if one["reported"] in DIRECTIONS else float(one["reported"])
    return math.isnan(low) or (low <= min(0.0, printed) and max(0.0, printed) <= high and printed != 0)


def _cells(one: Row) -> tuple[str, ...]:
    shown = numbers(one)
    holm = words.interval(one["low"], one["high"], decimals_of(one))
    direction = one["direction"] + (" (level)" if is_level(one) else "")
    return (*(shown[name] for name in ("printed", "effect", "interval")), holm, shown["n"], direction)


def _names(paper: Paper, shown: Sequence[Row]) -> Iterator[str]:
    """``cut (c = 3), CIFAR-10 unb.``: of what the rows of a table compare, what differs between them."""
    settings = [coordinates.parse(one["setting"], one["id"]) for one in shown]
    keys = words.varying(settings) if len(shown) > 1 else tuple(settings[0])
    several = [name for name in ("method", "variant", "dataset") if len({one[name] for one in shown}) > 1]
    for one, setting in zip(shown, settings, strict=True):
        named = [paper.label(one[name]) for name in several or ("dataset",)]
        yield ", ".join(filter(None, (*named, words.point(paper, setting, keys))))


def _table(head: Sequence[str]) -> Iterator[str]:
    yield pipes(head)
    yield f"|{'---|' * len(head)}"


if __name__ == "__main__":
    config = planning.cfg.load(ROOT, {})
    parts = {ROOT / "README.md": lead, ROOT / "docs" / "laptop.md": laptop}
    for page, part in parts.items():
        files.write_text(page, renewed(page.read_text(encoding="utf-8"), BEGIN, END, part(config)))
    images = ROOT / "docs" / "images"
    shutil.copyfile(ROOT / REPORT / "forest_short.png", images / "forest.png")
    shutil.copyfile(ROOT / REPORT / f"{confirmed.NAME}.png", images / f"{confirmed.NAME}.png")
    for paper, study in config.selected:
        scale = config.papers[paper].studies[study].scale
        drawn = planning.cfg.load(ROOT, {"scale": scale, "evidence_only": True}).results / "figures" / paper
        if config.selected[paper, study]:
            shutil.copyfile(drawn / f"{study}{TUNING}.png", images / f"{study}{TUNING}.png")
