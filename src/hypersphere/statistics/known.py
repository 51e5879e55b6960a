"""What is known of every claim: the ladder of its evidence, the best rung, its certainty, and what would settle it.

Nothing is trained or drawn. Proofs and exact studies come from a results folder; trained encoders from the records of
every scale on real images, and from scales that were finished here. docs/statistics.md states the rules.
"""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import special

from hypersphere import files
from hypersphere.config import claims as ledger
from hypersphere.config import coordinates, registry
from hypersphere.config import plan as planning
from hypersphere.config import rules as rules_file
from hypersphere.config.claims import SIGNS, Claim
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.records import FOLDER
from hypersphere.config.rules import LEVEL, RUNGS, SHORTCOMINGS, Certainty, Rung, Shortcoming, Verdict, load_certainty
from hypersphere.config.run import Dataset, Run
from hypersphere.datasets import sizes
from hypersphere.provenance import columns, tables
from hypersphere.provenance.manifest import check_files, check_tidy, tidy_manifest
from hypersphere.statistics import claims, confirmed, prices

REPORT = Path("results/report")
"""Holds the report, relative to the project."""
COSTS, PAIR_COSTS = (Path(__file__).parents[3] / "data" / name for name in ("costs.csv", "pair_costs.csv"))
"""What each artifact would take at the published scale, and a run of each arm of a comparison at the laptop scale, by
``python -m hypersphere.command.cost docs/cost.md``."""
CANNOT_TELL = "cannot tell"
RUNG_OF: dict[str, Rung] = {"theorem": "proof", "study": "exact", "sentence": "own_table"}
"""The evidence that needs no encoder, by what answers the claim."""
NOT_RUN = str(Verdict.NOT_RUN)
Row = dict[str, Any]


# Sources


def judged(plan: Plan, scale: str) -> None:
    """Write what the records of one scale say of claims (``records_file``) and of our studies (``confirmed``)."""
    recorded = planning.make(plan.config.root, plan.config.kept | {"scale": scale, "evidence_only": True})
    found = claims.of_encoders(recorded)
    found = found[found["verdict"] != NOT_RUN]
    published = planning.make(plan.config.root, plan.config.kept | {"scale": "paper"})
    found = found.assign(differs=list(_differences(recorded, published, found)))
    path = records_file(plan.config.root, scale)
    tables.write(path.parent, {path.stem: (found, [*columns.CLAIMS, "differs"]), **confirmed.of_plan(recorded)})


def records_file(root: Path, scale: str) -> Path:
    """results/report/records/<scale>/claims.csv."""
    return root / REPORT / "records" / scale / "claims.csv"


def of_studies(root: Path) -> dict[str, pd.DataFrame]:
    """The tables of ``confirmed.of_plan`` of all recorded scales, by name."""
    found = {}
    for name, kinds in confirmed.TABLES.items():
        paths = [records_file(root, scale).with_name(f"{name}.csv") for scale in recorded_scales(root)]
        for path in paths:
            check_files(tidy_manifest(path.with_name("claims.csv")), path.name)
        read = [tables.read(path, kinds) for path in paths]
        found[name] = pd.concat(read) if read else pd.DataFrame(columns=list(kinds))
    return found


def nothing_differs(
    of: Mapping[str, pd.DataFrame], confidence: float
) -> tuple[list[dict[str, float]], confirmed.Called]:
    """What ``of_studies`` says where nothing differs: shares by numbers of runs, and the A/A comparisons."""
    return confirmed.by_size(of["splits"]), confirmed.called(of["studies"], confidence)


def recorded_scales(root: Path) -> list[str]:
    """The scales on real images of which the repository holds records."""
    names = [path.parent.name for path in sorted((root / FOLDER).glob("*/runs.csv"))]
    return [name for name in names if (root / "config" / "scales" / f"{name}.yaml").is_file()]


def _differences(ours: Plan, published: Plan, table: pd.DataFrame) -> Iterator[str]:
    """How the run of each claim's cell differs from the published one."""
    mine, theirs = (
        {(cell.paper, cell.artifact, cell.text): cell.run for cell in plan.cells if cell.run}
        for plan in (ours, published)
    )
    for row in tables.rows(table):
        named = {**{key: row[key] for key in coordinates.IDENTITY}, "measure": row["metric"]}
        named = {key: value for key, value in named.items() if value}
        point = {**named, **coordinates.parse(row["setting"], row["id"])}
        key = row["paper"], row["artifact"], coordinates.text(coordinates.ordered(point))
        yield "; ".join(differences(mine[key], theirs[key])) if key in mine and key in theirs else ""


def differences(ours: Run, published: Run) -> list[str]:
    """The parts in which a measured run differs from the published one, in words: ``64 images a batch for 256``."""
    said = []
    if ours.encoder != published.encoder:
        said.append(f"encoder {_component(ours.encoder)} for {_component(published.encoder)}")
    here, there = sizes.stated(ours.dataset), sizes.stated(published.dataset)
    of_images = registry.read_constant("trainers", ours.kind, "IMAGES", False)
    if here and there:
        said += [f"{here.train:,} training examples for {there.train:,}"] if here.train != there.train else []
        said += [f"{here.side:g} px for {there.side:g}"] if here.side != there.side and of_images else []
        steps = [one.train // run.batch.size * run.schedule.epochs for one, run in ((here, ours), (there, published))]
        if steps[0] != steps[1] and of_images:
            said.append(f"{steps[0]:,} steps for {steps[1]:,}")
    if ours.batch.size != published.batch.size:
        said.append(f"batches of {ours.batch.size} for {published.batch.size}")
    if ours.schedule.epochs != published.schedule.epochs:
        said.append(f"{ours.schedule.epochs} epochs for {published.schedule.epochs}")
    parts = ("method", "optimiser", "views", "views_b")
    return said + [
        f"other {part.replace('_', ' ')}" for part in parts if getattr(ours, part) != getattr(published, part)
    ]


def _component(value: Any) -> str:
    inside = ", ".join(f"{key.replace('_', ' ')} {item}" for key, item in value.parameters.items())
    return f"{value.name} ({inside})" if inside else str(value.name)


def _sources(plan: Plan) -> list[tuple[Config, pd.DataFrame]]:
    """The claims that encoders answer: by the records of each scale, and by the scales that were finished here."""
    root, kept, found = plan.config.root, plan.config.kept, []
    for scale in recorded_scales(root):
        path = records_file(root, scale)
        table = tables.read(check_tidy(path.parent, path.name), {**columns.CLAIMS, **tables.texts("differs")})
        found.append((planning.cfg.load(root, kept | {"scale": scale, "evidence_only": True}), table))
    for path in finished(root):
        table = tables.read(check_tidy(path.parent, path.name), columns.CLAIMS)
        encoders = table[(table["answered_by"] == "encoder") & (table["verdict"] != NOT_RUN)]
        found.append((planning.cfg.load(root, kept | {"scale": path.parent.name}), encoders.assign(differs="")))
    return found


def finished(root: Path) -> list[Path]:
    """claims.csv of every scale on real images that was finished here."""
    found = [
        (path, root / "config" / "scales" / f"{path.parent.name}.yaml") for path in root.glob("results/*/claims.csv")
    ]
    return sorted(path for path, file in found if file.is_file() and files.read_yaml(file)["level"] != "quick")


# The ladder


def build(plan: Plan) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Write results/report/{claims,ladder,criteria}.csv, and return the first two as they are read."""
    rules = load_certainty(plan.config.root)
    ladder = [*_exact(plan, rules)]
    for config, table in _sources(plan):
        ladder += [_of_encoders(config, row, rules) for row in tables.rows(table)]
    ladder = climbed(ladder)
    best = {row["id"]: row for row in reversed(ladder)}
    costs, rows = {(row["paper"], row["artifact"]): float(row["device_hours"]) for row in _rows(COSTS)}, []
    hours = {row["id"]: float(row["device_hours"]) for row in _rows(PAIR_COSTS)}
    judged_by = rules_file.load(plan.config.root)
    for paper in plan.config.papers:
        listed = ledger.of(plan.config, paper)
        printed = {(one.artifact, one.text): one for one in listed if one.kind == "value" and one.origin == "printed"}
        found = [(one, _known(plan.config, paper, one, printed, best.get(one.id), costs, rules)) for one in listed]
        rows += [row | _price(one, row, printed, hours, judged_by) for one, row in found]
    written = {
        "claims": (pd.DataFrame(rows, columns=list(columns.KNOWN)), columns.KNOWN),
        "ladder": (pd.DataFrame(ladder, columns=list(columns.LADDER)), columns.LADDER),
    }
    known, steps = (tables.as_read(table, names) for table, names in written.values())
    written["criteria"] = (criteria(known), columns.CRITERIA)
    tables.write(plan.config.root / REPORT, written)
    return known, steps


def climbed(ladder: Sequence[Row]) -> list[Row]:
    """The rows of the ladder, the best evidence first: by rung, then by the number of runs."""
    order = list(RUNGS)
    return sorted(ladder, key=lambda row: (order.index(row["rung"]), -_number(row["n"]), row["scale"]))


def _exact(plan: Plan, rules: Certainty) -> Iterator[Row]:
    """The evidence of theorems and exact studies."""
    for row in tables.rows(claims.exact(plan)):
        verdict = Verdict.of(row["verdict"])
        rung = RUNG_OF[row["answered_by"]]
        missing: list[Shortcoming] = []
        if verdict in (Verdict.NO_COUNTEREXAMPLE, Verdict.NO_COUNTEREXAMPLE_ERRATUM) and rung == "proof":
            missing.append("untried")
        missing += ["undecided"] if verdict.outcome == "open" else []
        missing += ["unjudged"] if verdict.outcome == "unjudged" else []
        if verdict.outcome != "waiting":
            yield _step(row, rung, "", missing, rules) | {"answer": answer(row), "scale": ""}


def _of_encoders(config: Config, row: Row, rules: Certainty) -> Row:
    """The evidence of one scale's encoders on one claim."""
    level = config.scale.level
    rung: Rung = "published" if level == "paper" else "first_protocol" if config.scale.superseded else "laptop"
    missing = shortcomings(row, stands_in(config, row), rules.enough_runs)
    return _step(row, rung, config.scale.superseded or "", missing, rules) | {"answer": answer(row)}


def shortcomings(row: Mapping[str, Any], stand_in: bool, enough: int) -> list[Shortcoming]:
    """What holds the evidence of encoders down, of all that can (config/certainty.yaml)."""
    found: dict[Shortcoming, bool] = {
        "few_runs": not _number(row["n"]) >= enough,
        "undecided": row["kind"] == "comparison" and answer(row) == CANNOT_TELL,
        "stand_in": stand_in,
        "level": is_level(row),
        "other_setting": row["kind"] == "value",
        "unjudged": row["verdict"] == Verdict.CANNOT_BE_JUDGED,
    }
    return [name for name, here in found.items() if here]


def is_level(row: Mapping[str, Any]) -> bool:
    """Whether an arm of a comparison has learnt no more than raw pixels or its untrained encoder."""
    return LEVEL in row["why"]


def has_interval(row: Mapping[str, Any]) -> bool:
    """Whether trained encoders give an interval for a comparison."""
    of_encoders = (row["kind"], row["answered_by"]) == ("comparison", "encoder")
    return of_encoders and not math.isnan(row["low_unadjusted"])


def stands_in(config: Config, row: Mapping[str, Any]) -> bool:
    """Whether the images are of another set than the named one; a part of it, or smaller images of it, are its own."""
    used, named = (config.datasets.get(str(row[key])) for key in ("measured_on", "dataset"))
    return used is None or named is None or _origin(used) != _origin(named)


def _origin(dataset: Dataset) -> tuple[str, str, str]:
    """Which published images or sentences, and which labels, a dataset is made of."""
    if dataset.source is None:
        return dataset.name, "", ""
    name, given = dataset.source.name, dataset.source.parameters
    base = f"cifar{given.get('classes', 10)}" if name == "cifar" else given.get("base", name)
    return base, given.get("labels", "class"), given.get("corpus", "")


def _step(row: Row, rung: Rung, superseded: str, missing: Sequence[Shortcoming], rules: Certainty) -> Row:
    grade, reasons = rules.of(rung, missing)
    said = [superseded] if superseded else []
    said += [f"n = {int(_number(row['n']))}" if one == "few_runs" else SHORTCOMINGS[one] for one in reasons]
    kept = {name: row[name] for name in columns.LADDER if name in row}
    return kept | {"rung": rung, "certainty": grade, "reasons": "; ".join(said), "differs": row.get("differs", "")}


def answer(row: Mapping[str, Any]) -> str:
    """What a row of claims says: it holds, fails, is ``opposite``, or one cannot tell; or what its table says.

    The answer to a comparison without a clear direction, and to a number of another setting, cannot be told.
    """
    verdict = Verdict.of(row["verdict"])
    if verdict.outcome in ("borne", "contradicted"):
        return str(verdict)
    if verdict.outcome == "measured":
        equal = row["reported"] == "equal"
        said = {"same": "holds", "opposite": "fails" if equal else "opposite", "no effect": "fails"}
        return said.get(row["direction"], CANNOT_TELL)
    if verdict is Verdict.NOT_REPRODUCED and row["kind"] == "comparison" and row["reported"] not in ("equal", ""):
        printed = SIGNS.get(row["reported"]) or float(row["reported"])
        return "opposite" if max(printed * row["low"], printed * row["high"]) < 0 else "fails"
    return {"holds": "holds", "fails": "fails"}.get(verdict.outcome, "holds" if verdict.settles else CANNOT_TELL)


def _known(
    config: Config,
    paper: str,
    claim: Claim,
    printed: Mapping[tuple[str, str], Claim],
    best: Row | None,
    costs: Mapping[tuple[str, str], float],
    rules: Certainty,
) -> Row:
    """A claim's row, with its best evidence."""
    nothing = {"rung": "nothing", "answer": CANNOT_TELL, "certainty": rules.rungs["nothing"].grade, "verdict": NOT_RUN}
    low, high = _printed_interval(claim, printed)
    row = {
        **{name: getattr(claim, name) for name in columns.KNOWN if name in Claim.model_fields},
        "metric": claim.metric or "",
        "paper": paper,
        "setting": coordinates.setting(claim.coordinates),
        "reported": claim.direction or ("" if claim.reported is None else f"{claim.reported:.10g}"),
        **{"reported_low": low, "reported_high": high},
        **(best or nothing),
        **claims.answering(config.papers[paper], claim),
    }
    if row["answered_by"] == "encoder" and row["rung"] != "published" and (paper, claim.artifact) in costs:
        row["settle"] = f"make reproduce SCALE=paper ONLY={paper}/{claim.artifact}"
        row["gpu_hours"] = costs[paper, claim.artifact]
    return row


def _price(
    claim: Claim,
    row: Row,
    printed: Mapping[tuple[str, str], Claim],
    hours: Mapping[str, float],
    rules: rules_file.Rules,
) -> Row:
    """What an answer of small encoders to a comparison of accuracies takes: runs an arm, and hours of one core.

    The spread over seeds is that of the best evidence, else of the two printed standard deviations. Arms are equal
    within the smaller margin of config/statistics.yaml.
    """
    of_encoders = row["answered_by"] == "encoder" and claim.kind == "comparison" and claim.origin != "ours"
    if not of_encoders or not claim.of_accuracy:
        return {}
    stds = [arm.reported_std for cell in claim.cells if (arm := printed.get((claim.artifact, cell)))]
    ours = _number(row.get("spread"))
    known = [one for one in stds if one]
    spread = ours or (math.sqrt(sum(std**2 for std in known) / 2) if len(known) == 2 else math.nan)
    found = {
        "runs_to_see": prices.to_see(claim.reported or 0.0, spread, rules),
        "runs_to_equate": prices.to_equate(rules.margin.at_least_high, spread, rules),
    }
    needed = found["runs_to_equate" if claim.direction == "equal" else "runs_to_see"]
    return {"spread": spread, "core_hours": needed * hours.get(claim.id, math.nan)} | found


def _printed_interval(claim: Claim, printed: Mapping[tuple[str, str], Claim]) -> tuple[float, float]:
    """The 95 % interval of a printed difference by the two printed standard deviations; nan if one is not printed.

    Where no number of runs is printed it is taken as one, which is the widest interval.
    """
    arms = [printed.get((claim.artifact, cell)) for cell in claim.cells] if claim.kind == "comparison" else []
    if claim.reported is None or not arms or not all(arm and arm.reported_std for arm in arms):
        return math.nan, math.nan
    of = [(arm.reported_std or 0.0, arm.reported_n or 1) for arm in arms if arm]
    df = sum(n - 1 for _, n in of)
    half = (special.stdtrit(df, 0.975) if df else special.ndtri(0.975)) * math.hypot(*(std / n**0.5 for std, n in of))
    return claim.reported - float(half), claim.reported + float(half)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def criteria(known: pd.DataFrame) -> pd.DataFrame:
    """criteria.csv: replication by several criteria, by document and rung."""
    reported = pd.to_numeric(known["reported"], errors="coerce")
    measured = pd.to_numeric(known["measured"], errors="coerce")
    low, high = known["low_unadjusted"], known["high_unadjusted"]
    compared = (
        (known["kind"] == "comparison") & (known["answered_by"] == "encoder") & (reported.abs() > 0) & low.notna()
    )
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


def _number(value: Any) -> float:
    return float(value) if value not in ("", None) and not math.isnan(float(value)) else 0.0


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
