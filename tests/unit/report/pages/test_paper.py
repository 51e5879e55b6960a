"""The supplement of a scale: prose without a digit, and content that follows the results."""

import json
from pathlib import Path
from typing import Any

import pytest

from hypersphere.errors import HypersphereError
from hypersphere.report import paper

REPOSITORY = Path(__file__).parents[4]


def content(world: Any) -> dict[str, Any]:
    """What the paper was made from."""
    return json.loads(world.read("paper/content.json"))


def alpha(world: Any) -> dict[str, Any]:
    """The first paper's part of it."""
    return content(world)["papers"][0]


def test_pdf_is_made_from_the_content(quick: Any) -> None:
    pdf = (quick.folder / "paper.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"CreationDate" not in pdf


def test_content_holds_what_was_made_and_nothing_else(quick: Any) -> None:
    """Table 1 as the stand-in laid it out, and the study's drawing by its path."""
    document = alpha(quick)
    (table,), (figure,) = document["shown"], document["studied_shown"]
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
    empty = ("shown", "studied_shown", "comparisons", "choices")
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
    notes = [one["notes"] for part in ("shown", "studied_shown") for one in document[part]]
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
        "Plain, default": ["10", "10 %", "32", "0.12", "1e-6", loss],
        "Plain, cut (c=3)": ["10", "10 %", "32", "0.12", "1e-6", f"{loss}, cut initialisation (c 3)"],
        "Large, default": ["10", "10 %", "64 (4 × 16)", "0.12", "1e-6", loss],
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
    assert made["counts"]["claims"][0]["verdicts"][0]["verdict"] == ("reproduced" if settles else "quick only")


def test_counts_keep_printed_corrected_and_ours_apart(quick: Any) -> None:
    """Counted by hand in the fixture's claims."""
    counts = {
        key: {one["origin"]: int(one["total"]) for one in content(quick)["counts"][key]}
        for key in ("claims", "studied", "statements", "said")
    }
    assert counts == {
        "claims": {"printed": 4, "implied": 1, "corrected": 1, "ours": 1},
        "studied": {"printed": 4},
        "statements": {"printed": 1, "corrected": 1},
        "said": {"printed": 1},
    }


def test_comparisons_of_what_was_run_say_their_direction(quick: Any) -> None:
    first, ours, implied = alpha(quick)["comparisons"]
    assert (first["subject"], first["published"], first["ours"]) == (
        "Plain, cut (c=3) against default",
        "+4.6",
        "+4.0 (n = 2)",
    )
    assert (first["direction"], first["verdict"]) == ("same", "quick only")
    assert (implied["direction"], implied["origin"]) == ("opposite", "implied")
    assert (ours["subject"], ours["reading"]) == ("Plain, cut (c=3) against batch size = 64", "ours")


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
    assert [row["subject"] for row in made["papers"][0]["studied"]] == ["", "All are so", "", "Both hold"]
    assert made["counts"]["studied"][0]["total"] == "4"


def test_a_scale_of_which_nothing_was_run_compiles(make: Any) -> None:
    world = make()
    (world.plan.artifact_folder("alpha", "table1") / "summary.csv").unlink()
    (world.folder / "simulations" / "alpha" / "curve.csv").unlink()
    world.build()
    assert not any(alpha(world)[key] for key in ("shown", "studied_shown", "comparisons"))
    assert (world.folder / "paper.pdf").read_bytes().startswith(b"%PDF-")


def test_a_source_that_does_not_compile_is_one_sentence(make: Any) -> None:
    world = make()
    world.build()
    (world.plan.config.root / "paper" / "supplement.typ").write_text("#nothing-of-this-name", encoding="utf-8")
    before = (world.folder / "paper.pdf").read_bytes()
    with pytest.raises(HypersphereError, match=r"supplement\.typ: unknown variable"):
        paper.build(world.plan)
    assert (world.folder / "paper.pdf").read_bytes() == before
