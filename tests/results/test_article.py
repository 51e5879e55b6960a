"""The PDF of all evidence, as `make report` left it: its abstract, its captions, and sentences that evidence bears."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typst

from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.report import article, style
from hypersphere.report.evidence import REPORT
from hypersphere.report.typesetting import address, typeset

MOST = 180  # words of the abstract


def asked(plan: Plan, selector: str) -> list[dict[str, Any]]:
    """What a query of the article finds."""
    root = plan.config.root
    inputs = {"content": address(root, root / REPORT / "content.json")}
    given = {
        "root": str(root),
        "sys_inputs": inputs,
        "font_paths": [str(style.FONTS)],
        "ignore_system_fonts": True,
    }
    found = typst.query(str(root / article.SOURCE), selector, **given)
    return json.loads(found) if isinstance(found, str) else found


def words(content: Any) -> str:
    """The words of Typst's content; what is laid out later has none."""
    if isinstance(content, str):
        return content
    if content["func"] == "space":
        return " "
    inner = content.get("children") or [content.get(key) for key in ("text", "body", "child")]
    return "".join(words(one) for one in inner if one is not None)


def content_of(plan: Plan) -> dict[str, Any]:
    return dict(
        json.loads((plan.config.root / REPORT / "content.json").read_text(encoding="utf-8"))
    )


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d[\d,.]*\d|\d", text))


def test_the_abstract_is_short_and_each_of_its_numbers_is_in_a_table(plan: Plan) -> None:
    (found,) = asked(plan, "<abstract>")
    text, content = found["value"], content_of(plan)
    assert len(text.split()) <= MOST
    told = [one["headline"] for one in (*content["leads"], *content["unknown"])]
    shown = [one for one in told if one in text]
    assert content["leads"][0]["headline"] in shown
    assert content["unknown"][0]["headline"] in shown
    of_tables = set(content["counts"].values()).union(*map(numbers, told))
    of_claims = {
        claim[key] for claim in content["claims"].values() for key in ("published", "value")
    }
    named = numbers("CIFAR-10")
    assert numbers(text) <= of_tables | of_claims | named


def test_every_caption_is_a_sentence_with_its_marks(plan: Plan) -> None:
    captions = [words(found["caption"]["body"]) for found in asked(plan, "figure")]
    assert len(captions) > 20
    for caption in captions:
        assert caption.strip().endswith("."), caption
        assert not re.search(r"\s[;:,.]|[;,]{2}|\.\.|[a-z] [A-Z][a-z]+ the baseline", caption), (
            caption
        )


def test_every_figure_has_words_for_who_cannot_see_it(plan: Plan) -> None:
    pictures = asked(plan, "image")
    assert pictures
    assert [picture for picture in pictures if not picture.get("alt")] == []


REFUTED = "norms.theorem_3_4.main_text"


@pytest.fixture
def altered(plan: Plan, tmp_path: Path) -> Iterator[Path]:
    """A content.json in which a refuted statement holds."""
    content = content_of(plan)
    content["claims"][REFUTED]["answer"] = "holds"
    folder = plan.config.root / REPORT / f"altered-{tmp_path.name}"
    folder.mkdir()
    file = folder / "content.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    yield file
    shutil.rmtree(folder)


def test_a_sentence_that_the_evidence_does_not_bear_is_refused(plan: Plan, altered: Path) -> None:
    with pytest.raises(HypersphereError, match="no longer bears this sentence: The bound"):
        typeset(plan.config.root, article.SOURCE, altered, altered.with_suffix(".pdf"))
    assert not altered.with_suffix(".pdf").exists()
