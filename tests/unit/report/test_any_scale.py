"""The report is a function of what it is made of, whichever scale's DAG makes it."""

from pathlib import Path

from .conftest import write_report


def test_the_report_of_two_scales_has_equal_bytes(report_page: Path, tmp_path: Path) -> None:
    """Its links to proofs, too: they lead to what the report is made of, and not to the copies of a scale."""
    write_report({"scale": "quick"}, tmp_path)
    page = report_page.read_bytes()
    assert b'href="../exact/theory.csv"' in page
    assert page == (tmp_path / "index.html").read_bytes()
