"""A finished run's and an evaluation's manifest: every file it names is checked, and a damaged one is made again."""

from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.errors import DamagedError
from hypersphere.provenance.manifest import check_evaluation, check_files, check_run

from ...fixtures import Approve
from ...harm import HARMS


@pytest.fixture
def folder(tiny_plan: Plan) -> Path:
    """A run's folder as training leaves it, without training."""
    run = tiny_plan.batches[1].runs[0]
    folder = tiny_plan.run_folder(run.name)
    for name in ("encoder.safetensors", "history.csv", "snapshots/epoch-0000.safetensors"):
        files.write_text(folder / name, f"content of {name}")
    names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    hashes = {name: files.sha256(folder / name) for name in names}
    files.write_sealed(folder / "manifest.json", {"name": run.name, "status": "finished", "files": hashes})
    return folder


def test_a_whole_run_is_whole(folder: Path) -> None:
    whole = check_files(folder / "manifest.json")
    assert whole["status"] == "finished"
    assert check_files(folder / "manifest.json", "history.csv") == whole


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", ["encoder.safetensors", "history.csv", "snapshots/epoch-0000.safetensors"])
def test_any_damage_is_one_sentence_with_the_remedy(
    tiny_plan: Plan, folder: Path, approve: Approve, name: str, harm: str
) -> None:
    HARMS[harm](folder / name)
    with pytest.raises(DamagedError) as caught:
        check_run(tiny_plan, folder.name)
    approve(caught.value)
    assert caught.value.proofs == (tiny_plan.marker(tiny_plan.batches[1]),)
    others = {"encoder.safetensors", "history.csv"} - {name}
    assert check_run(tiny_plan, folder.name, *others)  # only what is asked for is read


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_a_damaged_evaluation_is_made_again(tmp_path: Path, approve: Approve, suffix: str, harm: str) -> None:
    path = tmp_path / "simclr-x.csv"
    files.write_text(path, "run,value\na,51.2\n")
    files.write_sealed(path.with_suffix(".json"), {"files": {path.name: files.sha256(path)}})
    assert check_evaluation(path)["files"].keys() == {"simclr-x.csv"}
    HARMS[harm](path.with_suffix(suffix))
    with pytest.raises(DamagedError) as caught:
        check_evaluation(path)
    approve(caught.value)
    caught.value.disprove()
    assert not path.with_suffix(".json").exists()  # a declared output: Snakemake makes again what it finds missing
