"""Plans of the released config, each made once in a process, because they are large."""

from functools import cache
from pathlib import Path

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan

ROOT = Path(__file__).resolve().parents[2]


@cache
def released(scale: str) -> Plan:
    """The plan of a scale, as released."""
    return planning.make(ROOT, {"scale": scale})


@cache
def from_records(scale: str) -> Plan:
    """The plan of a scale from the records of the repository alone."""
    return planning.make(ROOT, {"scale": scale, "evidence_only": True})
