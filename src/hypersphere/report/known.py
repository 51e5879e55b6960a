"""results/report/: what is known of every claim, from all evidence at hand, as tables, a page and a paper."""

from hypersphere.config.plan import Plan
from hypersphere.provenance import columns, tables
from hypersphere.report import confirmed, forest, page, pdf, questions
from hypersphere.statistics import known


def build(plan: Plan) -> None:
    """Write claims.csv, ladder.csv, criteria.csv and findings.csv, and then the page and the paper that show them."""
    root = plan.config.root
    folder = root / known.REPORT
    claims, ladder = known.build(plan)
    studies = known.of_studies(root)
    findings = questions.answered(plan.config, claims, studies)
    tables.write(folder, {"findings": (findings, columns.FINDINGS)})
    forest.build(plan.config, claims, folder)
    confirmed.build(plan.config, studies["studies"], folder)
    page.build(plan, claims, ladder, findings, studies["studies"], folder)
    pdf.build(plan, folder)
