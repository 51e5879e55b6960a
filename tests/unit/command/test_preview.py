"""``hypersphere plan``: Snakemake's dry run in our words."""

import json
from pathlib import Path

import pytest

from hypersphere.command import preview
from hypersphere.command.preview import Job
from hypersphere.declared import plan as planning
from hypersphere.errors import HypersphereError

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


def test_show(tiny_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    plan = planning.make(tiny_root)
    done, damaged, begun, *_ = plan.runs
    for name, text in ((done, json.dumps({"status": "finished"})), (damaged, "{")):
        plan.run_folder(name).mkdir(parents=True)
        (plan.run_folder(name) / "manifest.json").write_text(text)
    state = plan.run_folder(begun) / "unfinished-0a1b2c3d" / "resume.safetensors"
    state.parent.mkdir(parents=True)
    state.touch()
    monkeypatch.setattr(preview, "dry_run", lambda root, overrides: preview.parse(TEXT))
    preview.show(plan, {})
    out = capsys.readouterr().out
    assert f"finished   {done}" in out
    assert f"damaged    {damaged}" in out
    assert f"begun      {begun}" in out
    assert out.count("to train ") == 7
    assert "runs (10, in 4 batches)" in out
    assert "jobs that would run (2)" in out
    assert "pretrain (1): Missing output files\n" in out
    assert "pretrain (1): Params have changed since last execution\n" in out
    monkeypatch.setattr(preview, "dry_run", lambda root, overrides: [])
    preview.show(plan, {})
    assert "nothing would run" in capsys.readouterr().out


def test_a_refusal_is_said(tmp_path: Path) -> None:
    """Really run: no Snakefile there."""
    with pytest.raises(HypersphereError, match=r"^snakemake --dry-run: ") as caught:
        preview.dry_run(tmp_path, {})
    assert "\n" not in str(caught.value)
