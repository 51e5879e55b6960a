"""Train a batch of runs: each run has its own lock and manifest and fails alone; the batch has one marker."""

import importlib
import resource
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch

from hypersphere import files
from hypersphere.config.plan import MANIFEST, RESUME, UNFINISHED, BatchOfRuns, Plan
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.provenance import digests, lock, stop
from hypersphere.provenance.manifest import check_files, read_manifest
from hypersphere.training import checkpoint, failures, processes, result, snapshots
from hypersphere.training import device as devices
from hypersphere.training.checkpoint import ENCODER, HEADS, snapshot_names
from hypersphere.training.contract import HISTORY, TIMING, Execution, Outcome
from hypersphere.training.determinism import make_deterministic
from hypersphere.training.processes import Group

SCHEMA = 1


def pretrain_batch(plan: Plan, batch: BatchOfRuns, save_every: float = 60.0) -> None:
    """Train every unfinished run of ``batch``, then write the marker that Snakemake waits for.

    Raises:
        HypersphereError: some runs failed; the others are finished and will not be trained again.
    """
    marker = plan.marker(batch)
    pretrain(plan, batch.runs, save_every)
    files.write_json(marker, {run.name: _marker_entry(plan, run) for run in batch.runs})


def _marker_entry(plan: Plan, run: Run) -> dict[str, Any]:
    """A run's entry in the marker. It omits snapshots that the plan does not need, because they may be removed."""
    manifest = read_manifest(plan.run_folder(run.name))
    entry = {key: manifest[key] for key in ("status", "epochs", "code", "data")}
    return entry | {"files": snapshots.without_unneeded(plan, run, manifest["files"])}


def pretrain(plan: Plan, runs: Sequence[Run], save_every: float = 60.0, also: Collection[int] = ()) -> None:
    """Train runs one after another. A finished run is skipped; a run that fails does not stop the others.

    Only a failed device ends the batch, because this process can no longer use it; and any failure does where several
    processes train a run together (docs/cluster.md), because the others wait for this one.

    Args:
        plan: the plan that lists the runs.
        runs: to train.
        save_every: seconds between resume states.
        also: epochs to keep a snapshot of, besides those that the plan needs.

    Raises:
        HypersphereError: some runs failed; the sentence names them all.
        StoppedError: a signal asked to stop; the resume state is saved.
    """
    make_deterministic(plan.config.scale.threads)
    waiting = list(runs)
    failed: dict[str, list[str]] = {}  # runs by error: damaged data give one error for every run of a batch
    damaged: list[DamagedError] = []
    with (
        devices.acquire(plan.config.settings.device) as device,
        processes.joined(device) as group,
        stop.on_request() as request,
    ):
        while waiting:
            run = waiting.pop(0)
            error = _attempt(plan, run, device, save_every, request, also, group)
            if error is not None:
                failed.setdefault(str(error), []).append(run.name)
            if isinstance(error, DamagedError):
                damaged.append(error)
            if isinstance(error, failures.DeviceFailedError) or (error and group.count > 1):
                break
        if not failed:
            group.wait()  # until the first process has written the last result
    for damage in damaged:
        damage.disprove()
    if failed:
        sentences = [f"{', '.join(names)}: {error}" for error, names in failed.items()]
        sentences += [f"not begun: {', '.join(run.name for run in waiting)}"] if waiting else []
        raise HypersphereError("; ".join(sentences))


def _attempt(plan: Plan, run: Run, *options: Any) -> HypersphereError | None:
    """Train a run unless it is finished. Returns its error, or None.

    Raises:
        StoppedError: a signal asked to stop.
    """
    try:
        _pretrain_one(plan, run, *options)
    except stop.StoppedError:
        raise
    except HypersphereError as error:
        error.__traceback__ = error.__context__ = None  # its frames would hold tensors while the next run trains
        return error
    except OSError as error:
        return HypersphereError(files.reason(error))
    except Exception as error:
        traceback.print_exc()
        return HypersphereError(f"{type(error).__name__}: {' '.join(str(error).split())}")
    return None


def _pretrain_one(
    plan: Plan,
    run: Run,
    device: torch.device,
    save_every: float,
    request: stop.Request,
    also: Collection[int],
    group: Group,
) -> None:
    folder = plan.run_folder(run.name)
    with lock.held(folder) if group.first else nullcontext():
        if request.number is not None:
            raise stop.StoppedError(f"{folder}: stopped by {request.name} before it began", request.number)
        data = store.open(plan.data_folder(run.dataset))
        code = digests.run_digest(run)
        epochs = {*plan.kept_epochs(run), *also}
        if any(group.largest(group.first and finished(folder, code, data.digest, epochs))):
            if group.first:
                print(f"{run.name}: already finished", flush=True)
            return
        # Another number of threads or processes, precision, model of device or release of torch gives other bytes: do
        # not resume across them.
        identity: dict[str, Any] = {"run": run.name, "code": code, "data": data.digest}
        identity |= {"device": devices.describe(device), "threads": torch.get_num_threads(), "torch": torch.__version__}
        precision = devices.precision(plan.config.scale.precision, device)
        compiled = plan.config.scale.compile
        identity |= {"precision": _name(precision), "compile": compiled, "processes": group.count}
        kept = frozenset(epochs | snapshots.existing(folder))
        execution = Execution(device, kept, identity, precision, compiled, save_every, request, group)
        _train_and_diagnose(run, data, execution, folder)


def _train_and_diagnose(run: Run, data: store.Prepared, execution: Execution, folder: Path) -> None:
    """Train, and turn a failure of the machine into a sentence.

    Raises:
        HypersphereError: memory ran out, or training raised it.
        DeviceFailedError: this process can no longer use the device.
    """
    name = devices.describe(execution.device)
    unfinished = folder / f"{UNFINISHED}{files.digest(execution.identity, 8)}"
    try:
        _train(run, data, execution, folder, unfinished)
        return
    except Exception as error:
        failure = failures.diagnose(error, run, execution.device, name)
        if failure is None:
            raise
        if failure.kind == "defect":
            traceback.print_exc()
    # Outside the except block, so that the error is gone, and with it the frames that held tensors.
    if failure.kind == "memory":
        devices.free(execution.device)
    raise failure.error(_saved(unfinished, execution.identity))


def _saved(unfinished: Path, identity: dict[str, Any]) -> str:
    """Say which state the run will resume from."""
    try:
        progress = checkpoint.read_progress(unfinished)
    except HypersphereError:
        return "nothing was saved yet"
    except MemoryError:
        return "the last saved state is kept"
    return f"the state of step {progress.step} is kept" if progress.identity == identity else "nothing was saved yet"


def _train(run: Run, data: store.Prepared, execution: Execution, folder: Path, unfinished: Path) -> None:
    """Train in ``unfinished``, a folder for this run, code and data alone, then move the result into ``folder``."""
    group = execution.group
    if not group.first:
        _help(run, data, execution, unfinished)
        return
    for other in set(folder.glob(f"{UNFINISHED}*")) - {unfinished}:
        _note_not_resumed(other, execution.identity)
    for place in (folder, unfinished, unfinished / "snapshots"):
        files.sweep(place)
    _remove_if_unreadable(unfinished / RESUME)
    group.wait()  # the others may read the resume state
    group.wait()  # they have read it
    outcome = _trainer(run)(run, data, execution, unfinished)
    produced = {name: files.sha256(unfinished / name) for name in (ENCODER, HEADS, HISTORY)} | outcome.snapshots
    manifest = {
        "schema": SCHEMA,
        "name": run.name,
        "run": run.model_dump(mode="json"),
        "status": outcome.status,
        "epochs": outcome.epochs,
        "started_at_steps": outcome.starts,
        "code": execution.identity["code"],
        "data": execution.identity["data"],
        "files": produced,
        "device": {"type": execution.device.type, "name": devices.describe(execution.device)},
        "numerics": {
            "precision": _name(execution.precision),
            "compile": execution.compile,
            "tf32_convolutions": execution.device.type == "cuda" and torch.backends.cudnn.allow_tf32,
            "memory_format": "channels_last",
            "deterministic_algorithms": True,
            "threads": torch.get_num_threads(),
            "processes": group.count,
        },
        "seconds": round(outcome.seconds, 3),
        "peak_memory_mb": _peak_memory_mb(execution.device),
        "environment": digests.environment(),
    }
    result.replace(run, unfinished, folder, [*produced, TIMING], manifest)
    print(f"{run.name}: {outcome.status} after {outcome.epochs} epochs, {manifest['seconds']:.1f} s", flush=True)


def _help(run: Run, data: store.Prepared, execution: Execution, unfinished: Path) -> None:
    """Take part in a training whose first process writes the results: resume from its state, and keep nothing."""
    execution.group.wait()
    with tempfile.TemporaryDirectory() as scratch:
        if unfinished.exists():
            shutil.copytree(unfinished, scratch, dirs_exist_ok=True)
        execution.group.wait()  # the first may write again
        _trainer(run)(run, data, execution, Path(scratch))


def _name(precision: torch.dtype) -> str:
    """``float32``."""
    return str(precision).removeprefix("torch.")


def _trainer(run: Run) -> Callable[..., Outcome]:
    """The function that trains runs of this kind, from training/trainers/<kind>.py."""
    trainer: Callable[..., Outcome] = importlib.import_module(f"hypersphere.training.trainers.{run.kind}").pretrain
    return trainer


def finished(folder: Path, code: str, data: str, epochs: Collection[int]) -> bool:
    """Whether ``folder`` holds a result of this code and data, unaltered, with the snapshots of these epochs."""
    if not (folder / MANIFEST).exists():
        return False
    try:
        manifest = check_files(folder)
    except HypersphereError as error:
        print(f"note: training again: {error}", flush=True)
        return False
    required = {name for epoch in epochs if epoch < manifest["epochs"] for name in snapshot_names(epoch)}
    return (manifest["code"], manifest["data"]) == (code, data) and required <= manifest["files"].keys()


def _note_not_resumed(unfinished: Path, identity: dict[str, Any]) -> None:
    """Say why a state of another code, data or machine is not resumed."""
    try:
        difference = checkpoint.difference(checkpoint.read_progress(unfinished), identity)
    except HypersphereError:
        return  # killed before its first state was saved, or damaged: there is nothing to resume
    print(f"note: {unfinished}: not resumed: {difference}; it is kept until the run is finished", flush=True)


def _remove_if_unreadable(state: Path) -> None:
    """Remove a resume state that is a folder or that we may not open, so that the next one can be written there."""
    try:
        if state.exists():
            state.open("rb").close()
    except (IsADirectoryError, PermissionError) as error:
        print(f"note: {state}: the resume state cannot be read ({error.strerror}); starting over", flush=True)
        if state.is_dir():
            shutil.rmtree(state)
        else:
            state.unlink()


def _peak_memory_mb(device: torch.device) -> int:
    """Peak of the device's memory on a GPU, of the process's on a CPU, in mebibytes."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device) / 2**20)
    unit = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss is in bytes on macOS, in KiB on Linux
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)
