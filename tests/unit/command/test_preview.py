"""``hypersphere plan``: Snakemake's dry run in our words, and what would measure each claim."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.command import preview
from hypersphere.command.preview import Job
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError

from ...fixtures import Approve
from ..statistics.world import PAPER, World, claim, gain

# Snakemake 9.27, abridged.
TEXT = """\
host: x
Job stats:
job         count
--------  -------
all             1
total           3

[Fri Nov 20 17:00:00 2026]
rule pretrain:
    input: data/processed/d-1/manifest.json
    output: results/quick/batches/simclr-d-1.json
    jobid: 3
    reason: Missing output files: results/quick/batches/simclr-d-1.json
    wildcards: batch=simclr-d-1

[Fri Nov 20 17:00:00 2026]
rule pretrain:
    output: results/quick/batches/simsiam-d-2.json
    reason: Params have changed since last execution

[Fri Nov 20 17:00:00 2026]
localrule all:
    input: results/quick/scorecard.html
    reason: Input files updated by another job: results/quick/scorecard.html

Job stats:
"""


def test_parse() -> None:
    first = "results/quick/batches/simclr-d-1.json"
    assert preview.parse(TEXT) == [
        Job("pretrain", first, f"Missing output files: {first}"),
        Job("pretrain", "results/quick/batches/simsiam-d-2.json", "Params have changed since last execution"),
    ]
    assert preview.parse("Nothing to be done (all requested files are present and up to date).\n") == []
    rules = {"artifact_margins_table2": "artifact", "simulate_lmcl": "simulate", "write_report": "write_report"}
    assert {rule: preview.kind_of_job(rule) for rule in rules} == rules


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch, approve: Approve) -> Callable[..., None]:
    """``listed(plan, jobs, verbose)``: what is said of a plan of which these jobs would run is approved."""

    def show(plan: Plan, jobs: list[Job], verbose: bool = False) -> None:
        monkeypatch.setattr(preview, "dry_run", lambda root, overrides: jobs)
        approve("\n".join(preview.jobs(plan, verbose)))

    return show


def test_a_summary_is_a_dozen_lines(tiny_root: Path, listed: Callable[..., None]) -> None:
    """Ten runs, of which one is finished; more groups of jobs than are shown; none; and what only is not made."""
    plan = planning.make(tiny_root)
    files.write_sealed(plan.run_folder(next(iter(plan.runs))) / "manifest.json", {"status": "finished", "files": {}})
    drawn = [Job("artifact_a_b", "x", "Code has changed: y"), Job("artifact_a_c", "x", "Code has changed")]
    for jobs in ([*preview.parse(TEXT), *drawn], [Job(f"r{i}", "x", "why") for i in range(50)], []):
        listed(plan, jobs)
    listed(planning.make(tiny_root, {"only": ["lecture/every_method"]}), [])


def test_more_is_listed_if_asked_for(tiny_root: Path, listed: Callable[..., None]) -> None:
    plan = planning.make(tiny_root)
    done, damaged, begun, *_ = plan.runs
    files.write_sealed(plan.run_folder(done) / "manifest.json", {"status": "finished", "files": {}})
    files.write_text(plan.run_folder(damaged) / "manifest.json", "{")
    files.write_text(plan.run_folder(begun) / "unfinished-0a1b2c3d" / "resume.safetensors", "")
    listed(plan, preview.parse(TEXT), verbose=True)


@pytest.mark.parametrize("only", ["lecture/supervised_knn", "embedding_norms/fig6"])
def test_only_what_is_asked_for_is_listed(project_root: Path, listed: Callable[..., None], only: str) -> None:
    """One artifact has a run of its own, others share twenty; an exact study has none."""
    assert len(planning.make(project_root).runs) == 21
    listed(planning.make(project_root, {"only": [only]}), [], verbose=True)


def test_every_artifact_is_listed_with_what_is_missing(tmp_path: Path, approve: Approve) -> None:
    """Points of table 5: four rows by four datasets, of which two have data here; three seeds each.

    Of 100 epochs 10 are left: the published epochs 50 and 51 are one number, which the first keeps.
    """
    artifacts = PAPER["artifacts"] | {"near": PAPER["artifacts"]["epochs"] | {"x": {"epoch": [50, 51]}}}
    plan = World(tmp_path, level="quick", paper={"artifacts": artifacts}).plan
    lines = [*preview.artifacts(plan)]
    assert {line.split()[0] for line in lines} == {f"norms/{name}" for name in artifacts}
    approve("\n".join(lines))


def test_a_refusal_is_said(tmp_path: Path) -> None:
    """Really run: no Snakefile there."""
    with pytest.raises(HypersphereError, match=r"^snakemake --dry-run: [^\n]+$"):  # in Snakemake's words
        preview.dry_run(tmp_path, {})


STUDIED = {"draw": "study_table", "title": "A study", "study": "cosine_field"}
CLAIMS = (
    claim("cell"),
    gain("compared"),
    claim("study", artifact="studied"),
    claim("statement", kind="theorem", method="", variant="", dataset="", metric="", reported="", sentence="It holds."),
    claim("stand_in", dataset="flowers"),
    claim("no_cell", setting="epoch=7"),
    claim("other_setting", setting="epoch=8"),
    claim("left_out", artifact="left"),
    claim("text", artifact="sentences"),
    claim("undeclared", artifact="table99"),
    gain("not_compared", artifact="transfers", setting="target=hundred", metric="transfer_top1"),
    claim("far", dataset="far"),
)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    world = World(tmp_path, level="quick", paper={"artifacts": PAPER["artifacts"] | {"studied": STUDIED}})
    world.claims(*CLAIMS)
    return world.plan


def test_each_claim_is_bound_to_what_would_measure_it(plan: Plan, approve: Approve) -> None:
    found = {one.claim.id: one for one in preview.bound(plan)}
    assert found.keys() == {one["id"] for one in CLAIMS}
    approve("\n".join(f"{name}: {one.by}; {one.why}" for name, one in found.items()))
    for verbose in (False, True):
        approve("\n".join(preview.claims(plan, verbose=verbose)))


def test_only_restricts_it(plan: Plan) -> None:
    few = planning.make(plan.config.root, {"only": ["norms/studied"]})
    assert [one.claim.id for one in preview.bound(few)] == ["study"]
