"""docs/laptop.md is what the records say."""

from pathlib import Path

import pytest

from hypersphere.config.study import Tried, selection_file, write_selection
from hypersphere.report import docs

from .conftest import ROOT, Recorded

RATE = "optimiser.learning_rate.times"


def test_the_page_is_as_it_is_written_from_the_records(recorded: Recorded) -> None:
    """After new records: ``make report``, and then ``python -m hypersphere.report.docs``."""
    _, _, rest = (ROOT / "docs" / "laptop.md").read_text(encoding="utf-8").partition(docs.BEGIN)
    written, found, _ = rest.partition(docs.END)
    assert found
    current = written.strip() == docs.laptop(recorded.config, recorded.known)  # a diff of both would take minutes
    assert current, "the records or the report have changed"


def test_a_tuned_study_shows_the_curves_it_was_tuned_by(
    recorded: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A made-up curve of two of the arms, in place of the selected one."""
    first, second = [*recorded.config.papers["ours"].studies["step_size"].grids()][:2]
    curve = [
        Tried(first, f"{RATE}=0.1", 27.04, 0.5, 3, 0, True),
        Tried(first, f"{RATE}=1", 26.0, 0.5, 3, 0, False),
        Tried(second, f"{RATE}=1", float("nan"), float("nan"), 0, 3, False),
    ]
    file = selection_file(tmp_path, "ours", "step_size")
    write_selection(file, curve)
    monkeypatch.setattr(docs, "selection_file", lambda root, paper, study: file.with_stem(study))
    text = docs.laptop(recorded.config, recorded.known)
    heading = "## Questions of our own: Is every intervention a step size?\n\n"
    _, _, shown = text.partition(heading)
    (finding,) = (row for row in recorded.known.findings if row["id"] == "step_size")
    assert shown.startswith(finding["sentence"])
    lines = shown.partition("Bold: chosen")[2].splitlines()[2:6]
    assert [[cell.strip() for cell in line.strip("|").split("|")][1:] for line in lines] == [
        *(["0.1", "1"], ["---", "---"]),
        *(["**27.0**", "26.0"], ["–", "diverged"]),
    ]
    file.unlink()
    nothing = {name: table.iloc[:0] for name, table in recorded.known.studies.items()}
    assert heading not in docs.laptop(recorded.config, recorded.known._replace(studies=nothing))


def test_the_page_shows_the_better_protocol_and_no_other_rung(recorded: Recorded) -> None:
    name = "norms.t5.simclr.cut3_gain.cifar10_lt"
    one = next(row for row in recorded.known.ladder if row["id"] == name) | {"rung": "laptop", "measured": "7.5"}
    steps = [*recorded.known.ladder, one, one | {"rung": "published", "measured": "9.5"}]
    text = docs.laptop(recorded.config, recorded.known._replace(ladder=steps))
    assert ("| +7.5 |" in text, "+9.5" in text) == (True, False)
