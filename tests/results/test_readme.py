"""The README's findings are those of the results: sentences of the scorecard, rows of Table 1 of the norms paper."""

import pytest

from hypersphere.config.plan import Plan
from hypersphere.report import claims, findings
from hypersphere.report.results import Results

from .conftest import ROOT

TEXT = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


def test_its_sentences_on_printed_claims_are_the_scorecards(plan: Plan) -> None:
    """On theorems and on exact studies: of quick, since other scales leave out or add a study."""
    if plan.config.scale.level != "quick":
        pytest.skip("the README speaks of quick")
    told = findings.sentences(plan.config, claims.entries(Results(plan)))
    said = ["".join(part.text for part in sentence).split(". ")[0].rstrip(".") for sentence in told]
    exact = [one for one in said if "exact studies" in one or "theorems" in one or "sentences" in one]
    assert [one for one in exact if f"- {one}." not in TEXT] == []


def test_its_rows_of_table_1_are_those_of_the_study(plan: Plan) -> None:
    rows = Results(plan).claims
    found = rows[(rows["paper"] == "embedding_norms") & (rows["artifact"] == "table1") & (rows["kind"] == "value")]
    cells = {(row["reading"], row["setting"], row["variant"]): row for row in found.to_dict("records")}
    for norm in (1, 4, 7):
        for gamma in (0.5, 1):
            at = (f"norm={norm}", f"gamma{gamma:g}")
            printed, literal, corrected = cells["as printed", *at], cells["as printed", *at], cells["N1", *at]
            ours = [f"{float(row['measured']):.0f}" for row in (literal, corrected)]
            assert f"| {norm} | {gamma:g} | {printed['reported']} | {ours[0]} | {ours[1]} |" in TEXT
