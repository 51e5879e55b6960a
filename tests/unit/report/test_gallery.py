"""The gallery: the page shows pictures that there are, each of an exact study, and small."""

from pathlib import Path

from hypersphere.report import gallery

from ...golden.released import configured

SMALL = 150_000
"""Bytes."""


def test_the_page_shows_every_picture_of_its_folder_each_of_an_exact_study() -> None:
    shown = gallery.SHOWN.findall(gallery.PAGE.read_text(encoding="utf-8"))
    assert len(shown) > 9
    for path, paper, figure in shown:
        assert configured().papers[paper].studied[figure].draw == "study_figure", path
        assert (gallery.PAGE.parent / path).stat().st_size < SMALL
    there = sorted((gallery.PAGE.parent / "images" / "gallery").iterdir())
    assert there == sorted(gallery.PAGE.parent / path for path, _, _ in shown)


def test_a_picture_is_found_by_paper_and_figure_whatever_underscores_they_have() -> None:
    text = "![a](images/gallery/one_paper-table5_entropy.png) ![b](images/studies.png)"
    assert gallery.SHOWN.findall(text) == [
        ("images/gallery/one_paper-table5_entropy.png", "one_paper", "table5_entropy")
    ]


def test_a_picture_that_is_no_longer_shown_goes(tmp_path: Path) -> None:
    old = tmp_path / "images" / "gallery" / "one-fig1.png"
    old.parent.mkdir(parents=True)
    old.touch()
    page = tmp_path / "gallery.md"
    page.write_text("# Gallery\n", encoding="utf-8")
    gallery.build(configured(), page)
    assert not old.exists()
