"""claims.csv: one row per published number, comparison or statement, and the verdict of our measurement on it.

Only the cell with a claim's coordinates judges it.
"""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from hypersphere.config import claims as ledger
from hypersphere.config import rules as rules_file
from hypersphere.config.artifacts import Paper
from hypersphere.config.cells import CHANCE, PIXELS, UNTRAINED
from hypersphere.config.claims import NOT_MADE_YET, Claim, why_not_made, why_not_measured
from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import Plan
from hypersphere.config.records import WITHOUT_VALUE
from hypersphere.config.rules import Answer, Rules, Verdict
from hypersphere.provenance import columns, exact, likeness, tables
from hypersphere.provenance.manifest import check_tidy
from hypersphere.statistics import claim_rows, confirmed, gather, measure, verdicts
from hypersphere.statistics.effects import ENOUGH, Pooled, pool, pool_for
from hypersphere.statistics.effects_table import arms, layout
from hypersphere.t_test import mean_interval, spread
from hypersphere.wording import count_of

UNFINISHED = "the study is not finished: its table has estimates, and nothing is read from them"
FLOORS = {PIXELS: "raw pixels", UNTRAINED: "its untrained encoder", CHANCE: "chance"}
TOO_FEW = "an arm lost more of its seeds than the rules allow"
COLUMNS = columns.CLAIMS
AS_TEXT = tables.texts(*COLUMNS)
JUDGED_BY = ("measurements", "summary", "effects", "runs")
STATED = [
    "id",
    "kind",
    "origin",
    "artifact",
    "method",
    "variant",
    "dataset",
    "setting",
    "metric",
    "reported",
    "reported_std",
    "reading",
    "source",
    "baseline",
    "sentence",
    "unstated",
]
"""The columns that the document decides, and not our measurement."""
FILE = "claims.csv"
"""The file with an artifact's claims, beside the artifact's tidy tables."""
UNKNOWN = verdicts.Intervals(*[(math.nan, math.nan)] * 3)
"""The intervals of an effect if an arm lost too many seeds."""


def build(plan: Plan) -> None:
    """Write results/<scale>/claims.csv, in the order of the papers and of each paper's file, and statistics/runs.csv.

    A claim is ``not run`` if no theorem, exact study or artifact's claims.csv answers it.
    """
    config = plan.config
    scale = config.scale_name
    not_run = []
    found = [exact.claims(exact.of_scale(config), config.papers, AS_TEXT).assign(scale=scale)]
    for name, paper in config.papers.items():
        claims = ledger.of(config, name)
        for claim in claims:
            why = why_not_measured(plan, name, claim) or NOT_MADE_YET
            not_run.append(claim_rows.row(paper, claim, {"why": why}, scale))
        for artifact in {claim.artifact for claim in claims}:
            folder = config.artifact_folder(name, artifact)
            if not why_not_made(plan, name, artifact) and (folder / FILE).is_file():
                found.append(tables.read(check_tidy(folder, FILE), AS_TEXT))
    listed = tables.as_read(claim_rows.table(not_run), AS_TEXT)
    # leave out answers to a claim whose words or numbers have changed since
    judged = pd.concat(found).merge(listed[STATED])
    best = pd.concat([judged, listed]).drop_duplicates("id").set_index("id", drop=False)
    tables.write(config.results, {"claims": (best.loc[listed["id"]], COLUMNS)})
    runs = gather.runs(plan, plan.runs)
    tables.write(config.results / "statistics", {"runs": (runs, columns.RUNS)})


def build_artifact(plan: Plan, paper: str, artifact: str, made: Mapping[str, pd.DataFrame]) -> None:
    """Judge the claims of an artifact by the tables of ``measure.build``, and write the artifact's claims.csv."""
    judge = Judge(
        plan, plan.config.papers[paper], artifact, made, rules_file.load(plan.config.root)
    )
    listed = ledger.of(plan.config, paper)
    found = claim_rows.table(judge.row(claim) for claim in listed if claim.artifact == artifact)
    tables.write(plan.config.artifact_folder(paper, artifact), {"claims": (found, COLUMNS)})


def of_encoders(plan: Plan) -> pd.DataFrame:
    """The rows of claims.csv that a plan's trained encoders answer. No file of results is written or read."""
    rules = rules_file.load(plan.config.root)
    judges: dict[tuple[str, str], Judge] = {}
    rows = []
    for name, paper in plan.config.papers.items():
        for claim in ledger.of(plan.config, name):
            place = name, claim.artifact
            if place not in plan.made_artifacts:
                continue
            if place not in judges:
                made = measure.judged_tables(plan, *place, rules)
                judges[place] = Judge(plan, paper, claim.artifact, made, rules)
            rows.append(judges[place].row(claim))
    return tables.as_read(claim_rows.table(rows), COLUMNS)


class Judge:
    """Judges the claims of one artifact made from runs by its tidy tables (``measure.judged_tables``)."""

    def __init__(
        self, plan: Plan, paper: Paper, name: str, made: Mapping[str, pd.DataFrame], rules: Rules
    ) -> None:
        self.plan = plan
        self.paper = paper
        self.declared = paper.measured[name]
        self.rules = rules
        self.limit = limit(plan)
        # with the digits that the files have, so that a verdict follows from the files
        read = {key: tables.as_read(made[key], columns.TABLES[key]) for key in JUDGED_BY}
        self.measurements = read["measurements"]
        self.summary = read["summary"].set_index("coordinates", drop=False)
        self.about = read["runs"]
        self.effects = {
            (row["coordinates"], row["baseline"]): row for row in tables.rows(read["effects"])
        }
        self.arms = arms(self.measurements, self.declared.points)

    def row(self, claim: Claim) -> dict[str, Any]:
        """A claim's row of claims.csv."""
        return claim_rows.row(self.paper, claim, self.of(claim), self.plan.config.scale_name)

    def of(self, claim: Claim) -> dict[str, Any]:
        """The measured columns of a claim, with the claim's runs, their device, precision and seeds."""
        if why := why_not_measured(self.plan, self.paper.paper, claim):
            return {"why": why}
        if not confirmed.is_finished(self.plan, self.paper.paper, claim.artifact):
            return {"why": UNFINISHED}
        outcome = self._of_runs(claim)
        return verdicts.cannot_be_judged(outcome) if self.declared.cannot_be_judged else outcome

    def _of_runs(self, claim: Claim) -> dict[str, Any]:
        """The verdict of the runs of a claim's cells, and which runs they are.

        Runs that were made in different ways give no verdict. Neither does one run, which has no spread.
        """
        seeds, reasons = self._seeds(claim)
        judged = self._value if claim.kind == "value" else self._comparison
        outcome = judged(claim, reasons)
        measured = self.measurements[self.measurements["coordinates"].isin(claim.cells)]
        about = self.about[self.about["run"].isin(measured["run"])]
        faults = likeness.unlike(about)
        if outcome["n"] == 1 and self.limit is None:
            faults.append("one run has no spread")
        if faults:
            outcome |= {
                "verdict": self.limit or Verdict.INCONCLUSIVE,
                "answer": Answer.CANNOT_TELL,
                "direction": "unclear" if claim.kind == "comparison" else "",
                "verdict_half": None,
                "verdict_double": None,
            }
        reasons += faults
        if several := int((about["records"] > 1).sum()):
            reasons.append(f"{count_of(several, 'run')} of several records, of which one counts")
        of_arms = [measured[measured["coordinates"] == cell] for cell in claim.cells]
        return {
            **outcome,
            **seeds,
            "seeds": " against ".join(dict.fromkeys(map(_seeds_of, of_arms))),
            "runs": " ".join(dict.fromkeys(measured["run"])),
            "device": "; ".join(sorted(set(about["device"]))),
            "precision": "; ".join(sorted(set(about["precision"]))),
            "measured_on": self.summary.loc[claim.text, "measured_on"],
            "repeated": self.summary.loc[claim.text, "repeated"],
            "why": "; ".join(dict.fromkeys(reasons)) or None,
        }

    def _seeds(self, claim: Claim) -> tuple[dict[str, int], list[str]]:
        """How many seeds of a claim are declared, lack a value or are missing; and the reasons against a verdict."""
        cells = self.summary.loc[list(claim.cells)]
        without = cells[[f"n_{status}" for status in WITHOUT_VALUE]]
        seen = cells["n"] + without.sum(axis="columns")
        declared = int(cells["n_declared"].sum())
        missing = declared - int(seen.sum())
        reasons = [f"{missing} of {declared} seeds missing"] if missing else []
        # At the published scale missing seeds count as lost. Elsewhere somebody may have begun with fewer seeds.
        begun = cells["n_declared"] if self.limit is None else seen
        if (begun - cells["n"] > self.rules.most_diverged * begun).any():
            reasons.append(TOO_FEW)
        counts = {str(status): int(count) for status, count in without.sum().items()}
        fewest = int(cells["n_declared"].min())
        return counts | {"n_declared": fewest, "n_missing": missing}, reasons

    def _value(self, claim: Claim, reasons: list[str]) -> dict[str, Any]:
        """The columns of a printed number, which only the published scale can judge. May add to ``reasons``."""
        alike = self.arms[layout(claim.coordinates)]
        own = alike[claim.text].to_numpy(dtype=float)
        n = len(own)
        std = spread(own)
        # Three runs have a spread. For fewer, the spread comes from other rows of the table, too.
        enough = n >= ENOUGH
        used = Pooled(std, n - 1) if enough else pool_for([alike[claim.text]], alike, self.rules)
        low, high = mean_interval(own, self.rules.confidence)
        mean = float(own.mean()) if n else math.nan
        outcome: dict[str, Any] = {
            "measured": mean,
            "measured_std": std,
            "n": n,
            "verdict": self.limit or Verdict.INCONCLUSIVE,
            "low": low,
            "high": high,
            "low_power": used.df < self.rules.low_power_df,
        }
        if self.limit or not n or TOO_FEW in reasons or not claim.metric:
            return outcome
        if 1 < n < ENOUGH and used.df >= n:
            reasons.append("the spread is also that of other rows")
        margin = verdicts.margin_of(MEASURES[claim.metric], claim.reported, self.rules)
        floor = pool(alike.values()).std
        return outcome | verdicts.judge(claim, mean, n, *used, margin, self.rules, floor)

    def _comparison(self, claim: Claim, reasons: list[str]) -> dict[str, Any]:
        """The columns of a comparison: our effect, Holm's p, the smaller arm's n. May add to ``reasons``.

        Below the published scale the interval is Holm's, and the answer counts neither for nor against the document.
        """
        effect = self.effects[claim.text, claim.compared_with.text]
        ours = UNKNOWN if TOO_FEW in reasons else verdicts.Intervals.of(effect)
        judged = verdicts.compare(claim, ours, self.rules, effect["floored"])
        if judged.why:
            reasons.append(judged.why)
        arms = self.summary.loc[list(claim.cells)]
        for arm, floor in zip(("variant", "baseline"), arms["floor"], strict=True):
            if floor:
                reasons.append(f"the {arm} is not shown to be above {FLOORS[floor]}")
        if self.limit is None:
            low, high = judged.low, judged.high
        else:
            low, high = ours.confident if claim.direction == "equal" else ours.adjusted
        return {
            "measured": effect["effect"],
            "n": int(min(effect["n_variant"], effect["n_baseline"])),
            "p": effect["p_holm"],
            "verdict": self.limit or judged.verdict,
            "answer": judged.answer,
            "direction": judged.direction,
            "floored": effect["floored"],
            "low": low,
            "high": high,
            "low_power": effect["low_power"],
            "margin": judged.margin,
            "low_unadjusted": ours.primary[0],
            "high_unadjusted": ours.primary[1],
            "low_equal": ours.confident[0],
            "high_equal": ours.confident[1],
            "spread": math.sqrt((arms["std"] ** 2).mean(skipna=False)),
        }


def limit(plan: Plan) -> Verdict | None:
    """The verdict on all that is measured below the published scale; None at that scale as it is declared."""
    config = plan.config
    if config.scale.level == "quick":
        return Verdict.QUICK_ONLY
    is_published = config.scale.level == "paper" and config.scale_name == config.settings.scale
    return None if is_published else Verdict.LAPTOP_ONLY


def _seeds_of(measured: pd.DataFrame) -> str:
    """The seeds of an arm, in their order: ``0 1 2``."""
    return " ".join(f"{seed:.0f}" for seed in sorted(measured["seed"].dropna().unique()))
