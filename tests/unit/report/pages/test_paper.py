"""The supplement of a scale: prose without a digit, and content that follows the results."""

import json
from typing import Any

import pytest

from hypersphere.errors import HypersphereError
from hypersphere.report import paper


def content(world: Any) -> dict[str, Any]:
    """What the paper was made from."""
    return json.loads(world.read("paper/content.json"))


def test_pdf_is_made_from_the_content(quick: Any) -> None:
    pdf = (quick.folder / "paper.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"CreationDate" not in pdf


def test_tables_say_the_worth_of_a_scale_in_short(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """At length it stands at the top of the paper; and how exact studies are made, in its text."""
    from hypersphere.report import pages, studies, words

    world = make()
    world.measure("later")
    world.draw("later")
    config, before = world.plan.config, pages.show
    long = f"{words.scale_line(config)} {words.notice(config)}"
    monkeypatch.setattr(
        pages, "show", lambda *given: before(*given)._replace(notes=(long, studies.SIZE_NOTICE, "else"))
    )
    document = paper.content(world.results)["papers"][0]
    notes = [one["notes"] for part in ("shown", "studied_shown") for one in document[part]]
    assert notes == [["Not a reproduction.", "else"]] * 3


def test_numbers_count_at_the_published_scale(published: Any) -> None:
    """Those of the quick scale do not: content_quick.json."""
    made = content(published)
    assert made["scale"]["settles"] is True
    assert made["counts"]["claims"][0]["verdicts"][0]["verdict"] == "reproduced"


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
    assert not any(content(world)["papers"][0][key] for key in ("shown", "studied_shown", "comparisons"))
    assert (world.folder / "paper.pdf").read_bytes().startswith(b"%PDF-")


def test_a_source_that_does_not_compile_is_one_sentence(make: Any, approve: Any) -> None:
    world = make()
    world.build()
    (world.plan.config.root / "paper" / "supplement.typ").write_text("#nothing-of-this-name", encoding="utf-8")
    before = (world.folder / "paper.pdf").read_bytes()
    with pytest.raises(HypersphereError) as caught:
        paper.build(world.plan)
    approve(str(caught.value).partition(" (")[0])  # then the compiler's own words, with a path of this machine
    assert (world.folder / "paper.pdf").read_bytes() == before
