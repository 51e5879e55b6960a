"""All that scorecard, supplement, report and notes say of the fixtures' results, as it was approved."""

import json
from pathlib import Path
from typing import Any

import pytest

from hypersphere.report import notes

from ..approval import approve, read_aloud
from .reading import section


@pytest.mark.parametrize("scale", ["quick", "published"])
def test_scorecard(request: pytest.FixtureRequest, scale: str) -> None:
    approve(f"scorecard_{scale}.txt", read_aloud(request.getfixturevalue(scale).read("scorecard.html")))


def test_supplement_and_numbers(quick: Any) -> None:
    for name in ("paper/content.json", "scorecard.json"):
        content = json.dumps(json.loads(quick.read(name)), indent=1, ensure_ascii=False)
        approve(f"{Path(name).stem}_quick.json", content + "\n")


def test_report(report_page: Path) -> None:
    """Of made-up claims on the released documents, whose errata are left out."""
    text = report_page.read_text(encoding="utf-8")
    assert 'class="badge' not in text  # which have colours: none says good or bad here
    approve(
        "report.txt",
        "".join(read_aloud(f"<h2 {section(text, name)}") for name in ("findings", "criteria", "questions", "claims")),
    )


def test_protocols(quick: Any, published: Any, make: Any) -> None:
    """Of every artifact, whether its runs are there or not."""
    lines = []
    for world in (quick, published, make(epochs=1)):
        about = world.plan.config.papers["alpha"]
        lines += [f"{world.plan.config.scale_name.partition('-')[0]} of {world.plan.config.scale.epochs} epochs"]
        lines += [f"{name}: {notes.protocol(world.plan, about, name)}" for name in about.measured]
    approve("protocols.txt", "\n".join(lines) + "\n")
