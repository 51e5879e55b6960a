"""The title, the notes and the table of every artifact of the small project, as they were approved."""

from typing import Any

import pytest

from hypersphere.report import writer

from ..approval import approve


@pytest.mark.parametrize("scale", ["small", "paper"])
def test_every_artifact(make: Any, scale: str) -> None:
    made = make(scale)
    results, paper = made.results(), made.plan.config.papers["made_up"]
    shown = [writer.show(results, "made_up", name) for name in paper.artifacts]
    texts = [
        writer.as_markdown(one) if one.grid else "\n".join((f"### {one.title}", "", one.alt, *one.notes)) + "\n"
        for one in shown
    ]
    approve(f"kinds_{scale}.md", "\n".join(texts))
