"""What the runs of our studies say: their comparisons, and how often their rules call a difference where there is none.

For the second, the runs of one arm, which differ in their seed alone, are split at random into arms of n, the first of
which stands for the baseline. Every call of a difference among them is wrong. docs/statistics.md states the rules.
"""

import math
from collections.abc import Iterator, Mapping
from operator import attrgetter

import numpy as np
import pandas as pd

from hypersphere.config import rules as rules_file
from hypersphere.config.cells import LEFT_OUT
from hypersphere.config.plan import Plan
from hypersphere.config.rules import Rules
from hypersphere.config.study import CHECKS, PRINTED, TIMES, TUNING
from hypersphere.provenance import likeness, tables
from hypersphere.provenance.tables import Row
from hypersphere.statistics import answers, effects, effects_table, measure
from hypersphere.statistics.effects import WELCH

DRAWS = 2000
"""Random splits of each set of runs."""
SIZES = (5, 10)
"""Runs an arm: the least that a study has, and what most have."""
COMPARED: tables.Columns = {
    **tables.texts("paper", "study", "artifact", "coordinates", "baseline", "measure"),
    **tables.numbers(
        "mean", "baseline_mean", "n", "n_missing", "effect", "low", "high", "low_holm", "high_holm"
    ),
    **tables.numbers("low_equal", "high_equal", "margin"),
    **tables.flags("in_family", "equivalent", "finished"),
    **tables.texts("floored", "called", "came_to", "baseline_came_to"),
}
"""studies.csv: a row for each comparison of a study's confirmed arms (by its primary measure, at printed values, and by
its checks), as in effects.csv. ``n`` is the smaller arm's. A/A comparisons are in no family. ``finished``: whether it
may be read (``is_finished`` below). ``called``: what it is counted as (``answers.called``), joined by ``; ``.
``came_to``: what a tuned multiple of a declared number comes to in the arm's runs, ``0.0038``; ``baseline_came_to``: in
the baseline's."""
ANSWERED: tables.Columns = {**tables.texts("paper", "study", "answer"), **tables.flags("finished")}
"""answers.csv: a row for each study of which any arm was confirmed; no answer: it is not finished."""
SPLITS: tables.Columns = {
    **tables.texts("paper", "study", "run", "measure"),
    **tables.numbers("margin", "runs", "n", "arms", "called", "level"),
}
"""splits.csv: a row for each set of runs (``run``: the first of them) and number of runs an arm; shares in percent."""
PARTS = {"tuning": TUNING, "confirmation": "", "printed values": PRINTED, "checks": CHECKS}
"""The parts of a study's plan, with how the names of their artifacts end."""
PROGRESS: tables.Columns = {
    **tables.texts("paper", "study", "part"),
    **tables.numbers("planned", "recorded"),
}
"""progress.csv: a row for each part of the plan of each study that is not closed: how many runs it has, and how many
are recorded. A run of several parts counts in the first. Runs whose values are not selected yet are no runs so far."""
TABLES = {"studies": COMPARED, "splits": SPLITS, "answers": ANSWERED, "progress": PROGRESS}


def is_finished(plan: Plan, paper: str, artifact: str) -> bool:
    """Whether an artifact may be read: whether its study has every run of its primary comparison, and it its own.

    A closed study never will. What is of no study waits for nothing.
    """
    document = plan.config.papers[paper]
    study = document.measured[artifact].plan
    if study is None:
        return True
    reasons = set[str]()
    for part in {study, artifact}:
        reasons |= {cell.missing for cell in plan.artifacts[paper, part]}
    return reasons <= {"", LEFT_OUT} and not document.closed(artifact)


def shares(
    values: np.ndarray, n: int, margin: float, rules: Rules, draws: int = DRAWS
) -> dict[str, float]:
    """What a study's rules (Welch, Holm, two one-sided tests) say of random splits of ``values`` into arms of ``n``.

    ``values`` and ``margin`` are in the measure's unit. The splits depend on ``n`` and on the number of values alone.
    ``arms``: of one split, the baseline among them; ``called``: splits of which an arm is called better or worse than
    the baseline, after Holm's correction (%); ``level``: comparisons that are called equal within the margin (%).
    """
    from scipy import stats

    arms = len(values) // n
    places = np.tile(np.arange(len(values)), (draws, 1))
    order = np.random.default_rng([len(values), n]).permuted(places, axis=1)
    split = values[order[:, : arms * n]].reshape(draws, arms, n)
    tested = stats.ttest_ind(split[:, 1:], split[:, :1], axis=2, equal_var=False)
    equal = tested.confidence_interval(rules.equivalence)
    # Holm's procedure calls something exactly if its first step does.
    called = (tested.pvalue.min(axis=1) <= rules.alpha / (arms - 1)).mean()
    level = ((equal.low > -margin) & (equal.high < margin)).mean()
    return {"arms": arms, "called": float(100 * called), "level": float(100 * level)}


def of_plan(plan: Plan) -> dict[str, tuple[pd.DataFrame, tables.Columns]]:
    """The ``TABLES`` of a scale, by name."""
    rules = rules_file.load(plan.config.root)
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    for paper, document in plan.config.papers.items():
        for study, declared in document.studies.items():
            if declared.closed is None:
                rows["progress"] += _progress(plan, paper, study)
            for artifact in (study, study + PRINTED, study + CHECKS):
                if (paper, artifact) not in plan.made_artifacts:
                    continue
                judged = measure.judged_tables(plan, paper, artifact, rules)
                whole = is_finished(plan, paper, artifact)
                compared = list(_comparisons(plan, paper, study, artifact, judged, whole))
                rows["studies"] += compared
                if artifact == study and compared:
                    answer = _answer(plan, paper, study, compared, judged, rules) if whole else ""
                    rows["answers"].append(
                        {"paper": paper, "study": study, "answer": answer, "finished": whole}
                    )
                if whole and declared.test == WELCH and artifact != study + CHECKS:
                    measured = judged["measurements"]
                    rows["splits"] += _splits(plan, paper, study, artifact, measured, rules)
    # a set of runs that is shown at the best values and at the printed ones counts once
    found = {name: pd.DataFrame(rows[name], columns=list(kinds)) for name, kinds in TABLES.items()}
    found["splits"] = found["splits"].drop_duplicates(ignore_index=True)
    return {name: (found[name], kinds) for name, kinds in TABLES.items()}


def _progress(plan: Plan, paper: str, study: str) -> Iterator[Row]:
    """The rows of progress.csv of one study."""
    counted = set[str]()
    for part, ending in PARTS.items():
        artifact = paper, study + ending
        cells = plan.artifacts.get(artifact, [])
        planned = {cell.run.name for cell in cells if cell.run} - counted
        counted |= planned
        if planned:
            yield {
                "paper": paper,
                "study": study,
                "part": part,
                "planned": len(planned),
                "recorded": len(planned & plan.runs_of(*artifact).keys()),
            }


def _answer(
    plan: Plan,
    paper: str,
    study: str,
    compared: list[Row],
    judged: Mapping[str, pd.DataFrame],
    rules: Rules,
) -> answers.Answer:
    """The answer to a finished study; unclear where its runs were not made alike."""
    if likeness.unlike(judged["runs"]):
        return "unclear"
    document = plan.config.papers[paper]
    values: effects.Arms = {}
    for alike in effects_table.arms(
        judged["measurements"], document.measured[study].points
    ).values():
        values |= alike
    rule = answers.rule_of(document.studies[study].answers, plan.config.answers_file(paper), study)
    return answers.of_study(rule, compared, values, rules)


def _comparisons(
    plan: Plan,
    paper: str,
    study: str,
    artifact: str,
    judged: Mapping[str, pd.DataFrame],
    whole: bool,
) -> Iterator[Row]:
    """The rows of studies.csv of one artifact; ``whole``: it is finished."""
    declared = plan.config.papers[paper].studies[study]
    multiples = [key.removesuffix(TIMES) for key in declared.tuned if key.endswith(TIMES)]
    came_to = {}
    for cell in plan.artifacts[paper, artifact]:
        if cell.run:
            numbers = [attrgetter(path)(cell.run) for path in multiples]
            came_to[cell.text] = ", ".join(f"{number:.2g}" for number in numbers)
    summary = judged["summary"].set_index("coordinates")
    mixed = bool(likeness.unlike(judged["runs"]))
    for row in tables.rows(judged["effects"]):
        variant, baseline = row["coordinates"], row["baseline"]
        row |= {
            "paper": paper,
            "study": study,
            "artifact": artifact,
            "finished": whole,
            "n": min(row["n_variant"], row["n_baseline"]),
            "mean": summary.loc[variant, "mean"],
            "baseline_mean": summary.loc[baseline, "mean"],
            "came_to": came_to[variant],
            "baseline_came_to": came_to[baseline],
        }
        if row["measure"] != declared.measure:
            # The margin is in the unit of the primary measure, and checks are not tested for an answer.
            row |= {"margin": math.nan, "equivalent": False}
        yield row | {"called": "" if mixed else "; ".join(answers.called(row))}


def _splits(
    plan: Plan, paper: str, study: str, artifact: str, measured: pd.DataFrame, rules: Rules
) -> Iterator[Row]:
    """The rows of splits.csv of each set of finished runs that differ in their seed alone, in the order of seeds.

    An A/A arm is one set with its baseline.
    """
    declared = plan.config.papers[paper].studies[study]
    runs = plan.runs_of(paper, artifact)
    counted = measured["run"].isin(runs) & measured["final"] & (measured["status"] == "finished")
    of_runs = measured[counted].drop_duplicates("run").sort_values("seed")
    setting = [runs[name].model_dump_json(exclude={"seed"}) for name in of_runs["run"]]
    for _, alike in of_runs.groupby(setting, sort=False):
        for n in SIZES:
            if len(alike) >= 2 * n:
                values = alike["value"].to_numpy(dtype=float)
                yield {
                    "paper": paper,
                    "study": study,
                    "run": alike["run"].iloc[0],
                    "measure": declared.measure,
                    "margin": declared.margin,
                    "runs": len(alike),
                    "n": n,
                    **shares(values, n, declared.margin, rules),
                }
