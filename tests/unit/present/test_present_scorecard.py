"""The scorecard: every claim with its verdict and runs, on one page, and no colour below the published scale."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from hypersphere.declared import errata
from hypersphere.errors import HypersphereError
from hypersphere.present import claims, scorecard

REPOSITORY = Path(__file__).parents[3]
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """Collects classes, ids and links, and checks that tags close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.classes: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        given = dict(attrs)
        self.classes += (given.get("class") or "").split()
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given[key] or "" for key in ("href", "src") if key in given]
        if tag == "img":
            self.images.append(given)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="session")
def page(quick: Any) -> str:
    """The quick page's text."""
    return quick.read("scorecard.html")


def test_page_is_well_formed_and_needs_no_network(page: str) -> None:
    parsed = Page(page)
    assert all(link.startswith(("#", "data:")) for link in parsed.links)
    assert {link[1:] for link in parsed.links if link.startswith("#")} <= set(parsed.ids)
    assert len(parsed.ids) == len(set(parsed.ids))
    assert re.search(r"https?://|@import|url\(|<script", page) is None
    assert all(image["alt"] for image in parsed.images)


def test_every_claim_is_there_with_the_runs_behind_it(quick: Any, page: str) -> None:
    parsed = Page(page)
    assert {row["id"] for row in quick.rows["claims"]} <= set(parsed.ids)
    row = page[page.index('id="norms.t5.simclr.cut3_gain.cifar10_lt"') :].split("</tr>")[0]
    behind = set(re.findall(r"<code>(.+?)</code>", row))
    expected = {
        one["run"]
        for one in quick.rows["measurements"]
        if one["dataset"] == "cifar10_lt"
        and (one["method"], one["variant"]) in {("simclr", "default"), ("simclr", "cut3")}
    }
    assert behind == expected
    assert len(behind) == 10


def measured(page: str) -> str:
    """The page without what has no scale: theorems, their counts, and how to read colours."""
    parts = [r'<ul class="counts">\s*<li><b>\d+</b>theorems.*?</ul>', r'<h2 id="theorems".*?(?=<h2)']
    for pattern in [*parts, r'<h2 id="reading".*?(?=<h2)']:
        page, found = re.subn(pattern, "", page, flags=re.DOTALL)
        assert found == 1, pattern
    return page


def test_quick_has_counts_and_no_colour_for_what_was_measured(quick: Any, page: str) -> None:
    assert not {"agree", "disagree"} & set(Page(measured(page)).classes)
    pattern = r"<li><b>(\d+)</b>\s*<span[^>]*><span[^>]*>○</span> ([a-z ]+)</span>"
    counts = dict(re.findall(pattern, page))
    others = sum(row["kind"] != "theorem" for row in quick.rows["claims"]) - 16
    assert counts == {"16": "quick only", str(others): "not run"}
    assert "Not a reproduction" in page


def test_theorems_have_colour_at_every_scale_and_link_their_erratum(page: str) -> None:
    section = page[page.index('id="theorems"') : page.index('id="controls"')]
    assert {"agree", "disagree"} <= set(re.findall(r'class="badge (\w+)"', section))
    assert "fails at tau = 1, angles = (0.5, −2), by 0.25" in section
    links = set(re.findall(r'href="#([A-Z]\d+)"', section))
    assert {"M7", "N13", "D5"} <= links <= set(Page(page).ids)


def test_every_erratum_has_a_row(page: str) -> None:
    ids = {entry.id for entry in errata.load(REPOSITORY)}
    section = page[page.index('id="errata"') : page.index('id="reading"')]
    assert ids <= set(re.findall(r'<tr id="(\w+)"', section))
    assert section.count("<summary>shown by</summary>") > 100


def test_published_scale_has_colour(published: Any) -> None:
    text = published.read("scorecard.html")
    assert "agree" in Page(text).classes
    assert "Not a reproduction" not in text


def test_disagreement_has_its_own_colour_and_names_its_reading(make: Any) -> None:
    made = make("paper", verdict="not reproduced")
    from hypersphere.present.results import Results

    every = claims.apart(claims.shown(made.config, Results(made.config))).measured
    shown = [claim for claim in every if (claim.paper, claim.artifact) == ("embedding_norms", "table5")]
    assert shown[0].tone == "disagree"
    assert shown[0].reading == "under our reading: as printed"
    assert claims.counts(shown) == [("not reproduced", "disagree", 16), ("not run", "neutral", 8)]


@pytest.mark.parametrize(("scale", "overrides"), [("quick", {}), ("laptop", {}), ("paper", {"epochs": 2})])
@pytest.mark.parametrize("verdict", ["reproduced", "not reproduced", "exact"])
def test_a_small_scale_that_claims_a_verdict_is_refused(
    make: Any, scale: str, overrides: dict[str, Any], verdict: str
) -> None:
    made = make(scale, verdict=verdict, **overrides)
    with pytest.raises(HypersphereError, match=f"says '{verdict}', but scale {scale}.* settles nothing"):
        scorecard.context(made.config)


def test_changed_numbers_of_the_published_scale_are_no_reproduction(make: Any) -> None:
    made = make("paper", verdict="laptop only", epochs=2)
    made.build()
    text = made.read("scorecard.html")
    assert "Not a reproduction: numbers of the published scale were changed" in text
    assert not {"agree", "disagree"} & set(Page(measured(text)).classes)


def test_controls_tables_figures_effects_and_runs_are_there(quick: Any, page: str) -> None:
    section = page[page.index('id="controls"') : page.index('id="figures"')]
    for label in ("chance", "raw pixels", "untrained encoder"):
        assert section.count(f'<th scope="row">{label}</th>') == 4
    assert page.count("data:image/svg+xml;base64,") == 1
    assert {f"embedding_norms-{name}" for name in ("table5", "table5_linear", "table5_transfer")} <= set(Page(page).ids)
    assert page.count("[+4.5, +7.5]") >= 8
    assert all(row["run"] in page[page.index('id="runs"') :] for row in quick.rows["runs"])


def test_page_does_not_show_seconds(page: str) -> None:
    assert "12.5" not in page


def test_text_from_files_is_escaped(make: Any) -> None:
    made = make()
    made.edit("claims.csv", "as printed", "<b>as</b> printed")
    made.build()
    assert "&lt;b&gt;as&lt;/b&gt; printed" in made.read("scorecard.html")


def test_a_figure_not_built_is_one_sentence(make: Any) -> None:
    with pytest.raises(HypersphereError, match=r"norms_over_epochs\.svg: the file is missing"):
        scorecard.build(make().config)


@pytest.mark.parametrize("verdict", [*claims.AGREE, *claims.DISAGREE, "inconclusive", "quick only"])
def test_below_the_published_scale_every_verdict_is_neutral(quick: Any, published: Any, verdict: str) -> None:
    trained = {"kind": "value", "study": "", "verdict": verdict}
    stated, studied = trained | {"kind": "theorem"}, trained | {"study": "some_study"}
    assert claims.tone(quick.config, trained) == "neutral"
    settled = verdict in (*claims.AGREE, *claims.DISAGREE)
    coloured = (
        (published.config, trained),
        (quick.config, stated),
        (published.config, stated),
        (quick.config, studied),
    )
    for config, row in coloured:
        assert (claims.tone(config, row) == "neutral") is not settled


def test_a_scale_of_which_nothing_was_run_builds_and_says_so(make: Any) -> None:
    made = make()
    for name in ("summary", "measurements", "effects", "runs"):
        made.replace(name, [])
    blank = dict.fromkeys(("measured", "measured_std", "low", "high", "low_power"), "")
    made.replace("claims", [row | blank | {"n": 0, "verdict": "not run"} for row in made.rows["claims"]])
    made.build()
    assert made.read("tables/embedding_norms/table5.md").count("| not run |") == 5 * 3
    assert "device not run" in made.read("tables/embedding_norms/table5.md")
    assert "None at this scale." in made.read("scorecard.html")
