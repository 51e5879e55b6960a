"""Captions of Snakemake's report: the artifact's own sentences, the scale's worth, and no mark-up by accident."""

import contextlib
import re
from html import unescape
from typing import Any

import pytest
from docutils.core import publish_parts
from docutils.utils import SystemMessage
from docutils.writers import get_writer_class

from hypersphere.errors import HypersphereError
from hypersphere.present import captions
from hypersphere.present.shown import show


def read(source: str) -> str:
    """What docutils, an independent reader, shows of reStructuredText; a warning (level 2) is an error."""
    settings = {"report_level": 5, "halt_level": 2}
    html = publish_parts(source, writer=get_writer_class("html")(), settings_overrides=settings)["body"]
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


def plain(caption: captions.Caption) -> list[str]:
    """Title and notes as docutils shows them."""
    return [read(str(text)) for text in [caption["title"], *caption["notes"]]]


def test_an_artifact_is_captioned_by_its_own_title_and_notes(quick: Any) -> None:
    """The stand-in's sentences, which hold characters that would be mark-up."""
    said = plain(captions.of_artifact(quick.plan, "alpha", "table1"))
    assert said == ["Table 1: Accuracy", "Scale quick & more.", "What table1_ holds."]


def test_studies_of_a_paper_are_captioned_together(quick: Any) -> None:
    said = plain(captions.of_studies(quick.plan, "alpha"))
    assert said == [
        "Exact studies of “On Alpha”",
        "Scale quick & more.",
        "Figure 1: A curve. What curve_ holds.",
    ]


@pytest.mark.parametrize(
    ("scale", "overrides", "worth"),
    [
        ("quick", {}, "quick: not a reproduction"),
        ("paper", {}, "paper: published setting"),
        ("paper", {"seeds": [0]}, "paper-[0-9a-f]{6}: not a reproduction"),
    ],
)
def test_only_the_published_scale_unchanged_is_the_published_setting(
    make: Any, scale: str, overrides: dict[str, Any], worth: str
) -> None:
    plan = make(scale, **overrides).plan
    assert re.fullmatch(worth, captions.in_short(plan))
    first = plain(captions.of_scale(plan))[1]
    assert ("Not a reproduction" in first) == ("not a reproduction" in worth)


def test_of_a_scale_conditions_and_protocols_of_what_was_made_are_said_once(make: Any) -> None:
    world = make()
    world.make_artifact("sweep")
    notes = plain(captions.of_scale(world.plan))[1:]
    assert len(set(notes)) == len(notes)
    assert notes[1] == "Conditions: n = 2 (seeds 0, 1); in sweeps n = 1 (seed 0); device cpu; torch 2.13.0."
    assert [note.startswith("On Alpha. Protocol: encoder resnet8") for note in notes[2:]] == [True, True]


def test_an_unknown_artifact_is_a_sentence(quick: Any) -> None:
    with pytest.raises(HypersphereError, match="nonesuch"):
        show(quick.results, "alpha", "nonesuch")


TRICKY = r"digits_ and *star* and `tick` and |bar| and a\b and __x__ and x_y"


def test_escaped_text_is_shown_as_it_is() -> None:
    assert read(captions.escape(TRICKY)) == TRICKY
    with pytest.raises(SystemMessage):  # control: unescaped, it refers to things that do not exist
        read(TRICKY)


@pytest.mark.parametrize("mark", [*r"\*`_|"])
def test_every_mark_has_to_be_escaped(mark: str) -> None:
    """Without the backslash before it, docutils warns or shows another text."""
    unescaped = captions.escape(TRICKY).replace(f"\\{mark}", mark)
    with contextlib.suppress(SystemMessage):
        assert read(unescaped) != TRICKY
