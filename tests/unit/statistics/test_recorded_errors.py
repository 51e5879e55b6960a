"""Mean corruption errors from records alone, by Hendrycks and Dietterich's definition from the tables themselves."""

import csv
import dataclasses
import math
from collections import defaultdict
from pathlib import Path

import pytest

from hypersphere.config import plan as planning
from hypersphere.config import recorded
from hypersphere.config.cells import Cell
from hypersphere.config.plan import Plan
from hypersphere.statistics import gather
from hypersphere.statistics.corruption_errors import BENCHMARK

ROOT = Path(__file__).resolve().parents[3]
KEY = "double_metric", "cifar10_c"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planning.make(ROOT, {"scale": "laptop1", "evidence_only": True})


def errors(plan: Plan, cell: Cell) -> dict[str, list[float]]:
    """By corruption, read with the csv module."""
    assert cell.run is not None
    with (plan.config.evidence / "runs.csv").open(newline="") as handle:
        (key,) = (row["key"] for row in csv.DictReader(handle) if row["name"] == cell.run.name)
    found: dict[str, list[float]] = defaultdict(list)
    with (plan.config.evidence / "measurements.csv").open(newline="") as handle:
        for row in csv.DictReader(handle):
            at = dict(part.split("=") for part in row["reading"].split(";") if part)
            here = row["key"], row["epoch"], row["measure"], at.get("augmentation")
            asked = key, str(cell.epoch), "corruption_error", cell.coordinates["augmentation"]
            if here == asked and at["corruption"] in BENCHMARK:
                found[at["corruption"]].append(float(row["value"]))
    return found


def test_mean_corruption_errors_are_those_of_the_records(plan: Plan) -> None:
    cells = [cell for cell in plan.artifacts[KEY] if not cell.missing]
    rows = gather.Measurer(plan).rows(cells, plan.config.papers[KEY[0]].measured[KEY[1]])
    found = [(cell, row["value"]) for cell, row in zip(cells, rows, strict=True) if cell.measure == "mce"]
    (base,) = (errors(plan, cell) for cell, value in found if value == 100)
    assert len(found) == 4
    assert len(base) == len(BENCHMARK)
    for cell, value in found:
        ratios = [sum(of) / sum(base[name]) for name, of in errors(plan, cell).items()]
        assert value == pytest.approx(100 * math.fsum(ratios) / len(BENCHMARK))


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ("a run", "no record of this run in evidence/laptop1"),
        ("a severity", "at fewer readings than that of its baseline"),
        ("the baseline", "no record of its baseline of seed 0 in evidence/laptop1"),
    ],
)
def test_what_records_lack_is_a_reason_and_ends_nothing(plan: Plan, lost: str, said: str) -> None:
    assert plan.records is not None
    base, other = (
        next(cell.run.name for cell in plan.artifacts[KEY] if cell.run and cell.coordinates["variant"] == variant)
        for variant in ("nt_xent", "dm3")
    )
    known = dict(plan.records)
    if lost == "a severity":
        (record,) = known[other]
        fewer = [one for one in record.evaluations if "corruption=fog;severity=3" not in one.reading]
        known[other] = (record.model_copy(update={"evaluations": fewer}),)
    else:
        del known[base if lost == "the baseline" else other]
    marked = recorded.mark(plan.artifacts[KEY], plan.config.papers, plan.protocols, known, "laptop1")
    rest = dataclasses.replace(plan, cells=tuple(marked), records=known)
    assert len(gather.Measurer(rest).rows(marked, plan.config.papers[KEY[0]].measured[KEY[1]])) < len(marked)
    assert all(said in cell.missing for cell in marked if cell.run and cell.run.name == other)
