"""What records say of claims and of our studies: a table a scale, in results/report/records, judged once."""

from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere import files
from hypersphere.config import claims as ledger
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.records import FOLDER, TABLES
from hypersphere.config.rules import Verdict
from hypersphere.config.run import Run
from hypersphere.provenance import columns, tables
from hypersphere.provenance.evidence import undeclared_records
from hypersphere.provenance.manifest import check_files, tidy_manifest
from hypersphere.statistics import confirmed, judge, measure
from hypersphere.statistics.indirectness import differences

REPORT = Path("results/report")
"""Holds the report, relative to the project."""
JUDGED = columns.CLAIMS | tables.texts("differs")
"""The columns of claims.csv of records: ``differs`` is how the runs differ from the published one."""


def of_scale(config: Config, scale: str) -> None:
    """Write what the records of one scale say of claims (``records_file``) and of our studies (``confirmed``)."""
    recorded = _plan(config, scale=scale, evidence_only=True)
    published = _plan(config, scale="paper")
    _name_undeclared(recorded)
    answered = judge.of_encoders(recorded)
    answered = answered[answered["verdict"] != Verdict.NOT_RUN]
    ours = _runs(recorded)
    theirs = _runs(published)
    differs = dict.fromkeys(answered["id"], "")
    for paper in config.papers:
        for claim in ledger.of(recorded.config, paper):
            cell = paper, claim.artifact, claim.text
            if claim.id in differs and cell in ours and cell in theirs:
                differs[claim.id] = "; ".join(differences(ours[cell], theirs[cell]))
    path = records_file(config.root, scale)
    claims = answered.assign(differs=answered["id"].map(differs))
    written = {path.stem: (claims, JUDGED), **confirmed.of_plan(recorded)}
    tables.write(path.parent, written)


def _plan(config: Config, **settings: Any) -> Plan:
    return planning.make(config.root, config.shared_settings | settings)


def _name_undeclared(recorded: Plan) -> None:
    """Print what records have that the configuration does not declare."""
    assert recorded.records is not None
    every = list(chain.from_iterable(recorded.records.values()))
    for fault in undeclared_records(recorded, every, recorded.config.evidence):
        print(f"note: {fault}; it counts for nothing", flush=True)


def _runs(plan: Plan) -> dict[tuple[str, str, str], Run]:
    """The run of each cell, by document, artifact and coordinates."""
    return {(cell.paper, cell.artifact, cell.text): cell.run for cell in plan.cells if cell.run}


def records_file(root: Path, scale: str) -> Path:
    """results/report/records/<scale>/claims.csv."""
    return root / REPORT / "records" / scale / "claims.csv"


def of_studies(root: Path) -> dict[str, pd.DataFrame]:
    """The tables of ``confirmed.of_plan`` of all recorded scales, by name."""
    judged = [records_file(root, scale) for scale in recorded_scales(root)]
    names = [f"{name}.csv" for name in confirmed.TABLES]
    for file in judged:
        check_files(tidy_manifest(file), *names)
    found = {}
    for name, kinds in confirmed.TABLES.items():
        parts = [tables.read(file.with_name(f"{name}.csv"), kinds) for file in judged]
        found[name] = measure.stack_rows(kinds, parts)
    return found


def recorded_scales(root: Path) -> list[str]:
    """The scales of config/scales of which the repository holds records; nothing reads those of another scale."""
    scales = set[str]()
    for table in TABLES:
        scales |= {file.parent.name for file in (root / FOLDER).glob(f"*/{table}.csv")}
    return sorted(scale for scale in scales if _scale_file(root, scale).is_file())


def finished_here(root: Path) -> list[Path]:
    """claims.csv of every scale on real images that was finished here."""
    found = []
    for path in sorted(root.glob("results/*/claims.csv")):
        scale = _scale_file(root, path.parent.name)
        if scale.is_file() and files.read_yaml(scale)["level"] != "quick":
            found.append(path)
    return found


def _scale_file(root: Path, scale: str) -> Path:
    return root / "config" / "scales" / f"{scale}.yaml"


def settings_of(file: Path, root: Path) -> dict[str, Any]:
    """The settings of the scale whose claims a file has: ``records_file``, or one of ``finished_here``."""
    scale = {"scale": file.parent.name}
    return scale | {"evidence_only": True} if file.is_relative_to(root / REPORT) else scale
