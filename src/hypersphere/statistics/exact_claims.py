"""The claims that theorems and exact studies answer, judged once for every scale, beside their results.

No scale limits the verdicts: all have theorems and studies at published size.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hypersphere.config import claims as ledger
from hypersphere.config import rules as rules_file
from hypersphere.config.claims import PRINTED, SENTENCES, Claim
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.rules import Answer, Rules, Verdict
from hypersphere.errors import HypersphereError
from hypersphere.exact.study import COLUMNS
from hypersphere.provenance import columns, exact, tables
from hypersphere.provenance.exact import Exact
from hypersphere.provenance.manifest import check_tidy
from hypersphere.statistics import claim_rows, verdicts
from hypersphere.statistics.effects import holm, pool
from hypersphere.t_test import mean_interval, spread, t_interval, t_p

Arms = Mapping[str, np.ndarray]
"""The numbers of one answer, by arm."""
Outcome = dict[str, Any]
"""The measured columns of a claim."""


def build_theorems(config: Config) -> None:
    """Write results/exact/theory_claims.csv: the claims that theorems answer, by theory.csv beside it."""
    write_theorems(config, exact.originals(config))


def build_studies(config: Config, paper: str) -> None:
    """Write results/exact/simulations/<paper>/claims.csv: the claims that its answers.csv answers."""
    write_studies(config, paper, exact.originals(config))


def write_theorems(config: Config, results: Exact) -> None:
    """Write the claims of all papers that theorems answer, in the order of the papers and of each paper's file."""
    rows = []
    for name, paper in config.papers.items():
        theorems = [claim for claim in ledger.of(config, name) if claim.kind == "theorem"]
        outcomes = of_theorems(config, name, theorems, results.theory)
        rows += [claim_rows.row(paper, claim, outcomes[claim.id], "") for claim in theorems]
    claims = claim_rows.table(rows), columns.CLAIMS
    tables.write(results.folder, {results.theory_claims.stem: claims})


def write_studies(config: Config, paper: str, results: Exact) -> None:
    """Write the claims that a paper's exact studies answer, in the order of its file."""
    listed = ledger.of(config, paper)
    folder = results.studies[paper]
    outcomes = of_studies(config, paper, listed, rules_file.load(config.root), folder)
    rows = [
        claim_rows.row(config.papers[paper], claim, outcomes[claim.id], "")
        for claim in listed
        if claim.id in outcomes
    ]
    tables.write(folder, {"claims": (claim_rows.table(rows), columns.CLAIMS)})


def of_theorems(
    config: Config, paper: str, theorems: Sequence[Claim], theory: Path
) -> dict[str, Outcome]:
    """The measured columns of a paper's theorems: ``measured`` is the largest violation, relative to the scale."""
    if not theorems:
        return {}
    table = tables.read(check_tidy(theory.parent, theory.name), columns.THEORY)
    checked = {(row["id"], row["reading"]): row for row in tables.rows(table)}
    outcomes: dict[str, Outcome] = {}
    for claim in theorems:
        row = checked.get((claim.id, claim.reading))
        if row is None:
            raise HypersphereError(
                f"{config.claims_file(paper)}: {claim.id}: no statement of this id and reading '{claim.reading}' "
                "was checked"
            )
        counts = {name: int(row[name]) for name in ("draws", "met", "violated")}
        outcomes[claim.id] = counts | {
            "measured": row["worst"],
            "verdict": row["verdict"],
            "counterexample": row["counterexample"],
        }
    return outcomes


def of_studies(
    config: Config, paper: str, claims: Sequence[Claim], rules: Rules, folder: Path
) -> dict[str, Outcome]:
    """The measured columns of every claim that an exact study answers, by the claim's id.

    ``folder`` is that of the document's exact studies.
    """
    studied = config.exact_artifacts(paper)
    if not studied:
        return {}
    path = check_tidy(folder, "answers.csv")
    answerable = {
        claim.id: claim for claim in claims if claim.kind != "theorem" and claim.artifact in studied
    }
    outcomes: dict[str, Outcome] = {}
    families: dict[str, list[tuple[Claim, Arms]]] = defaultdict(list)
    answers = tables.read(path, COLUMNS).groupby(["id", "reading"], sort=False)
    for (identifier, reading), rows in answers:
        claim = answerable.get(str(identifier))
        if claim is None or claim.reading != reading:
            raise HypersphereError(
                f"{path}: {identifier} in the reading '{reading}' is not a claim of an exact study of {paper}"
            )
        own = studied[claim.artifact].study
        others = set(rows["study"]) - {own}
        if others:
            raise HypersphereError(
                f"{path}: {identifier} belongs to study {own}, but {min(others)} answered it"
            )
        by_arm = rows.groupby("arm", sort=False)["value"]
        arms = {str(arm): values.to_numpy(dtype=float) for arm, values in by_arm}
        kind = next(kind for kind, names in KINDS.items() if arms.keys() <= names)
        answers_to = "comparison" if kind in ("counted", "effect") else "value"
        if answers_to != claim.kind:
            raise HypersphereError(
                f"{path}: {identifier} is a {claim.kind}, but the answer is for a {answers_to}"
            )
        if kind == "effect":
            families[claim.artifact].append((claim, arms))
        else:
            outcomes[claim.id] = JUDGES[kind](claim, arms, rules)
    for family in families.values():
        outcomes |= effects(family, rules)
    for identifier, outcome in outcomes.items():
        declared = studied[answerable[identifier].artifact]
        if declared.cannot_be_judged:
            outcome |= verdicts.cannot_be_judged(outcome)
        if declared.study == SENTENCES:
            borne = outcome["verdict"].answer is Answer.HOLDS
            outcome["verdict"] = Verdict.BORNE if borne else Verdict.CONTRADICTED
    return outcomes


def counted(claim: Claim, arms: Arms, rules: Rules) -> Outcome:
    """A sentence checked at every place of an exact computation; it must hold at all, or at as many as are needed."""
    held = int(arms["held"][0])
    places = int(arms["places"][0])
    needed = arms.get("needed", arms["places"])[0]
    holds = Verdict.NO_COUNTEREXAMPLE
    if claim.reading != PRINTED:
        holds = Verdict.NO_COUNTEREXAMPLE_ERRATUM
    verdict = holds if held >= needed else Verdict.REFUTED
    return {"measured": 100 * held / places, "n": places, "verdict": verdict}


def exactly(claim: Claim, arms: Arms, rules: Rules) -> Outcome:
    """A number without chance: it is the printed one up to half of its last decimal, or not."""
    (value,) = arms["value"]
    assert claim.reported is not None
    agrees = abs(value - claim.reported) <= _rounding(claim)
    verdict = _as_read(claim) if agrees else Verdict.NOT_REPRODUCED
    return {"measured": value, "n": 1, "verdict": verdict}


def between(claim: Claim, arms: Arms, rules: Rules) -> Outcome:
    """The range of a number: it refutes the printed one, allows it, or leaves it no other value."""
    (low,) = arms["low"]
    (high,) = arms["high"]
    room = _rounding(claim)
    assert claim.reported is not None
    if not low - room <= claim.reported <= high + room:
        verdict = Verdict.REFUTED
    else:
        verdict = _as_read(claim) if high - low <= 2 * room else Verdict.INCONCLUSIVE
    return {"low": low, "high": high, "verdict": verdict}


def calibrated(claim: Claim, arms: Arms, rules: Rules) -> Outcome:
    """A number that inputs were chosen by: it agrees by construction, which settles nothing."""
    values = arms["calibrated"]
    low, high = mean_interval(values, rules.confidence)
    return {**_mean(values), "low": low, "high": high, "verdict": Verdict.INCONCLUSIVE}


def over_seeds(claim: Claim, arms: Arms, rules: Rules) -> Outcome:
    """A number that varies with the seed, by two one-sided tests; infinite for a seed that never converged."""
    values = arms["seeds"]
    n = len(values)
    assert claim.reported is not None
    reported = claim.reported
    diverged = np.isinf(values)
    if diverged.any() or math.isinf(reported):
        if diverged.all() and math.isinf(reported):
            verdict = Verdict.DIVERGED
        elif diverged.any() and not diverged.all():
            verdict = Verdict.INCONCLUSIVE
        else:
            verdict = Verdict.NOT_REPRODUCED
        return {"measured": float(values.mean()), "n": n, "verdict": verdict}
    margin = rules.margin.relative * abs(reported)
    if claim.of_accuracy:
        margin = rules.margin.of(reported)
    ours = _mean(values)
    std = _at_least_rounding(ours["measured_std"], claim)
    judged = verdicts.judge(claim, ours["measured"], n, std, n - 1, margin, rules)
    return {**ours, "low_power": n - 1 < rules.low_power_df, **judged}


KINDS: dict[str, set[str]] = {
    "exactly": {"value"},
    "over_seeds": {"seeds"},
    "calibrated": {"calibrated"},
    "between": {"low", "high"},
    "counted": {"held", "places", "needed"},
    "effect": {"variant", "baseline"},
}
"""The kinds of answer, by the functions of ``exact/study.py`` that make them, each with its arms."""
JUDGES: dict[str, Callable[[Claim, Arms, Rules], Outcome]] = {
    "exactly": exactly,
    "over_seeds": over_seeds,
    "calibrated": calibrated,
    "between": between,
    "counted": counted,
}
"""What judges an answer of each kind by itself; effects are judged together."""


def effects(family: Sequence[tuple[Claim, Arms]], rules: Rules) -> dict[str, Outcome]:
    """The comparisons of two arms in one artifact, Holm-corrected together, by the claim's id."""
    found = []
    for claim, arms in family:
        variant, baseline = arms["variant"], arms["baseline"]
        pooled = pool([pd.Series(variant), pd.Series(baseline)], constant=True)
        std = _at_least_rounding(pooled.std, claim)  # nan without a second run
        error = std * math.sqrt(1 / len(variant) + 1 / len(baseline))
        found.append((float(variant.mean() - baseline.mean()), error, pooled.df))
    adjusted, levels = holm([t_p(*effect) for effect in found], rules.alpha, len(found))
    outcomes = {}
    for (claim, arms), effect, p_holm, level in zip(family, found, adjusted, levels, strict=True):
        ours = verdicts.Intervals(
            adjusted=t_interval(*effect, 1 - level),
            primary=t_interval(*effect, rules.confidence),
            confident=t_interval(*effect, rules.equivalence),
        )
        judged = verdicts.compare(claim, ours, rules)
        difference, _, df = effect
        outcomes[claim.id] = {
            "measured": difference,
            "n": min(map(len, arms.values())),
            "p": float(p_holm),
            "low": judged.low,
            "high": judged.high,
            "verdict": judged.verdict,
            "answer": judged.answer,
            "why": judged.why or None,
            "low_power": df < rules.low_power_df,
        }
    return outcomes


def _mean(values: np.ndarray) -> Outcome:
    """The mean over seeds, its standard deviation, and the number of seeds."""
    return {"measured": float(values.mean()), "measured_std": spread(values), "n": len(values)}


def _as_read(claim: Claim) -> Verdict:
    """The verdict on a number that agrees with the printed one, or with an erratum's."""
    return Verdict.EXACT if claim.reading == PRINTED else Verdict.EXACT_ERRATUM


def _rounding(claim: Claim) -> float:
    """How far a printed number may be off: half of its last decimal."""
    return 0.5 * _unit(claim) * (1 + 1e-9)


def _at_least_rounding(std: float, claim: Claim) -> float:
    """A std, raised to at least that of rounding to the metric's decimals: whole steps can be equal for all seeds."""
    return math.nan if math.isnan(std) else max(std, _unit(claim) / math.sqrt(12))


def _unit(claim: Claim) -> float:
    """The size of the metric's last printed decimal, in the metric's unit."""
    return MEASURES[claim.metric].step if claim.metric else 0.01
