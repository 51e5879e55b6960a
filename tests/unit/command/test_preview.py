"""``hypersphere plan``: the plan in our words, and Snakemake's dry run in its own."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.command import preview
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError

from ..statistics.world import PAPER, World


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """``listed(plan, verbose)``: what is said of a plan, with these words of Snakemake, by line and without spaces."""
    said = "Building DAG\nJob stats: 2\nJob stats: 2\nReasons: code"
    monkeypatch.setattr(preview, "dry_run", lambda root, overrides, briefly: said)

    def lines(plan: Plan, verbose: bool = False) -> list[str]:
        text = "\n".join(preview.lines(plan, verbose))
        return [" ".join(line.split()) for line in text.splitlines()]

    return lines


def test_a_summary_is_a_few_lines_and_more_is_listed_if_asked_for(
    tiny_root: Path, listed: Callable[..., list[str]]
) -> None:
    """Ten runs, of which one is finished, and then one damaged and one begun; and what only is not made."""
    plan = planning.make(tiny_root)
    done, damaged, begun, *_ = plan.runs
    files.write_sealed(plan.run_folder(done) / "manifest.json", {"status": "finished", "files": {}})
    short = listed(plan)
    assert "artifacts 5 from runs, 3 from exact studies, 2 not made" in short
    assert "runs 1 finished, 9 missing (in 4 batches)" in short
    assert not [line for line in short if done in line]
    assert short.count("Job stats: 2") == 1
    nothing = listed(planning.make(tiny_root, {"only": ["lecture/every_method"]}))
    assert "artifacts 0 from runs, 0 from exact studies, 1 not made" in nothing
    assert "not made lecture/every_method: left out at this scale" in nothing
    files.write_text(plan.run_folder(damaged) / "manifest.json", "{")
    files.write_text(plan.run_folder(begun) / "unfinished-0a1b2c3d" / "resume.safetensors", "")
    long = listed(plan, verbose=True)
    assert "runs 1 finished, 1 damaged, 1 begun, 7 missing (in 4 batches)" in long
    states = dict.fromkeys(plan.runs, "missing") | {
        done: "finished",
        damaged: "damaged",
        begun: "begun",
    }
    assert {f"{state} {run}" for run, state in states.items()} <= {*long}
    assert "lecture/every_method not made: left out at this scale" in long
    assert long[-1] == "Reasons: code"


@pytest.mark.parametrize(
    ("only", "runs"),
    [
        ("lecture/supervised_knn", "runs 1 missing (in 1 batches)"),
        ("embedding_norms/fig6", "runs none"),
    ],
)
def test_only_what_is_asked_for_is_listed(
    project_root: Path, listed: Callable[..., list[str]], only: str, runs: str
) -> None:
    """One artifact has a run of its own, others share twenty; an exact study has none."""
    assert len(planning.make(project_root).runs) == 21
    lines = listed(planning.make(project_root, {"only": [only]}), verbose=True)
    assert runs in lines
    listed_artifacts = [line for line in lines if line.startswith(("lecture/", "embedding_norms/"))]
    assert all(line.startswith(f"{only} ") for line in listed_artifacts)


def test_every_artifact_is_listed_with_what_is_missing(
    tmp_path: Path, listed: Callable[..., list[str]]
) -> None:
    """Points of table 5: four rows by four datasets, of which two have data here; three seeds each.

    Of 100 epochs 10 are left: the published epochs 50 and 51 are one number, which the first keeps.
    """
    artifacts = PAPER["artifacts"] | {
        "near": PAPER["artifacts"]["epochs"] | {"x": {"epoch": [50, 51]}}
    }
    plan = World(tmp_path, level="quick", paper={"artifacts": artifacts}).plan
    lines = listed(plan, verbose=True)
    table5, near = "norms/table5 16 cells, 8 measured by 24 runs", "norms/near 4 cells, 2 measured"
    reasons = "nothing stands for flowers at this scale; no loader for far yet"
    assert f"{table5}; 8 not: {reasons}" in lines
    assert "norms/sentences not made: runs on text" in lines
    (shown,) = [line for line in lines if line.startswith(near)]
    assert shown.count("epoch=50") == 2
    assert len([line for line in lines if line.startswith("missing ")]) == len(plan.runs)
    assert "runs that cannot be measured yet (12)" in lines


SAID = {
    "our sentence": (
        "",
        "Using workflow\nhypersphere: a: Read-only file system\n\n",
        "a: Read-only file system",
    ),
    "two of ours": ("hypersphere: first\n", "hypersphere: second\nmore\n", "second"),
    "blank lines at the end": ("an error\n  \n", "\n \n", "an error"),
    "nothing": ("", "", "no output"),
    "blank lines alone": ("\n", " \n", "no output"),
    "the profile alone": ("", "Using workflow specific profile profiles/default\n", "no output"),
}
"""By case, what Snakemake writes to its output and its error, and the reason that is passed on."""


@pytest.mark.parametrize("case", SAID)
def test_a_refusal_has_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    output, error, reason = SAID[case]
    done = subprocess.CompletedProcess([], 1, output, error)
    monkeypatch.setattr(preview, "snakemake", lambda *_: done)
    with pytest.raises(HypersphereError) as caught:
        preview.dry_run(tmp_path, {})
    assert str(caught.value) == f"snakemake --dry-run: {reason}"


def test_a_refusal_is_said(tmp_path: Path) -> None:
    """Really run: no Snakefile there."""
    # in Snakemake's words
    with pytest.raises(HypersphereError, match=r"^snakemake --dry-run: [^\n]+$"):
        preview.dry_run(tmp_path, {})
