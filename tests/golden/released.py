"""The released config, and plans of it: each is read or made once in a process, because they are large."""

import gc
from functools import cache
from pathlib import Path

from hypersphere.config import plan as planning
from hypersphere.config import project
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config

ROOT = Path(__file__).resolve().parents[2]


def configured(scale: str = "quick") -> Config:
    """The config of a scale, as released."""
    return _configured(scale)


@cache  # of it, ``configured()`` and ``configured("quick")`` would be two
def _configured(scale: str) -> Config:
    return project.load(ROOT, {"scale": scale})


@cache
def released(scale: str) -> Plan:
    """The plan of a scale, as released."""
    return for_good(planning.of(configured(scale)))


@cache
def from_records(scale: str) -> Plan:
    """The plan of a scale from the records of the repository alone."""
    return for_good(planning.make(ROOT, {"scale": scale, "evidence_only": True}))


def for_good(plan: Plan) -> Plan:
    """The plan, which stays to the end of the process: no search for garbage looks at it again."""
    gc.freeze()
    return plan
