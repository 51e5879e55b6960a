"""What is lost is forgotten, and nothing else; a killed Snakemake's locks are removed, and no living one's."""

import fcntl
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.declared.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.integrity import recovery


@pytest.fixture
def marked(tiny_plan: Plan) -> Plan:
    """Every batch has its markers, and every run and evaluation its files, none of them by training or measuring."""
    for batch in tiny_plan.batches:
        marker = {run.name: {"files": {"encoder.safetensors": "0", "snapshots/a": "0"}} for run in batch.runs}
        files.write_json(tiny_plan.marker(batch), marker)
        for run in batch.runs:
            for name in ("manifest.json", "encoder.safetensors", "snapshots/a"):
                files.write_text(tiny_plan.run_folder(run.name) / name, "")
        answered = {run.name: _evaluations(tiny_plan, run.name, tiny_plan.asked[run.name]) for run in batch.runs}
        files.write_json(tiny_plan.evaluated_marker(batch.id), answered)
    for name, asked in tiny_plan.asked_of_pixels.items():
        marker = tiny_plan.evaluated_marker(f"pixels-{name}")
        files.write_json(marker, _evaluations(tiny_plan, f"pixels-{name}", asked))
    return tiny_plan


def _evaluations(plan: Plan, subject: str, digests: Iterable[str]) -> dict[str, str]:
    """Write what each protocol says of a run, one table of images beside each; what a marker says of them."""
    for digest in digests:
        path = plan.evaluation(subject, digest)
        names = (path.name, f"{digest}.0004.upright.csv")
        for name in names:
            files.write_text(path.with_name(name), "")
        files.write_sealed(path.with_suffix(".json"), {"files": dict.fromkeys(names, "0")})
    return dict.fromkeys(digests, "0")


def markers(plan: Plan) -> list[bool]:
    return [plan.marker(batch).exists() for batch in plan.batches]


def evaluated(plan: Plan) -> dict[str, bool]:
    """Whether the markers of evaluations are there, by their names without ``.evaluated.json``."""
    subjects = [*(batch.id for batch in plan.batches), *(f"pixels-{name}" for name in plan.asked_of_pixels)]
    return {subject: plan.evaluated_marker(subject).exists() for subject in subjects}


def manifests(plan: Plan) -> list[bool]:
    return [(plan.data_folder(dataset) / "manifest.json").exists() for dataset in plan.datasets.values()]


@pytest.mark.parametrize("name", ["manifest.json", "encoder.safetensors", "snapshots/a"])
def test_a_batch_that_lacks_a_file_is_forgotten_and_no_other(marked: Plan, name: str) -> None:
    recovery.forget_what_is_lost(marked)
    assert all(markers(marked))
    (marked.run_folder(marked.batches[1].runs[-1].name) / name).unlink()
    recovery.forget_what_is_lost(marked)
    assert markers(marked) == [i != 1 for i in range(len(marked.batches))]
    assert all(manifests(marked))
    assert all(evaluated(marked).values())  # its answers are there, and still those of the weights to come
    recovery.forget_what_is_lost(marked)  # a marker that is gone already


@pytest.mark.parametrize("ending", [".csv", ".json", ".0004.upright.csv"])
@pytest.mark.parametrize("of", ["run", "pixels"])
def test_a_lost_evaluation_forgets_its_own_marker_and_no_other(marked: Plan, of: str, ending: str) -> None:
    recovery.forget_what_is_lost(marked)
    assert all(evaluated(marked).values())
    run = marked.batches[1].runs[-1].name
    subject, marker = (run, marked.batches[1].id) if of == "run" else ("pixels-turned", "pixels-turned")
    asked = marked.asked[run] if of == "run" else marked.asked_of_pixels["turned"]
    path = marked.evaluation(subject, list(asked)[-1])
    path.with_name(f"{path.stem}{ending}").unlink()
    recovery.forget_what_is_lost(marked)
    assert evaluated(marked) == {name: name != marker for name in evaluated(marked)}
    assert all(markers(marked))
    assert all(manifests(marked))


@pytest.mark.parametrize("content", ["", "[]", "{}"])
def test_a_damaged_marker_of_evaluations_is_forgotten(marked: Plan, content: str) -> None:
    batch = marked.batches[0].id
    marked.evaluated_marker(batch).write_text(content)
    recovery.forget_what_is_lost(marked)
    assert evaluated(marked) == {name: name != batch for name in evaluated(marked)}


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"a": 1}', '{"a": {"files": []}}'])
def test_a_damaged_marker_is_forgotten(marked: Plan, content: str) -> None:
    name = marked.batches[0].runs[0].name
    marked.marker(marked.batches[0]).write_text(content.replace('"a"', f'"{name}"'))
    recovery.forget_what_is_lost(marked)
    assert markers(marked) == [i != 0 for i in range(len(marked.batches))]


HARMS: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-1]),
}


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", ["train/images.npy", "train/labels-class.npy"])
def test_a_dataset_that_lacks_an_array_is_forgotten_and_no_other(marked: Plan, name: str, harm: str) -> None:
    recovery.forget_what_is_lost(marked)
    assert all(manifests(marked))
    HARMS[harm](marked.data_folder(marked.datasets["turned"]) / name)
    recovery.forget_what_is_lost(marked)
    assert manifests(marked) == [name != "turned" for name in marked.datasets]
    assert all(markers(marked))


def test_a_damaged_manifest_of_a_dataset_is_forgotten(marked: Plan) -> None:
    manifest = marked.data_folder(marked.datasets["upright"]) / "manifest.json"
    manifest.write_text(manifest.read_text()[:-5])
    recovery.forget_what_is_lost(marked)
    assert not manifest.exists()


SNAKEMAKE = """
import sys
from pathlib import Path
from hypersphere.integrity import recovery
print(recovery.join(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""


class Process:
    """A process that joins those at work in ``folder``, as the Snakefile does, and stays."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-c", SNAKEMAKE, str(folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline().strip()

    def kill(self) -> None:
        """With -9."""
        self.process.kill()
        self.process.communicate()


def lock(folder: Path) -> Path:
    """Locks as a Snakemake at work has them; returns their folder."""
    locks = folder / ".snakemake" / "locks"
    files.write_text(locks / "0.output.lock", "results/a")
    return locks


def test_the_locks_of_a_killed_snakemake_are_removed(tmp_path: Path) -> None:
    first = Process(tmp_path)
    second = None
    try:
        assert first.said == "None"
        locks = lock(tmp_path)
        second = Process(tmp_path)
        at_work = "another Snakemake is at work here: process"
        assert second.said == f"{at_work} {first.process.pid} of {platform.node()}"
        first.kill()
        # The controls: as long as one of them lives, nothing is removed, whichever came first.
        third = Process(tmp_path)
        third.kill()
        assert third.said.startswith(at_work)
        assert locks.exists()
    finally:
        for process in (first, second):
            if process is not None:
                process.kill()
    half = tmp_path / "results" / "quick" / "tables" / ".table5.csv.0a1b2c3d.part"
    training = tmp_path / "results" / "quick" / "runs" / "a" / ".resume.safetensors.0a1b2c3d.part"
    for path in (half, training):
        files.write_text(path, "half of")
    last = Process(tmp_path)
    last.kill()
    assert f"(process {third.process.pid}) was killed" in last.said
    assert not locks.exists()
    assert not half.exists()
    assert training.exists()  # an orphan may still be writing it; the run tidies up under its lock


@pytest.mark.parametrize("hosts", [{}, {"another-host": 1}, {"another-host": 1, platform.node(): 2}])
def test_locks_that_may_be_of_another_machine_are_left_alone(tmp_path: Path, hosts: dict[str, int]) -> None:
    """Our own lock may not be seen from there; nor is it known whose locks are that nobody recorded."""
    locks, record = lock(tmp_path), tmp_path / ".snakemake" / "hypersphere.json"
    files.write_json(record, {"hosts": hosts})
    for _ in range(2):  # nor by the next one, although it is we who came last
        process = Process(tmp_path)
        process.kill()
        assert process.said == "None"
        assert locks.exists()
    shutil.rmtree(locks)  # `snakemake --unlock`
    process = Process(tmp_path)
    process.kill()
    lock(tmp_path)
    process = Process(tmp_path)
    process.kill()
    assert "was killed: its locks are removed" in process.said  # the control: now all is known again


def test_where_nothing_can_be_locked_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locks = lock(tmp_path)
    files.write_json(tmp_path / ".snakemake" / "hypersphere.json", {"hosts": {platform.node(): 1}})

    def unsupported(handle: int, operation: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    assert recovery.join(tmp_path) is None
    assert locks.exists()


def test_a_marker_that_cannot_be_removed_is_a_sentence(marked: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    (marked.run_folder(marked.batches[0].runs[0].name) / "manifest.json").unlink()

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(30, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(HypersphereError, match=r"batches/.*\.json: cannot be written \(.*Read-only file system\)"):
        recovery.forget_what_is_lost(marked)
