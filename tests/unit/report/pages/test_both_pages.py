"""What the report's page and the scorecard do alike in a real Chromium. Without one these tests are skipped."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .. import made_up
from . import browser

pytestmark = pytest.mark.skipif(browser.program() is None, reason="there is no Chromium on the path")


class Opened(NamedTuple):
    """A page in the browser."""

    tab: browser.Tab
    address: str
    claims: int
    elsewhere: tuple[str, str]
    """A claim, and an address under which it is not where the page has it at first."""
    printed: dict[str, bool]
    """Parts, and whether they are printed."""


REPORT: dict[str, Any] = {
    "claims": len(made_up.CLAIMS),
    "elsewhere": ("pos.gain", "#?sort=apart"),
    "printed": {".lead": True, ".plate": True, ".claim > summary": True, ".filters": False, ".proof": False},
}
SCORECARD: dict[str, Any] = {
    "claims": 14,
    "elsewhere": ("alpha.faces", "#?origin=ours"),
    "printed": {"#grid": True, ".claim > summary": True, ".proof": False, "#shown": False},
}


@pytest.fixture(params=["report", "scorecard"])
def page(request: pytest.FixtureRequest, tab: browser.Tab, quick: Any, report_page: Path) -> Opened:
    """Either page from its start, in a wide and light window."""
    report = request.param == "report"
    file = report_page if report else quick.folder / "scorecard.html"
    tab.media(prefers_color_scheme="light")
    tab.resize(1280)
    tab.open(file.as_uri())
    return Opened(tab, file.as_uri(), **(REPORT if report else SCORECARD))


def test_it_needs_no_network_and_its_script_does_not_complain(page: Opened) -> None:
    assert page.tab.requests() == [page.address]
    assert page.tab.complaints() == []


def test_a_permalink_unfolds_its_claim_wherever_it_is(page: Opened) -> None:
    name, first = page.elsewhere
    for opened in ("", first):
        page.tab.open(page.address + opened)
        page.tab.run(f"location.hash = '#{name}'")
        page.tab.settle()
        page.tab.settle()
        box = f"document.getElementById('{name}')"
        assert name in page.tab.run(browser.VISIBLE)
        assert page.tab.run(
            f"{box}.open && (({{top}}) => 0 <= top && top < innerHeight)({box}.getBoundingClientRect())"
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_window_needs_no_sideways_scrolling_in_either_scheme(page: Opened, scheme: str) -> None:
    page.tab.media(prefers_color_scheme=scheme)
    page.tab.resize(390)
    page.tab.run("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.tab.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    ink, paper, plate = page.tab.run(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor, "
        "getComputedStyle(document.querySelector('.plate')).backgroundColor]"
    )
    brightness = [sum(map(int, colour[4:-1].split(","))) for colour in (ink, paper)]
    assert (brightness[0] > brightness[1]) is (scheme == "dark")
    assert plate == "rgb(255, 255, 255)"
    page.tab.media()


def test_print_has_the_claims_as_lines_and_leaves_the_rest_to_the_paper(page: Opened) -> None:
    page.tab.media("print")
    seen = page.tab.run(f"{list(page.printed)}.map((one) => document.querySelector(one).offsetHeight > 0)")
    assert seen == list(page.printed.values())
    assert page.tab.printed().startswith(b"%PDF")
    page.tab.media()


def test_without_its_script_the_page_has_every_claim_and_no_dead_controls(page: Opened) -> None:
    page.tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.tab.open(page.address)
        assert page.tab.run("[...document.querySelectorAll('form[role=search]')].every((one) => one.hidden)")
        assert len(page.tab.run(browser.VISIBLE)) == page.claims
    finally:
        page.tab.call("Emulation.setScriptExecutionDisabled", value=False)
