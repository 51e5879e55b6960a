"""Train a batch of runs: each run has its own lock and manifest and fails alone; the batch has one marker."""

import gc
import importlib
import os
import re
import shutil
import sys
import traceback
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.plan import BatchOfRuns, Plan
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.file_names import MANIFEST, UNFINISHED
from hypersphere.provenance import digests, markers, state, stop
from hypersphere.provenance.state import State
from hypersphere.training import checkpoint
from hypersphere.training import device as devices
from hypersphere.training.checkpoint import Progress
from hypersphere.training.determinism import make_deterministic
from hypersphere.training.loop import AT_STEP, HISTORY, TIMING, Execution
from hypersphere.training.weights import ENCODER, HEADS, snapshot_names

SCHEMA = 1
SNAPSHOT = re.compile(r"snapshots/epoch-(\d+)(?:\.heads)?\.safetensors")


def pretrain_batch(plan: Plan, batch: BatchOfRuns, save_every: float = 60.0) -> None:
    """Train every unfinished run of ``batch``, then write the marker that Snakemake waits for.

    A run's entry in the marker omits snapshots that the plan does not need, because another plan may do without them.
    """
    pretrain(plan, batch.runs, save_every)
    markers.write(plan.marker(batch), [plan.run_folder(run.name) / MANIFEST for run in batch.runs])


def pretrain(
    plan: Plan, runs: Sequence[Run], save_every: float = 60.0, also: Collection[int] = ()
) -> None:
    """Train runs one after another. A finished run is skipped; a run that fails does not stop the others.

    Only a failed device ends the batch, because this process can no longer use it.
    The error names all runs that failed; the others are finished. ``save_every`` is the number of seconds between
    resume states, and ``also`` are epochs to keep a snapshot of, besides those that the plan needs.
    """
    make_deterministic(plan.config.scale.threads)
    waiting = list(runs)
    # runs by error: damaged data give one error for every run of a batch
    failed: dict[str, list[str]] = {}
    damaged: list[DamagedError] = []
    settings = plan.config.settings
    held = devices.acquire(settings.device, settings.runs_per_gpu)
    with held as device, stop.on_request() as request:
        while waiting:
            run = waiting.pop(0)
            try:
                _pretrain_one(plan, run, device, save_every, request, also)
                continue
            except stop.StoppedError:
                raise
            except Exception as caught:
                error = _in_a_sentence(caught, device)
                # its frames would hold tensors of the run
                error.__traceback__ = None
                error.__context__ = None
            # outside the except block, so that the error is gone, and with it its frames
            gc.collect()
            torch.cuda.empty_cache()  # torch otherwise keeps a GPU's memory for the process
            failed.setdefault(str(error), []).append(run.name)
            if isinstance(error, DamagedError):
                damaged.append(error)
            if isinstance(error, devices.DeviceFailedError):
                break
    for damage in damaged:
        damage.disprove()
    if failed:
        sentences = [f"{', '.join(names)}: {error}" for error, names in failed.items()]
        if waiting:
            sentences.append(f"not begun: {', '.join(run.name for run in waiting)}")
        raise HypersphereError("; ".join(sentences))


def _in_a_sentence(error: Exception, device: torch.device) -> HypersphereError:
    """The error to report for a run that failed. A defect of the program has its traceback printed, too."""
    at = "before the first step; what was saved is kept"
    for note in getattr(error, "__notes__", ()):
        if note.startswith(AT_STEP):  # the loop knows better
            at = note
    failure = devices.failure(error, device, at)
    if failure is not None:
        return failure
    if isinstance(error, HypersphereError):
        return error
    if isinstance(error, OSError):
        return HypersphereError(files.reason(error))
    traceback.print_exception(error)
    return HypersphereError(f"{type(error).__name__}: {' '.join(str(error).split())}")


def _pretrain_one(
    plan: Plan,
    run: Run,
    device: torch.device,
    save_every: float,
    request: stop.Request,
    also: Collection[int],
) -> None:
    """Train a run unless it is finished, in a folder for this run, code and data alone, then publish the result."""
    folder = plan.run_folder(run.name)
    with state.hold(folder):
        if request.number is not None:
            raise stop.StoppedError(
                f"{folder}: stopped by {request.name} before it began", request.number
            )
        data = store.ready(run.dataset, plan.config.data, plan.config.data_root)
        code = digests.run_digest(run)
        epochs = {*plan.kept_epochs(run), *also}
        if finished(folder, code, data.digest, epochs):
            _tidy(folder)  # a kill can come after the manifest was written and before this was done
            print(f"{run.name}: already finished", flush=True)
            return
        # Another number of threads, precision, model of device or release of torch gives other bytes: do not resume
        # across them.
        precision = devices.precision(plan.config.scale.precision, device)
        identity: dict[str, Any] = {
            "run": run.name,
            "code": code,
            "data": data.digest,
            "device": devices.describe(device),
            "threads": torch.get_num_threads(),
            "torch": torch.__version__,
            "precision": precision,
            "compile": plan.config.scale.compile,
        }
        kept = frozenset(epochs | snapshots(folder))
        execution = Execution(
            device, kept, identity, precision, plan.config.scale.compile, save_every, request
        )
        unfinished = folder / f"{UNFINISHED}{files.digest(identity, 8)}"
        _note_others(folder, unfinished, identity)
        for place in (folder, unfinished, unfinished / "snapshots"):
            files.sweep(place)
        print(f"{run.name}: begins", flush=True)
        trainer: Any = importlib.import_module(registry.module_name("trainers", run.kind))
        trained: Progress = trainer.pretrain(run, data, execution, unfinished)
        _publish(run, execution, trained, unfinished, folder)


def _note_others(folder: Path, unfinished: Path, identity: dict[str, Any]) -> None:
    """Print which states of the run stay where they are, because they are of another identity."""
    for other in set(folder.glob(f"{UNFINISHED}*")) - {unfinished}:
        try:
            progress, _ = checkpoint.read(other)
        except HypersphereError:
            # killed before its first state was saved, or damaged: there is nothing to resume
            continue
        difference = checkpoint.difference(progress, identity)
        print(
            f"note: {other}: not resumed: {difference}; it is kept until the run is finished",
            flush=True,
        )


def finished(folder: Path, code: str, data: str, epochs: Collection[int]) -> bool:
    """Whether ``folder`` holds a result of this code and data, unaltered, with the snapshots of these epochs."""
    result = state.look(folder)
    if result.state is State.DAMAGED:
        print(f"note: training again: {result.problem}", flush=True)
    if not result.done:
        return False
    manifest = result.manifest
    if (manifest["code"], manifest["data"]) != (code, data):
        return False
    required: set[str] = set()
    for epoch in epochs:
        if epoch < manifest["epochs"]:
            required.update(snapshot_names(epoch))
    return required <= manifest["files"].keys()


def snapshots(folder: Path) -> set[int]:
    """Epochs of the snapshots in a run's folder: from its manifest, or, if that cannot be read, from the file names.

    They are no part of a run's name. A run that is trained again saves those that it had before, too.
    """
    try:
        names = list(files.read_sealed(folder / MANIFEST)["files"])
    except HypersphereError:
        names = [f"snapshots/{path.name}" for path in folder.glob("snapshots/*")]
    return snapshot_epochs(names)


def snapshot_epochs(names: Iterable[str]) -> set[int]:
    """Epochs of the snapshots among the files of a run."""
    return {int(match[1]) for match in map(SNAPSHOT.fullmatch, names) if match}


def _publish(
    run: Run, execution: Execution, trained: Progress, unfinished: Path, folder: Path
) -> None:
    """Replace an older result. The manifest is removed first and written last, so a kill leaves no mixed result.

    Stale snapshots are removed after the new ones are in place: after a kill they still show which epochs to save.
    """
    own = {name: files.sha256(unfinished / name) for name in (ENCODER, HEADS, HISTORY)}
    listed = own | trained.snapshots
    device = execution.device
    manifest = {
        "schema": SCHEMA,
        "name": run.name,
        "run": run.model_dump(mode="json"),
        "status": trained.status,
        "epochs": trained.epochs,
        "started_at_steps": trained.starts,
        "code": execution.identity["code"],
        "data": execution.identity["data"],
        "files": listed,
        "device": {"type": device.type, "name": devices.describe(device)},
        "numerics": {
            "precision": execution.identity["precision"],
            "tf32_convolutions": execution.precision == "tf32",
            "compile": execution.compile,
            "memory_format": "channels_last",
            "deterministic_algorithms": True,
            "threads": torch.get_num_threads(),
        },
        "seconds": round(sum(row["seconds"] for row in trained.timing), 3),
        "peak_memory_mb": int(_peak_memory(device)),
        "environment": digests.environment(),
    }
    (folder / MANIFEST).unlink(missing_ok=True)
    files.write_text(folder / "run.yaml", run.as_yaml())
    for name in (*listed, TIMING):
        with files.replacing(folder / name) as temporary:
            try:
                os.link(unfinished / name, temporary)  # files are never rewritten in place
            except OSError:
                shutil.copyfile(unfinished / name, temporary)
    for path in folder.glob("snapshots/*.safetensors"):
        if f"snapshots/{path.name}" not in listed:
            path.unlink()
    beside = {name: files.sha256(folder / name) for name in ("run.yaml", TIMING)}
    files.write_sealed(folder / MANIFEST, manifest | {"beside": beside})
    _tidy(folder)
    print(
        f"{run.name}: {trained.status} after {trained.epochs} epochs, {manifest['seconds']:.1f} s",
        flush=True,
    )


def _peak_memory(device: torch.device) -> float:
    """The most memory that was in use so far, MiB: of a GPU by tensors, else by this process; 0 if nothing tells."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    try:
        import resource
    except ModuleNotFoundError:  # on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # in bytes on macOS, in KiB on Linux
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _tidy(folder: Path) -> None:
    """Remove states of a finished run, from which nobody resumes, and half-written files. Call it under its lock."""
    for leftover in folder.glob(f"{UNFINISHED}*"):
        shutil.rmtree(leftover)
    files.sweep(folder)
