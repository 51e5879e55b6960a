"""Find what is lost or damaged before Snakemake plans its jobs, so that it is made again.

Run folders, evaluations and prepared arrays are not declared to Snakemake, because it deletes declared outputs before a
job and after a killed one. It knows markers instead: a batch's two, and a dataset's manifest. It looks at no file's
bytes either. So this module checks what each marker and manifest says of other files. One that is not true is removed
when jobs are about to run (`command/start.py`), and Snakemake makes it again.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.cells import raw_pixels
from hypersphere.config.plan import MANIFEST, BatchOfRuns, Plan
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.provenance.manifest import tidy_manifest

SMALL = 1 << 20
"""Bytes of the largest file whose checksum is computed here. Larger ones are checked on use and by `make verify`."""


def lost(plan: Plan) -> list[DamagedError]:
    """The markers and manifests, of what the setting ``only`` chooses, that are not true. Nothing is removed."""
    found = []
    for check in _checks(plan):
        try:
            check()
        except DamagedError as error:
            found.append(error)
    return found


def forget(found: list[DamagedError]) -> None:
    """Remove the markers and manifests that are not true.

    Raises:
        HypersphereError: one of them cannot be removed.
    """
    for error in found:
        with files.writing(error.proofs[0]):
            error.disprove()


def _checks(plan: Plan) -> Iterator[Callable[[], None]]:
    """A check of each marker and manifest that exists."""
    if plan.records is None:
        yield from _checks_of_runs(plan)
    for proof in map(tidy_manifest, _tables(plan)):
        if proof.exists():
            yield partial(check_listed_files, proof)


def _checks_of_runs(plan: Plan) -> Iterator[Callable[[], None]]:
    made = [key for key in plan.made if plan.config.chosen(*key)]
    needed = {batch.id for key in made for batch in plan.batches_of(*key)} if plan.config.settings.only else None
    batches = [batch for batch in plan.batches if needed is None or batch.id in needed]
    pixels = {name for key in made for name in plan.pixels_of(*key)}
    runs = [run for batch in batches for run in batch.runs]
    probed = {target for run in runs for asked in plan.asked[run.name].values() for _, target in asked.at}
    for batch in batches:
        if plan.marker(batch).exists():
            yield partial(check_marker, plan, batch)
        if plan.evaluated_marker(batch.id).exists():
            yield partial(check_evaluated_marker, plan, batch.id, [run.name for run in batch.runs])
    for name in sorted(pixels):
        if plan.evaluated_marker(raw_pixels(name)).exists():
            yield partial(check_evaluated_marker, plan, raw_pixels(name), [])
    for name in sorted({run.dataset.name for run in runs} | probed | pixels):
        if (plan.data_folder(plan.datasets[name]) / MANIFEST).exists():
            yield partial(check_arrays, plan.data_folder(plan.datasets[name]) / MANIFEST)


def _tables(plan: Plan) -> Iterator[Path]:
    """A tidy table beside each manifest of such tables."""
    results, config = plan.config.results, plan.config
    studied = [name for name in config.papers if any(config.chosen(name, one) for one in config.studied(name))]
    yield from [results / "claims.csv", results / "statistics" / "runs.csv"] if not config.settings.only else []
    yield from [results / "theory.csv"] if studied or not config.settings.only else []
    yield from (results / kind / paper / "x.csv" for paper in studied for kind in ("simulations", "statistics"))
    made = [plan.artifact_folder(*key) for key in plan.made if config.chosen(*key)]
    yield from (folder / table for folder in made for table in ("x.csv", "claims.csv"))


def check_marker(plan: Plan, batch: BatchOfRuns) -> None:
    """Check that a batch's marker says what the manifests of its runs say, and that their files are there.

    Raises:
        DamagedError: they are not; the proof is the marker.
    """
    marker = plan.marker(batch)
    content = files.read_mapping(marker)
    for run in batch.runs:
        folder, entry = plan.run_folder(run.name), files.mapping(content.get(run.name))
        recorded = _sealed(folder / MANIFEST, marker)
        listed = files.mapping(entry.get("files"))
        true = {key: recorded.get(key) for key in entry if key != "files"}
        if not listed or not listed.items() <= recorded["files"].items() or entry != {**true, "files": listed}:
            raise DamagedError(f"{marker}: {run.name}: is not what this run's manifest says", marker)
        for name, checksum in listed.items():
            _check_file(folder / name, checksum, marker)


def check_evaluated_marker(plan: Plan, identifier: str, runs: list[str]) -> None:
    """Check that a marker of evaluations holds the checksums of its evaluations, and that their files are there.

    Args:
        plan: of the scale.
        identifier: of a batch, or ``pixels-<dataset>``.
        runs: names of the batch's runs; empty for raw pixels.

    Raises:
        DamagedError: they are not; the proof is the marker.
    """
    marker = plan.evaluated_marker(identifier)
    content = files.read_mapping(marker)
    subjects = {run: files.mapping(content.get(run)) for run in runs} if runs else {identifier: content}
    for subject, checksums in subjects.items():
        if not checksums and (not runs or subject not in content):
            raise DamagedError(f"{marker}: {subject}: has no evaluation", marker)
        for digest, checksum in checksums.items():
            path = plan.evaluation(subject, digest)
            listed = _sealed(path.with_suffix(".json"), marker)["files"]
            if listed.get(path.name) != checksum:
                raise DamagedError(f"{marker}: {subject}: is not what {path.with_suffix('.json')} says", marker)
            for name in listed:
                _check_file(path.with_name(name), listed[name], marker)


def check_arrays(proof: Path) -> None:
    """Check that a prepared dataset's arrays are there and have the size that its manifest says.

    Raises:
        DamagedError: they are not; the proof is the manifest.
    """
    for name, about in _sealed(proof, proof)["files"].items():
        path = proof.parent / name
        if not path.is_file() or path.stat().st_size != files.mapping(about).get("bytes"):
            raise DamagedError(f"{path}: the file is missing or has another size", proof)


def check_listed_files(proof: Path) -> None:
    """Check the files beside a manifest of tables.

    Raises:
        DamagedError: one is missing or altered; the proof is the manifest.
    """
    for name, checksum in _sealed(proof, proof)["files"].items():
        _check_file(proof.with_name(name), checksum, proof)


def _check_file(path: Path, checksum: Any, proof: Path) -> None:
    large = path.is_file() and path.stat().st_size > SMALL
    problem = None if large else files.problem(path, checksum)
    if problem:
        raise DamagedError(f"{path}: {problem}", proof)


def _sealed(path: Path, proof: Path) -> dict[str, Any]:
    """A manifest's content, with a mapping under ``files``."""
    try:
        content = files.read_sealed(path)
    except HypersphereError as error:
        raise DamagedError(str(error), proof) from None
    if not isinstance(content.get("files"), dict):
        raise DamagedError(f"{path}: files: must list the files with their checksums", proof)
    return content
