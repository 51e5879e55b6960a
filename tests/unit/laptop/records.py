"""Records of evidence/laptop1/, the first protocol of the laptop scale, looked up by the cells of the plan."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import stats

from hypersphere.config import plan as planning
from hypersphere.config.records import read_all, read_folder

ROOT = Path(__file__).resolve().parents[3]
SCALE = "laptop1"
Record = Mapping[str, Any]
Row = list[str]
NO_COORDINATES: Mapping[str, Any] = MappingProxyType({})


@cache
def laptop() -> planning.Plan:
    """The plan of the scale, made once."""
    return planning.make(ROOT, {"scale": SCALE})


@cache
def every_record() -> Mapping[str, Record]:
    """By the name of the run."""
    config = laptop().config
    found = read_all(config.evidence, config.expected)
    return {name: replicates[0].model_dump(mode="json") for name, replicates in found.items()}


@cache
def replaced() -> Mapping[str, Record]:
    """Records in float32 that others once took the place of, by the name of the run."""
    found = read_folder(laptop().config.evidence / "replaced", SCALE, laptop().config.expected)
    return {record.name: record.model_dump(mode="json") for record in found}


def records(
    paper: str, artifact: str, at: Mapping[str, Any] = NO_COORDINATES, *, exactly: bool = False
) -> list[Record]:
    """The records of an artifact's cells at these coordinates, and at no others if ``exactly``; each once, by seed."""
    names = []
    for cell in laptop().artifacts[paper, artifact]:
        here = {key: value for key, value in cell.coordinates.items() if key != "measure"}
        if cell.run is not None and (here == at if exactly else at.items() <= here.items()):
            names.append(cell.run.name)
    found = [every_record()[name] for name in dict.fromkeys(names) if name in every_record()]
    return sorted(found, key=lambda record: int(record["run"]["seed"]))


def measured(
    record: Record, paper: str, protocol: str, measure: str, *, epoch: int | None = None, target: str = ""
) -> dict[str, float | None]:
    """By reading, in the record's order; after the last epoch and of the run's own dataset unless said."""
    at = {
        "protocol": laptop().protocols[paper][protocol].digest,
        "measure": measure,
        "epoch": record["epochs"] if epoch is None else epoch,
        "target": target or record["run"]["dataset"]["name"],
    }
    rows = [row for row in record["evaluations"] if at.items() <= row.items()]
    return {row["reading"]: row["value"] for row in rows}


def value(record: Record, paper: str, protocol: str, measure: str, *, reading: str = "", **at: Any) -> float | None:
    """One measurement (``epoch`` and ``target`` as in ``measured``). None where there is none, or the run diverged."""
    return measured(record, paper, protocol, measure, **at).get(reading)


def values(of: Sequence[Record], paper: str, protocol: str, measure: str, **at: Any) -> list[float]:
    """Of those records that have the measurement."""
    each = [value(record, paper, protocol, measure, **at) for record in of]
    return [one for one in each if one is not None]


def mean(found: Sequence[float], digits: int = 1) -> str:
    """Empty without any value."""
    return f"{np.mean(found):.{digits}f}" if found else ""


def with_interval(found: Sequence[float]) -> str:
    """The mean, with scipy's 95 % interval where there are several values."""
    if len(found) < 2:
        return mean(found)
    half = stats.t.ppf(0.975, len(found) - 1) * stats.sem(found)
    return f"{np.mean(found):.1f} ± {half:.1f}"


def difference(these: Sequence[float], others: Sequence[float]) -> str:
    """Of two means, with scipy's 95 % interval by Welch where both have several runs."""
    if not these or not others:
        return ""
    text = f"{np.mean(these) - np.mean(others):+.1f}"
    if min(len(these), len(others)) < 2:
        return text
    interval = stats.ttest_ind(these, others, equal_var=False).confidence_interval(0.95)
    return f"{text} [{interval.low:+.1f}, {interval.high:+.1f}]"


def paired(these: Sequence[float], others: Sequence[float]) -> str:
    """Of measurements of the same encoders, one by one, with scipy's 95 % interval of the mean difference."""
    each = np.subtract(these, others)
    if len(each) < 2:
        return f"{np.mean(each):+.1f}"
    low, high = stats.ttest_1samp(each, 0.0).confidence_interval(0.95)
    return f"{np.mean(each):+.1f} [{low:+.1f}, {high:+.1f}]"
