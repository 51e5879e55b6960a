"""The picture above all is drawn by the paper that has a front.py, and by none without it."""

from pathlib import Path

import pytest

from hypersphere.config import paper_code
from hypersphere.report import front
from hypersphere.report.evidence import Evidence

NOTHING = Evidence(claims=[], ladder=[], criteria=[], findings=[], studies={})
DRAWS = "from matplotlib.figure import Figure\n\n\ndef front(known, root):\n    return Figure(figsize=(1, 1))\n"


@pytest.mark.parametrize("has", [True, False])
def test_a_paper_draws_it_or_nobody_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has: bool) -> None:
    paper = tmp_path / "drawn"
    paper.mkdir()
    if has:
        (paper / "front.py").write_text(DRAWS)
    monkeypatch.setattr(paper_code, "_folders", {})
    paper_code.admit({"drawn": paper})
    front.build(tmp_path, NOTHING, tmp_path)
    assert [file.name for file in sorted(tmp_path.glob("front.*"))] == (["front.png", "front.svg"] if has else [])
