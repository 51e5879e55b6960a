"""benchmarks/throughput_page.py: page and figure say what was measured."""

from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def fixed(page: ModuleType, tiny: tuple) -> tuple:
    """A page of made-up numbers."""
    spread = page.Spread(2.5, 2.0, 3.25)
    row = page.Measured(tiny, 12345.6, spread, page.Spread(1.5, 1.25, 1.75), page.Spread(1.75, 1.5, 2.0))
    wide = row._replace(case=tiny._replace(encoder={"name": "resnet8", "width": 8}, batch=12))
    return page.Page(
        device="A Processor",
        clock="wall time",
        threads=2,
        repeats=7,
        torch="1.2.3",
        lightly="4.5.6",
        day="2001-02-03",
        cores=4,
        load=3.5,
        views=[row._replace(case=tiny._replace(label="crop"), floor=None)],
        steps=[row],
        by_batch=[row, wide],
        by_width=[row, wide],
        shares=[(tiny, dict(zip(page.PHASES, (0.1, 0.2, 0.6, 0.1), strict=True)))],
    )


def test_the_page_says_the_numbers_it_is_given(page: ModuleType, fixed: tuple) -> None:
    text = page.text(fixed)
    assert "on 2001-02-03: A Processor, 2 threads, torch 1.2.3, lightly 4.5.6." in text
    assert "| crop | 12,300 | 2.50 (2.00–3.25) |" in text
    assert "| tiny | 8 px | 6 | 12,300 | 2.50 (2.00–3.25) | 1.50 (1.25–1.75) | 1.75 (1.50–2.00) |" in text
    assert "| tiny | 8 px | 6 | 10 % | 20 % | 60 % | 10 % |" in text
    rows = [line.count("|") for line in text.splitlines() if line.startswith("|")]
    assert sorted(set(rows)) == [4, 8]  # no row has a cell more or less than one of the tables


def test_the_page_says_whether_the_machine_was_its_own(page: ModuleType, fixed: tuple) -> None:
    """A load of 3.5, of which two threads are the benchmark's own."""
    assert "on 4 cores there was a load of 3.5 in five minutes, of which 2 is" in page.text(fixed)
    assert "Nothing else ran on the machine." in page.text(fixed._replace(load=2.1))


def test_page_and_figure_are_written_where_the_page_looks(page: ModuleType, fixed: tuple, tmp_path: Path) -> None:
    page.write(fixed, tmp_path)
    assert f"]({page.FIGURE.as_posix()})" in (tmp_path / "performance.md").read_text(encoding="utf-8")
    assert (tmp_path / page.FIGURE).exists()
