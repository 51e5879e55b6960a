"""Equal tables give equal bytes, in another process, folder and second; report/ reads results and nothing else."""

import ast
import re
import time
from pathlib import Path
from typing import Any

import hypersphere.report as package

from ..elsewhere import NEVER, build_elsewhere

BUILD = f"""
from hypersphere.report import page, scorecard
sys.path.append({str(Path(__file__).parent)!r})
import stand_ins
page.show = stand_ins.stand_in
scorecard.build(made)
"""


def outputs(world: Any) -> dict[str, bytes]:
    names = ("scorecard.html", "scorecard.json")
    return {name: (world.folder / name).read_bytes() for name in names}


def test_two_builds_a_second_apart_are_equal_and_a_changed_number_is_not(
    make: Any, tmp_path: Path
) -> None:
    first = make(root=tmp_path / "here")
    first.build()
    time.sleep(1.1)  # files that held a time would hold another second
    second = make(root=tmp_path / "there")
    (second.folder / "runs" / "a-run").mkdir(parents=True)
    build_elsewhere(second.plan, BUILD)
    one, two = outputs(first), outputs(second)
    assert [name for name in one if one[name] != two[name]] == []
    assert [name for name, data in one.items() if str(tmp_path).encode() in data] == []
    changed = make(root=tmp_path / "other", shift=0.1)
    changed.claims[0]["measured"] = "64.5"
    changed.write_claims()
    changed.build()
    three = outputs(changed)
    assert [name for name in ("scorecard.html", "scorecard.json") if one[name] == three[name]] == []


def test_report_imports_nothing_that_computes() -> None:
    sources = sorted(Path(package.__path__[0]).glob("*.py")) + sorted(
        Path(package.__path__[0]).glob("kinds/*.py")
    )
    assert len(sources) > 10
    texts = {path.name: path.read_text(encoding="utf-8") for path in sources}
    names = set()
    for node in (node for text in texts.values() for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names |= {f"{module}{alias.name}" for alias in node.names}
    computing = {"scipy", "statsmodels", "random", "statistics", "datetime", "time"}
    assert not {name.split(".")[0] for name in names} & ({*NEVER} | computing)
    drawn = "".join(text for name, text in texts.items() if name != "sphere.py")  # it maps a sphere
    # where marks lie, no statistic
    placing = {"clip", "diff", "exp", "log", "sort"}
    as_arrays = {
        "arange",
        "argwhere",
        "array",
        "asarray",
        "ndarray",
        "ndenumerate",
        "ravel",
        "vectorize",
    }
    known = {"isfinite", "isnan"}
    assert set(re.findall(r"\bnp\.(\w+)", drawn)) <= placing | as_arrays | known
    assert "from numpy" not in drawn
    ours = {name.split(".")[1] for name in names if name.startswith("hypersphere.")}
    assert not ours & {
        "training",
        "probes",
        "datasets",
        "encoders",
        "methods",
        "objectives",
        "views",
        "simulations",
    }
    called = {
        name.partition("statistics.")[2].partition(".")[0]
        for name in names
        if "hypersphere.statistics." in name
    }
    # not effects, nor verdicts
    of_claims = {"best_evidence", "judged_records", "false_calls", "price", "replication"}
    assert called <= of_claims
    assert "pandas" in {name.split(".")[0] for name in names}
