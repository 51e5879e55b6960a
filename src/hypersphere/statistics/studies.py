"""Verdicts on the answers of exact studies. No scale limits them, because every scale runs them at published size."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hypersphere.config.claims import PRINTED, Claim
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.rules import Rules
from hypersphere.config.verdicts import Verdict
from hypersphere.errors import HypersphereError
from hypersphere.provenance.manifest import check_tidy
from hypersphere.provenance.tables import read
from hypersphere.simulations.study import COLUMNS
from hypersphere.statistics import verdicts
from hypersphere.statistics.effects import NAN, holm, pool
from hypersphere.t_test import mean_interval, spread, t_interval, t_p

KIND_OF = dict.fromkeys(("value", "seeds", "calibrated", "low"), "value") | dict.fromkeys(
    ("held", "variant"), "comparison"
)
"""The kind of claim that an answer belongs to, by the answer's first arm."""
Arms = Mapping[str, np.ndarray]
"""The numbers of one answer, by arm; ``simulations/study.py`` says which arms an answer has."""


class _Effect(NamedTuple):
    """A comparison of two arms over seeds, before Holm's correction."""

    difference: float
    error: float
    df: int
    n: int


def judge(claims: Sequence[Claim], config: Config, paper: str, rules: Rules) -> dict[str, dict[str, Any]]:
    """The measured columns of every claim that an exact study answers at this scale, by the claim's id.

    Raises:
        HypersphereError: a claim about a study's artifact has no answer, or an answer belongs to no claim.
    """
    studied = config.studied(paper)
    if not studied:
        return {}
    path = check_tidy(config.results, f"simulations/{paper}/answers.csv")
    table = read(path, COLUMNS)
    answers = _answers(table)
    answerable = {claim.id: claim for claim in claims if claim.kind != "theorem"}
    for claim in answerable.values():
        if claim.artifact in studied and (claim.id, claim.reading) not in answers:
            raise HypersphereError(f"{path}: no study answers {claim.id} in the reading '{claim.reading}'")
    for (identifier, reading), arms in answers.items():
        if identifier not in answerable or answerable[identifier].reading != reading:
            raise HypersphereError(f"{path}: {identifier} in the reading '{reading}' is not a claim of {paper}")
        if (kind := KIND_OF[next(iter(arms))]) != answerable[identifier].kind:
            raise HypersphereError(
                f"{path}: {identifier} is a {answerable[identifier].kind}, but the answer is for a {kind}"
            )
    outcomes = {
        name: _judged(answerable[name], arms, rules) for (name, _), arms in answers.items() if "variant" not in arms
    }
    compared = [(answerable[name], arms) for (name, _), arms in answers.items() if "variant" in arms]
    for artifact in dict.fromkeys(claim.artifact for claim, _ in compared):
        outcomes |= _compared([(claim, arms) for claim, arms in compared if claim.artifact == artifact], rules)
    open_ended = {name for name, declared in studied.items() if declared.cannot_be_judged}
    outcomes |= {
        name: verdicts.cannot_be_judged(outcomes[name]) for name in outcomes if answerable[name].artifact in open_ended
    }
    made_by = dict(zip(table["id"], table["study"], strict=True))
    return {name: outcome | {"study": made_by[name]} for name, outcome in outcomes.items()}


def _answers(table: pd.DataFrame) -> dict[tuple[str, str], dict[str, np.ndarray]]:
    return {
        (str(identifier), str(reading)): {
            str(arm): part["value"].to_numpy(dtype=float) for arm, part in rows.groupby("arm", sort=False)
        }
        for (identifier, reading), rows in table.groupby(["id", "reading"], sort=False)
    }


def _judged(claim: Claim, arms: Arms, rules: Rules) -> dict[str, Any]:
    if "held" in arms:
        held, places = int(arms["held"][0]), int(arms["places"][0])
        return counted(claim, held, places, int(arms["needed"][0]) if "needed" in arms else places)
    if "value" in arms:
        return exact(claim, float(arms["value"][0]))
    if "low" in arms:
        return ranged(claim, float(arms["low"][0]), float(arms["high"][0]))
    if "calibrated" in arms:
        return calibrated(arms["calibrated"], rules)
    return over_seeds(claim, arms["seeds"], rules)


def counted(claim: Claim, held: int, places: int, needed: int) -> dict[str, Any]:
    """A sentence checked at every place of an exact computation; ``measured`` is the share where it holds (%).

    It speaks of ``needed`` of the places: of all, unless it says "most" or "can".
    """
    holds = Verdict.NO_COUNTEREXAMPLE if claim.reading == PRINTED else Verdict.NO_COUNTEREXAMPLE_ERRATUM
    return {
        "measured": 100 * held / places,
        "n": places,
        "verdict": holds if held >= needed else Verdict.REFUTED,
    }


def exact(claim: Claim, value: float) -> dict[str, Any]:
    """A number without randomness: exact if it is the printed one to the decimals of its metric."""
    agrees = claim.reported is not None and abs(value - claim.reported) <= 0.5 * _unit(claim) * (1 + 1e-9)
    return {"measured": value, "n": 1, "verdict": _as_read(claim) if agrees else Verdict.NOT_REPRODUCED}


def ranged(claim: Claim, low: float, high: float) -> dict[str, Any]:
    """The possible range of a number. The printed one may be off by half its last decimal."""
    room = 0.5 * _unit(claim) * (1 + 1e-9)
    possible = claim.reported is not None and low - room <= claim.reported <= high + room
    forced = possible and high - low <= 2 * room
    verdict = _as_read(claim) if forced else Verdict.INCONCLUSIVE if possible else Verdict.REFUTED
    return {"low": low, "high": high, "verdict": verdict}


def over_seeds(claim: Claim, values: np.ndarray, rules: Rules) -> dict[str, Any]:
    """A number that varies with the seed, compared with the printed one by two one-sided tests.

    An infinite value is a seed that never converged. A spread below the rounding error of printing is raised to it.
    """
    n, printed = len(values), NAN if claim.reported is None else claim.reported
    diverged = np.isinf(values)
    if diverged.any() or math.isinf(printed):
        all_diverged = Verdict.DIVERGED if math.isinf(printed) else Verdict.NOT_REPRODUCED
        some_diverged = Verdict.INCONCLUSIVE if diverged.any() else Verdict.NOT_REPRODUCED
        return {"measured": float(values.mean()), "n": n, "verdict": all_diverged if diverged.all() else some_diverged}
    mean, std = float(values.mean()), spread(values)
    accuracy = claim.metric is not None and MEASURES[claim.metric].margin == "accuracy"
    margin = rules.margin.of(printed) if accuracy else rules.margin.of_simulated(printed)
    columns = {"measured": mean, "measured_std": std, "n": n, "low_power": n - 1 < rules.low_power_df}
    ours = verdicts.Estimate(mean, n, _raised(std, claim), n - 1)
    return columns | verdicts.judge(claim, ours, margin, rules)


def calibrated(values: np.ndarray, rules: Rules) -> dict[str, Any]:
    """A number that the study's inputs were chosen to match: it agrees by construction, which settles nothing."""
    low, high = mean_interval(values, rules.confidence)
    columns = {"measured": float(values.mean()), "measured_std": spread(values), "n": len(values)}
    return columns | {"low": low, "high": high, "verdict": Verdict.INCONCLUSIVE}


def _compared(family: Sequence[tuple[Claim, Arms]], rules: Rules) -> dict[str, dict[str, Any]]:
    """The comparisons of one artifact, Holm-corrected together."""
    effects = [_effect(claim, arms) for claim, arms in family]
    p = [t_p(effect.difference, effect.error, effect.df) for effect in effects]
    adjusted, levels = holm(p, rules.alpha, len(p))
    outcomes = {}
    for (claim, _), effect, p_holm, level in zip(family, effects, adjusted, levels, strict=True):
        wide = t_interval(effect.difference, effect.error, effect.df, 1 - level)
        primary = t_interval(effect.difference, effect.error, effect.df, rules.confidence)
        if claim.direction == "equal":
            margin = rules.margin.of(claim.level or 0.0)
            confident = t_interval(effect.difference, effect.error, effect.df, rules.equivalence)
            judged = verdicts.of_equality(confident, primary, margin)
        elif claim.direction == "larger":
            judged = verdicts.of_direction(wide, primary)
        else:
            judged = verdicts.of_effect(claim.reported or 0.0, wide, primary, rules)
        outcomes[claim.id] = {
            "measured": effect.difference,
            "n": effect.n,
            "p": float(p_holm),
            "low": judged.low,
            "high": judged.high,
            "verdict": judged.verdict,
            "why": judged.why or None,
            "low_power": effect.df < rules.low_power_df,
        }
    return outcomes


def _effect(claim: Claim, arms: Arms) -> _Effect:
    groups = {name: pd.Series(values) for name, values in arms.items()}
    pooled, sizes = pool(groups, constant=True), [len(values) for values in arms.values()]
    raised = _raised(pooled.std, claim)
    error = raised * math.sqrt(sum(1 / n for n in sizes)) if pooled.df else NAN
    return _Effect(float(arms["variant"].mean() - arms["baseline"].mean()), error, pooled.df, min(sizes))


def _raised(std: float, claim: Claim) -> float:
    """A std, raised to at least that of rounding to the metric's decimals: whole steps can be equal for all seeds."""
    return NAN if math.isnan(std) else max(std, _unit(claim) / math.sqrt(12))


def _unit(claim: Claim) -> float:
    """The size of the metric's last printed decimal, in the metric's unit."""
    return 10.0 ** -(MEASURES[claim.metric].decimals if claim.metric else 2)


def _as_read(claim: Claim) -> str:
    """The verdict on a computed number that agrees with the printed one."""
    return Verdict.EXACT if claim.reading == PRINTED else Verdict.EXACT_ERRATUM
