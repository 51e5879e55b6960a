"""claims.csv: one row per published number, comparison or statement, and the verdict of our measurement on it.

Only the cell with a claim's coordinates judges it.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from hypersphere import t_test
from hypersphere.config import coordinates
from hypersphere.config import rules as rules_file
from hypersphere.config.artifacts import Paper
from hypersphere.config.cells import CHANCE, UNTRAINED, control
from hypersphere.config.claims import Claim, load
from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import Plan
from hypersphere.config.reasons import NOT_MADE_YET, why_not_made, why_not_measured
from hypersphere.config.rules import Rules
from hypersphere.config.verdicts import Verdict
from hypersphere.provenance import columns, tables
from hypersphere.provenance.manifest import check_tidy
from hypersphere.statistics import gather, studies, theorems, verdicts
from hypersphere.statistics.effects import COLUMNS as EFFECTS
from hypersphere.statistics.effects import ENOUGH, NAN, Arms, Pooled, arms, layout, pool, pool_for
from hypersphere.theory.table import COLUMNS as THEORY

TOO_FEW = "an arm lost more of its seeds than the rules allow"
COLUMNS = columns.CLAIMS
Interval = tuple[float, float]
NOTHING: dict[str, Any] = {
    **{"measured": NAN, "measured_std": NAN, "n": 0, "p": NAN, "verdict": Verdict.NOT_RUN, "direction": None},
    **{"why": None, "low": NAN, "high": NAN, "low_power": None, "margin": NAN, "verdict_half": None},
    **{
        "verdict_double": None,
        "n_diverged": 0,
        "n_declared": NAN,
        "n_missing": 0,
        "measured_on": None,
        "draws": None,
        "met": None,
        "violated": None,
    },
    **{"counterexample": None, "study": None, "runs": None},
    **{"device": None, "precision": None, "seeds": None},
}
"""The measured columns of a claim for which nothing was run."""


def build(plan: Plan) -> None:
    """Write results/<scale>/claims.csv and statistics/runs.csv from all artifacts that have been made.

    Claims have the order of the papers and of the rows of each paper's file. A claim of an artifact without tables is
    ``not run``.

    Raises:
        HypersphereError: a file is missing or malformed; the message names the claim and the column.
    """
    rules = rules_file.load(plan.config.root)
    rows = []
    for name, paper in plan.config.papers.items():
        claims = load(plan.config.claims_file(name))
        answered = _answered(plan, paper, claims, rules)
        judges: dict[str, Judge] = {}
        for claim in claims:
            outcome = answered.get(claim.id)
            if outcome is None:
                if claim.artifact not in judges:
                    judges[claim.artifact] = Judge(plan, paper, claim.artifact, rules)
                outcome = judges[claim.artifact].of(claim)
            rows.append(_described(claim, paper, plan) | NOTHING | outcome)
    _write(plan, "claims", rows)
    tables.write(plan.config.results / "statistics", {"runs": (gather.runs(plan, plan.runs), gather.RUNS)})


def build_studies(plan: Plan, paper: str) -> None:
    """Write results/<scale>/statistics/<paper>/studies.csv: the claims of a paper that need no run.

    These are its theorems, and the claims that its exact studies answer.

    Raises:
        HypersphereError: a claim about a study's artifact has no answer, or an answer belongs to no claim.
    """
    rules, document = rules_file.load(plan.config.root), plan.config.papers[paper]
    claims = load(plan.config.claims_file(paper))
    answered = _answered(plan, document, claims, rules)
    rows = [
        _described(claim, document, plan) | NOTHING | answered[claim.id] for claim in claims if claim.id in answered
    ]
    _write(plan, f"statistics/{paper}/studies", rows)


def build_artifact(plan: Plan, paper: str, artifact: str) -> None:
    """Write results/<scale>/statistics/<paper>/<artifact>/claims.csv: its claims that trained encoders answer.

    Raises:
        HypersphereError: one of its tidy tables is missing or malformed.
    """
    document = plan.config.papers[paper]
    judge = Judge(plan, document, artifact, rules_file.load(plan.config.root))
    claims = [claim for claim in load(plan.config.claims_file(paper)) if claim.artifact == artifact]
    rows = [_described(claim, document, plan) | NOTHING | judge.of(claim) for claim in claims]
    folder = plan.artifact_folder(paper, artifact).relative_to(plan.config.results)
    _write(plan, f"{folder.as_posix()}/claims", rows)


def _write(plan: Plan, name: str, rows: list[dict[str, Any]]) -> None:
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    # As text, because infinity means "never" here, and a missing number in other tables.
    for column in ("reported", "measured"):
        table[column] = [_text(value) for value in table[column]]
    path = plan.config.results / name
    tables.write(path.parent, {path.name: (table, COLUMNS)})


def _answered(plan: Plan, paper: Paper, claims: list[Claim], rules: Rules) -> dict[str, dict[str, Any]]:
    """The measured columns of claims that theorems and exact studies answer, by the claim's id."""
    answers = plan.config.results / "simulations" / paper.paper / "answers.csv"
    outcomes = studies.judge(claims, plan.config, paper.paper, rules) if answers.is_file() else {}
    file = plan.config.claims_file(paper.paper)
    theorem_claims = [claim for claim in claims if claim.kind == "theorem" and claim.id not in outcomes]
    if theorem_claims and (plan.config.results / "theory.csv").is_file():
        theory = tables.read(check_tidy(plan.config.results, "theory.csv"), THEORY)
        outcomes |= {claim.id: theorems.judge(claim.id, claim.reading, file, theory) for claim in theorem_claims}
    return outcomes


def _described(claim: Claim, paper: Paper, plan: Plan) -> dict[str, Any]:
    """The columns that do not depend on any measurement."""
    choices = paper.open_choices
    return claim.model_dump(exclude={"direction", "reported_n"}) | {
        "paper": paper.paper,
        "setting": coordinates.setting(claim.coordinates),
        "reported": claim.direction or (NAN if claim.reported is None else claim.reported),
        "reported_std": NAN if claim.reported_std is None else claim.reported_std,
        "scale": plan.config.scale_name,
        "unstated": 0 if claim.kind == "theorem" else len(choices.get("all", [])) + len(choices.get(claim.method, [])),
    }


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else "" if math.isnan(value) else f"{value + 0.0:.10g}"


class Judge:
    """Judges the claims of one artifact made from runs by its tidy tables, if they exist."""

    def __init__(self, plan: Plan, paper: Paper, name: str, rules: Rules) -> None:
        self.plan, self.paper, self.name, self.rules = plan, paper, name, rules
        self.limit = verdicts.limit(plan.config.scale.level, plan.config.scale_name != plan.config.settings.scale)
        self.declared = paper.measured.get(name)
        self.made = not why_not_made(plan, paper.paper, name) and self._is_measured()
        self.arms: dict[str, Arms] = {}
        """By the layout that its cells share."""
        if self.made:
            self.measurements = self._read("measurements", gather.MEASUREMENTS)
            self.effects = self._read("effects", EFFECTS)
            self.summary = self._read("summary", gather.SUMMARY).set_index("coordinates", drop=False)
            self.about = self._read("runs", gather.RUNS).set_index("run")

    def _is_measured(self) -> bool:
        return (self.plan.artifact_folder(self.paper.paper, self.name) / "summary.csv").is_file()

    def _read(self, name: str, columns: tables.Columns) -> pd.DataFrame:
        folder = self.plan.artifact_folder(self.paper.paper, self.name).relative_to(self.plan.config.results)
        return tables.read(check_tidy(self.plan.config.results, f"{folder.as_posix()}/{name}.csv"), columns)

    def of(self, claim: Claim) -> dict[str, Any]:
        """The measured columns of a claim."""
        if why := why_not_measured(self.plan, self.paper.paper, claim):
            return {"why": why}
        if not self.made:
            return {"why": NOT_MADE_YET}
        outcome = self._value(claim) if claim.kind == "value" else self._comparison(claim)
        if "n" in outcome:
            outcome |= {"measured_on": self.summary.loc[claim.text, "measured_on"], "runs": self._runs(claim)}
            outcome |= self._made_by(claim, outcome)
        if self.declared and self.declared.cannot_be_judged:
            outcome = verdicts.cannot_be_judged(outcome)
        return outcome

    def _runs(self, claim: Claim) -> str:
        of_claim = self.measurements["coordinates"].isin(claim.cells)
        return " ".join(dict.fromkeys(self.measurements.loc[of_claim, "run"]))

    def _made_by(self, claim: Claim, outcome: Mapping[str, Any]) -> dict[str, Any]:
        """Device, precision and seeds of a claim's runs; no verdict where the runs differ in how they were made.

        One run settles nothing either: it has no spread.
        """
        rows = self.measurements[self.measurements["coordinates"].isin(claim.cells)]
        about = self.about[self.about.index.isin(rows["run"])]
        device, kind, precision = (sorted(set(about[column].dropna())) for column in ("device", "kind", "precision"))
        arms = [rows.loc[rows["coordinates"] == cell, "seed"].dropna() for cell in dict.fromkeys(claim.cells)]
        seeds = [" ".join(str(int(seed)) for seed in sorted(set(arm))) for arm in arms]
        told: dict[str, Any] = {"device": "; ".join(device), "precision": "; ".join(precision)}
        told["seeds"] = " against ".join(seeds if len(set(seeds)) > 1 else seeds[:1])
        mixed = [f"runs of {' and '.join(values)} are mixed" for values in (kind, precision) if len(values) > 1]
        alone = outcome["n"] == 1 and self.limit is None
        reasons = [*mixed, *(["one run has no spread"] if alone else [])]
        if not reasons:
            return told
        told["why"] = "; ".join(dict.fromkeys([*filter(None, [outcome.get("why")]), *reasons]))
        told |= {"verdict": self.limit or Verdict.INCONCLUSIVE, "verdict_half": None, "verdict_double": None}
        return told | ({"direction": "unclear"} if outcome.get("direction") else {})

    def _seeds(self, *cells: str) -> tuple[dict[str, int], list[str]]:
        """How many seeds of the cells were declared, diverged and are missing; what a verdict on them has to say.

        An arm without more than ``most_diverged`` of its seeds is a selection. At the published scale seeds that are
        missing may have diverged as well; below it a scale may have begun with fewer.
        """
        rows = self.summary.loc[list(cells)]
        diverged, declared = int(rows["n_diverged"].sum()), int(rows["n_declared"].max())
        missing = int(rows["n_declared"].sum() - rows["n"].sum()) - diverged
        said = [f"{missing} of {int(rows['n_declared'].sum())} seeds missing"] if missing else []
        all_of = rows["n_declared"] if self.limit is None else rows["n"] + rows["n_diverged"]
        if (all_of - rows["n"] > self.rules.most_diverged * all_of).any():
            said.append(TOO_FEW)
        return {"n_diverged": diverged, "n_declared": declared, "n_missing": missing}, said

    def _of_cell(self, cell: str, column: str) -> float:
        return float(self.summary[column][cell])

    def _uninformative(self, claim: Claim, cell: str) -> str:
        """Why a cell is no better than its control, in words; empty if it is, or if nothing at hand could say so.

        The 95 % interval of its mean must lie above both the untrained encoder's and chance, by more than the margin of
        equivalence. Runs that are all equal have no interval.
        """
        measure = MEASURES[claim.metric] if claim.metric else None
        if measure is None or measure.margin == "none" or measure.better == "neither":
            return ""
        sign = 1 if measure.better == "higher" else -1
        near = min(sign * self._of_cell(cell, bound) for bound in ("low", "high"))
        for variant in (UNTRAINED, CHANCE):
            point = coordinates.text(control(coordinates.parse(cell, "coordinates"), variant))
            if point in self.summary.index:
                level = self._of_cell(point, "mean")
                if not near > sign * level + self.rules.margin.of(level):
                    arm = "variant" if cell == claim.text else "baseline"
                    return f"the {arm} is not shown to be better than its control ({variant})"
        return ""

    def _value(self, claim: Claim) -> dict[str, Any]:
        """The columns of a printed number: our mean over the runs that finished.

        Below the published scale (``limit``) the interval is the 95 % one of our mean, and nothing is compared with
        the published number. Three runs have a spread of their own; two take that of the table's rows too, and one
        settles nothing. If more seeds are lost than the rules allow, the verdict is inconclusive: the rest are a
        selection. The claim's reading says whether the published number is itself that of a failed run.
        """
        assert self.declared is not None
        shared = layout(claim.coordinates)
        if shared not in self.arms:
            self.arms[shared] = arms(self.measurements, self.declared.points, claim.coordinates)
        groups = self.arms[shared]
        if claim.text not in groups or claim.reported is None:
            return {"why": "nothing is printed to compare with" if claim.reported is None else NOT_MADE_YET}
        group = groups[claim.text]
        values, (seeds, said) = group.to_numpy(dtype=float), self._seeds(claim.text)
        n, mean, std = len(values), float(values.mean()) if len(values) else NAN, t_test.spread(values)
        low, high = t_test.mean_interval(values, self.rules.confidence)
        own, table = Pooled(std, n - 1), pool(groups).std
        used = own if n >= ENOUGH else pool_for([group], groups, self.rules)
        outcome = {
            **{"measured": mean, "measured_std": std, "n": n, "verdict": self.limit or Verdict.INCONCLUSIVE},
            **{"low": low, "high": high, "low_power": used.df < self.rules.low_power_df},
            **seeds,
        }
        if self.limit is None and n and TOO_FEW not in said:
            judged = claim.metric is not None and MEASURES[claim.metric].margin == "accuracy"
            margin = self.rules.margin.of(claim.reported) if judged else NAN
            ours = verdicts.Estimate(mean, n, used.std, used.df, floor=table)
            outcome |= verdicts.judge(claim, ours, margin, self.rules)
            said += ["one run has no spread"] if n == 1 else []
            said += ["the spread is also that of other rows"] if 1 < n < ENOUGH and used.df >= n else []
        return outcome | {"why": "; ".join(said) or None}

    def _comparison(self, claim: Claim) -> dict[str, Any]:
        """The columns of a comparison: our effect, Holm's p, the smaller arm's n.

        Below the published scale (``limit``) the interval is Holm's, and only the direction of the published effect is
        compared. An effect without an interval is inconclusive: one run in an arm, or all runs of an arm diverged. So
        is one with an arm that lost more seeds than the rules allow. A gain over a baseline that is no better than its
        control is at most one of direction, and no effect between such arms is no news.
        """
        against = coordinates.text(claim.compared_with)
        rows = self.effects[(self.effects["coordinates"] == claim.text) & (self.effects["baseline"] == against)]
        if rows.empty:
            return {"why": f"{self.name} does not compare {claim.text} with {against}"}
        if not claim.direction and claim.reported is None:
            return {"why": "the document prints neither a difference nor its direction"}
        effect, (seeds, said) = rows.iloc[0], self._seeds(claim.text, against)
        adjusted, primary, confident = (
            (NAN, NAN) if TOO_FEW in said else (float(effect[f"low{kind}"]), float(effect[f"high{kind}"]))
            for kind in ("_holm", "", "_equal")
        )
        margin, judged, direction = self._judged(claim, adjusted, primary, confident)
        below = confident if claim.direction == "equal" else adjusted
        flat = [why for cell in (claim.text, against) if (why := self._uninformative(claim, cell))]
        if claim.direction == "equal" and flat:
            judged, direction = replace(judged, verdict=Verdict.INCONCLUSIVE, why=flat[0]), "unclear"
        elif judged.verdict == Verdict.REPRODUCED and (why := self._uninformative(claim, against)):
            judged = replace(judged, verdict=Verdict.DIRECTION_ONLY, why=why)
        if self.limit is not None and claim.direction != "equal" and effect["level"]:
            direction = "unclear"
            said.append(f"an arm is {effect['level']}")
        if judged.why and (self.limit is None or claim.direction == "equal"):
            said.append(judged.why)
        low, high = (judged.low, judged.high) if self.limit is None else below
        return {
            "measured": float(effect["effect"]),
            "n": int(min(effect["n_variant"], effect["n_baseline"])),
            "p": float(effect["p_holm"]),
            "margin": margin,
            "verdict": self.limit or judged.verdict,
            "direction": direction if self.limit else None,
            "low": low,
            "high": high,
            "low_power": bool(effect["low_power"]),
            "why": "; ".join(said) or None,
            **seeds,
        }

    def _judged(
        self, claim: Claim, adjusted: Interval, primary: Interval, confident: Interval
    ) -> tuple[float, verdicts.Judgement, verdicts.Direction]:
        """A comparison's margin (nan: none), its verdict, and its direction for a scale below the published one."""
        if claim.direction == "equal":
            margin = self.rules.margin.of(claim.level or 0.0)
            arms = (confident, primary, margin)
            return margin, verdicts.of_equality(*arms), verdicts.same_as_none(*arms)
        if claim.direction == "larger":
            return NAN, verdicts.of_direction(adjusted, primary), verdicts.direction(adjusted, 1.0)
        published = claim.reported or 0.0
        return (
            NAN,
            verdicts.of_effect(published, adjusted, primary, self.rules),
            verdicts.direction(adjusted, published),
        )
