"""The page, of all evidence and of one scale: every claim with what is said of it, its runs and its proofs.

test_browser.py tests what it does.
"""

import math
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from hypersphere.config.rules import Verdict
from hypersphere.provenance import tables
from hypersphere.provenance.columns import RUNS
from hypersphere.report import entries, html, notes, page, scorecard

from .. import made_up
from ..approval import approve, read_aloud

CUT = "method=plain;variant=cut;dataset=photos;measure=knn_top1"
VOID = {"meta", "link", "img", "br", "hr", "input", "source"}


class Page(HTMLParser):
    """Collects ids, links, images and headings, and checks that tags close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.headings: list[int] = []
        self.unfolded: list[str] = []
        """What is seen while all sections are folded, without the options of a control."""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given[key] or "" for key in ("href", "src", "srcset") if key in given]
        if tag == "img":
            self.images.append(given)
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        assert tag != "details" or "open" not in given

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        folded = self.open.count("details") - ("summary" in self.open)
        if not folded and not {"style", "script", "select", "title", "noscript"} & {*self.open}:
            self.unfolded += data.split()


def section(page: str, name: str) -> str:
    """From a heading to the next."""
    return page[page.index(f'<h2 id="{name}"') :].split("<h2 ")[1]


def part(page: str, name: str) -> str:
    """A part of what the page has of a paper, to the next part or paper."""
    return re.split(r'<details class="p[a-z]+"|</section>', page[page.index(f' id="{name}"') :])[0]


def row(page: str, name: str) -> str:
    """A claim, with its line and its card."""
    return re.split(
        r'<details class="(?:claim|group|part)|</section>', page[page.index(f'id="{name}"') :]
    )[0]


def said(text: str, name: str) -> tuple[str, str, str]:
    """The colour of a claim's result, the result, and the verdict beside it."""
    cells = re.search(
        r'class="badge (\w+)">(.*?)</span>(?:<span data-of="verdict">(.*?)</span>)?',
        row(text, name).split("</summary>")[0],
    )
    assert cells
    return cells[1], cells[2], cells[3] or ""


OF_A_SCALE = ("shown-alpha", "missing-alpha", "choices-alpha")
"""Parts of a paper on the page of one scale, which the report lacks."""


def test_the_words_of_the_page_are_as_approved(report_page: Path, quick: Any) -> None:
    """Of made-up claims on the released papers, whose errata are left out; and then what one scale has beside it."""
    text, of_scale = report_page.read_text(encoding="utf-8"), quick.read("scorecard.html")
    text = re.sub(
        r'<details class="part" id="errata-.*?(?=<details class="p|</section>)',
        "",
        text,
        flags=re.DOTALL,
    )
    parts = [text[text.index("<h1>") : text.index('<h2 id="settle"')]]
    parts += [of_scale[of_scale.index("<h1>") : of_scale.index('<h2 id="claims"')]]
    parts += [f"<p {part(of_scale, name)}" for name in OF_A_SCALE]
    parts += [f"<h2 {section(of_scale, name)}" for name in ("reading", "conditions")]
    approve("page.txt", "".join(map(read_aloud, parts)))


@pytest.mark.parametrize("name", ["scorecard", "report"])
def test_page_is_well_formed_and_needs_no_network(quick: Any, report_page: Path, name: str) -> None:
    file = report_page if name == "report" else quick.folder / "scorecard.html"
    page = file.read_text(encoding="utf-8")
    parsed = Page(page)
    assert not [
        link
        for link in parsed.links
        if re.match(r"[a-z]+:|//|/", link) and not link.startswith("data:")
    ]
    anchors = {
        link[1:] for link in parsed.links if link.startswith("#") and not link.startswith("#?")
    }
    assert anchors <= set(parsed.ids)
    assert [name for name, number in Counter(parsed.ids).items() if number > 1] == []
    namespace = r"(?!www\.w3\.org/2000/svg)"  # a name, which nothing fetches
    assert re.search(rf"https?://{namespace}|@import|url\(|<script [^>]|innerHTML", page) is None
    assert page.count("<script>") == 1
    assert parsed.images
    assert all(image["alt"] for image in parsed.images)
    steps = [below - above for above, below in pairwise(parsed.headings)]
    assert (parsed.headings[0], parsed.headings.count(1), max(steps)) == (1, 1, 1)
    assert len(parsed.unfolded) < 25 * 150  # at most 25 screens, of 150 words or more


def test_every_claim_is_there_with_its_runs_and_proofs_that_are_linked_relative_to_the_page(
    quick: Any,
) -> None:
    """Of a study: its numbers, its answers, code and test; of a theorem: theory.csv; of a measurement: its cells."""
    page = quick.read("scorecard.html")
    assert {one["id"] for one in quick.claims} <= set(Page(page).ids)
    runs = re.findall(r'href="(runs/.+?)"', row(page, "alpha.cut.gain"))
    assert runs == ["runs/run-a/", "runs/run-b/", "runs/run-c/"]
    assert "runs/" not in row(page, "alpha.sweep")
    found = {href for href in re.findall(r'href="([^"#]+)"', section(page, "claims"))}
    assert {
        *("simulations/alpha/curve.csv", "simulations/alpha/answers.csv", "theory.csv"),
        *("../../papers/alpha/studies/rates/compute.py", "../../papers/alpha/theorems.py"),
        "../../papers/alpha/claims.csv",
        *("statistics/alpha/table1/measurements.csv", "../../papers/alpha/paper.yaml"),
    } <= found
    # the erratum of a statement
    assert re.findall(r'href="#(\w+)"', row(page, "alpha.one.x2")) == ["X2"]


def test_a_scale_says_the_result_beside_the_verdict_and_a_small_one_settles_nothing(
    quick: Any, published: Any, make: Any
) -> None:
    """A colour says that a claim is settled."""
    text = quick.read("scorecard.html")
    assert said(text, "alpha.cut.gain") == ("neutral", "agrees", "quick only")
    assert said(text, "alpha.gain") == ("neutral", "disagrees", "quick only")
    assert said(text, "alpha.one") == ("disagree", "disagrees", "refuted")
    assert said(text, "alpha.says") == ("neutral", "agrees", "its table bears it")
    assert said(text, "alpha.sweep") == ("neutral", "not tested", "")
    assert said(published.read("scorecard.html"), "alpha.cut") == ("agree", "agrees", "reproduced")
    assert "Not a reproduction" in text
    changed = make("paper", verdict="laptop only", epochs=2)
    changed.build()
    assert "Not a reproduction: numbers of the published scale were changed" in changed.read(
        "scorecard.html"
    )


@pytest.mark.parametrize("verdict", [*Verdict])
def test_a_claim_has_the_result_of_its_answer_and_a_colour_where_it_is_settled(
    quick: Any, verdict: str
) -> None:
    answer = Verdict.of(verdict).answer
    for one in tables.rows(quick.results.claims):
        claim = entries.entry(quick.plan.config, one | {"verdict": verdict, "answer": answer})
        assert (claim.result, claim.worth) == (answer.result, verdict)
        assert claim.tone == (answer.tone if Verdict.of(verdict).settles else "neutral")


def test_no_result_of_small_encoders_has_a_colour(report_page: Path) -> None:
    """A theorem has: it is tested at its full size."""
    text = report_page.read_text(encoding="utf-8")
    coloured = {one["id"] for one in made_up.CLAIMS if said(text, one["id"])[0] != "neutral"}
    assert coloured == {"theorem.false", "theorem.true"}
    assert re.search(r'id="q-cut".*?badge (\w+)', text, re.DOTALL)[1] == "neutral"  # type: ignore[index]


@pytest.mark.parametrize("name", ["scorecard", "report"])
def test_rows_and_columns_of_the_table_of_results_add_up_to_the_published_claims(
    quick: Any, report_page: Path, name: str
) -> None:
    file = report_page if name == "report" else quick.folder / "scorecard.html"
    claims = made_up.CLAIMS if name == "report" else quick.claims
    table = re.search(
        r'<table class="results">.*?</table>', file.read_text(encoding="utf-8"), re.DOTALL
    )
    assert table
    rows = [
        re.findall(r"[\d,–]+(?=</(?:a|td|span)>)", line)
        for line in re.findall(r"<tr.*?</tr>", table[0], re.DOTALL)
    ]
    numbers = [
        [int(cell.replace(",", "").replace("–", "0")) for cell in cells] for cells in rows[1:]
    ]
    assert all(sum(cells[:-1]) == cells[-1] for cells in numbers)
    assert [sum(column) for column in zip(*numbers[:-1], strict=True)] == numbers[-1]
    assert numbers[-1][-1] == sum(one["origin"] == "printed" for one in claims)


@pytest.mark.parametrize(
    ("rungs", "begins"),
    [
        ([], "No encoder"),
        (["laptop", "nothing"], "No encoder"),
        (["published", "laptop"], "Encoders of the published size"),
    ],
)
def test_the_first_sentence_says_whether_an_encoder_has_the_published_size(
    rungs: list[str], begins: str
) -> None:
    claims = [made_up.stated("theorem", "theorem", "holds", rung="published")]
    claims += [made_up.comparison(f"{at}", 1.0, 1.0, rung=rung) for at, rung in enumerate(rungs)]
    assert html.size(claims).startswith(begins)


def test_a_card_tells_what_a_reader_asks_in_order(report_page: Path) -> None:
    """The claim as a sentence, where it stands, both numbers, the result, how sure, what differs, how to settle it."""
    card = row(report_page.read_text(encoding="utf-8"), "cut.gain").split("</summary>")[1]
    names = re.findall(r"<b>(.*?)</b>", card)
    assert names[:7] == [
        "Source",
        "Published",
        "Ours",
        "Result",
        "Certainty",
        "What differs",
        "To settle it",
    ]
    assert "is 14.7 points above default in kNN accuracy." in card
    assert "make reproduce SCALE=paper" in card
    named = row(report_page.read_text(encoding="utf-8"), "pos.gain")
    assert named.index("one two") > named.index("To settle it")


def test_disagreement_names_its_reading(make: Any) -> None:
    listed = {
        one.row["id"]: one
        for one in entries.of_scale(make("paper", verdict="not reproduced").results)
    }
    assert listed["alpha.cut"].result == "disagrees"
    assert listed["alpha.cut"].reading == "under our reading: as printed"
    assert listed["alpha.wider"].reading == "ours"


def test_diverged_and_missing_runs_are_counted_and_a_study_that_was_not_run_has_its_sentence(
    make: Any,
) -> None:
    world = make()
    world.claims[0] |= {"n": 1, "n_diverged": 1, "n_missing": 3, "why": "3 of 5 seeds missing"}
    world.claims[1] |= {"measured": "", "n": 0, "n_diverged": 2}
    world.claims[2] |= {"measured": "", "n": 0, "n_undefined": 2}
    world.claims[8] |= {
        "measured": "",
        "n": 0,
        "verdict": "not run",
        "sentence": "The rate is as printed",
    }
    world.write_claims()
    listed = entries.of_scale(world.results)
    assert [one.found for one in listed[:3]] == [
        "64.0 (n = 1; 1 diverged; 3 missing)",
        "diverged",
        "undefined",
    ]
    assert listed[8].subject == "The rate is as printed"


@pytest.mark.parametrize(
    ("scale", "verdict", "overrides"),
    [
        *(
            ("quick", verdict, {})
            for verdict in ("reproduced", "direction only", "not reproduced", "exact")
        ),
        ("paper", "reproduced", {"epochs": 2}),
    ],
    ids=str,
)
def test_a_small_scale_that_claims_a_verdict_is_refused(
    make: Any, refused: Any, scale: str, verdict: str, overrides: dict[str, Any]
) -> None:
    world = make(scale, verdict=verdict, **overrides)
    with refused(f"results/{world.plan.config.results.name}/claims.csv"):
        page.of_scale(world.results)


def test_text_from_files_is_escaped_and_a_figure_that_is_not_drawn_is_said_to_be_so(
    make: Any,
) -> None:
    world = make()
    world.claims = [one | {"reading": "<b>as</b> printed"} for one in world.claims]
    world.write_claims()
    (world.folder / "figures" / "alpha" / "curve.svg").unlink()
    world.build()
    text = world.read("scorecard.html")
    assert "&lt;b&gt;as&lt;/b&gt; printed" in text
    assert not Page(text).images
    assert "Figure 1 curve A curve measured, but not drawn yet\n" in read_aloud(
        part(text, "missing-alpha")
    )


def test_a_scale_of_which_nothing_was_run_builds_and_says_so(make: Any) -> None:
    world = make()
    (world.plan.config.artifact_folder("alpha", "table1") / "summary.csv").unlink()
    (world.folder / "simulations" / "alpha" / "curve.csv").unlink()
    nothing = {
        "verdict": "not run",
        "answer": "not tested",
        "measured": "",
        "draws": None,
        "runs": "",
        "measured_on": "",
        "n": 0,
    }
    world.claims = [one | nothing for one in world.claims]
    world.write_claims()
    tables.write(world.folder / "statistics", {"runs": (pd.DataFrame(columns=list(RUNS)), RUNS)})
    world.build()
    text = world.read("scorecard.html")
    assert "cpu" not in section(text, "conditions")
    assert "Device not run; torch not run" in read_aloud(text)
    assert 'id="shown-alpha"' not in text
    assert re.search(r"14 claims , of which (\d+) are published: \1 not tested", read_aloud(text))


# scorecard.json: the numbers of the page, under the scale's name, by coordinates


def test_another_mean_changes_its_number_and_no_count(make: Any, quick: Any) -> None:
    before, moved = (
        scorecard.numbers(world.results)["quick"] for world in (quick, make(shift=0.5))
    )
    cells = [numbers["alpha"]["table1"][CUT]["mean"] for numbers in (before, moved)]
    assert cells[1] - cells[0] == pytest.approx(0.5)
    assert before["claims"] == moved["claims"]
    assert before["claims"]["printed"] == {"quick only": 2, "not run": 2}
    assert before["alpha"]["table1"][CUT]["n"] == 2


@pytest.mark.parametrize(
    ("diverged", "said"),
    [(2, {"n": 0, "diverged": 2, "measured_on": "digits"}), (0, None)],
    ids=["diverged", "not run"],
)
def test_a_cell_without_a_mean_says_how_many_diverged_or_is_left_out(
    make: Any, diverged: int, said: dict[str, Any] | None
) -> None:
    world = make()
    world.change("table1", "summary", CUT, mean=math.nan, n=0, n_diverged=diverged)
    table = scorecard.numbers(world.results)["quick"]["alpha"]["table1"]
    assert table.get(CUT) == said
    assert "diverged" not in table[CUT.replace("cut", "default")]


def test_protocols_are_as_approved(quick: Any, published: Any, make: Any) -> None:
    """Of every artifact, whether its runs are there or not."""
    lines = []
    for world in (quick, published, make(epochs=1)):
        about = world.plan.config.papers["alpha"]
        lines += [
            f"{world.plan.config.scale_name.partition('-')[0]} of {world.plan.config.scale.epochs} epochs"
        ]
        lines += [f"{name}: {notes.protocol(world.plan, about, name)}" for name in about.measured]
    approve("protocols.txt", "\n".join(lines) + "\n")
