"""What is lost or damaged is forgotten before jobs are planned, and nothing else."""

from collections.abc import Iterable
from pathlib import Path
from unittest.mock import Mock

import pytest

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.datasets import store
from hypersphere.provenance import markers

from ...fixtures import Refused
from ...harm import HARMS, flip

ABOUT = {"status": "finished", "epochs": 4, "code": "c", "data": "d"}
WEIGHTS = ("encoder.safetensors", "snapshots/a")
EXACT = "theory", "theory_claims"


def sealed(proof: Path, names: Iterable[str], **about: object) -> None:
    """Write small files and the manifest ``proof`` beside them."""
    for name in names:
        files.write_text(proof.parent / name, f"content of {name}")
    files.write_sealed(
        proof, {**about, "files": {name: files.sha256(proof.parent / name) for name in names}}
    )


@pytest.fixture
def marked(tiny_plan: Plan) -> Plan:
    """Every batch has its markers, and every run, evaluation and table its files, none of them from a computation."""
    for batch in tiny_plan.batches:
        for run in batch.runs:
            sealed(tiny_plan.run_folder(run.name) / "manifest.json", WEIGHTS, **ABOUT)
        markers.write(
            tiny_plan.marker(batch),
            [tiny_plan.run_folder(run.name) / "manifest.json" for run in batch.runs],
        )
        made = markers.evaluations(tiny_plan, batch.runs)
        for path in made:  # a table of images beside each
            sealed(path, [f"{path.stem}.csv", f"{path.stem}.0004.upright.csv"])
        markers.write(tiny_plan.evaluated_marker(batch.id), made)
    for job, (dataset,) in tiny_plan.prepared_together.items():
        digest = store.read_manifest(tiny_plan.data_folder(dataset))["digest"]
        markers.write_prepared(tiny_plan.prepared_marker(job), {dataset.folder: digest}, {})
    results = tiny_plan.config.results
    for place in (tiny_plan.config.exact, results):
        sealed(place / "theory.json", ["theory.csv"])
        sealed(place / "theory_claims.json", ["theory_claims.csv"])
    sealed(results / "claims.json", ["claims.csv"])
    sealed(results / "statistics" / "manifest.json", ["runs.csv"])
    for key in tiny_plan.made_artifacts:
        sealed(
            tiny_plan.config.artifact_folder(*key) / "manifest.json", ["summary.csv", "effects.csv"]
        )
        *made, manifest = tiny_plan.config.outputs(*key)
        sealed(manifest, [path.name for path in made])
    sealed(results / "scorecard.manifest.json", ["scorecard.html", "scorecard.json"])
    return tiny_plan


def proofs(plan: Plan) -> set[Path]:
    """The markers and manifests that Snakemake knows and that exist."""
    paths = [plan.marker(batch) for batch in plan.batches]
    paths += [plan.evaluated_marker(batch.id) for batch in plan.batches]
    paths += map(plan.prepared_marker, plan.prepared_together)
    paths += [plan.config.results / name for name in ("claims.json", "statistics/manifest.json")]
    paths += [
        folder / f"{name}.json"
        for folder in (plan.config.results, plan.config.exact)
        for name in EXACT
    ]
    paths += [plan.config.results / "scorecard.manifest.json"]
    paths += [plan.config.outputs(*key)[-1] for key in plan.made_artifacts]
    paths += [plan.config.artifact_folder(*key) / "manifest.json" for key in plan.made_artifacts]
    return {path for path in paths if path.exists()}


def forgotten(plan: Plan) -> list[Path]:
    """The markers and manifests that are gone after the check, each of which has its sentence."""
    before, said = proofs(plan), markers.damage(plan)
    assert proofs(plan) == before  # looking changes nothing
    for error in said:
        error.disprove()
    gone = sorted(before - proofs(plan))
    assert len(said) == len(gone)
    return gone


def places(plan: Plan) -> dict[Path, list[Path]]:
    """Files of every kind, each with the markers or the manifest that are forgotten when it is damaged."""
    batch, results, data = (
        plan.batches[1],
        plan.config.results,
        plan.data_folder(plan.datasets["turned"]),
    )
    run = batch.runs[-1].name
    found = {
        plan.run_folder(run) / name: [plan.marker(batch)] for name in ("manifest.json", *WEIGHTS)
    }
    on_turned = [one for one in plan.batches if "turned" in plan.protocols_of_pixels(one.runs)]
    assert batch in on_turned
    assert len(on_turned) > 1
    subjects = {run: [batch], "pixels-turned": on_turned}
    digest = list(plan.protocols_of_pixels(batch.runs)["turned"])[-1]
    for subject, batches in subjects.items():
        path = plan.evaluation_file(subject, digest)
        for ending in (".csv", ".json", ".0004.upright.csv"):
            found[path.with_name(f"{path.stem}{ending}")] = sorted(
                plan.evaluated_marker(one.id) for one in batches
            )
    exact = [folder / f"{name}.csv" for folder in (results, plan.config.exact) for name in EXACT]
    for path in (results / "claims.csv", *exact):
        found[path] = [path.with_suffix(".json")]
    folder = plan.config.artifact_folder(*plan.made_artifacts[0])
    for path in (results / "statistics" / "runs.csv", folder / "effects.csv"):
        found[path] = [path.with_name("manifest.json")]
    for path in (results / "scorecard.html", results / "scorecard.json"):
        found[path] = [results / "scorecard.manifest.json"]
    *drawn, manifest = plan.config.outputs(*plan.made_artifacts[0])
    found |= {path: [manifest] for path in drawn}
    names = ("train/images.npy", "train/labels-class.npy", "manifest.json")
    return found | {data / name: [plan.prepared_marker(data.name)] for name in names}


@pytest.mark.parametrize("harm", HARMS)
def test_any_damage_forgets_the_proof_of_it_and_nothing_else(marked: Plan, harm: str) -> None:
    """Evaluations of a damaged run stay: they are those of the weights to come. Bytes of large files are not read."""
    assert forgotten(marked) == []  # the control
    whole = {path: path.read_bytes() for path in proofs(marked) | places(marked).keys()}
    found = {}
    for path in places(marked):
        HARMS[harm](path)
        found[path] = forgotten(marked)
        assert forgotten(marked) == []  # what is gone already
        for one, content in whole.items():
            if not one.exists() or one == path:
                one.write_bytes(content)
    unseen = {path for path in found if path.suffix == ".npy" and harm == "flipped"}
    unseen |= {path for path in found if [path] == places(marked)[path] and harm == "missing"}
    assert found == {
        path: [] if path in unseen else proofs for path, proofs in places(marked).items()
    }


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", "{", '{"manifests": {}}', '{"seal": "0"}', None]
)
def test_a_damaged_marker_is_forgotten(marked: Plan, content: str | None) -> None:
    batch = marked.batches[0]
    prepared = marked.prepared_marker(next(iter(marked.prepared_together)))
    for marker in (marked.marker(batch), marked.evaluated_marker(batch.id), prepared):
        if content is None:
            files.write_sealed(marker, {"other": {}})  # sealed, and no marker
        else:
            marker.write_text(content)
        assert forgotten(marked) == [marker]


def test_a_run_made_again_is_another_unless_its_results_but_for_time_and_snapshots_are_the_same(
    marked: Plan,
) -> None:
    batch = marked.batches[0]
    folder = marked.run_folder(batch.runs[0].name)
    (folder / "snapshots" / "a").unlink()
    sealed(folder / "manifest.json", WEIGHTS[:1], **{**ABOUT, "seconds": 7.0})
    assert forgotten(marked) == []
    for other in ({"status": "diverged"}, {"epochs": 3}):
        kept = marked.marker(batch).read_bytes()
        sealed(folder / "manifest.json", WEIGHTS, **{**ABOUT, **other})
        assert forgotten(marked) == [marked.marker(batch)]
        marked.marker(batch).write_bytes(kept)


def test_only_the_bytes_of_small_files_are_read(
    marked: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of larger ones the presence; their bytes are checked on use and by `make verify`."""
    flip(marked.run_folder(marked.batches[0].runs[0].name) / "encoder.safetensors")
    monkeypatch.setattr(markers, "SMALL", 1)
    assert forgotten(marked) == []
    monkeypatch.undo()
    assert len(forgotten(marked)) == 1


def test_a_marker_that_cannot_be_removed_is_a_sentence(
    marked: Plan, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    (marked.run_folder(marked.batches[0].runs[0].name) / "manifest.json").unlink()
    monkeypatch.setattr(
        Path, "unlink", Mock(side_effect=PermissionError(30, "Read-only file system"))
    )
    (damage,) = markers.damage(marked)
    with refused("results/tiny/batches/simclr-upright-….json"):
        damage.disprove()
