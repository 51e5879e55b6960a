"""The tables of results/report: what is known of every claim, and what our studies say."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from hypersphere.provenance import columns, tables
from hypersphere.provenance.manifest import check_files, check_tidy, tidy_manifest
from hypersphere.provenance.tables import Row
from hypersphere.statistics import judged_records
from hypersphere.statistics.judged_records import REPORT


class Evidence(NamedTuple):
    """The rows of the report's tables, and the tables of our studies by name."""

    claims: list[Row]
    ladder: list[Row]
    criteria: list[Row]
    findings: list[Row]
    studies: Mapping[str, pd.DataFrame]


SEALED_TOGETHER = {"claims": columns.KNOWN, "ladder": columns.LADDER, "criteria": columns.CRITERIA}
"""Tables of one manifest."""
OF_REPORT = {**SEALED_TOGETHER, "findings": columns.FINDINGS}
"""All tables of the report."""


def read(root: Path) -> Evidence:
    """The evidence of a project, as the manifests of results/report say that it is."""
    folder = root / REPORT
    check_files(tidy_manifest(folder / "claims.csv"), *(f"{name}.csv" for name in SEALED_TOGETHER))
    known = {
        name: tables.rows(tables.read(folder / f"{name}.csv", of))
        for name, of in SEALED_TOGETHER.items()
    }
    findings = tables.rows(tables.read(check_tidy(folder, "findings.csv"), columns.FINDINGS))
    return Evidence(**known, findings=findings, studies=judged_records.of_studies(root))
