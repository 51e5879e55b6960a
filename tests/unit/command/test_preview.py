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

from ...fixtures import Approve
from ..statistics.world import PAPER, World


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch, approve: Approve) -> Callable[..., None]:
    """``listed(plan, verbose)``: what is said of a plan, with these words of Snakemake, is approved."""

    def show(plan: Plan, verbose: bool = False) -> None:
        said = "Building DAG\nJob stats: 2\nJob stats: 2\nReasons: code"
        monkeypatch.setattr(preview, "dry_run", lambda root, overrides, briefly: said)
        approve("\n".join(preview.lines(plan, verbose)))

    return show


def test_a_summary_is_a_few_lines_and_more_is_listed_if_asked_for(
    tiny_root: Path, listed: Callable[..., None]
) -> None:
    """Ten runs, of which one is finished, and then one damaged and one begun; and what only is not made."""
    plan = planning.make(tiny_root)
    done, damaged, begun, *_ = plan.runs
    files.write_sealed(plan.run_folder(done) / "manifest.json", {"status": "finished", "files": {}})
    listed(plan)
    listed(planning.make(tiny_root, {"only": ["lecture/every_method"]}))
    files.write_text(plan.run_folder(damaged) / "manifest.json", "{")
    files.write_text(plan.run_folder(begun) / "unfinished-0a1b2c3d" / "resume.safetensors", "")
    listed(plan, verbose=True)


@pytest.mark.parametrize("only", ["lecture/supervised_knn", "embedding_norms/fig6"])
def test_only_what_is_asked_for_is_listed(
    project_root: Path, listed: Callable[..., None], only: str
) -> None:
    """One artifact has a run of its own, others share twenty; an exact study has none."""
    assert len(planning.make(project_root).runs) == 21
    listed(planning.make(project_root, {"only": [only]}), verbose=True)


def test_every_artifact_is_listed_with_what_is_missing(
    tmp_path: Path, listed: Callable[..., None]
) -> None:
    """Points of table 5: four rows by four datasets, of which two have data here; three seeds each.

    Of 100 epochs 10 are left: the published epochs 50 and 51 are one number, which the first keeps.
    """
    artifacts = PAPER["artifacts"] | {
        "near": PAPER["artifacts"]["epochs"] | {"x": {"epoch": [50, 51]}}
    }
    listed(World(tmp_path, level="quick", paper={"artifacts": artifacts}).plan, verbose=True)


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
