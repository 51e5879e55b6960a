"""docs/laptop.md is what the records say."""

from hypersphere.report import docs

from .conftest import ROOT, Recorded


def test_the_page_is_as_it_is_written_from_the_records(recorded: Recorded) -> None:
    """After new records: ``make report``, and then ``python -m hypersphere.report.docs``."""
    _, _, rest = (ROOT / "docs" / "laptop.md").read_text(encoding="utf-8").partition(docs.BEGIN)
    written, found, _ = rest.partition(docs.END)
    assert found
    current = written.strip() == docs.laptop(recorded.config, recorded.known)  # a diff of both would take minutes
    assert current, "the records or the report have changed"


def test_the_page_shows_the_better_protocol_and_no_other_rung(recorded: Recorded) -> None:
    name = "norms.t5.simclr.cut3_gain.cifar10_lt"
    one = next(row for row in recorded.known.ladder if row["id"] == name) | {"rung": "laptop", "measured": "7.5"}
    steps = [*recorded.known.ladder, one, one | {"rung": "published", "measured": "9.5"}]
    text = docs.laptop(recorded.config, recorded.known._replace(ladder=steps))
    assert ("| +7.5 |" in text, "+9.5" in text) == (True, False)
