"""The report's page in a real Chromium, made from a few made-up claims. Without one these tests are skipped."""

from pathlib import Path

import pytest

from . import made_up
from .pages import browser

pytestmark = pytest.mark.skipif(browser.program() is None, reason="there is no Chromium on the path")

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def shown(tab: browser.Tab, report_page: Path) -> browser.Tab:
    """The page from its start, in a wide and light window."""
    tab.media(prefers_color_scheme="light")
    tab.resize(1280)
    tab.open(report_page.as_uri())
    return tab


def go(shown: browser.Tab, to: str) -> None:
    shown.run(f"location.hash = '{to}'")
    shown.settle()
    shown.settle()


def text(shown: browser.Tab, selector: str) -> str:
    """What a reader sees of an element; nothing of a hidden one."""
    return str(shown.run(f"(({{hidden, innerText}}) => hidden ? '' : innerText)(document.querySelector('{selector}'))"))


def test_findings_come_first_and_lead_to_their_question_and_its_claims(shown: browser.Tab) -> None:
    assert text(shown, ".lead li").startswith("It harms it.")
    assert "certainty: low" in text(shown, ".lead li")
    shown.click(".lead a")
    assert shown.run("location.hash") == "#q-cut"
    assert "few images" in text(shown, "#q-cut")
    assert {"+14.7", "−10.0", "[−11.0, −9.0]", "[−12.0, −8.0]"} <= set(text(shown, "#q-cut tbody").split("\t"))


def test_every_count_is_that_of_the_claims_its_link_shows(shown: browser.Tab) -> None:
    links = shown.run(
        "[...document.querySelectorAll('#counts + ul a')].map((one) => [one.textContent, one.getAttribute('href')])"
    )
    assert len(links) >= 7
    for number, link in links:
        go(shown, link)
        assert len(shown.run(browser.VISIBLE)) == int(number), link


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ("document=embedding_norms", ["cut.gain"]),
        ("kind=theorem&answer=fails", ["theorem.false"]),
        ("rung=laptop&certainty=very low", ["pos.gain", "pos.small"]),
        ("origin=implied", ["pos.later"]),
        ("text=does cut-initialisation help SimSiam?", ["cut.gain"]),
        ("text=what did emphasised positives do for MoCo v3?", ["pos.gain"]),
        ("text=margins theorem that fails", ["theorem.false"]),
    ],
)
def test_filters_and_questions_find_their_claims_and_counts_follow(
    shown: browser.Tab, filters: str, found: list[str]
) -> None:
    go(shown, f"#?{filters}")
    assert shown.run(browser.VISIBLE) == found
    assert text(shown, "#matches") == f"{len(found)} of {len(made_up.CLAIMS)} claims"
    counts = shown.run("[...document.querySelectorAll('.document:not([hidden]) .count')].map((one) => one.textContent)")
    assert [int(count.split()[0]) for count in counts] == [len(found)]


def test_a_search_names_what_else_the_page_has(shown: browser.Tab) -> None:
    go(shown, "#?text=does cut-initialisation help SimSiam?")
    assert "Does cut-initialisation help SimSiam?" in text(shown, "#also")
    go(shown, "#?text=what would ten hours of a GPU settle first?")
    assert "GPU hours" in text(shown, "#also")


def test_no_hit_says_so_and_a_hit_by_some_of_the_words_says_that(shown: browser.Tab) -> None:
    go(shown, "#?text=xyzzy")
    assert shown.run(browser.VISIBLE) == []
    assert "No claim" in text(shown, "#none")
    go(shown, "#?text=SimSiam cut xyzzy plugh")
    assert shown.run(browser.VISIBLE) == ["cut.gain"]
    assert "2 of 4" in text(shown, "#none")
    shown.click("button[type=reset]")
    assert len(shown.run(browser.VISIBLE)) == len(made_up.CLAIMS)
    assert text(shown, "#none") == ""


def test_claims_are_sorted_by_discrepancy_and_go_back(shown: browser.Tab) -> None:
    before = shown.run(browser.VISIBLE)
    go(shown, "#?sort=apart")
    assert shown.run(browser.VISIBLE)[:3] == ["cut.gain", "pos.gain", "pos.small"]
    shown.click("button[type=reset]")
    assert shown.run(browser.VISIBLE) == before


def test_links_to_the_repository_are_files_of_it_and_others_are_on_the_page(shown: browser.Tab) -> None:
    links = shown.run("[...document.querySelectorAll('a[href]')].map((one) => one.getAttribute('href'))")
    files = {link.removeprefix("../../") for link in links if link.startswith("../../")}
    assert "src/hypersphere/theory/margins.py" in files
    missing = [file for file in files if not (REPOSITORY / file).exists() and not file.startswith("tests/")]
    assert missing == []
    anchors = {link[1:] for link in links if link.startswith("#") and not link.startswith("#?")}
    assert [name for name in anchors if not shown.run(f"document.getElementById({name!r}) !== null")] == []


def test_no_colour_says_good_or_bad(shown: browser.Tab) -> None:
    """Whatever a line says, it has the colours of all others."""
    lines = "[...document.querySelectorAll('.claim > summary')]"
    asked = f"{lines}.map((one) => [one, ...one.querySelectorAll('[data-of=says]')]"
    colours = shown.run(
        f"{asked}.map((part) => getComputedStyle(part).color + getComputedStyle(part).backgroundColor).join())"
    )
    assert len(colours) == len(made_up.CLAIMS)
    assert len(set(colours)) == 1


def test_the_keyboard_skips_searches_and_unfolds(shown: browser.Tab) -> None:
    shown.press("Tab")
    assert shown.run("document.activeElement.className") == "skip"
    shown.press("Enter")
    assert shown.run("location.hash") == "#claims"
    shown.run("document.querySelector('.ask input').focus()")
    shown.call("Input.insertText", text="SimSiam cut")
    shown.press("Enter")
    shown.settle()
    assert shown.run(browser.VISIBLE) == ["cut.gain"]
    shown.run("document.querySelector('.claim:not([hidden]) > summary').focus()")
    shown.press("Enter")
    assert shown.run("document.getElementById('cut.gain').open")
