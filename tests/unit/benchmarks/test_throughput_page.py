"""benchmarks/throughput_page.py: page and figure say what was measured."""

from pathlib import Path
from types import ModuleType

import matplotlib.image
import pytest
import torch
from torch import Tensor


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


def test_the_page_says_what_is_missing(page: ModuleType, fixed: tuple) -> None:
    alone = fixed._replace(
        lightly=None,
        **{
            name: [one._replace(faster=None) for one in getattr(fixed, name)]
            for name in ("views", "steps", "by_batch", "by_width")
        },
    )
    text = page.text(alone)
    assert "lightly not installed" in text
    assert "| crop | 12,300 | not measured |" in text


def picture(page: ModuleType, given: tuple, path: Path) -> Tensor:
    page.draw(given, path)
    return torch.from_numpy(matplotlib.image.imread(path)[..., :3].copy())


def test_the_figure_shows_other_numbers_otherwise(page: ModuleType, fixed: tuple, tmp_path: Path) -> None:
    """And without lightly it has one row of panels instead of two."""
    first = picture(page, fixed, tmp_path / "a.png")
    assert torch.equal(first, picture(page, fixed, tmp_path / "b.png"))
    row = fixed.by_batch[1]
    other = fixed._replace(by_batch=[fixed.by_batch[0], row._replace(faster=row.faster._replace(median=2.9))])
    assert not torch.equal(first, picture(page, other, tmp_path / "c.png"))
    alone = fixed._replace(by_batch=[one._replace(faster=None) for one in fixed.by_batch])
    assert picture(page, alone, tmp_path / "d.png").shape[0] == pytest.approx(first.shape[0] / 2, abs=2)


def test_every_point_lies_in_its_panel(page: ModuleType, fixed: tuple) -> None:
    """Panels of a row share their axis, so a large ratio in either must widen both."""
    high = fixed.by_width[1]._replace(faster=page.Spread(9.0, 8.0, 10.0), floor=page.Spread(5.0, 4.0, 6.0))
    for one in (fixed._replace(by_width=[high, high]), fixed._replace(by_batch=[high, high])):
        figure = page.figure_of(one)
        assert len(figure.axes) == 4
        for axes in figure.axes:
            (low_x, high_x), (low_y, high_y) = axes.get_xlim(), axes.get_ylim()
            for x, y in axes.containers[0].lines[0].get_xydata():
                assert low_x < x < high_x
                assert low_y < y < high_y
        page.plt.close(figure)


def test_page_and_figure_are_written_where_the_page_looks(page: ModuleType, fixed: tuple, tmp_path: Path) -> None:
    page.write(fixed, tmp_path)
    assert f"]({page.FIGURE.as_posix()})" in (tmp_path / "performance.md").read_text(encoding="utf-8")
    assert (tmp_path / page.FIGURE).exists()
