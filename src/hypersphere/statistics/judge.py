"""claims.csv: one row per published number, comparison or statement, and the verdict of our measurement on it.

Only the cell with a claim's coordinates judges it.
"""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from hypersphere import t_test
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
from hypersphere.statistics.effects import ENOUGH, Pooled, arms, layout, pool, pool_for
from hypersphere.wording import counted

UNFINISHED = "the study is not finished: its table has estimates, and nothing is read from them"
FLOORS = {PIXELS: "raw pixels", UNTRAINED: "its untrained encoder", CHANCE: "chance"}
TOO_FEW = "an arm lost more of its seeds than the rules allow"
COLUMNS = columns.CLAIMS
AS_TEXT = tables.texts(*COLUMNS)
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
]
STATED += ["reported_std", "reading", "source", "baseline", "sentence", "unstated"]
"""The columns of what a document says."""
FILE = "claims.csv"
"""Of an artifact, beside its tidy tables."""


def build(plan: Plan) -> None:
    """Write results/<scale>/claims.csv, in the order of the papers and of each paper's file, and statistics/runs.csv.

    What neither a theorem, nor an exact study, nor an artifact's own claims.csv answers is ``not run``.
    """
    whole, config = [], plan.config
    answered = exact.claims(exact.of_scale(config), config.papers, AS_TEXT).assign(
        scale=config.scale_name
    )
    for name, paper in config.papers.items():
        claims = ledger.of(config, name)
        reasons = ({"why": why_not_measured(plan, name, claim) or NOT_MADE_YET} for claim in claims)
        not_run = (
            claim_rows.row(paper, *one, config.scale_name)
            for one in zip(claims, reasons, strict=True)
        )
        listed = tables.as_read(claim_rows.table(not_run), AS_TEXT)
        found = [answered[answered["paper"] == name]]
        for artifact in dict.fromkeys(claim.artifact for claim in claims):
            folder = plan.config.artifact_folder(name, artifact)
            if not why_not_made(plan, name, artifact) and (folder / FILE).is_file():
                found.append(tables.read(check_tidy(folder, FILE), AS_TEXT))
        # without those of which other words or numbers were judged
        judged = pd.concat(found).merge(listed[STATED])
        first = pd.concat([judged, listed]).drop_duplicates("id").set_index("id", drop=False)
        whole.append(first.loc[listed["id"]])
    tables.write(config.results, {"claims": (pd.concat(whole), COLUMNS)})
    tables.write(
        config.results / "statistics", {"runs": (gather.runs(plan, plan.runs), columns.RUNS)}
    )


def build_artifact(plan: Plan, paper: str, artifact: str, made: Mapping[str, pd.DataFrame]) -> None:
    """Write an artifact's claims.csv: its claims that trained encoders answer, by the tables of ``measure.build``."""
    document, scale = plan.config.papers[paper], plan.config.scale_name
    judge = Judge(plan, document, artifact, made, rules_file.load(plan.config.root))
    claims = [claim for claim in ledger.of(plan.config, paper) if claim.artifact == artifact]
    found = claim_rows.table(
        claim_rows.row(document, claim, judge.of(claim), scale) for claim in claims
    )
    tables.write(plan.config.artifact_folder(paper, artifact), {"claims": (found, COLUMNS)})


def of_encoders(plan: Plan) -> pd.DataFrame:
    """The claims that a plan's trained encoders answer, as claims.csv has them; nothing is written or read."""
    rows, rules = [], rules_file.load(plan.config.root)
    for name, paper in plan.config.papers.items():
        judges: dict[str, Judge] = {}
        for claim in ledger.of(plan.config, name):
            if (name, claim.artifact) in plan.made_artifacts:
                if claim.artifact not in judges:
                    made = measure.judged_tables(plan, name, claim.artifact, rules)
                    judges[claim.artifact] = Judge(plan, paper, claim.artifact, made, rules)
                measured = judges[claim.artifact].of(claim)
                rows.append(claim_rows.row(paper, claim, measured, plan.config.scale_name))
    return tables.as_read(claim_rows.table(rows), COLUMNS)


class Judge:
    """Judges the claims of one artifact made from runs by its tidy tables (``measure.judged_tables``)."""

    def __init__(
        self, plan: Plan, paper: Paper, name: str, made: Mapping[str, pd.DataFrame], rules: Rules
    ) -> None:
        self.plan, self.paper, self.declared, self.rules = plan, paper, paper.measured[name], rules
        scale, changed = plan.config.scale, plan.config.scale_name != plan.config.settings.scale
        small = Verdict.LAPTOP_ONLY if scale.level == "laptop" or changed else None
        self.limit = Verdict.QUICK_ONLY if scale.level == "quick" else small
        """The verdict on all that is measured below the published scale; None at that scale as it is declared."""
        self.measurements, self.effects, self.summary, self.about = (
            tables.as_read(made[table], columns.TABLES[table])
            for table in ("measurements", "effects", "summary", "runs")
        )
        self.summary = self.summary.set_index("coordinates", drop=False)
        self.arms = arms(self.measurements, self.declared.points)

    def of(self, claim: Claim) -> dict[str, Any]:
        """The measured columns of a claim: with its runs, their device, precision and seeds.

        There is no verdict where the runs differ in how they were made. One run settles nothing either: it has no
        spread.
        """
        if why := why_not_measured(self.plan, self.paper.paper, claim):
            return {"why": why}
        if not confirmed.finished(self.plan, self.paper.paper, claim.artifact):
            return {"why": UNFINISHED}
        outcome = self._value(claim) if claim.kind == "value" else self._comparison(claim)
        said: list[str] = outcome["why"]
        if "n" in outcome:
            rows = self.measurements[self.measurements["coordinates"].isin(claim.cells)]
            about = self.about[self.about["run"].isin(rows["run"])]
            device, precision = (
                sorted(set(about[name].dropna())) for name in ("device", "precision")
            )
            arms = [
                rows.loc[rows["coordinates"] == cell, "seed"].dropna()
                for cell in dict.fromkeys(claim.cells)
            ]
            seeds = dict.fromkeys(
                " ".join(str(int(seed)) for seed in sorted(set(arm))) for arm in arms
            )
            reasons = likeness.unlike(about)
            if outcome["n"] == 1 and self.limit is None:
                reasons.append("one run has no spread")
            if reasons:
                said = list(dict.fromkeys([*said, *reasons]))
                outcome |= {
                    "verdict": self.limit or Verdict.INCONCLUSIVE,
                    "answer": Answer.CANNOT_TELL,
                }
                outcome |= {"verdict_half": None, "verdict_double": None}
                outcome |= {"direction": "unclear"} if outcome.get("direction") else {}
            outcome |= {
                "measured_on": self.summary.loc[claim.text, "measured_on"],
                "seeds": " against ".join(seeds),
            }
            outcome |= {"device": "; ".join(device), "precision": "; ".join(precision)}
            outcome["runs"] = " ".join(dict.fromkeys(rows["run"]))
            outcome["repeated"] = self.summary.loc[claim.text, "repeated"]
            if several := int((about["records"] > 1).sum()):
                said = [*said, f"{counted(several, 'run')} of several records, of which one counts"]
        outcome["why"] = "; ".join(said) or None
        return verdicts.cannot_be_judged(outcome) if self.declared.cannot_be_judged else outcome

    def _seeds(self, *cells: str) -> tuple[dict[str, int], list[str]]:
        """How many seeds of the cells were declared, lack a value or are missing; what a verdict on them has to say."""
        rows = self.summary.loc[list(cells)]
        without = {f"n_{status}": int(rows[f"n_{status}"].sum()) for status in WITHOUT_VALUE}
        seen = rows["n"] + rows[[*without]].sum(axis="columns")
        missing = int(rows["n_declared"].sum() - seen.sum())
        said = [f"{missing} of {int(rows['n_declared'].sum())} seeds missing"] if missing else []
        # Missing seeds may have no value either, but below the published scale one may have begun with fewer.
        all_of = rows["n_declared"] if self.limit is None else seen
        if (all_of - rows["n"] > self.rules.most_diverged * all_of).any():
            said.append(TOO_FEW)
        return without | {"n_declared": int(rows["n_declared"].min()), "n_missing": missing}, said

    def _value(self, claim: Claim) -> dict[str, Any]:
        """The columns of a printed number. Below the published scale nothing is compared with it."""
        if claim.reported is None:
            return {"why": ["the paper publishes nothing to compare with"]}
        groups = self.arms[layout(claim.coordinates)]
        group = groups[claim.text]
        values, (seeds, said) = group.to_numpy(dtype=float), self._seeds(claim.text)
        n, mean, std = (
            len(values),
            float(values.mean()) if len(values) else math.nan,
            t_test.spread(values),
        )
        low, high = t_test.mean_interval(values, self.rules.confidence)
        # Three runs have a spread of their own; two take that of the table's rows too.
        used = Pooled(std, n - 1) if n >= ENOUGH else pool_for([group], groups, self.rules)
        outcome = {
            **{
                "measured": mean,
                "measured_std": std,
                "n": n,
                "verdict": self.limit or Verdict.INCONCLUSIVE,
            },
            **{"low": low, "high": high, "low_power": used.df < self.rules.low_power_df},
            **seeds,
        }
        if self.limit is None and n and TOO_FEW not in said:
            assert claim.metric is not None
            margin = verdicts.margin_of(MEASURES[claim.metric], claim.reported, self.rules)
            floor = pool(groups.values()).std
            outcome |= verdicts.judge(claim, mean, n, used.std, used.df, margin, self.rules, floor)
            said += ["one run has no spread"] if n == 1 else []
            said += (
                ["the spread is also that of other rows"] if 1 < n < ENOUGH and used.df >= n else []
            )
        return outcome | {"why": said}

    def _comparison(self, claim: Claim) -> dict[str, Any]:
        """The columns of a comparison: our effect, Holm's p, the smaller arm's n.

        Below the published scale the interval is Holm's, and the answer counts neither for nor against the document.
        """
        against = claim.compared_with.text
        rows = self.effects[
            (self.effects["coordinates"] == claim.text) & (self.effects["baseline"] == against)
        ]
        if not claim.direction and claim.reported is None:
            return {"why": ["the paper publishes neither a difference nor its direction"]}
        effect, (seeds, said) = rows.iloc[0], self._seeds(claim.text, against)
        unknown = math.nan, math.nan
        ours = verdicts.Intervals(
            *(
                unknown
                if TOO_FEW in said
                else (float(effect[f"low{kind}"]), float(effect[f"high{kind}"]))
                for kind in ("_holm", "", "_equal")
            )
        )
        judged = verdicts.compare(claim, ours, self.rules, effect["floored"])
        said += [judged.why] if judged.why else []
        for arm, cell in (("variant", claim.text), ("baseline", against)):
            floor = str(self.summary["floor"][cell])
            said += [f"the {arm} is not shown to be above {FLOORS[floor]}"] if floor else []
        below = ours.confident if claim.direction == "equal" else ours.adjusted
        low, high = (judged.low, judged.high) if self.limit is None else below
        return {
            **{
                "measured": float(effect["effect"]),
                "p": float(effect["p_holm"]),
                "margin": judged.margin,
            },
            **{
                "verdict": self.limit or judged.verdict,
                "answer": judged.answer,
                "direction": judged.direction,
            },
            "floored": effect["floored"],
            **{"n": int(min(effect["n_variant"], effect["n_baseline"])), "low": low, "high": high},
            **{"low_power": bool(effect["low_power"]), "why": said},
            **{"low_unadjusted": ours.primary[0], "high_unadjusted": ours.primary[1]},
            **{"low_equal": ours.confident[0], "high_equal": ours.confident[1]},
            "spread": math.sqrt(
                float((self.summary["std"][[claim.text, against]] ** 2).mean(skipna=False))
            ),
            **seeds,
        }
