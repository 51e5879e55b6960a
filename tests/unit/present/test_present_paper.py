"""The paper: prose without a digit, and content that follows the results."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hypersphere.declared import errata
from hypersphere.errors import HypersphereError
from hypersphere.present import paper

REPOSITORY = Path(__file__).parents[3]


def content(made: Any) -> dict[str, Any]:
    """What the paper was made from."""
    return json.loads(made.read("paper/content.json"))


def norms(made: Any) -> dict[str, Any]:
    """The norms paper's part of it."""
    (document,) = [paper for paper in content(made)["papers"] if paper["id"] == "embedding_norms"]
    return document


def test_no_digit_is_typed_into_the_prose() -> None:
    text = (REPOSITORY / "paper" / "reproduction.typ").read_text(encoding="utf-8")
    assert re.findall(r".*\d.*", text) == []
    # A result can be spelt out too; the layout may hold sizes, but no sentence.
    assert not re.search(r"\b(percent|per cent|points? (higher|lower|better))\b", text)


def test_pdf_is_made_from_the_content(quick: Any) -> None:
    pdf = (quick.config.results / "paper.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"CreationDate" not in pdf


def test_content_holds_tables_beside_published_numbers(quick: Any) -> None:
    document = norms(quick)
    first = document["tables"][0]
    assert first["rows"][1]["cells"][0] == {
        "ours": "64.0 ± 0.9 (5)",
        "difference": "+4.0 [+2.5, +5.5]",
        "published": "61.1",
    }
    assert [row["labels"][1] for row in first["rows"] if row["control"]] == [
        "chance",
        "raw pixels",
        "untrained encoder",
    ]
    assert all("Not a reproduction" in " ".join(one["notes"]) for one in document["tables"])
    assert all("device cpu" in " ".join(one["notes"]) for one in document["tables"])
    assert "Not a reproduction" in document["figures"][0]["caption"]


def test_content_lists_protocol_and_open_choices(quick: Any) -> None:
    document = norms(quick)
    rows = {row[0]: row[1:] for row in document["protocol"]["rows"]}
    assert rows["SimSiam, cut (c=9)"][:5] == ["30", "2 %", "256 (4 × 64)", "0.12", "0.0005"]
    assert rows["SimCLR, GradScale (p=1)"][1:4] == ["20 %", "64", "0.03"]
    listed = [item for choice in document["choices"] for item in choice["items"]]
    chosen = quick.config.papers["embedding_norms"].open_choices
    assert listed == [item for items in chosen.values() for item in items]


@pytest.mark.parametrize(("scale", "settles"), [("quick", False), ("published", True)])
def test_whether_numbers_count_follows_the_scale(request: pytest.FixtureRequest, scale: str, settles: bool) -> None:
    made = content(request.getfixturevalue(scale))
    assert made["scale"]["settles"] is settles
    assert made["verdicts"][0]["verdict"] == ("reproduced" if settles else "quick only")


def test_verdict_counts_and_comparisons_are_all_there(quick: Any) -> None:
    made = content(quick)
    assert sum(int(row["count"]) for row in made["verdicts"]) == int(made["claims"])
    assert int(made["claims"]) == sum(row["kind"] != "theorem" for row in quick.rows["claims"]) > 24
    assert len(norms(quick)["comparisons"]) == 9


def test_every_theorem_is_there_with_its_counterexample(quick: Any) -> None:
    made = content(quick)
    rows = [row for paper in made["papers"] for row in paper["theorems"]]
    claimed = [row for row in quick.rows["claims"] if row["kind"] == "theorem"]
    assert [(row["subject"], row["reading"]) for row in rows] == [(row["sentence"], row["reading"]) for row in claimed]
    assert int(made["statements"]) == len(claimed) > 50
    printed = next(row for row in rows if row["reading"] == "as printed")
    assert printed["ours"] == "900 of 1000 draws meet the hypothesis, 12 violate it (by up to 0.25)"
    assert printed["counterexample"] == "fails at tau = 1, angles = (0.5, −2), by 0.25"
    assert printed["verdict"] == "refuted"
    corrected = next(row for row in rows if row["reading"] != "as printed")
    assert corrected["ours"].endswith("none violates it (deviation at most 3e-15)")
    assert corrected["counterexample"] == ""


def test_every_erratum_is_there(quick: Any) -> None:
    entries = [entry for group in content(quick)["errata"] for entry in group["entries"]]
    assert {entry["id"] for entry in entries} == {entry.id for entry in errata.load(REPOSITORY)}
    assert len(entries) > 120
    assert content(quick)["errata"][-1]["title"] == "Across the documents"


def test_a_source_that_does_not_compile_is_one_sentence(make: Any) -> None:
    made = make()
    made.build()
    (made.config.root / "paper" / "reproduction.typ").write_text("#nothing-of-this-name", encoding="utf-8")
    before = (made.config.results / "paper.pdf").read_bytes()
    with pytest.raises(HypersphereError, match=r"reproduction\.typ: unknown variable"):
        paper.build(made.config)
    assert (made.config.results / "paper.pdf").read_bytes() == before
