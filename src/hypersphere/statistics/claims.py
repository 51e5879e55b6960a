"""claims.csv: one row per published number or comparison, and the verdict of our measurement on it."""

import math
from typing import Any

import numpy as np
import pandas as pd

from hypersphere.declared import config as cfg
from hypersphere.declared import rules as rules_file
from hypersphere.declared.artifacts import Paper
from hypersphere.declared.claims import Claim, load
from hypersphere.declared.measures import METRICS
from hypersphere.declared.plan import Plan
from hypersphere.declared.rules import Rules
from hypersphere.integrity.manifest import check_tidy
from hypersphere.statistics import studies, theorems, verdicts
from hypersphere.statistics.build import write
from hypersphere.statistics.effects import COLUMNS as EFFECTS
from hypersphere.statistics.effects import NAN, Pooled, arms, pool
from hypersphere.statistics.gather import MEASUREMENTS, mean_interval, read, spread

COLUMNS = [
    *["id", "kind", "paper", "artifact", "method", "variant", "dataset", "setting", "metric", "reported"],
    *["reported_std", "measured", "measured_std", "n", "p", "scale", "reading", "verdict", "source"],
    *["baseline", "low", "high", "low_power", "margin", "verdict_half", "verdict_double", "measured_on"],
    *["unstated", "sentence", "draws", "met", "violated", "counterexample", "study"],
]


NOTHING: dict[str, Any] = {
    **{"measured": NAN, "measured_std": NAN, "n": 0, "p": NAN, "verdict": verdicts.NOT_RUN},
    **{
        "low": NAN,
        "high": NAN,
        "low_power": None,
        "margin": NAN,
        "verdict_half": None,
        "verdict_double": None,
    },
    **{"draws": None, "met": None, "violated": None, "counterexample": None, "study": None},
}
"""The measured columns of a claim that nothing was run for."""


def build(plan: Plan) -> None:
    """Write results/<scale>/claims.csv from results/<scale>/statistics/, theory.csv and paper/claims/.

    Claims come in the order of the papers, and of the rows of each paper's file.

    Raises:
        HypersphereError: a file is missing or not as expected; the sentence names the claim and the column.
    """
    config = plan.config
    rules = rules_file.load(config.root)
    limit = verdicts.limit(config.scale.level, config.scale_name != config.settings.scale)
    measurements = read(check_tidy(config.results, "statistics/measurements.csv"), MEASUREMENTS)
    effects = read(check_tidy(config.results, "statistics/effects.csv"), EFFECTS)
    theory = read(check_tidy(config.results, "theory.csv"), theorems.COLUMNS)
    rows = []
    for name, paper in config.papers.items():
        file = config.root / "paper" / "claims" / f"{name}.csv"
        claims = load(file)
        answered = studies.judge(claims, config, name, rules)
        for claim in claims:
            outcome = NOTHING
            if claim.id in answered:
                outcome = NOTHING | answered[claim.id]
            elif claim.kind == "theorem":
                outcome = NOTHING | theorems.judge(claim.id, claim.reading, file, theory)
            elif claim.kind == "value":
                outcome = judge_value(claim, paper, measurements, rules, limit)
            elif claim.kind == "comparison":
                outcome = judge_comparison(claim, paper, effects, limit)
            rows.append(_described(claim, paper, config) | outcome)
    table = pd.DataFrame(rows, columns=COLUMNS)
    for column in ("reported", "measured"):  # as text: elsewhere infinity is a missing number, here it says "never"
        table[column] = [_text(value) for value in table[column]]
    write(config.results, {"claims": (table, COLUMNS)})


def _described(claim: Claim, paper: Paper, config: cfg.Config) -> dict[str, Any]:
    """The columns that do not depend on any measurement."""
    choices = paper.open_choices
    return claim.model_dump(exclude={"direction", "reported_n"}) | {
        "paper": paper.paper,
        "reported": claim.direction or (NAN if claim.reported is None else claim.reported),
        "reported_std": NAN if claim.reported_std is None else claim.reported_std,
        "scale": config.scale_name,
        "measured_on": config.scale.datasets.get(claim.dataset),
        "unstated": 0 if claim.kind == "theorem" else len(choices.get("all", [])) + len(choices.get(claim.method, [])),
    }


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else "" if math.isnan(value) else f"{value + 0.0:.10g}"


def judge_value(
    claim: Claim, paper: Paper, measurements: pd.DataFrame, rules: Rules, limit: verdicts.Limit | None
) -> dict[str, Any]:
    """The measured columns of a printed number: our final-epoch mean over the runs that finished.

    Below the published scale (``limit``) the interval is the 95 % one of our mean, and nothing is compared with the
    published number. Where all runs diverged nothing was measured, and the verdict is inconclusive: whether the
    published number is itself that of a failed run is for the claim's reading to say.
    """
    artifact = paper.measured.get(claim.artifact)
    row = f"{claim.method}.{claim.variant}"
    if artifact is None or claim.metric is None or row not in artifact.rows or claim.reported is None:
        return NOTHING
    groups = arms(measurements, paper.paper, claim.metric, artifact.rows, claim.dataset)
    if row not in groups:
        return NOTHING
    pooled, values = pool(groups), groups[row].to_numpy(dtype=float)
    low, high = mean_interval(values, rules.confidence)
    outcome = NOTHING | {
        "measured": float(values.mean()) if len(values) else NAN,
        "measured_std": spread(values),
        "n": len(values),
        "verdict": limit or verdicts.INCONCLUSIVE,
        "low": low,
        "high": high,
        "low_power": pooled.df < rules.low_power_df,
    }
    if limit is None and len(values):
        outcome |= _against(claim, claim.reported, outcome["measured"], len(values), pooled, rules)
    return outcome


def _against(claim: Claim, published: float, ours: float, n: int, pooled: Pooled, rules: Rules) -> dict[str, Any]:
    """p, margin, verdict and interval of our mean against a published number, at the published scale."""
    error = verdicts.value_error(n, pooled.std, claim.reported_std)
    p = verdicts.value_p(ours, published, error, pooled.df)
    if claim.metric is None or METRICS[claim.metric].unit != "%":
        return {"p": p}  # a margin is stated for accuracies only, so nothing else can be equivalent
    margin = rules.margin.of(published)
    half, full, double = (
        verdicts.of_value(ours, published, error, pooled.df, margin * factor, rules) for factor in (0.5, 1, 2)
    )
    return {
        "p": p,
        "margin": margin,
        "verdict": full.verdict,
        "verdict_half": half.verdict,
        "verdict_double": double.verdict,
        "low": full.low,
        "high": full.high,
    }


def judge_comparison(claim: Claim, paper: Paper, effects: pd.DataFrame, limit: verdicts.Limit | None) -> dict[str, Any]:
    """The measured columns of a comparison: our effect, Holm's p, the smaller arm's n.

    Below the published scale (``limit``) the interval is Holm's and there is no agreement with the published effect.
    An effect without an interval (one run an arm, or an arm that diverged throughout) is inconclusive.
    """
    fields = ["artifact", "method", "variant", "baseline", "dataset", "metric"]
    same = [effects[field] == getattr(claim, field) for field in fields]
    rows = effects[np.logical_and.reduce([effects["paper"] == paper.paper, *same])]
    if rows.empty or claim.reported is None:
        return NOTHING
    found = rows.iloc[0]
    adjusted = (float(found["low_holm"]), float(found["high_holm"]))
    primary = (float(found["low"]), float(found["high"]))
    judged = verdicts.of_effect(claim.reported, adjusted, primary)
    low, high = (judged.low, judged.high) if limit is None else adjusted
    return NOTHING | {
        "measured": float(found["effect"]),
        "n": int(min(found["n_variant"], found["n_baseline"])),
        "p": float(found["p_holm"]),
        "verdict": limit or judged.verdict,
        "low": low,
        "high": high,
        "low_power": bool(found["low_power"]),
    }
