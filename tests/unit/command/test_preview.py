"""``hypersphere plan``: Snakemake's dry run in our words."""

import json
from pathlib import Path

import pytest

from hypersphere.command import preview
from hypersphere.command.preview import Job
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError

from ..statistics.world import PAPER, World, at

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


def lines(capsys: pytest.CaptureFixture[str], plan: Plan, verbose: bool = False) -> list[str]:
    preview.show(plan, {}, verbose)
    return capsys.readouterr().out.splitlines()


def test_a_summary_is_a_dozen_lines(
    tiny_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten runs, of which one is finished; and more groups of jobs than are shown."""
    plan = planning.make(tiny_root)
    done = plan.run_folder(next(iter(plan.runs)))
    done.mkdir(parents=True)
    (done / "manifest.json").write_text(json.dumps({"status": "finished"}))
    drawn = [Job("artifact_a_b", "x", "Code has changed: y"), Job("artifact_a_c", "x", "Code has changed")]
    monkeypatch.setattr(preview, "dry_run", lambda root, overrides: [*preview.parse(TEXT), *drawn])
    assert lines(capsys, plan) == [
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
    assert len(lines(capsys, plan)) == 14
    monkeypatch.setattr(preview, "dry_run", lambda root, overrides: [])
    assert lines(capsys, plan)[-2] == "jobs      nothing would run: every result is up to date"


def test_an_artifact_that_is_asked_for_and_not_made_has_a_line_with_the_reason(tiny_root: Path) -> None:
    plan = planning.make(tiny_root, {"only": ["lecture/every_method"]})
    assert "not made  lecture/every_method: left out at this scale" in preview.summary(plan, [])
    assert not any(line.startswith("not made") for line in preview.summary(planning.make(tiny_root), []))


def test_more_is_listed_if_asked_for(
    tiny_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = planning.make(tiny_root)
    done, damaged, begun, *_ = plan.runs
    for name, text in ((done, json.dumps({"status": "finished"})), (damaged, "{")):
        plan.run_folder(name).mkdir(parents=True)
        (plan.run_folder(name) / "manifest.json").write_text(text)
    state = plan.run_folder(begun) / "unfinished-0a1b2c3d" / "resume.safetensors"
    state.parent.mkdir(parents=True)
    state.touch()
    monkeypatch.setattr(preview, "dry_run", lambda root, overrides: preview.parse(TEXT))
    out = lines(capsys, plan, verbose=True)
    assert f"  finished   {done}" in out
    assert f"  damaged    {damaged}" in out
    assert f"  begun      {begun}" in out
    assert sum(line.startswith("  to train ") for line in out) == 7
    assert "runs (10, in 4 batches)" in out
    assert "  lecture/every_method               not made: left out at this scale" in out
    assert not any("runs that cannot be measured yet" in line for line in out)
    assert "jobs that would run (2)" in out
    assert "    results/quick/batches/simclr-d-1.json" in out


def test_every_artifact_is_listed_with_what_is_missing(tmp_path: Path) -> None:
    """Points of table 5: four rows by four datasets, of which two have data here; three seeds each."""
    plan = World(tmp_path, level="quick").plan
    listed = {line.split()[0]: " ".join(line.split()[1:]) for line in preview.artifacts(plan)[2:]}
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
    (line,) = preview.artifacts(plan)[2:]
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
