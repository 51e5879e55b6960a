"""The scorecard: every claim with its verdict and runs, on one page, and no colour below the published scale."""

import re
from typing import Any

import pytest

from hypersphere.config.rules import Verdict
from hypersphere.report import claims, scorecard

from .reading import Page, plain, row, section, tones


@pytest.fixture(scope="session")
def page(quick: Any) -> str:
    """The quick page's text."""
    return quick.read("scorecard.html")


def test_page_is_well_formed_and_needs_no_network(page: str) -> None:
    parsed = Page(page)
    assert not [link for link in parsed.links if re.match(r"[a-z]+:|//|/", link) and not link.startswith("data:")]
    anchors = {link[1:] for link in parsed.links if link.startswith("#") and not link.startswith("#?")}
    assert anchors <= set(parsed.ids)
    assert len(parsed.ids) == len(set(parsed.ids))
    namespace = r"(?!www\.w3\.org/2000/svg)"  # a name, which nothing fetches
    assert re.search(rf"https?://{namespace}|@import|url\(|<script [^>]|innerHTML", page) is None
    assert page.count("<script>") == 1
    assert all(image["alt"] for image in parsed.images)


def test_every_claim_is_there_with_the_runs_behind_it(quick: Any, page: str) -> None:
    assert {one["id"] for one in quick.claims} <= set(Page(page).ids)
    assert re.findall(r'href="(runs/.+?)"', row(page, "alpha.cut.gain")) == [
        "runs/run-a/",
        "runs/run-b/",
        "runs/run-c/",
    ]
    assert "runs/" not in row(page, "alpha.sweep")


def test_the_published_number_stands_beside_ours_only_where_both_are_of_one_setting(page: str, published: Any) -> None:
    def beside(text: str, name: str) -> str:
        return row(text, name).partition('data-of="published">')[2].partition("<")[0]

    assert beside(page, "alpha.cut") == ""
    assert "published: 61.1" in row(page, "alpha.cut")
    assert beside(published.read("scorecard.html"), "alpha.cut") == "61.1"
    assert beside(page, "alpha.rate") == "0.12"


def test_below_the_published_scale_nothing_measured_has_colour(page: str, published: Any) -> None:
    assert tones(page) == {"neutral"}
    assert "Not a reproduction" in page
    text = published.read("scorecard.html")
    assert "agree" in tones(text)
    assert "Not a reproduction" not in text


def test_theorems_have_colour_at_every_scale_and_link_their_erratum(page: str) -> None:
    assert "badge disagree" in row(page, "alpha.one")
    assert "fails at tau = 1, angles = (0.5, −2), by 0.25" in row(page, "alpha.one")
    assert "badge agree" in row(page, "alpha.one.x2")
    assert re.findall(r'href="#(\w+)"', row(page, "alpha.one.x2")) == ["X2"]


def test_proofs_are_linked_relative_to_the_page(page: str) -> None:
    """Of a study: its numbers, its answers, code and test; of a theorem: theory.csv; of a measurement: its cells."""
    found = {href for href in re.findall(r'href="([^"#]+)"', section(page, "claims"))}
    assert {
        *("simulations/alpha/curve.csv", "simulations/alpha/answers.csv", "theory.csv"),
        *("../../src/hypersphere/simulations/learning_rates/compute.py", "../../src/hypersphere/theory/alpha.py"),
        *("../../tests/unit/simulations/test_learning_rates.py", "../../config/papers/alpha/claims.csv"),
        *("statistics/alpha/table1/measurements.csv", "../../config/papers/alpha/paper.yaml"),
    } <= found


def test_disagreement_has_its_own_colour_and_names_its_reading(make: Any) -> None:
    entries = {one.row["id"]: one for one in claims.entries(make("paper", verdict="not reproduced").results)}
    assert entries["alpha.cut"].tone == "disagree"
    assert entries["alpha.cut"].reading == "under our reading: as printed"
    assert entries["alpha.wider"].reading == "ours"


def test_diverged_and_missing_runs_are_counted_and_a_study_that_was_not_run_is_no_question_to_encoders(
    make: Any,
) -> None:
    """Without an answer claims.csv names no study; the config does."""
    world = make()
    world.claims[0] |= {"n": 1, "n_diverged": 1, "n_missing": 3, "why": "3 of 5 seeds missing"}
    world.claims[1] |= {"measured": "", "n": 0, "n_diverged": 2}
    world.claims[8] |= {"study": "", "measured": "", "n": 0, "verdict": "not run", "why": "not made yet"}
    world.claims[8] |= {"sentence": "The rate is as printed"}
    world.write_claims()
    entries = claims.entries(world.results)
    assert [one.ours for one in entries[:2]] == ["64.0 (n = 1; 1 diverged; 3 missing)", "diverged"]
    studied = {one.row["id"]: one for one in claims.apart(entries)["study"]}
    assert studied["alpha.rate"].subject == "The rate is as printed"


@pytest.mark.parametrize(
    ("scale", "verdict", "overrides"),
    [
        *(("quick", verdict, {}) for verdict in ("reproduced", "direction only", "not reproduced", "exact")),
        ("paper", "reproduced", {"epochs": 2}),
    ],
    ids=str,
)
def test_a_small_scale_that_claims_a_verdict_is_refused(
    make: Any, refused: Any, scale: str, verdict: str, overrides: dict[str, Any]
) -> None:
    world = make(scale, verdict=verdict, **overrides)
    with refused():
        scorecard.context(world.results)


def test_changed_numbers_of_the_published_scale_are_no_reproduction(make: Any) -> None:
    world = make("paper", verdict="laptop only", epochs=2)
    world.build()
    text = world.read("scorecard.html")
    assert "Not a reproduction: numbers of the published scale were changed" in text
    assert tones(text) == {"neutral"}


def test_text_from_files_is_escaped_and_a_figure_that_is_not_drawn_is_said_to_be_so(make: Any) -> None:
    world = make()
    world.edit("claims.csv", "as printed", "<b>as</b> printed")
    (world.folder / "figures" / "alpha" / "curve.svg").unlink()
    world.build()
    text = world.read("scorecard.html")
    assert "&lt;b&gt;as&lt;/b&gt; printed" in text
    assert not Page(text).images
    assert "Figure 1 curve A curve measured, but not drawn yet" in plain(section(text, "missing"))


@pytest.mark.parametrize("verdict", [*Verdict])
def test_below_the_published_scale_every_verdict_is_neutral(quick: Any, published: Any, verdict: str) -> None:
    trained = {"kind": "value", "study": "", "verdict": verdict}
    stated, studied = trained | {"kind": "theorem"}, trained | {"study": "some_study"}
    assert claims.tone(quick.plan.config, trained) == "neutral"
    settled = Verdict.of(verdict).outcome in ("holds", "fails")
    for world, one in ((published, trained), (quick, stated), (published, stated), (quick, studied)):
        assert (claims.tone(world.plan.config, one) == "neutral") is not settled


def test_a_scale_of_which_nothing_was_run_builds_and_says_so(make: Any) -> None:
    world = make()
    (world.plan.artifact_folder("alpha", "table1") / "summary.csv").unlink()
    (world.folder / "simulations" / "alpha" / "curve.csv").unlink()
    world.claims = [one | {"verdict": "not run", "measured": "", "draws": None} for one in world.claims]
    world.claims = [one | dict.fromkeys(("study", "runs", "measured_on"), "") | {"n": 0} for one in world.claims]
    world.write_claims()
    world.edit("statistics/runs.csv", world.read("statistics/runs.csv").split("\n", 1)[1], "")
    world.build()
    text = world.read("scorecard.html")
    assert "cpu" not in section(text, "conditions")
    assert "Device not run; torch not run" in plain(text)
    assert plain(section(text, "shown")).endswith(" None.")
    assert "not checked" in section(text, "claims")
    assert "4 numbers and comparisons of trained encoders, printed: 4 not run" in plain(text)
