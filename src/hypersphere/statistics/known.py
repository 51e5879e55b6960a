"""What is known of every claim: the ladder of its evidence, the best rung, its certainty, and what would settle it.

Nothing is trained or drawn. Proofs and exact studies come from a results folder; trained encoders from the records of
every scale on real images, and from scales that were finished here. docs/statistics.md states the rules.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from scipy import special

from hypersphere import files
from hypersphere.config import claims as ledger
from hypersphere.config import coordinates, registry
from hypersphere.config import plan as planning
from hypersphere.config import rules as rules_file
from hypersphere.config.claims import Claim
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.records import FOLDER, TABLES
from hypersphere.config.rules import (
    RUNGS,
    SHORTCOMINGS,
    Answer,
    Certainty,
    Rung,
    Shortcoming,
    Verdict,
    load_certainty,
)
from hypersphere.config.run import Run
from hypersphere.config.study import PRINTED
from hypersphere.datasets import sizes
from hypersphere.provenance import columns, exact, tables
from hypersphere.provenance.evidence import undeclared
from hypersphere.provenance.manifest import check_files, check_tidy, tidy_manifest
from hypersphere.statistics import claims, confirmed, effects

REPORT = Path("results/report")
"""Holds the report, relative to the project."""
COSTS, PAIR_COSTS = (Path(__file__).parents[3] / "data" / name for name in ("costs.csv", "pair_costs.csv"))
"""What each artifact would take at the published scale, and a run of each arm of a comparison at the laptop scale, by
``python -m hypersphere.command.cost``."""
RUNG_OF: dict[str, Rung] = {"theorem": "proof", "study": "exact", "sentence": "own_table"}
"""The evidence that needs no encoder, by what answers the claim."""
NOT_RUN = str(Verdict.NOT_RUN)
HELD = (Verdict.NO_COUNTEREXAMPLE, Verdict.NO_COUNTEREXAMPLE_ERRATUM)
Row = dict[str, Any]


# Sources


def judged(plan: Plan, scale: str) -> None:
    """Write what the records of one scale say of claims (``records_file``) and of our studies (``confirmed``)."""
    recorded = planning.make(plan.config.root, plan.config.kept | {"scale": scale, "evidence_only": True})
    every = [one for several in (recorded.records or {}).values() for one in several]
    for fault in undeclared(recorded, every, recorded.config.evidence):
        print(f"note: {fault}; it counts for nothing", flush=True)
    found = claims.of_encoders(recorded)
    found = found[found["verdict"] != NOT_RUN]
    published = planning.make(plan.config.root, plan.config.kept | {"scale": "paper"})
    mine, theirs = (
        {(cell.paper, cell.artifact, cell.text): cell.run for cell in plan.cells if cell.run}
        for plan in (recorded, published)
    )
    cells = {claim.id: claim.text for paper in plan.config.papers for claim in ledger.of(recorded.config, paper)}
    differs = []
    for row in tables.rows(found):
        key = row["paper"], row["artifact"], cells[row["id"]]
        differs.append("; ".join(differences(mine[key], theirs[key])) if key in mine and key in theirs else "")
    found = found.assign(differs=differs)
    path = records_file(plan.config.root, scale)
    tables.write(path.parent, {path.stem: (found, [*columns.CLAIMS, "differs"]), **confirmed.of_plan(recorded)})


def records_file(root: Path, scale: str) -> Path:
    """results/report/records/<scale>/claims.csv."""
    return root / REPORT / "records" / scale / "claims.csv"


def of_studies(root: Path) -> dict[str, pd.DataFrame]:
    """The tables of ``confirmed.of_plan`` of all recorded scales, by name."""
    found = {name: [pd.DataFrame(columns=list(kinds))] for name, kinds in confirmed.TABLES.items()}
    for judged_by in (records_file(root, scale) for scale in recorded_scales(root)):
        check_files(tidy_manifest(judged_by), *(f"{name}.csv" for name in found))
        for name, kinds in confirmed.TABLES.items():
            found[name].append(tables.read(judged_by.with_name(f"{name}.csv"), kinds))
    return {name: pd.concat(several[1:] or several) for name, several in found.items()}


class Called(NamedTuple):
    """How many A/A comparisons call a difference, with the interval of their share (%), after Clopper and Pearson.

    It is nan of no comparison.
    """

    comparisons: int
    called: int
    low: float = math.nan
    high: float = math.nan


def nothing_differs(of: Mapping[str, pd.DataFrame], confidence: float) -> tuple[list[dict[str, float]], Called]:
    """What ``of_studies`` says where nothing differs.

    A row for each number of runs an arm and of arms: how many sets, and their mean, least and greatest share (%). And
    the A/A comparisons of finished studies, by a primary measure, whose interval excludes zero. One whose runs are
    shown twice, at the best values and at the printed ones, counts once.
    """
    from scipy import stats

    ends = {"": "mean", "_least": "min", "_most": "max"}
    shares = {f"{name}{end}": (name, how) for name in ("called", "level") for end, how in ends.items()}
    groups = of["splits"].groupby(["n", "arms", "margin"], as_index=False)
    by_size, compared = tables.rows(groups.agg(sets=("called", "size"), **shares)), of["studies"]
    primary = compared["artifact"].isin([*compared["study"], *(compared["study"] + PRINTED)])
    again = compared[primary & compared["finished"] & ~compared["in_family"] & compared["low"].notna()]
    again = again.drop_duplicates(["paper", "study", "effect", "low", "high"])
    clear = int(((again["low"] > 0) | (again["high"] < 0)).sum())
    if again.empty:
        return by_size, Called(0, 0)
    low, high = stats.binomtest(clear, len(again)).proportion_ci(confidence, method="exact")
    return by_size, Called(len(again), clear, 100 * float(low), 100 * float(high))


def recorded_scales(root: Path) -> list[str]:
    """The scales of config/scales of which the repository holds records; nothing reads those of another scale."""
    found = sorted({path.parent.name for name in TABLES for path in (root / FOLDER).glob(f"*/{name}.csv")})
    return [name for name in found if (root / "config" / "scales" / f"{name}.yaml").is_file()]


def differences(ours: Run, published: Run) -> list[str]:
    """The parts in which a measured run differs from the published one, in words: ``64 images a batch for 256``."""
    encoders = []
    for one in (ours.encoder, published.encoder):
        inside = ", ".join(f"{key.replace('_', ' ')} {item}" for key, item in one.parameters.items())
        encoders.append(f"{one.name} ({inside})" if inside else one.name)
    compared: list[tuple[Any, ...]] = [("encoder {} for {}", *encoders)]
    here, there = sizes.stated(ours.dataset), sizes.stated(published.dataset)
    if here and there:
        compared.append(("{:,} training examples for {:,}", here.train, there.train))
        if registry.read_constant("trainers", ours.kind, "IMAGES", False):
            both = (here, ours), (there, published)
            steps = (one.train // run.batch.size * run.schedule.epochs for one, run in both)
            compared += [("{:g} px for {:g}", here.side, there.side), ("{:,} steps for {:,}", *steps)]
    compared.append(("batches of {} for {}", ours.batch.size, published.batch.size))
    compared.append(("{} epochs for {}", ours.schedule.epochs, published.schedule.epochs))
    said = [words.format(*pair) for words, *pair in compared if pair[0] != pair[1]]
    parts = ("method", "optimiser", "views", "views_b")
    others = (part for part in parts if getattr(ours, part) != getattr(published, part))
    return said + [f"other {part.replace('_', ' ')}" for part in others]


def finished(root: Path) -> list[Path]:
    """claims.csv of every scale on real images that was finished here."""
    found = []
    for path in sorted(root.glob("results/*/claims.csv")):
        scale = root / "config" / "scales" / f"{path.parent.name}.yaml"
        if scale.is_file() and files.read_yaml(scale)["level"] != "quick":
            found.append(path)
    return found


# The ladder


def build(plan: Plan) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Write results/report/{claims,ladder,criteria}.csv, and return the first two as they are read."""
    root, rules = plan.config.root, load_certainty(plan.config.root)
    ladder = climbed(_evidence(plan, rules))
    best = {row["id"]: row for row in reversed(ladder)}
    of_artifact = pd.read_csv(COSTS).set_index(["paper", "artifact"])["device_hours"].to_dict()
    of_pair, judged_by = pd.read_csv(PAIR_COSTS).set_index("id")["device_hours"].to_dict(), rules_file.load(root)
    rows = []
    for paper in plan.config.papers:
        listed = ledger.of(plan.config, paper)
        printed = {(one.artifact, one.text): one for one in listed if one.kind == "value" and one.origin == "printed"}
        for claim in listed:
            hours = of_artifact.get((paper, claim.artifact))
            row = _known(plan.config, paper, claim, printed, best.get(claim.id), hours, rules)
            rows.append(row | _price(claim, row, printed, of_pair, judged_by))
    written = {
        "claims": (pd.DataFrame(rows, columns=list(columns.KNOWN)), columns.KNOWN),
        "ladder": (pd.DataFrame(ladder, columns=list(columns.LADDER)), columns.LADDER),
    }
    known, steps = (tables.as_read(table, names) for table, names in written.values())
    written["criteria"] = (criteria(known), columns.CRITERIA)
    tables.write(root / REPORT, written)
    return known, steps


def _evidence(plan: Plan, rules: Certainty) -> list[Row]:
    """A row of the ladder for each piece of evidence at hand."""
    # Theorems and exact studies
    root, shared, found = plan.config.root, exact.shared(plan.config), list[Row]()
    rung: Rung
    proved = pd.concat(
        tables.as_read(claims.exact(plan, paper, shared), columns.CLAIMS) for paper in plan.config.papers
    )
    for row in tables.rows(proved):
        verdict, rung = Verdict.of(row["verdict"]), RUNG_OF[row["answered_by"]]
        lacks: dict[Shortcoming, bool] = {
            "untried": rung == "proof" and verdict in HELD,
            "undecided": verdict is Verdict.INCONCLUSIVE,
            "unjudged": verdict is Verdict.CANNOT_BE_JUDGED,
        }
        missing = [name for name, here in lacks.items() if here]
        if verdict is not Verdict.NOT_RUN:
            found.append(_step(row, rung, missing, rules) | {"scale": ""})
    # Trained encoders: from records, and from scales that were finished here
    recorded = [records_file(root, scale) for scale in recorded_scales(root)]
    for path in (*recorded, *finished(root)):
        chosen: dict[str, Any] = {"scale": path.parent.name} | ({"evidence_only": True} if path in recorded else {})
        kinds = columns.CLAIMS | (tables.texts("differs") if path in recorded else {})
        config = planning.cfg.load(root, plan.config.kept | chosen)
        rung = "published" if config.scale.level == "paper" else "laptop"
        table = tables.read(check_tidy(path.parent, path.name), kinds)
        for row in tables.rows(table[(table["answered_by"] == "encoder") & (table["verdict"] != NOT_RUN)]):
            missing = shortcomings(row, stands_in(config, row), rules.enough_runs)
            found.append(_step(row, rung, missing, rules))
    return found


def climbed(ladder: Sequence[Row]) -> list[Row]:
    """The rows of the ladder, the best evidence first: by rung, then by the number of runs."""
    order = list(RUNGS)
    return sorted(ladder, key=lambda row: (order.index(row["rung"]), -row["n"], row["scale"]))


def _step(row: Row, rung: Rung, missing: Sequence[Shortcoming], rules: Certainty) -> Row:
    grade, reasons = rules.of(rung, missing)
    said = [f"n = {int(row['n'])}" if one == "few_runs" else SHORTCOMINGS[one] for one in reasons]
    kept = {name: row[name] for name in columns.LADDER if name in row}
    judged = {"rung": rung, "certainty": grade, "reasons": "; ".join(said)}
    return kept | judged | {"differs": row.get("differs", "")}


def shortcomings(row: Mapping[str, Any], stand_in: bool, enough: int) -> list[Shortcoming]:
    """What holds the evidence of encoders down, of all that can (config/certainty.yaml)."""
    found: dict[Shortcoming, bool] = {
        "few_runs": not row["n"] >= enough,
        "undecided": row["kind"] == "comparison" and row["answer"] == Answer.CANNOT_TELL,
        "stand_in": stand_in,
        "floored": row["floored"] != "",
        "other_setting": row["kind"] == "value",
        "unjudged": row["verdict"] == Verdict.CANNOT_BE_JUDGED,
    }
    return [name for name, here in found.items() if here]


def compares_encoders(row: Mapping[str, Any]) -> bool:
    """Whether it is a comparison that trained encoders answer, or would."""
    return (row["kind"], row["answered_by"]) == ("comparison", "encoder")


def has_interval(row: Mapping[str, Any]) -> bool:
    """Whether trained encoders give an interval for a comparison."""
    return compares_encoders(row) and not math.isnan(row["low_unadjusted"])


def stands_in(config: Config, row: Mapping[str, Any]) -> bool:
    """Whether the images are of another set than the named one; a part of it, or smaller images of it, are its own.

    What counts is which published images or sentences a dataset is made of, and which labels.
    """
    origins = []
    for name in (str(row["measured_on"]), str(row["dataset"])):
        if name not in config.datasets:
            return True
        source, origin = config.datasets[name].source, (name, "", "")
        if source is not None:
            given = source.parameters
            base = f"cifar{given.get('classes', 10)}" if source.name == "cifar" else given.get("base", source.name)
            origin = base, given.get("labels", "class"), given.get("corpus", "")
        origins.append(origin)
    return origins[0] != origins[1]


def _known(
    config: Config,
    paper: str,
    claim: Claim,
    printed: Mapping[tuple[str, str], Claim],
    best: Row | None,
    hours: float | None,
    rules: Certainty,
) -> Row:
    """A claim's row, with its best evidence; ``hours`` are those of its artifact at the published scale.

    The interval of a printed difference is of the two printed deviations. Where no number of runs is printed it is
    taken as one, which is the widest interval.
    """
    nothing = {"rung": "nothing", "answer": Answer.NOT_TESTED, "certainty": rules.rungs["nothing"].grade}
    nothing |= {"verdict": NOT_RUN, "direction": ""}
    low = high = math.nan
    arms = [printed.get((claim.artifact, cell)) for cell in claim.cells] if claim.kind == "comparison" else []
    of = [(arm.reported_std, arm.reported_n or 1) for arm in arms if arm and arm.reported_std]
    if len(of) == 2 and claim.reported is not None:
        df, error = sum(n - 1 for _, n in of), math.hypot(*(std / n**0.5 for std, n in of))
        half = float(special.stdtrit(df, 0.975) if df else special.ndtri(0.975)) * error
        low, high = claim.reported - half, claim.reported + half
    row = {
        **{name: getattr(claim, name) for name in columns.KNOWN if name in Claim.model_fields},
        "metric": claim.metric or "",
        "paper": paper,
        "setting": coordinates.setting(claim.coordinates),
        "reported": claim.direction or ("" if claim.reported is None else f"{claim.reported:.10g}"),
        **{"reported_low": low, "reported_high": high},
        **(best or nothing),
        **ledger.answering(config.papers[paper], claim),
    }
    if row["answered_by"] == "encoder" and row["rung"] != "published" and hours is not None:
        row |= {"settle": f"make reproduce SCALE=paper ONLY={paper}/{claim.artifact}", "gpu_hours": hours}
    return row


def _price(
    claim: Claim,
    row: Row,
    printed: Mapping[tuple[str, str], Claim],
    hours: Mapping[Any, float],
    rules: rules_file.Rules,
) -> Row:
    """What an answer of small encoders to a comparison of accuracies takes: runs an arm, and hours of one core.

    The spread over seeds is that of the best evidence, else of the two printed standard deviations.
    """
    if not compares_encoders(row) or claim.origin == "ours" or not claim.of_accuracy:
        return {}
    stds = [arm.reported_std for cell in claim.cells if (arm := printed.get((claim.artifact, cell)))]
    known, spread = [one for one in stds if one], row.get("spread", 0.0)
    if not spread > 0:
        spread = math.sqrt(sum(std**2 for std in known) / 2) if len(known) == 2 else math.nan
    found = {
        "runs_to_see": effects.runs_to_see(claim.reported or 0.0, spread, rules),
        "runs_to_equate": effects.runs_to_equate(rules.margin.at_least_high, spread, rules),
    }
    needed = found["runs_to_equate" if claim.direction == "equal" else "runs_to_see"]
    return {"spread": spread, "core_hours": needed * hours.get(claim.id, math.nan)} | found


def criteria(known: pd.DataFrame) -> pd.DataFrame:
    """criteria.csv: replication by several criteria, by document and rung."""
    reported = pd.to_numeric(known["reported"], errors="coerce")
    measured = pd.to_numeric(known["measured"], errors="coerce")
    low, high = known["low_unadjusted"], known["high_unadjusted"]
    compared = (reported.abs() > 0) & pd.Series(map(has_interval, tables.rows(known)), known.index, dtype=bool)
    sign = reported.map(lambda value: math.copysign(1.0, value))
    flags = pd.DataFrame(
        {
            "compared": compared,
            "same_sign": measured * sign > 0,
            "clear": (low * sign > 0) & (high * sign > 0),
            "printed_inside": (low <= reported) & (reported <= high),
            "with_interval": known["reported_low"].notna(),
            "ours_inside": (known["reported_low"] <= measured) & (measured <= known["reported_high"]),
        }
    )[compared]
    found = flags.groupby([known["paper"], known["rung"]], sort=False).sum().reset_index()
    return found.astype({name: "int64" for name in flags})


def settling(known: pd.DataFrame, hours: float) -> list[tuple[str, int, float]]:
    """What some hours of a GPU would settle first: (artifact, printed claims, hours), most claims an hour first.

    An artifact that no longer fits is left out.
    """
    open_ones = known[(known["settle"] != "") & (known["origin"] == "printed")]
    groups = open_ones.groupby(["paper", "artifact"], sort=False)["gpu_hours"].agg(["size", "first"]).reset_index()
    ranked = sorted(tables.rows(groups), key=lambda row: -row["size"] / max(row["first"], 1e-9))
    found, left = [], hours
    for row in ranked:
        if row["first"] <= left:
            left -= row["first"]
            found.append((f"{row['paper']}/{row['artifact']}", int(row["size"]), float(row["first"])))
    return found
