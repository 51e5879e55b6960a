"""results/report/: what is known of every claim, from all evidence at hand, as tables, a page and an article."""

from pathlib import Path

from hypersphere.config.project import Config
from hypersphere.files import write_json, write_text
from hypersphere.provenance import columns, datapackage, tables
from hypersphere.report import (
    article,
    evidence,
    findings,
    forest,
    front,
    html,
    latex,
    our_studies,
    page,
)
from hypersphere.report.evidence import OF_REPORT, REPORT, Evidence
from hypersphere.report.page import Page
from hypersphere.report.proofs import Proofs
from hypersphere.statistics import best_evidence, judged_records

TITLE = "What is known of every claim"
KEYS = {"claims": "id", "findings": "id"}
"""The columns that name the rows of tables."""


def build(config: Config) -> None:
    """Write claims.csv, ladder.csv, criteria.csv, findings.csv and numbers.tex, and then the page and the article.

    The page and the article show the tables.
    """
    folder = config.root / REPORT
    known, _ = best_evidence.of_project(config)
    answered = findings.table_of(config, known, judged_records.of_studies(config.root))
    tables.write(folder, {"findings": (answered, columns.FINDINGS)})
    described = datapackage.of_tables(folder, "report", TITLE, OF_REPORT, KEYS)
    write_json(folder / datapackage.FILE, described)
    found = evidence.read(config.root)
    write_text(folder / latex.FILE, latex.build(found.claims))
    article.build(config, write(config, found, folder), folder)


def write(config: Config, found: Evidence, folder: Path) -> Page:
    """Write index.html and the pictures of the forests, and return the page."""
    front.build(config.root, found, folder)
    forest.build(config, found.claims, folder)
    our_studies.build(config, found.studies["studies"], folder)
    shown = page.of_evidence(config, found)
    proofs = Proofs(config, frozenset(shown.entries), config.root / REPORT)
    write_text(folder / "index.html", html.render(shown, proofs, folder))
    return shown
