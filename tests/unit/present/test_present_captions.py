"""Captions of Snakemake's report: the artifact's own sentences, the scale's worth, and no mark-up by accident."""

import re
from html import unescape
from typing import Any

import pytest
from docutils.core import publish_parts
from docutils.writers import get_writer_class

from hypersphere.errors import HypersphereError
from hypersphere.present import captions

PAPER = "embedding_norms"


def shown(source: str) -> str:
    """What docutils, an independent reader, shows of reStructuredText."""
    html = publish_parts(source, writer=get_writer_class("html")(), settings_overrides={"report_level": 5})["body"]
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


def plain(caption: captions.Caption) -> list[str]:
    """Title and notes as docutils shows them."""
    return [shown(str(text)) for text in [caption["title"], *caption["notes"]]]


def test_a_table_is_captioned_by_the_notes_that_stand_below_it(quick: Any) -> None:
    """Its Markdown, written by another function, has the title and all notes."""
    said = quick.read(f"tables/{PAPER}/table5.md")
    texts = plain(captions.of_artifact(quick.config, PAPER, "table5"))
    assert len(texts) > 4
    assert [text for text in texts if text not in said] == []
    assert "Not a reproduction" in texts[1]


def test_a_figure_is_captioned_by_what_is_drawn_below_it(quick: Any) -> None:
    title, first, *rest = plain(captions.of_artifact(quick.config, PAPER, "norms_over_epochs"))
    assert title == "At scale quick: Embedding norm and kNN accuracy over training"
    assert "Not a reproduction" in first
    assert "n = 5 (seeds 0, 1, 2, 3, 4)" in " ".join(rest)
    assert "Protocol: encoder resnet8" in " ".join(rest)


@pytest.mark.parametrize(
    ("scale", "overrides", "worth"),
    [
        ("quick", {}, "quick: not a reproduction"),
        ("laptop", {}, "laptop: not a reproduction"),
        ("paper", {}, "paper: published setting"),
        ("paper", {"seeds": [0]}, "paper-[0-9a-f]{6}: not a reproduction"),
    ],
)
def test_only_the_published_scale_unchanged_is_the_published_setting(
    make: Any, scale: str, overrides: dict[str, Any], worth: str
) -> None:
    config = make(scale, **overrides).config
    assert re.fullmatch(worth, captions.in_short(config))
    first = plain(captions.of_scale(config))[1]
    assert ("Not a reproduction" in first) == ("not a reproduction" in worth)


def test_of_a_scale_every_protocol_is_said_once(quick: Any) -> None:
    notes = plain(captions.of_scale(quick.config))[1:]
    assert len(set(notes)) == len(notes)
    (protocol,) = (note for note in notes if "Protocol" in note)
    assert protocol.startswith(quick.config.papers[PAPER].title)


def test_an_unknown_artifact_is_a_sentence(quick: Any) -> None:
    with pytest.raises(HypersphereError, match="nonesuch"):
        captions.of_artifact(quick.config, PAPER, "nonesuch")


TRICKY = r"digits_ and *star* and `tick` and |bar| and a\b and __x__ and x_y"


def test_escaped_text_is_shown_as_it_is() -> None:
    assert shown(captions.escape(TRICKY)) == TRICKY
    assert shown(TRICKY) != TRICKY  # control: it has something to escape
