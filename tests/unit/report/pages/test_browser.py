"""The scorecard in a real Chromium. Without one these tests are skipped: install `chromium` by apt, or any Chrome."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from hypersphere.report import pages, scorecard
from hypersphere.report.kinds import study_figure
from hypersphere.simulations.sliders import compute as simulated
from hypersphere.simulations.sliders.draw import MARGIN

from . import browser

pytestmark = pytest.mark.skipif(browser.program() is None, reason="there is no Chromium on the path")


@pytest.fixture
def page(tab: browser.Tab, quick: Any) -> browser.Tab:
    """The scorecard, opened anew from its file."""
    tab.resize(1400)
    tab.open((quick.folder / "scorecard.html").as_uri())
    return tab


def at(page: browser.Tab, quick: Any, hash_: str) -> browser.Tab:
    """The scorecard, opened at an address that somebody sent."""
    page.open((quick.folder / "scorecard.html").as_uri() + hash_)
    return page


def test_a_number_filters_the_claims_and_stands_in_the_address(page: browser.Tab) -> None:
    page.click(".matrix .total a[href*='verdict=fails']")
    assert page.run(browser.VISIBLE) == ["alpha.one"]
    assert page.run("location.hash") == "#?kind=theorem&origin=printed&verdict=fails"
    assert page.run("document.querySelector('#matches').textContent") == "1 of 14 claims"
    page.click("button[type=reset]")
    assert len(page.run(browser.VISIBLE)) == 14
    assert page.run("location.hash") == ""


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("#?document=alpha&kind=study&verdict=holds", ["alpha.rate", "alpha.never", "alpha.shares"]),
        ("#?text=ALL%20are", ["alpha.shares"]),
        ("#?artifact=alpha/sweep", ["alpha.sweep"]),
        ("#?origin=ours", ["alpha.wider"]),
        ("#?kind=sentence", ["alpha.says"]),
        ("#?verdict=opposite", ["alpha.gain"]),
        ("#?document=nobody&verdict=refuted", ["alpha.one"]),
        ("#?origin=printed&kind=theorem&sort=verdict", ["alpha.one"]),
        ("#?document=beta", []),
    ],
)
def test_an_address_opens_the_page_filtered(page: browser.Tab, quick: Any, sent: str, shown: list[str]) -> None:
    assert at(page, quick, sent).run(browser.VISIBLE) == shown


def test_a_search_counts_what_was_not_run_and_finds_errata_tables_and_figures(page: browser.Tab, quick: Any) -> None:
    said = "[...document.querySelectorAll('.idle-count, #matches, #elsewhere')].map((one) => one.textContent)"
    matches, elsewhere, idle = at(page, quick, "#?text=faces").run(said)
    assert matches.startswith("1 of 14")
    assert idle == "1 of 2 claims"
    assert "Faces" in elsewhere
    at(page, quick, "#?text=counting")
    assert page.run(said)[0].startswith("No claim fits")
    page.click("#elsewhere a[href='#X2']")
    assert page.run("document.getElementById('X2').open")


def test_no_select_is_cut(page: browser.Tab) -> None:
    """Its first option in the page's own letters, beside the arrow."""
    cut = """[...document.querySelectorAll('.filters select')].filter((one) => {
      const drawn = document.createElement('canvas').getContext('2d');
      drawn.font = getComputedStyle(one).font;
      return drawn.measureText(one.options[0].textContent).width + 40 > one.offsetWidth;
    }).map((one) => one.name)"""
    assert page.run(cut) == []


def test_claims_are_sorted_and_go_back_to_their_places(page: browser.Tab) -> None:
    before = page.run(browser.VISIBLE)
    page.run("location.hash = '#?sort=verdict'")
    page.settle()
    after = page.run(browser.VISIBLE)
    assert after != before
    assert sorted(after) == sorted(before)
    assert after.index("alpha.rate") < after.index("alpha.one") < after.index("alpha.cut") < after.index("alpha.faces")
    page.click("button[type=reset]")
    assert page.run(browser.VISIBLE) == before


def test_every_file_that_a_link_names_is_where_it_says(page: browser.Tab, quick: Any) -> None:
    """Of the fixture's results; links to the repository lead two folders up, where the project is."""
    links = set(
        page.run("[...document.querySelectorAll('a[href]')].map((one) => one.getAttribute('href').split('#')[0])")
    )
    up = {link for link in links if link.startswith("../")} - {"../report/index.html"}
    assert up
    assert all(link.startswith("../../") and not link.startswith("../../../") for link in up)
    assert "simulations/alpha/curve.csv" in links
    assert (quick.folder / "simulations/alpha/curve.csv").is_file()


def test_the_keyboard_reads_the_grid(page: browser.Tab) -> None:
    """The tabulator stops once in a document's grid, arrows go on from there, enter unfolds the claim."""
    page.run("document.querySelector('.squares a.sq').focus()")
    page.press("ArrowRight")
    name = page.run("document.activeElement.getAttribute('href').slice(1)")
    assert name == "alpha.cut.gain"
    assert page.run("document.querySelector('#readout').textContent").startswith("quick only: ")
    assert page.run("document.querySelectorAll('.squares a.sq[tabindex=\"0\"]').length") == 1
    page.press("Enter")
    assert page.run(f"document.getElementById('{name}').open")


def test_figures_and_tables_open_large_and_escape_closes_them(page: browser.Tab) -> None:
    page.run("document.querySelector('a.plate').focus()")
    page.press("Enter")
    assert page.run("document.querySelector('#large').open && document.querySelector('#large-body img') !== null")
    page.press("Escape")
    assert page.run("document.querySelector('#large').open") is False
    page.click(".files button")
    assert page.run("document.querySelectorAll('#large-body table tr').length") == 5


@pytest.fixture
def moving(tab: browser.Tab, make: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[browser.Tab, pd.DataFrame]:
    """A page whose curve has the slider of the margins paper, and the table of its study."""
    table = simulated.sliders(cast(Any, SimpleNamespace(paper="margins"))).tables["sliders"]
    plain, stops = pages.show, study_figure.packed(table, MARGIN)

    def show(results: Any, paper: str, name: str) -> Any:
        found = plain(results, paper, name)
        return found._replace(stops=stops) if name == "curve" else found

    monkeypatch.setattr(pages, "show", show)
    world = make()
    scorecard.build(world.plan)
    tab.resize(390)
    tab.open((world.folder / "scorecard.html").as_uri())
    return tab, table


def test_a_slider_shows_the_studys_numbers_at_its_stop(moving: tuple[browser.Tab, pd.DataFrame]) -> None:
    """By keyboard: the next margin, then the next place of the second panel."""
    page, table = moving
    for box in (".slider .setting input", ".slider .panel:last-child input"):
        page.run(f"document.querySelector('{box}').focus()")
        page.press("ArrowRight")
    told = "[...document.querySelectorAll('.setting output, .panel:last-child output')]"
    stop, place = page.run(f"{told}.map((one) => +one.value)")
    assert (stop, place) == (0.45, pytest.approx(np.deg2rad(48), abs=1e-4))
    shown = page.run("[...document.querySelectorAll('.panel:last-child b')].map((value) => +value.textContent)")
    rows = table[(table["panel"] == "gradient") & (table["stop"] == stop) & (table["x"] == place)].set_index("line")
    assert shown == [rows.loc[line, "y"] for line in ("none", "angular", "subtractive")]
    assert len(set(shown)) == 3
    assert page.complaints() == []
    assert page.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_paper_shows_the_drawing_of_a_slider(moving: tuple[browser.Tab, pd.DataFrame]) -> None:
    page, _ = moving
    seen = "['.slider', '.shown.moves figure'].map((one) => document.querySelector(one).offsetHeight > 0)"
    assert page.run(seen) == [True, False]
    page.media("print")
    assert page.run(seen) == [False, True]
    page.media()
