"""A browser; and what is known from the records of the repository alone, without exact studies and proofs."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from hypersphere.config import paper_code, project
from hypersphere.provenance import columns, tables
from hypersphere.report import report
from hypersphere.report.evidence import Evidence
from hypersphere.statistics import best_evidence, replication
from hypersphere.statistics.confirmed import TABLES

from . import made_up
from .pages import browser

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def unrecorded(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """results/report/claims.csv of the released documents without any record. With all of them: tests/results."""
    root = tmp_path_factory.mktemp("unrecorded")
    for name in ("config", "paper", "papers", "data"):
        (root / name).symlink_to(ROOT / name)
    return best_evidence.of_project(project.load(root, {}))[0]


@pytest.fixture(scope="session")
def report_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report's page of made-up claims on the released documents."""
    folder = tmp_path_factory.mktemp("report")
    write_report({"scale": "laptop", "evidence_only": True}, folder)
    return folder / "index.html"


def write_report(settings: dict[str, Any], folder: Path) -> None:
    """Write the report on made-up claims with the configuration of a scale, as a DAG of that scale does."""
    config = project.load(ROOT, settings)
    every = made_up.table(made_up.CLAIMS)
    answered = [row for row in (*made_up.CLAIMS, made_up.FEWER) if row["rung"] != "nothing"]
    steps = tables.as_read(pd.DataFrame(answered, columns=list(columns.LADDER)), columns.LADDER)
    listed, ladder, criteria = (
        tables.rows(one) for one in (every, steps, replication.criteria(every))
    )
    studies = {
        name: tables.as_read(pd.DataFrame(columns=list(kinds)), kinds)
        for name, kinds in TABLES.items()
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper_code, "front", lambda: None)  # made-up claims do not bear its titles
        report.write(config, Evidence(listed, ladder, criteria, made_up.FINDINGS, studies), folder)


tab = pytest.fixture(scope="module")(browser.tab)
