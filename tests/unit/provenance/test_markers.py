"""What is lost or damaged is forgotten before jobs are planned, and nothing else."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.provenance import markers

ABOUT = {"status": "finished", "epochs": 4, "code": "c", "data": "d"}
WEIGHTS = ("encoder.safetensors", "snapshots/a")


def sealed(proof: Path, names: Iterable[str], **about: object) -> dict[str, str]:
    """Write small files and the manifest ``proof`` beside them; the files' checksums."""
    for name in names:
        files.write_text(proof.parent / name, f"content of {name}")
    checksums = {name: files.sha256(proof.parent / name) for name in names}
    files.write_sealed(proof, {**about, "files": checksums})
    return checksums


@pytest.fixture
def marked(tiny_plan: Plan) -> Plan:
    """Every batch has its markers, and every run, evaluation and table its files, none of them from a computation."""
    for batch in tiny_plan.batches:
        for run in batch.runs:
            sealed(tiny_plan.run_folder(run.name) / "manifest.json", WEIGHTS, **ABOUT)
        markers.write(tiny_plan.marker(batch), [tiny_plan.run_folder(run.name) / "manifest.json" for run in batch.runs])
        proofs = [path for run in batch.runs for path in evaluations(tiny_plan, run.name, tiny_plan.asked[run.name])]
        markers.write(tiny_plan.evaluated_marker(batch.id), proofs)
    for name, asked in tiny_plan.asked_of_pixels.items():
        of_pixels = evaluations(tiny_plan, f"pixels-{name}", asked)
        markers.write(tiny_plan.evaluated_marker(f"pixels-{name}"), of_pixels)
    results = tiny_plan.config.results
    sealed(results / "theory.json", ["theory.csv"])
    sealed(results / "claims.json", ["claims.csv"])
    sealed(results / "statistics" / "manifest.json", ["runs.csv"])
    for key in tiny_plan.made:
        sealed(tiny_plan.artifact_folder(*key) / "manifest.json", ["summary.csv", "effects.csv"])
    return tiny_plan


def evaluations(plan: Plan, subject: str, digests: Iterable[str]) -> list[Path]:
    """Write the evaluations of a run, one table of images beside each; their manifests."""
    made = markers.evaluations(plan, subject, digests)
    for path in made:
        sealed(path, [f"{path.stem}.csv", f"{path.stem}.0004.upright.csv"])
    return made


def proofs(plan: Plan) -> dict[str, bool]:
    """Whether each marker and manifest that Snakemake knows exists, by its path in the project."""
    paths = [plan.marker(batch) for batch in plan.batches]
    paths += [plan.evaluated_marker(batch.id) for batch in plan.batches]
    paths += [plan.evaluated_marker(f"pixels-{name}") for name in plan.asked_of_pixels]
    paths += [plan.data_folder(dataset) / "manifest.json" for dataset in plan.datasets.values()]
    paths += [plan.config.results / name for name in ("theory.json", "claims.json", "statistics/manifest.json")]
    paths += [plan.artifact_folder(*key) / "manifest.json" for key in plan.made]
    return {path.relative_to(plan.config.root).as_posix(): path.exists() for path in paths}


def forgotten(plan: Plan) -> list[str]:
    """The markers and manifests that are gone after the check, each of which has its sentence."""
    before, said = proofs(plan), markers.lost(plan)
    assert proofs(plan) == before  # looking changes nothing
    markers.forget(said)
    gone = [name for name, exists in proofs(plan).items() if before[name] and not exists]
    assert len(said) == len(gone)
    return gone


def path_of(plan: Plan, path: Path) -> str:
    return path.relative_to(plan.config.root).as_posix()


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


HARMS: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-2]),
    "flipped": flip,
}


def test_what_is_whole_is_left_alone(marked: Plan) -> None:
    """The control of all tests below."""
    assert forgotten(marked) == []
    assert all(proofs(marked).values())


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", ["manifest.json", *WEIGHTS])
def test_a_damaged_run_forgets_the_marker_of_its_batch(marked: Plan, name: str, harm: str) -> None:
    HARMS[harm](marked.run_folder(marked.batches[1].runs[-1].name) / name)
    # Its evaluations are there, and still those of the weights to come.
    assert forgotten(marked) == [path_of(marked, marked.marker(marked.batches[1]))]
    assert forgotten(marked) == []  # a marker that is gone already


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("ending", [".csv", ".json", ".0004.upright.csv"])
@pytest.mark.parametrize("of", ["run", "pixels"])
def test_a_damaged_evaluation_forgets_its_own_marker(marked: Plan, of: str, ending: str, harm: str) -> None:
    run = marked.batches[1].runs[-1].name
    subject, marker = (run, marked.batches[1].id) if of == "run" else ("pixels-turned", "pixels-turned")
    asked = marked.asked[run] if of == "run" else marked.asked_of_pixels["turned"]
    path = marked.evaluation(subject, list(asked)[-1])
    HARMS[harm](path.with_name(f"{path.stem}{ending}"))
    assert forgotten(marked) == [path_of(marked, marked.evaluated_marker(marker))]


@pytest.mark.parametrize("evaluated", [False, True])
@pytest.mark.parametrize("content", ["", "[]", "{}", "{", '{"manifests": {}}', '{"seal": "0"}'])
def test_a_damaged_marker_is_forgotten(marked: Plan, content: str, evaluated: bool) -> None:
    batch = marked.batches[0]
    marker = marked.evaluated_marker(batch.id) if evaluated else marked.marker(batch)
    marker.write_text(content)
    assert forgotten(marked) == [path_of(marked, marker)]


def test_a_sealed_file_that_is_no_marker_is_forgotten(marked: Plan) -> None:
    marker = marked.marker(marked.batches[0])
    files.write_sealed(marker, {"other": {}})
    assert forgotten(marked) == [path_of(marked, marker)]


@pytest.mark.parametrize(("about", "told"), [({"status": "diverged"}, True), ({"epochs": 3}, True), ({}, False)])
def test_a_run_made_again_is_another_unless_its_results_are_the_same(
    marked: Plan, about: dict[str, object], told: bool
) -> None:
    batch = marked.batches[0]
    proof = marked.run_folder(batch.runs[0].name) / "manifest.json"
    sealed(proof, WEIGHTS, **{**ABOUT, "seconds": 7.0, **about})
    assert forgotten(marked) == ([path_of(marked, marked.marker(batch))] if told else [])


def test_a_removed_snapshot_is_not_missed(marked: Plan) -> None:
    """`hypersphere snapshots --remove` takes it out of the manifest."""
    folder = marked.run_folder(marked.batches[0].runs[0].name)
    (folder / "snapshots" / "a").unlink()
    sealed(folder / "manifest.json", WEIGHTS[:1], **ABOUT)
    assert forgotten(marked) == []


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("train/images.npy", "missing"),
        ("train/images.npy", "truncated"),
        ("train/labels-class.npy", "missing"),
        ("manifest.json", "truncated"),
        ("manifest.json", "flipped"),
    ],
)
def test_a_damaged_dataset_is_forgotten(marked: Plan, name: str, harm: str) -> None:
    folder = marked.data_folder(marked.datasets["turned"])
    HARMS[harm](folder / name)
    assert forgotten(marked) == [path_of(marked, folder / "manifest.json")]


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", ["theory.csv", "claims.csv", "statistics/runs.csv", "ARTIFACT/effects.csv"])
def test_a_damaged_table_forgets_its_manifest(marked: Plan, name: str, harm: str) -> None:
    results = marked.config.results
    folder = marked.artifact_folder(*marked.made[0]).relative_to(results)
    path = results / name.replace("ARTIFACT", folder.as_posix())
    proof = path.with_name("manifest.json") if path.parent != results else path.with_suffix(".json")
    HARMS[harm](path)
    assert forgotten(marked) == [path_of(marked, proof)]


def test_only_the_bytes_of_small_files_are_read(marked: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of larger ones the presence; their bytes are checked on use and by `make verify`."""
    flip(marked.run_folder(marked.batches[0].runs[0].name) / "encoder.safetensors")
    monkeypatch.setattr(markers, "SMALL", 1)
    assert forgotten(marked) == []
    monkeypatch.undo()
    assert len(forgotten(marked)) == 1


def test_a_marker_that_cannot_be_removed_is_a_sentence(marked: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    (marked.run_folder(marked.batches[0].runs[0].name) / "manifest.json").unlink()

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(30, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(HypersphereError, match=r"batches/.*\.json: cannot be written \(.*Read-only file system\)"):
        markers.forget(markers.lost(marked))
