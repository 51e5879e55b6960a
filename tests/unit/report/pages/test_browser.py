"""The report's page and the scorecard in a real Chromium: what both do alike, and what each does alone.

Without one these tests are skipped: install `chromium` by apt, or any Chrome.
"""

import base64
import re
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest

from hypersphere.config.rules import RESULTS
from hypersphere.report import html

from .. import made_up
from ..conftest import ROOT
from . import browser

pytestmark = pytest.mark.skipif(
    browser.program() is None, reason="there is no Chromium on the path"
)


of_a_browser = pytest.mark.tools
"""How the page looks and is used: `make test-tools`; whether it works, with its script and without: `make test`."""


class Opened(NamedTuple):
    tab: browser.Tab
    address: str
    claims: int
    elsewhere: tuple[str, str]
    """A claim, and an address under which it is not where the page has it at first."""
    printed: dict[str, bool]
    """Parts, and whether they are printed."""
    filtered: dict[str, list[str]]
    """What is seen at an address of the page."""

    @property
    def seen(self) -> list[str]:
        """The claims that a reader sees."""
        claims = "[...document.querySelectorAll('.claim')]"
        ids = f"{claims}.filter((one) => one.closest('[hidden]') === null).map((one) => one.id)"
        return list(self.tab.run(ids))

    def go(self, to: str) -> list[str]:
        """What is seen at an address on the page."""
        self.tab.run(f"location.hash = '{to}'")
        self.tab.settle()
        self.tab.settle()
        return self.seen

    def text(self, selector: str) -> str:
        """What a reader sees of an element; nothing of a hidden one."""
        shown = f"(({{hidden, innerText}}) => hidden ? '' : innerText)(document.querySelector('{selector}'))"
        return str(self.tab.run(shown))


REPORT: dict[str, Any] = {
    "claims": len(made_up.CLAIMS),
    "elsewhere": ("pos.gain", "#?sort=apart"),
    "printed": {
        ".lead": True,
        ".plate": True,
        ".paper > summary": True,
        ".filters": False,
        ".claim > summary": False,
    },
    "filtered": {
        "document=embedding_norms": ["cut.gain"],
        "kind=theorem&result=disagrees": ["theorem.false"],
        "question=rest": ["pos.gain", "pos.small"],
        "rung=laptop&certainty=very low": ["pos.gain", "pos.small"],
        "origin=implied": ["pos.later"],
        "text=does cut-initialisation help SimSiam?": ["cut.gain"],
        "text=what did emphasised positives do for MoCo v3?": ["pos.gain"],
        "text=margins theorem that fails": ["theorem.false"],
    },
}
SCORECARD: dict[str, Any] = {
    "claims": 14,
    "elsewhere": ("alpha.faces", "#?origin=ours"),
    "printed": {
        ".results": True,
        ".paper > summary": True,
        ".claim > summary": False,
        "#conditions": False,
    },
    "filtered": {
        "document=alpha&kind=study&verdict=exact": ["alpha.rate"],
        "text=SHARES%20are": ["alpha.shares"],
        "artifact=alpha/sweep": ["alpha.sweep"],
        "origin=ours": ["alpha.wider"],
        "kind=sentence": ["alpha.says"],
        "result=disagrees": ["alpha.gain", "alpha.one"],
        "document=nobody&verdict=refuted": ["alpha.one"],
        "origin=printed&kind=theorem": ["alpha.one"],
    },
}


@pytest.fixture(params=["report", "scorecard"])
def page(request: pytest.FixtureRequest, tab: browser.Tab, quick: Any, report_page: Path) -> Opened:
    """Either page from its start, in a wide and light window."""
    report = request.param == "report"
    file = report_page if report else quick.folder / "scorecard.html"
    tab.media()
    tab.resize(1400)
    tab.open(file.as_uri())
    return Opened(tab, file.as_uri(), **(REPORT if report else SCORECARD))


of_the_report = pytest.mark.parametrize("page", ["report"], indirect=True)
of_the_scorecard = pytest.mark.parametrize("page", ["scorecard"], indirect=True)


def test_it_needs_no_network_and_its_script_does_not_complain(page: Opened) -> None:
    told = page.tab.events
    sent = [
        one["params"]["request"]["url"]
        for one in told
        if one["method"] == "Network.requestWillBeSent"
    ]
    assert [address for address in sent if not address.startswith("data:")] == [page.address]
    # of script and console
    complaints = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
    assert [one for one in told if one["method"] in complaints] == []


def test_a_permalink_unfolds_its_claim_wherever_it_is(page: Opened) -> None:
    name, first = page.elsewhere
    for opened in ("", first):
        page.tab.open(page.address + opened)
        assert name in page.go(f"#{name}")
        box = f"document.getElementById('{name}')"
        assert page.tab.run(
            f"{box}.open && (({{top}}) => 0 <= top && top < innerHeight)({box}.getBoundingClientRect())"
        )


@of_a_browser
@pytest.mark.parametrize("part", ["of.100%-0", "of.100%25-0", "über", "%C3%BCber"])
def test_a_permalink_may_hold_any_character(page: Opened, part: str) -> None:
    """The page has ids as ``ours.confidence.simclr.default.cifar10.100%-0``; % encodes nothing there."""
    for name in (part, unquote(part)):
        page.tab.open(page.address)
        page.tab.run(f"document.querySelector('.claim').id = '{name}'")
        page.go(f"#{part}")
        assert page.tab.run("document.querySelector('.claim').open"), name
        page.go("#%")  # nothing has this name
        assert [one for one in page.tab.events if one["method"] == "Runtime.exceptionThrown"] == []


@of_a_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_window_needs_no_sideways_scrolling_in_either_scheme(
    page: Opened, scheme: str
) -> None:
    page.tab.media(scheme=scheme)
    page.tab.resize(390)
    page.tab.run("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.tab.run(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    looks = [
        page.tab.run(f"getComputedStyle(document.querySelector('{one}')).{look}")
        for one, look in (
            ("body", "color"),
            ("body", "backgroundColor"),
            (".plate", "backgroundColor"),
            ("img", "filter"),
        )
    ]
    ink, paper, plate = (sum(map(int, colour[4:-1].split(","))) for colour in looks[:3])
    assert (ink > paper, ink > plate, looks[3] != "none") == (scheme == "dark",) * 3


@of_a_browser
def test_folded_it_has_at_most_25_screens_and_40_sheets(page: Opened) -> None:
    """The released papers have more claims, which are folded: they add nothing but a line for each paper."""
    page.tab.resize(1280)
    assert page.tab.run("document.documentElement.scrollHeight") < 25 * 900
    printed = base64.b64decode(page.tab.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 40


@of_a_browser
def test_print_has_what_is_unfolded(page: Opened) -> None:
    page.tab.media("print")
    shown = f"{list(page.printed)}.map((one) => document.querySelector(one).checkVisibility())"
    assert page.tab.run(shown) == list(page.printed.values())
    page.tab.run(
        "for (const one of document.querySelectorAll('.paper, .part, .group')) one.open = true"
    )
    assert page.tab.run("document.querySelector('.claim > summary').checkVisibility()")


def test_without_its_script_the_page_has_every_claim_and_no_dead_controls(page: Opened) -> None:
    page.tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.tab.open(page.address)
        assert page.tab.run(
            "[...document.querySelectorAll('form[role=search]')].every((one) => one.hidden)"
        )
        assert len(page.seen) == page.claims
    finally:
        page.tab.call("Emulation.setScriptExecutionDisabled", value=False)


def test_an_address_opens_the_page_filtered_and_counts_follow(page: Opened) -> None:
    for sent, found in page.filtered.items():
        page.tab.open(f"{page.address}#?{sent}")
        assert page.seen == found, sent
        assert page.text("#matches") == f"{len(found)} of {page.claims} claims"
        counts = "[...document.querySelectorAll('.paper:not([hidden]) > summary .count')].map((one) => one.textContent)"
        assert sum(int(count.split()[0]) for count in page.tab.run(counts)) == len(found)
        shown = f"{found}.every((one) => document.getElementById(one).checkVisibility())"
        assert page.tab.run(shown), sent


@of_a_browser
def test_every_count_is_that_of_the_claims_that_its_link_shows(page: Opened) -> None:
    """Every claim is in one count. All that was unfolded for them folds again."""
    links = "[...document.querySelectorAll('.results a, .beside a')]"
    listed, seen = page.tab.run(f"{links}.map((one) => one.textContent)"), 0
    for place, said in enumerate(listed):
        page.tab.run(f"{links}[{place}].click()")
        page.tab.settle()
        found = page.seen
        assert said.split()[0].replace(",", "") == str(len(found))
        assert page.text("#matches") == f"{len(found)} of {page.claims} claims"
        seen += len(found)
    assert seen == page.claims
    page.tab.click("button[type=reset]")
    assert len(page.seen) == page.claims
    assert page.tab.run("location.hash") == ""
    assert page.tab.run("document.querySelectorAll('details[open]').length") == 0


@of_a_browser
def test_a_result_has_no_colour_of_its_own_beside_the_word(page: Opened) -> None:
    """Who sees no colours reads the same."""
    words = (
        "[...document.querySelectorAll('.claim > summary > .badge')].map((one) => one.textContent)"
    )
    assert {*page.tab.run(words)} <= {*RESULTS}


# The report


@of_a_browser
@of_the_report
def test_claims_are_sorted_and_go_back_to_their_places(page: Opened) -> None:
    before = page.seen
    after = page.go("#?sort=apart")
    assert sorted(after) == sorted(before)
    assert after[:3] == ["cut.gain", "pos.gain", "pos.small"]
    page.tab.click("button[type=reset]")
    assert page.seen == before


@of_a_browser
@of_the_report
def test_findings_come_first_and_lead_to_their_question_and_its_claims(page: Opened) -> None:
    assert page.text(".lead li").startswith("A cut harms SimSiam.")
    assert "certainty: low" in page.text(".lead li")
    page.tab.click(".lead a")
    assert page.tab.run("location.hash") == "#q-cut"
    assert "few images" in page.text("#q-cut")
    page.tab.click("#q-cut a")
    assert page.seen == ["cut.gain"]


@of_a_browser
@of_the_report
def test_a_forest_is_drawn_for_a_narrow_window(page: Opened) -> None:
    image = "document.querySelector('#forest ~ figure img')"
    drawn = f"(({{currentSrc, naturalWidth}}) => [currentSrc, naturalWidth])({image})"
    wide = page.tab.run(drawn)
    page.tab.resize(390)
    narrow = page.tab.run(drawn)
    assert narrow[0] != wide[0]
    assert (wide[1], narrow[1]) == (html.FOREST.width, html.PHONE.width)


@of_a_browser
@of_the_report
def test_no_hit_says_so_and_a_hit_by_some_of_the_words_says_that(page: Opened) -> None:
    assert page.go("#?text=xyzzy") == []
    assert "No claim" in page.text("#none")
    assert page.go("#?text=SimSiam cut xyzzy plugh") == ["cut.gain"]
    assert "2 of 4" in page.text("#none")
    page.tab.click("button[type=reset]")
    assert len(page.seen) == len(made_up.CLAIMS)
    assert page.text("#none") == ""


@of_a_browser
@of_the_report
def test_links_to_the_repository_are_files_of_it(page: Opened) -> None:
    links = page.tab.run(
        "[...document.querySelectorAll('a[href]')].map((one) => one.getAttribute('href'))"
    )
    files = {link.removeprefix("../../") for link in links if link.startswith("../../")}
    assert "papers/margins/theorems.py" in files
    missing = [
        file for file in files if not (ROOT / file).exists() and not file.startswith("tests/")
    ]
    assert missing == []


@of_a_browser
@of_the_report
def test_the_keyboard_skips_searches_and_unfolds(page: Opened) -> None:
    page.tab.press("Tab")
    assert page.tab.run("document.activeElement.className") == "skip"
    page.tab.press("Enter")
    assert page.tab.run("location.hash") == "#claims"
    page.tab.run("document.querySelector('.filters input').focus()")
    page.tab.call("Input.insertText", text="SimSiam cut")
    page.tab.settle()
    assert page.seen == ["cut.gain"]
    page.tab.run("document.querySelector('.claim:not([hidden]) > summary').focus()")
    page.tab.press("Enter")
    assert page.tab.run("document.getElementById('cut.gain').open")


# The scorecard


@of_a_browser
@of_the_scorecard
def test_a_search_counts_what_was_not_run_and_finds_errata_tables_and_figures(page: Opened) -> None:
    page.tab.open(page.address + "#?text=faces")
    assert page.text("#matches") == "1 of 14 claims"
    assert page.text("#claims-alpha .count") == "1 of 14 claims"
    assert page.tab.run("document.getElementById('alpha-only_faces').checkVisibility()")
    assert not page.tab.run("document.getElementById('alpha-people').checkVisibility()")
    page.tab.open(page.address + "#?text=counting")
    assert page.text("#none").startswith("No claim fits")
    assert page.tab.run("document.getElementById('X2').checkVisibility()")
