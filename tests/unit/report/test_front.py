"""The picture above all is drawn by the paper that has a front.py, and by none without it."""

from pathlib import Path

import pytest

from hypersphere.config import paper_code
from hypersphere.report import front
from hypersphere.report.evidence import Evidence

NOTHING = Evidence(claims=[], ladder=[], criteria=[], findings=[], studies={})
DRAWS = """from matplotlib.figure import Figure

ALT = "A picture"


def front(known, root, narrow):
    return Figure(figsize=(1, 1))
"""


@pytest.mark.parametrize("has", [True, False])
def test_a_paper_draws_it_or_nobody_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has: bool
) -> None:
    paper = tmp_path / "drawn"
    paper.mkdir()
    if has:
        (paper / "front.py").write_text(DRAWS)
    monkeypatch.setattr(paper_code, "_folders", {})
    paper_code.admit({"drawn": paper})
    front.build(tmp_path, NOTHING, tmp_path)
    drawn = [file.name for file in sorted(tmp_path.glob("front*"))]
    assert drawn == (["front.png", "front.svg", "front_narrow.png"] if has else [])
    assert front.alt() == ("A picture" if has else "")
