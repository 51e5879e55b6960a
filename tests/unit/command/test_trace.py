"""Where a number comes from: the lines for a run, for a claim, and for neither."""

import shutil
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.command import trace
from hypersphere.config import plan as planning
from hypersphere.config import records
from hypersphere.config.claims import load
from hypersphere.config.plan import Plan
from hypersphere.provenance import evidence

from ...fixtures import Refused


@pytest.fixture
def plan(tiny_plan: Plan, finished: Path) -> Plan:
    """Its first three runs are trained and measured."""
    shutil.copytree(finished / "results", tiny_plan.config.root / "results")
    return tiny_plan


def test_a_finished_run_has_all_that_its_manifest_says(plan: Plan) -> None:
    name = plan.batches[0].runs[0].name
    text = "\n".join(trace.lines(plan, name))
    manifest = files.read_json(plan.run_folder(name) / "manifest.json")
    for said in (
        *(f"run       {name}", f"command   hypersphere pretrain {name} --set scale=tiny", f"results/tiny/runs/{name}"),
        *(f"code    {manifest['code']}", f"data    {manifest['data']}"),
        *(f"{checksum[:16]} {file}" for file, checksum in manifest["files"].items()),
        f"torch {manifest['environment']['packages']['torch']}",
    ):
        assert said in text
    assert list(trace.lines(plan, plan.batches[-1].runs[-1].name))[-1] == "made      not yet"


def test_a_claim_leads_to_the_runs_of_its_cell(plan: Plan) -> None:
    runs: dict[str, list[str]] = {}
    for cell in plan.artifacts["embedding_norms", "table5"]:
        if cell.run is not None and not cell.missing:
            runs.setdefault(cell.text, []).append(cell.run.name)
    claims = load(plan.config.claims_file("embedding_norms"))
    claim = next(one for one in claims if one.kind == "value" and one.artifact == "table5" and one.text in runs)
    lines = list(trace.lines(plan, claim.id))
    assert {f"cell      {claim.text}", *(f"run       {name}" for name in runs[claim.text])} <= {*lines}


def test_records_are_found_without_the_run(laptop_root: Path) -> None:
    plan = planning.make(laptop_root, {"scale": "laptop"})
    run = plan.batches[0].runs[0]
    folder = evidence.pack(plan, run)
    ((record,),) = records.read_all(folder).values()
    shutil.rmtree(laptop_root / "results")
    assert f"made      evidence/laptop/runs.csv, key {record.key}" in list(trace.lines(plan, run.name))


def test_neither_is_one_short_sentence(plan: Plan, refused: Refused) -> None:
    with refused():
        list(trace.lines(plan, "norms.t5.simcrl"))
