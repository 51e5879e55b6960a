"""``hypersphere plan``: Snakemake's dry run in our words, and what would measure each claim."""

from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.command import preview
from hypersphere.command.preview import CELL, DRAWS, NOTHING, STUDY, Job
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError

from ..statistics.world import PAPER, World, at, claim, gain

# Snakemake 9.27, abridged.
TEXT = """\
host: x
Building DAG of jobs...
Job stats:
job         count
--------  -------
all             1
pretrain        2
total           3


[Fri Nov 20 17:00:00 2026]
rule pretrain:
    input: data/processed/d-1/manifest.json
    output: results/quick/batches/simclr-d-1.json
    log: logs/quick/pretrain/simclr-d-1.log
    jobid: 3
    reason: Missing output files: results/quick/batches/simclr-d-1.json
    wildcards: batch=simclr-d-1
    resources: tmpdir=<TBD>


[Fri Nov 20 17:00:00 2026]
rule pretrain:
    output: results/quick/batches/simsiam-d-2.json
    jobid: 4
    reason: Params have changed since last execution
    resources: tmpdir=<TBD>


[Fri Nov 20 17:00:00 2026]
localrule all:
    input: results/quick/scorecard.html
    jobid: 0
    reason: Input files updated by another job: results/quick/scorecard.html
    resources: tmpdir=<TBD>

Job stats:
job         count
"""


def test_parse() -> None:
    assert preview.parse(TEXT) == [
        Job(
            "pretrain",
            "results/quick/batches/simclr-d-1.json",
            "Missing output files: results/quick/batches/simclr-d-1.json",
        ),
        Job("pretrain", "results/quick/batches/simsiam-d-2.json", "Params have changed since last execution"),
    ]
    assert preview.parse("Nothing to be done (all requested files are present and up to date).\n") == []


def lines(plan: Plan, verbose: bool = False) -> list[str]:
    return list(preview.jobs(plan, verbose))


def test_a_summary_is_a_dozen_lines(tiny_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten runs, of which one is finished; and more groups of jobs than are shown."""
    plan = planning.make(tiny_root)
    files.write_sealed(plan.run_folder(next(iter(plan.runs))) / "manifest.json", {"status": "finished", "files": {}})
    drawn = [Job("artifact_a_b", "x", "Code has changed: y"), Job("artifact_a_c", "x", "Code has changed")]
    monkeypatch.setattr(preview, "dry_run", lambda root, overrides: [*preview.parse(TEXT), *drawn])
    assert lines(plan) == [
        f"scale     tiny: {plan.config.scale.describe}",
        "results   results/tiny",
        "seeds     of tables 0; of sweeps 0",
        "artifacts 5 from runs, 3 from exact studies, 2 not made",
        "runs      1 finished, 9 to train (in 4 batches)",
        "jobs      4 would run",
        "  artifact (2): Code has changed",
        "  pretrain (1): Missing output files",
        "  pretrain (1): Params have changed since last execution",
        "`hypersphere plan --verbose` lists every artifact, run and job, with reasons",
    ]
    monkeypatch.setattr(preview, "dry_run", lambda root, overrides: [Job(f"r{i}", "x", "why") for i in range(50)])
    assert len(lines(plan)) == 14
    monkeypatch.setattr(preview, "dry_run", lambda root, overrides: [])
    assert lines(plan)[-2] == "jobs      nothing would run: every result is up to date"


def test_an_artifact_that_is_asked_for_and_not_made_has_a_line_with_the_reason(tiny_root: Path) -> None:
    plan = planning.make(tiny_root, {"only": ["lecture/every_method"]})
    assert "not made  lecture/every_method: left out at this scale" in preview.summary(plan, [], {}, 0)
    assert not any(line.startswith("not made") for line in preview.summary(planning.make(tiny_root), [], {}, 0))


def test_more_is_listed_if_asked_for(tiny_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planning.make(tiny_root)
    done, damaged, begun, *_ = plan.runs
    files.write_sealed(plan.run_folder(done) / "manifest.json", {"status": "finished", "files": {}})
    files.write_text(plan.run_folder(damaged) / "manifest.json", "{")
    state = plan.run_folder(begun) / "unfinished-0a1b2c3d" / "resume.safetensors"
    state.parent.mkdir(parents=True)
    state.touch()
    monkeypatch.setattr(preview, "dry_run", lambda root, overrides: preview.parse(TEXT))
    out = lines(plan, verbose=True)
    assert f"  finished   {done}" in out
    assert f"  damaged    {damaged}" in out
    assert f"  begun      {begun}" in out
    assert sum(line.startswith("  to train ") for line in out) == 7
    assert "runs (10, in 4 batches)" in out
    assert "  lecture/every_method               not made: left out at this scale" in out
    assert not any("runs that cannot be measured yet" in line for line in out)
    assert "jobs that would run (2)" in out
    assert "    results/quick/batches/simclr-d-1.json" in out


def test_only_what_is_asked_for_is_listed(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One artifact has a run of its own, others share twenty; an exact study has none."""
    monkeypatch.setattr(preview, "dry_run", lambda root, overrides: [])
    assert len(planning.make(project_root).runs) == 21
    out = lines(planning.make(project_root, {"only": ["lecture/supervised_knn"]}), verbose=True)
    assert "artifacts 1 from runs, 0 from exact studies, 0 not made" in out
    assert "runs      1 to train (in 1 batches)" in out
    assert [line.split("-")[0] for line in out if line.startswith("  to train ")] == ["  to train   supervised"]
    assert [line.split()[0] for line in out if " cells, " in line] == ["lecture/supervised_knn"]
    out = lines(planning.make(project_root, {"only": ["embedding_norms/fig6"]}), verbose=True)
    assert "artifacts 0 from runs, 1 from exact studies, 0 not made" in out
    assert out[-2:] == ["runs      none", "jobs      nothing would run: every result is up to date"]


def test_every_artifact_is_listed_with_what_is_missing(tmp_path: Path) -> None:
    """Points of table 5: four rows by four datasets, of which two have data here; three seeds each."""
    plan = World(tmp_path, level="quick").plan
    listed = {line.split()[0]: " ".join(line.split()[1:]) for line in preview.artifacts(plan)}
    assert listed.keys() == {f"norms/{name}" for name in PAPER["artifacts"]}
    assert listed["norms/table5"] == (
        "16 cells, 8 measured by 24 runs; 8 not: nothing stands for flowers at this scale; no loader for far yet"
    )
    assert listed["norms/epochs"] == "6 cells, 6 measured by 6 runs"
    assert listed["norms/temperatures"] == "3 cells, 3 measured by 9 runs"
    assert listed["norms/clusters"] == "not made: no probe yet: clusters of features"
    assert listed["norms/sentences"] == "not made: runs on text"
    assert listed["norms/left"] == "not made: left out at this scale"


def test_cells_that_a_small_scale_cannot_tell_apart_say_so(tmp_path: Path) -> None:
    """Of 100 epochs 10 are left: the published epochs 50 and 51 are one number, which the first keeps."""
    epochs = PAPER["artifacts"]["epochs"] | {"x": {"epoch": [50, 51]}}
    plan = World(tmp_path, level="quick", paper={"artifacts": {"epochs": epochs}}).plan
    (line,) = preview.artifacts(plan)
    assert "4 cells, 2 measured by 6 runs; 2 not: at this scale one number with" in line
    assert f"one number with {at(epoch=50)}" in line


def test_a_refusal_is_said(tmp_path: Path) -> None:
    """Really run: no Snakefile there."""
    with pytest.raises(HypersphereError, match=r"^snakemake --dry-run: ") as caught:
        preview.dry_run(tmp_path, {})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "kind"), [("artifact_margins_table2", "artifact"), ("simulate_lmcl", "simulate"), ("evaluate_pixels",) * 2]
)
def test_kinds(rule: str, kind: str) -> None:
    assert preview.kind_of_job(rule) == kind


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
BY = {"cell": CELL, "compared": CELL, "study": STUDY, "statement": DRAWS}
NO_LOADER = "no loader for far yet"


def test_hours_of_a_gpu_need_a_report_and_are_not_exceeded(tiny_root: Path) -> None:
    plan = planning.make(tiny_root, {})
    with pytest.raises(HypersphereError, match=r"claims\.csv: is not there; `make report`"):
        list(preview.settling(plan, 10))


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    world = World(tmp_path, level="quick", paper={"artifacts": PAPER["artifacts"] | {"studied": STUDIED}})
    world.claims(*CLAIMS)
    return world.plan


def test_each_claim_is_bound_to_what_would_measure_it(plan: Plan) -> None:
    found = {one.claim.id: one for one in preview.bound(plan)}
    assert found.keys() == {one["id"] for one in CLAIMS}
    assert {name: one.by for name, one in found.items()} == dict.fromkeys(found, NOTHING) | BY
    reasons = {name: one.why for name, one in found.items() if one.by == NOTHING}
    place = "method=simclr;variant=default;dataset=ten;epoch={};measure=knn_top1"
    assert reasons == {
        "stand_in": "nothing stands for flowers at this scale",
        "no_cell": f"no cell of table5 has the coordinates {place.format(7)}",
        "other_setting": f"no cell of table5 has the coordinates {place.format(8)}",
        "left_out": "left out at this scale",
        "text": "runs on text",
        "undeclared": "no artifact of this name is declared",
        "not_compared": reasons["not_compared"],
        "far": NO_LOADER,
    }
    assert reasons["not_compared"].startswith("transfers does not compare method=simclr;variant=cut3;dataset=ten")


def test_reasons_are_grouped_and_listed_if_asked_for(plan: Plan) -> None:
    text = list(preview.claims(plan))
    assert text[1] == "claims    12; measured by a cell 2, exact study 1, draws 1, nothing 8"
    assert "      2  no cell of table5 has the coordinates …" in text
    assert text[-1] == "`hypersphere plan --claims --verbose` lists each of them with its reason"
    listed = list(preview.claims(plan, verbose=True))
    assert f"  norms/table5 far: {NO_LOADER}" in listed
    assert sum(line.startswith("  norms/") for line in listed) == 8


def test_only_restricts_it(plan: Plan) -> None:
    few = planning.make(plan.config.root, {"only": ["norms/studied"]})
    assert [one.claim.id for one in preview.bound(few)] == ["study"]
