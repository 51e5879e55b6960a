"""The paper: prose without a digit, and content that follows the results."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere import files
from hypersphere.config import project as cfg
from hypersphere.config.claims import load
from hypersphere.errors import HypersphereError
from hypersphere.report import paper
from hypersphere.theory.build import documents, statements

REPOSITORY = Path(__file__).parents[4]


def content(world: Any) -> dict[str, Any]:
    """What the paper was made from."""
    return json.loads(world.read("paper/content.json"))


def alpha(world: Any) -> dict[str, Any]:
    """The first paper's part of it."""
    return content(world)["papers"][0]


def test_no_digit_is_typed_into_the_prose() -> None:
    text = (REPOSITORY / "paper" / "reproduction.typ").read_text(encoding="utf-8")
    assert re.findall(r".*\d.*", text) == []
    # A result can be spelt out too; the layout may hold sizes, but no sentence.
    assert not re.search(r"\b(percent|per cent|points? (higher|lower|better))\b", text)


def test_pdf_is_made_from_the_content(quick: Any) -> None:
    pdf = (quick.folder / "paper.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"CreationDate" not in pdf


def test_content_holds_what_was_made_and_nothing_else(quick: Any) -> None:
    """Table 1 as the stand-in laid it out, in the main part; the study's drawing by its path, in the appendix."""
    document = alpha(quick)
    (table,), (figure,) = document["main"], document["studied_shown"]
    assert document["shown"] == []
    assert (table["title"], table["original"]) == ("Accuracy", "Table 1")
    assert table["grid"]["corner"] == ["Method", "Variant"]
    assert table["grid"]["head"][0][0] == {"text": "Photos", "note": "measured on digits", "span": 2}
    second = table["grid"]["lines"][1]
    assert second["labels"] == ["Plain", "cut"]
    assert second["cells"][0] == {"main": "64.0 ± 0.9 (2)", "second": "+4.0 [+2.5, +5.5]"}
    assert [line["control"] for line in table["grid"]["lines"]] == [False, False, True]
    assert figure["path"] == "/results/quick/figures/alpha/curve.svg"
    assert (quick.plan.config.root / figure["path"].removeprefix("/")).is_file()


def test_what_is_not_run_is_listed_with_its_reason(quick: Any) -> None:
    reasons = {one["id"]: one["reason"] for one in alpha(quick)["missing"]}
    assert reasons == {
        "sweep": "not made yet",
        "later": "not made yet",
        "only_faces": "nothing stands for faces at this scale",
        "robustness": "no probe yet: corrupt the test images",
        "texts": "runs on texts",
        "skipped": "left out at this scale",
        "people": "needs human labels, which are not here",
    }


def test_a_paper_of_which_nothing_was_run_has_no_sections(quick: Any) -> None:
    document = content(quick)["papers"][1]
    assert document["protocol"]["rows"] == []
    empty = ("told", "telling", "failures", "main", "shown", "studied_shown", "comparisons", "datasets", "choices")
    assert not any(document[key] for key in (*empty, "missing"))


def test_tables_say_the_worth_of_a_scale_in_short(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """At length it stands at the top of the paper; and how exact studies are made, in its text."""
    from hypersphere.report import pages, studies, words

    world = make()
    world.make_artifact("later")
    world.draw("later")
    config, before = world.plan.config, pages.show
    long = f"{words.scale_line(config)} {words.notice(config)}"
    monkeypatch.setattr(
        pages, "show", lambda *given: before(*given)._replace(notes=(long, studies.SIZE_NOTICE, "else"))
    )
    document = paper.content(world.results)["papers"][0]
    notes = [one["notes"] for part in ("main", "shown", "studied_shown") for one in document[part]]
    assert notes == [["Not a reproduction.", "else"]] * 3


def test_settings_are_those_of_the_runs(make: Any) -> None:
    """Read off the fixture's YAML: 100 epochs become 10, batches are halved; a sweep counts where nothing else does."""
    world = make()
    for name in ("sweep", "later"):
        world.make_artifact(name)
        world.draw(name)
    rows = {row[0]: row[1:] for row in paper.content(world.results)["papers"][0]["protocol"]["rows"]}
    loss = "nt xent (temperature 0.5)"
    assert rows == {
        "Plain, default": ["10", "10 %", "32", "0.12", "1e-6", loss, "none"],
        "Plain, cut (c=3)": ["10", "10 %", "32", "0.12", "1e-6", loss, "cut initialisation (c 3)"],
        "Large, default": ["10", "10 %", "64 (4 × 16)", "0.12", "1e-6", loss, "none"],
    }


def test_open_choices_are_listed(quick: Any) -> None:
    assert alpha(quick)["choices"] == [
        {"scope": "", "items": ["how it is done"]},
        {"scope": "Plain", "items": ["what it is"]},
    ]


@pytest.mark.parametrize(("scale", "settles"), [("quick", False), ("published", True)])
def test_whether_numbers_count_follows_the_scale(request: pytest.FixtureRequest, scale: str, settles: bool) -> None:
    made = content(request.getfixturevalue(scale))
    assert made["scale"]["settles"] is settles
    assert made["claims"][0]["verdicts"][0]["verdict"] == ("reproduced" if settles else "quick only")


def test_counts_keep_printed_corrected_and_ours_apart(quick: Any) -> None:
    """Counted by hand in the fixture's claims."""
    counts = {
        key: {one["origin"]: int(one["total"]) for one in content(quick)[key]}
        for key in ("claims", "studied", "statements")
    }
    assert counts == {
        "claims": {"printed": 4, "corrected": 1, "ours": 1},
        "studied": {"printed": 4},
        "statements": {"printed": 1, "corrected": 1},
    }


def test_comparisons_of_what_was_run_say_their_direction(quick: Any) -> None:
    first, second = alpha(quick)["comparisons"]
    assert (first["subject"], first["published"], first["ours"]) == (
        "Plain, cut (c=3) − default",
        "+4.6",
        "+4.0 (n = 2)",
    )
    assert (first["direction"], first["verdict"]) == ("same", "quick only")
    assert (second["subject"], second["reading"]) == ("Plain, cut (c=3) − batch size = 64", "ours")


def test_every_theorem_is_there_with_its_counterexample(quick: Any) -> None:
    printed, corrected = alpha(quick)["theorems"]
    assert printed["ours"] == "900 of 1000 draws meet the hypothesis, 12 violate it (by up to 0.25)"
    assert printed["counterexample"] == "fails at tau = 1, angles = (0.5, −2), by 0.25"
    assert printed["verdict"] == "refuted"
    assert corrected["ours"].endswith("none violates it (deviation at most 3e-15)")
    assert (corrected["reading"], corrected["counterexample"]) == ("X2", "")


def test_answers_that_are_not_there_take_no_row(make: Any) -> None:
    world = make()
    world.claims[8] |= {"study": "", "measured": "", "n": 0, "verdict": "not run", "why": "not made yet"}
    world.write_claims()
    made = paper.content(world.results)
    assert len(made["papers"][0]["studied"]) == 3
    assert made["studied"][0]["total"] == "4"


def test_every_erratum_is_there(quick: Any) -> None:
    """X1 is about a document that the fixture does not have; X2 is about several."""
    assert [group["title"] for group in content(quick)["errata"]] == ["Across the documents"]
    assert [entry["id"] for group in content(quick)["errata"] for entry in group["entries"]] == ["X2"]


def test_a_scale_of_which_nothing_was_run_compiles(make: Any) -> None:
    world = make()
    (world.plan.artifact_folder("alpha", "table1") / "summary.csv").unlink()
    (world.folder / "simulations" / "alpha" / "curve.csv").unlink()
    world.build()
    assert not any(alpha(world)[key] for key in ("main", "shown", "studied_shown", "comparisons"))
    assert (world.folder / "paper.pdf").read_bytes().startswith(b"%PDF-")


def test_a_source_that_does_not_compile_is_one_sentence(make: Any) -> None:
    world = make()
    world.build()
    (world.plan.config.root / "paper" / "reproduction.typ").write_text("#nothing-of-this-name", encoding="utf-8")
    before = (world.folder / "paper.pdf").read_bytes()
    with pytest.raises(HypersphereError, match=r"reproduction\.typ: unknown variable"):
        paper.build(world.plan)
    assert (world.folder / "paper.pdf").read_bytes() == before


def test_findings_follow_the_outcome(quick: Any, published: Any) -> None:
    """Counted by hand in the fixture's claims: a theorem fails, and three of four studied claims hold."""
    document, settled = alpha(quick), alpha(published)
    assert "The only printed theorem or identity failed." in document["told"]
    assert "Of 4 printed claims on formulas" in document["told"]
    assert "3 held and 1 stayed open." in document["told"]
    assert "scale quick measured 2 and settles none." in document["told"]
    assert "Of 4 printed numbers of trained encoders, 2 held and 2 were not run." in settled["told"]
    assert [(one["outcome"], one["source"], one["evidence"]) for one in document["telling"]] == [
        ("held", "somewhere", "")
    ]
    (failure,) = document["failures"]
    assert (failure["subject"], failure["mended"]) == ("One is one", "X2")
    assert failure["evidence"] == "fails at tau = 1, angles = (0.5, −2), by 0.25"


def test_the_matrix_counts_printed_claims_by_document_and_outcome(quick: Any) -> None:
    """Theorems, studies, encoders; held, failed, open, not run."""
    rows = {row["name"]: row["counts"] for row in content(quick)["matrix"]}
    assert rows["the alpha paper"] == [["0", "1", "0", "0"], ["3", "0", "1", "0"], ["0", "0", "2", "2"]]
    assert rows["“On Beta”"] == [["0"] * 4] * 3
    assert rows["all"] == rows["the alpha paper"]


def test_drawings_stay_in_their_place_where_typst_cannot_move_them(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, asked = paper.typst.compile, []

    def fails_once(*given: Any, **named: Any) -> bytes:
        asked.append(named["sys_inputs"].get("floats", "yes"))
        if len(asked) == 1:
            raise paper.typst.TypstError("internal error: parent group")
        return bytes(compiled(*given, **named))

    world = make()
    monkeypatch.setattr(paper.typst, "compile", fails_once)
    paper.build(world.plan)
    assert asked == ["yes", "no"]
    assert (world.folder / "paper.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"main": ["nonesuch"]}, "alpha: main: 'nonesuch' is not one of"),
        ({"short": 3}, "alpha.short: "),
    ],
)
def test_a_wrong_outline_is_one_sentence(make: Any, part: dict[str, Any], message: str) -> None:
    world = make()
    given = {"short": "the alpha paper", "main": [], "telling": []} | part
    files.write_text(world.plan.config.root / "paper" / "outline.yaml", yaml.safe_dump({"alpha": given}))
    with pytest.raises(HypersphereError, match=re.escape(message)):
        paper.content(world.results)


def test_the_outline_of_the_repository_names_artifacts_and_claims_that_there_are() -> None:
    config = cfg.load(REPOSITORY, {"scale": "quick"})
    for name, part in paper.outline(config).items():
        known = {claim.id for claim in load(config.claims_file(name))}
        known |= {statement.id for statement in statements(name)} if name in documents() else set()
        assert set(part.telling) <= known


def test_every_document_has_an_equation_and_a_reference() -> None:
    config = cfg.load(REPOSITORY, {"scale": "quick"})
    equations = (REPOSITORY / "paper" / "equations.typ").read_text(encoding="utf-8")
    references = yaml.safe_load((REPOSITORY / "paper" / "references.yml").read_text(encoding="utf-8"))
    printed = {name: document for name, document in config.papers.items() if name != "ours"}  # which are questions
    for name, document in printed.items():
        assert f"\n  {name}: $" in equations
        assert references[name]["title"].casefold().startswith(document.title.casefold())
