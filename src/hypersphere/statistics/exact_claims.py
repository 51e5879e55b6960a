"""The claims that theorems and exact studies answer, judged once for every scale, beside their results.

No scale limits the verdicts: all have theorems and studies at published size.
"""

import math
from collections.abc import Mapping, Sequence
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

KINDS: dict[str, set[str]] = {
    "exactly": {"value"},
    "over_seeds": {"seeds"},
    "calibrated": {"calibrated"},
    "between": {"low", "high"},
    "counted": {"held", "places", "needed"},
    "effect": {"variant", "baseline"},
}
"""The kinds of answer, by the functions of ``exact/study.py`` that make them, each with its arms."""
Arms = Mapping[str, np.ndarray]
"""The numbers of one answer, by arm."""


def build_theorems(config: Config) -> None:
    """Write results/exact/theory_claims.csv: the claims that theorems answer, by theory.csv beside it."""
    write_theorems(config, exact.shared(config))


def build_studies(config: Config, paper: str) -> None:
    """Write results/exact/simulations/<paper>/claims.csv: the claims that its answers.csv answers."""
    write_studies(config, paper, exact.shared(config))


def write_theorems(config: Config, results: Exact) -> None:
    """Write the claims of all papers that theorems answer, in the order of the papers and of each paper's file."""
    rows = []
    for name, paper in config.papers.items():
        theorems = [claim for claim in ledger.of(config, name) if claim.kind == "theorem"]
        outcomes = of_theorems(config, name, theorems, results.theory)
        rows += [claim_rows.row(paper, claim, outcomes[claim.id], "") for claim in theorems]
    tables.write(
        results.folder, {results.theory_claims.stem: (claim_rows.table(rows), columns.CLAIMS)}
    )


def write_studies(config: Config, paper: str, results: Exact) -> None:
    """Write the claims that a paper's exact studies answer, in the order of its file."""
    claims, folder = ledger.of(config, paper), results.studies[paper]
    outcomes = of_studies(config, paper, claims, rules_file.load(config.root), folder)
    document = config.papers[paper]
    rows = [
        claim_rows.row(document, claim, outcomes[claim.id], "")
        for claim in claims
        if claim.id in outcomes
    ]
    tables.write(folder, {"claims": (claim_rows.table(rows), columns.CLAIMS)})


def of_theorems(
    config: Config, paper: str, theorems: Sequence[Claim], theory: Path
) -> dict[str, dict[str, Any]]:
    """The measured columns of a paper's theorems: ``measured`` is the largest violation, relative to the scale."""
    checked = {}
    if theorems:
        table = tables.read(check_tidy(theory.parent, theory.name), columns.THEORY)
        checked = {(row["id"], row["reading"]): row for row in tables.rows(table)}
    outcomes: dict[str, dict[str, Any]] = {}
    for claim in theorems:
        if (claim.id, claim.reading) not in checked:
            raise HypersphereError(
                f"{config.claims_file(paper)}: {claim.id}: no statement of this id and reading '{claim.reading}' "
                "was checked"
            )
        row = checked[claim.id, claim.reading]
        counts = {name: int(row[name]) for name in ("draws", "met", "violated")}
        found = {name: row[name] for name in ("verdict", "counterexample")}
        outcomes[claim.id] = {"measured": row["worst"], **found, **counts}
    return outcomes


def of_studies(
    config: Config, paper: str, claims: Sequence[Claim], rules: Rules, folder: Path
) -> dict[str, dict[str, Any]]:
    """The measured columns of every claim that an exact study answers, by the claim's id.

    ``folder`` is that of the document's exact studies.
    """
    studied = config.exact_artifacts(paper)
    if not studied:
        return {}
    path = check_tidy(folder, "answers.csv")
    table = tables.read(path, COLUMNS)
    answerable = {
        claim.id: claim for claim in claims if claim.kind != "theorem" and claim.artifact in studied
    }
    outcomes: dict[str, dict[str, Any]] = {}
    compared: dict[str, list[tuple[Claim, Arms]]] = {}
    for (identifier, reading), rows in table.groupby(["id", "reading"], sort=False):
        if identifier not in answerable or answerable[identifier].reading != reading:
            raise HypersphereError(
                f"{path}: {identifier} in the reading '{reading}' is not a claim of an exact study of {paper}"
            )
        claim = answerable[identifier]
        own = studied[claim.artifact].study
        if others := set(rows["study"]) - {own}:
            raise HypersphereError(
                f"{path}: {identifier} belongs to study {own}, but {min(others)} answered it"
            )
        arms = {
            str(arm): part["value"].to_numpy(dtype=float)
            for arm, part in rows.groupby("arm", sort=False)
        }
        kind = next(kind for kind, names in KINDS.items() if arms.keys() <= names)
        answers_to = "comparison" if kind in ("counted", "effect") else "value"
        if answers_to != claim.kind:
            raise HypersphereError(
                f"{path}: {identifier} is a {claim.kind}, but the answer is for a {answers_to}"
            )
        if kind == "effect":
            compared.setdefault(claim.artifact, []).append((claim, arms))
        else:
            outcomes[claim.id] = _of_one(kind, claim, arms, rules)
    for family in compared.values():
        outcomes |= effects(family, rules)
    for name, outcome in outcomes.items():
        declared = studied[answerable[name].artifact]
        if declared.cannot_be_judged:
            outcome |= verdicts.cannot_be_judged(outcome)
        if declared.study == SENTENCES:
            borne = outcome["verdict"].answer is Answer.HOLDS
            outcome["verdict"] = Verdict.BORNE if borne else Verdict.CONTRADICTED
    return outcomes


def _of_one(kind: str, claim: Claim, arms: Arms, rules: Rules) -> dict[str, Any]:
    """The measured columns of an answer that is judged by itself."""
    first, erratum = (
        {name: float(values[0]) for name, values in arms.items()},
        claim.reading != PRINTED,
    )
    as_read = Verdict.EXACT_ERRATUM if erratum else Verdict.EXACT
    # The printed number may be off by half its last decimal.
    reported, room = (
        math.nan if claim.reported is None else claim.reported,
        0.5 * _unit(claim) * (1 + 1e-9),
    )
    match kind:
        case "counted":
            # A sentence checked at every place of an exact computation; of all, unless it says "most" or "can".
            holds = Verdict.NO_COUNTEREXAMPLE_ERRATUM if erratum else Verdict.NO_COUNTEREXAMPLE
            held, places = int(first["held"]), int(first["places"])
            verdict = holds if held >= first.get("needed", places) else Verdict.REFUTED
            return {"measured": 100 * held / places, "n": places, "verdict": verdict}
        case "exactly":
            agrees = abs(first["value"] - reported) <= room
            return {
                "measured": first["value"],
                "n": 1,
                "verdict": as_read if agrees else Verdict.NOT_REPRODUCED,
            }
        case "between":
            low, high = first["low"], first["high"]
            possible = low - room <= reported <= high + room
            forced = possible and high - low <= 2 * room
            verdict = as_read if forced else Verdict.INCONCLUSIVE if possible else Verdict.REFUTED
            return {"low": low, "high": high, "verdict": verdict}
        case "calibrated":
            # It agrees by construction, which settles nothing.
            values = arms["calibrated"]
            low, high = mean_interval(values, rules.confidence)
            columns = {
                "measured": float(values.mean()),
                "measured_std": spread(values),
                "n": len(values),
            }
            return columns | {"low": low, "high": high, "verdict": Verdict.INCONCLUSIVE}
        case "over_seeds":
            # A number that varies with the seed, by two one-sided tests; infinite for a seed that never converged.
            values = arms["seeds"]
            n, diverged = len(values), np.isinf(values)
            if diverged.any() or math.isinf(reported):
                verdict = Verdict.INCONCLUSIVE if diverged.any() else Verdict.NOT_REPRODUCED
                if diverged.all():
                    verdict = Verdict.DIVERGED if math.isinf(reported) else Verdict.NOT_REPRODUCED
                return {"measured": float(values.mean()), "n": n, "verdict": verdict}
            mean, std = float(values.mean()), spread(values)
            margin = (
                rules.margin.of(reported)
                if claim.of_accuracy
                else rules.margin.relative * abs(reported)
            )
            columns = {
                "measured": mean,
                "measured_std": std,
                "n": n,
                "low_power": n - 1 < rules.low_power_df,
            }
            return columns | verdicts.judge(
                claim, mean, n, _raised(std, claim), n - 1, margin, rules
            )
        case _:
            raise ValueError(f"{kind}: not judged by itself")


def effects(family: Sequence[tuple[Claim, Arms]], rules: Rules) -> dict[str, dict[str, Any]]:
    """The comparisons of two arms in one artifact, Holm-corrected together, by the claim's id."""
    found = []
    for claim, arms in family:
        pooled = pool(map(pd.Series, arms.values()), constant=True)
        error = _raised(pooled.std, claim) * math.sqrt(
            sum(1 / len(values) for values in arms.values())
        )
        difference = float(arms["variant"].mean() - arms["baseline"].mean())
        found.append((difference, error if pooled.df else math.nan, pooled.df))
    adjusted, levels = holm([t_p(*effect) for effect in found], rules.alpha, len(found))
    outcomes = {}
    for (claim, arms), effect, p_holm, level in zip(family, found, adjusted, levels, strict=True):
        intervals = (
            t_interval(*effect, confidence)
            for confidence in (1 - level, rules.confidence, rules.equivalence)
        )
        judged = verdicts.compare(claim, verdicts.Intervals(*intervals), rules)
        outcomes[claim.id] = {
            **{
                "measured": effect[0],
                "n": min(len(values) for values in arms.values()),
                "p": float(p_holm),
            },
            **{
                "low": judged.low,
                "high": judged.high,
                "verdict": judged.verdict,
                "answer": judged.answer,
            },
            "why": judged.why or None,
            "low_power": effect[2] < rules.low_power_df,
        }
    return outcomes


def _raised(std: float, claim: Claim) -> float:
    """A std, raised to at least that of rounding to the metric's decimals: whole steps can be equal for all seeds."""
    return math.nan if math.isnan(std) else max(std, _unit(claim) / math.sqrt(12))


def _unit(claim: Claim) -> float:
    """The size of the metric's last printed decimal, in the metric's unit."""
    return MEASURES[claim.metric].step if claim.metric else 0.01
