"""Train a batch of runs: one lock, one manifest and one fate per run, one marker for the batch."""

import os
import resource
import shutil
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import yaml
from filelock import FileLock, Timeout

from hypersphere import files, provenance, stop
from hypersphere.datasets import store
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.manifest import check_files, read_manifest
from hypersphere.plan import MANIFEST, UNFINISHED, BatchOfRuns, Plan
from hypersphere.spec import Run
from hypersphere.training import checkpoint
from hypersphere.training import device as devices
from hypersphere.training.checkpoint import snapshot_name
from hypersphere.training.loop import ENCODER, HISTORY, TIMING, Execution, Images, train

SCHEMA = 1
LOCK_SECONDS = 60.0
"""How long to wait for another process that trains the run: an orphan needs a moment to save its state and stop."""


def pretrain_batch(plan: Plan, batch: BatchOfRuns, save_every: float = 60.0) -> None:
    """Train every unfinished run of ``batch``, then write the marker that Snakemake waits for.

    Raises:
        HypersphereError: some runs failed; the others are finished and will not be trained again.
    """
    marker = plan.marker(batch)
    pretrain(plan, batch.runs, save_every)
    manifests = {run.name: read_manifest(plan.run_folder(run.name)) for run in batch.runs}
    kept = ("status", "epochs", "code", "data", "files")
    files.write_json(marker, {name: {key: m[key] for key in kept} for name, m in manifests.items()})


def pretrain(plan: Plan, runs: Sequence[Run], save_every: float = 60.0) -> None:
    """Train runs one after another; a finished one is skipped, one that fails loses only itself.

    Raises:
        HypersphereError: naming each run that failed, after all were tried.
        StoppedError: a signal asked to stop; the state to go on from is saved.
    """
    devices.make_deterministic(plan.config.scale.threads)
    failed: dict[str, list[str]] = {}  # by what went wrong: damaged data fail every run of a batch alike
    damaged: list[DamagedError] = []
    with devices.acquire(plan.config.settings.device) as device, stop.on_request() as request:
        for run in runs:
            try:
                _pretrain_one(plan, run, device, save_every, request)
            except stop.StoppedError:
                raise
            except HypersphereError as error:
                if isinstance(error, DamagedError):
                    damaged.append(error)
                failed.setdefault(str(error), []).append(run.name)
            except OSError as error:
                failed.setdefault(files.reason(error), []).append(run.name)
            except Exception as error:
                traceback.print_exc()
                failed.setdefault(f"{type(error).__name__}: {' '.join(str(error).split())}", []).append(run.name)
    for damage in damaged:
        damage.disprove()
    if failed:
        raise HypersphereError("; ".join(f"{', '.join(names)}: {what}" for what, names in failed.items()))


def _pretrain_one(plan: Plan, run: Run, device: torch.device, save_every: float, request: stop.Request) -> None:
    folder = plan.run_folder(run.name)
    with _locked(folder):
        if request.number is not None:
            raise stop.StoppedError(f"{folder}: stopped by {request.name} before it began", request.number)
        data = store.open(plan.data_folder(run.dataset))
        code = provenance.run_digest(run)
        snapshots = snapshot_epochs(plan.config.scale.snapshots, run.schedule.epochs)
        if finished(folder, code, data.digest, snapshots):
            print(f"{run.name}: finished before", flush=True)
            return
        # A state saved under other snapshots, threads, device or torch is no state of this run: its bytes would differ.
        parts: dict[str, Any] = {"run": run.name, "code": code, "data": data.digest, "device": device.type}
        parts |= {"snapshots": snapshots, "threads": torch.get_num_threads(), "torch": torch.__version__}
        _train(run, data, Execution(device, frozenset(snapshots), parts, save_every, request), folder)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the run: nobody else may train it meanwhile.

    Raises:
        HypersphereError: another process holds it, or the folder cannot be written.
    """
    lock = FileLock(folder / ".lock")
    with files.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=LOCK_SECONDS)
        except Timeout:
            raise HypersphereError(f"{folder}: another process is training this run; wait for it or stop it") from None
    try:
        yield
    finally:
        lock.release()


def _train(run: Run, data: store.Prepared, execution: Execution, folder: Path) -> None:
    """Train in a folder of the run's own, which a change of code or data does not share, then publish the result."""
    unfinished = folder / f"{UNFINISHED}{files.digest(execution.parts, 8)}"
    for other in set(folder.glob(f"{UNFINISHED}*")) - {unfinished}:
        _say_refused(other, execution.parts)
    for place in (folder, unfinished, unfinished / "snapshots"):
        files.sweep(place)
    images = Images(data.train_images, data.train_labels, data.train_index)
    outcome = train(run, images, execution, unfinished)
    produced = {name: files.sha256(unfinished / name) for name in (ENCODER, HISTORY)} | outcome.snapshots
    manifest = {
        "schema": SCHEMA,
        "name": run.name,
        "run": run.model_dump(mode="json"),
        "status": outcome.status,
        "epochs": outcome.epochs,
        "started_at_steps": outcome.starts,
        "code": execution.parts["code"],
        "data": execution.parts["data"],
        "files": produced,
        "device": {"type": execution.device.type, "name": devices.describe(execution.device)},
        "numerics": {
            "precision": "float32",
            "tf32_convolutions": execution.device.type == "cuda" and torch.backends.cudnn.allow_tf32,
            "memory_format": "channels_last",
            "deterministic_algorithms": True,
            "threads": torch.get_num_threads(),
        },
        "seconds": round(outcome.seconds, 3),
        "peak_memory_mb": _peak_memory_mb(execution.device),
        "environment": provenance.environment(),
    }
    _publish(run, unfinished, folder, [*produced, TIMING], manifest)
    print(f"{run.name}: {outcome.status} after {outcome.epochs} epochs, {manifest['seconds']:.1f} s", flush=True)


def snapshot_epochs(fractions: Sequence[float], epochs: int) -> list[int]:
    """Fractions of the schedule as whole epochs, sorted, each once."""
    return sorted({round(fraction * epochs) for fraction in fractions})


def finished(folder: Path, code: str, data: str, snapshots: Sequence[int]) -> bool:
    """Whether the run in ``folder`` is of this code and data, its files unaltered, these snapshots among them."""
    if not (folder / MANIFEST).exists():
        return False
    try:
        manifest = check_files(folder)
    except HypersphereError as error:
        print(f"note: training again: {error}", flush=True)
        return False
    wanted = {snapshot_name(epoch) for epoch in snapshots if epoch < manifest["epochs"]}
    return (manifest["code"], manifest["data"]) == (code, data) and wanted <= manifest["files"].keys()


def _say_refused(unfinished: Path, parts: dict[str, Any]) -> None:
    try:
        said = checkpoint.differing(checkpoint.read_progress(unfinished), parts)
    except HypersphereError:
        return  # killed before its first state was saved, or damaged: nothing to go on with
    print(f"note: {unfinished}: not resumed: {said}; it is kept until the run is finished", flush=True)


def _publish(run: Run, unfinished: Path, folder: Path, produced: Sequence[str], manifest: dict[str, Any]) -> None:
    """Put the result in the place of an older one: manifest away first and back last, so that it is never half."""
    (folder / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(folder / "snapshots", ignore_errors=True)
    files.write_text(folder / "run.yaml", yaml.safe_dump(run.model_dump(mode="json"), sort_keys=False))
    for name in produced:
        with files.replacing(folder / name) as temporary:
            _link(unfinished / name, temporary)
    files.write_sealed(folder / MANIFEST, manifest)
    for leftover in folder.glob(f"{UNFINISHED}*"):
        shutil.rmtree(leftover)


def _link(source: Path, target: Path) -> None:
    """A second name for the same bytes, which are never written in place; a copy where the system has no such thing."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _peak_memory_mb(device: torch.device) -> int:
    """Peak of the device's memory on a GPU, of the process's on a CPU, in mebibytes."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device) / 2**20)
    unit = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss is in bytes on macOS, in KiB on Linux
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)
