"""Train a batch of runs: one lock, one manifest and one fate per run, one marker for the batch."""

import importlib
import os
import resource
import shutil
import sys
import traceback
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import torch
import yaml

from hypersphere import files
from hypersphere.datasets import store
from hypersphere.declared.plan import MANIFEST, RESUME, UNFINISHED, BatchOfRuns, Plan
from hypersphere.declared.run import Run
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.integrity import lock, provenance, stop
from hypersphere.integrity.manifest import check_files, read_manifest
from hypersphere.training import checkpoint, failures, snapshots
from hypersphere.training import device as devices
from hypersphere.training.checkpoint import ENCODER, HEADS, snapshot_names
from hypersphere.training.contract import HISTORY, TIMING, Execution, Outcome
from hypersphere.training.determinism import make_deterministic

SCHEMA = 1


def pretrain_batch(plan: Plan, batch: BatchOfRuns, save_every: float = 60.0) -> None:
    """Train every unfinished run of ``batch``, then write the marker that Snakemake waits for.

    Raises:
        HypersphereError: some runs failed; the others are finished and will not be trained again.
    """
    marker = plan.marker(batch)
    pretrain(plan, batch.runs, save_every)
    files.write_json(marker, {run.name: _marked(plan, run) for run in batch.runs})


def _marked(plan: Plan, run: Run) -> dict[str, Any]:
    """What the marker says of a run: nothing of snapshots that the plan does not ask for, which may be removed."""
    manifest = read_manifest(plan.run_folder(run.name))
    kept = {key: manifest[key] for key in ("status", "epochs", "code", "data")}
    return kept | {"files": snapshots.without_unasked(plan, run, manifest["files"])}


def pretrain(plan: Plan, runs: Sequence[Run], save_every: float = 60.0, also: Collection[int] = ()) -> None:
    """Train runs one after another; a finished one is skipped, one that fails loses only itself.

    After a failure of the device no further run is begun: it computes nothing more in this process.

    Args:
        plan: which the runs are of.
        runs: to train.
        save_every: seconds between resume states.
        also: epochs to keep a snapshot of, beside those that the plan asks for.

    Raises:
        HypersphereError: naming each run that failed, after all were tried.
        StoppedError: a signal asked to stop; the state to go on from is saved.
    """
    make_deterministic(plan.config.scale.threads)
    waiting = list(runs)
    failed: dict[str, list[str]] = {}  # by what went wrong: damaged data fail every run of a batch alike
    damaged: list[DamagedError] = []
    with devices.acquire(plan.config.settings.device) as device, stop.on_request() as request:
        while waiting:
            run = waiting.pop(0)
            error = _attempt(plan, run, device, save_every, request, also)
            if error is not None:
                failed.setdefault(str(error), []).append(run.name)
            if isinstance(error, DamagedError):
                damaged.append(error)
            if isinstance(error, failures.DeviceFailedError):
                break
    for damage in damaged:
        damage.disprove()
    if failed:
        said = [f"{', '.join(names)}: {what}" for what, names in failed.items()]
        said += [f"not begun: {', '.join(run.name for run in waiting)}"] if waiting else []
        raise HypersphereError("; ".join(said))


def _attempt(plan: Plan, run: Run, *how: Any) -> HypersphereError | None:
    """Train a run if it is not finished; what went wrong, if anything did.

    Raises:
        StoppedError: a signal asked to stop.
    """
    try:
        _pretrain_one(plan, run, *how)
    except stop.StoppedError:
        raise
    except HypersphereError as error:
        error.__traceback__ = error.__context__ = None  # whose frames hold tensors, on while the next run is trained
        return error
    except OSError as error:
        return HypersphereError(files.reason(error))
    except Exception as error:
        traceback.print_exc()
        return HypersphereError(f"{type(error).__name__}: {' '.join(str(error).split())}")
    return None


def _pretrain_one(
    plan: Plan, run: Run, device: torch.device, save_every: float, request: stop.Request, also: Collection[int]
) -> None:
    folder = plan.run_folder(run.name)
    with lock.held(folder):
        if request.number is not None:
            raise stop.StoppedError(f"{folder}: stopped by {request.name} before it began", request.number)
        data = store.open(plan.data_folder(run.dataset))
        code = provenance.run_digest(run)
        wanted = {*plan.kept_epochs(run), *also}
        if finished(folder, code, data.digest, wanted):
            print(f"{run.name}: finished before", flush=True)
            return
        # A state saved under other threads, model of device or torch is no state of this run: its bytes would differ.
        parts: dict[str, Any] = {"run": run.name, "code": code, "data": data.digest}
        parts |= {"device": devices.describe(device), "threads": torch.get_num_threads(), "torch": torch.__version__}
        kept = frozenset(wanted | snapshots.had(folder))
        _train_or_say(run, data, Execution(device, kept, parts, save_every, request), folder)


def _train_or_say(run: Run, data: store.Prepared, execution: Execution, folder: Path) -> None:
    """Train, and say in a sentence what the machine does to it: that memory is short, or the device gone.

    Raises:
        HypersphereError: that sentence, or one of training's own.
        DeviceFailedError: the device computes nothing more.
    """
    name = devices.describe(execution.device)
    unfinished = folder / f"{UNFINISHED}{files.digest(execution.parts, 8)}"
    try:
        _train(run, data, execution, folder, unfinished)
        return
    except Exception as error:
        failure = failures.known(error, run, execution.device, name)
        if failure is None:
            raise
        if failure.kind == "defect":
            traceback.print_exc()
    # Only here, where the error is gone and with it the frames that held tensors, can their memory be had again.
    if failure.kind == "memory":
        devices.free(execution.device)
    raise failure.error(_saved(unfinished, execution.parts))


def _saved(unfinished: Path, parts: dict[str, Any]) -> str:
    """From where the run goes on, in words."""
    try:
        progress = checkpoint.read_progress(unfinished)
    except HypersphereError:
        return "nothing was saved yet"
    except MemoryError:
        return "the state last saved is kept"
    return f"the state of step {progress.step} is kept" if progress.parts == parts else "nothing was saved yet"


def _train(run: Run, data: store.Prepared, execution: Execution, folder: Path, unfinished: Path) -> None:
    """Train in a folder of the run's own, which a change of code or data does not share, then publish the result."""
    for other in set(folder.glob(f"{UNFINISHED}*")) - {unfinished}:
        _say_refused(other, execution.parts)
    for place in (folder, unfinished, unfinished / "snapshots"):
        files.sweep(place)
    _make_way(unfinished / RESUME)
    outcome = _trainer(run)(run, data, execution, unfinished)
    produced = {name: files.sha256(unfinished / name) for name in (ENCODER, HEADS, HISTORY)} | outcome.snapshots
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


def _trainer(run: Run) -> Callable[..., Outcome]:
    """What trains runs of this kind: training/trainers/<kind>.py."""
    trainer: Callable[..., Outcome] = importlib.import_module(f"hypersphere.training.trainers.{run.kind}").pretrain
    return trainer


def finished(folder: Path, code: str, data: str, epochs: Collection[int]) -> bool:
    """Whether the run in ``folder`` is of this code and data, its files unaltered, these snapshots among them."""
    if not (folder / MANIFEST).exists():
        return False
    try:
        manifest = check_files(folder)
    except HypersphereError as error:
        print(f"note: training again: {error}", flush=True)
        return False
    wanted = {name for epoch in epochs if epoch < manifest["epochs"] for name in snapshot_names(epoch)}
    return (manifest["code"], manifest["data"]) == (code, data) and wanted <= manifest["files"].keys()


def _say_refused(unfinished: Path, parts: dict[str, Any]) -> None:
    try:
        said = checkpoint.differing(checkpoint.read_progress(unfinished), parts)
    except HypersphereError:
        return  # killed before its first state was saved, or damaged: nothing to go on with
    print(f"note: {unfinished}: not resumed: {said}; it is kept until the run is finished", flush=True)


def _make_way(state: Path) -> None:
    """What lies in the place of a resume state and is not ours to open, or is a folder, is in the next one's way."""
    try:
        if state.exists():
            state.open("rb").close()
    except (IsADirectoryError, PermissionError) as error:
        print(f"note: {state}: the resume state cannot be read ({error.strerror}); starting over", flush=True)
        if state.is_dir():
            shutil.rmtree(state)
        else:
            state.unlink()


def _publish(run: Run, unfinished: Path, folder: Path, produced: Sequence[str], manifest: dict[str, Any]) -> None:
    """Put the result in the place of an older one: manifest away first and back last, so that it is never half.

    An older snapshot goes when the new one is there: killed in between, we still know by it that there is to be one.
    """
    (folder / MANIFEST).unlink(missing_ok=True)
    files.write_text(folder / "run.yaml", yaml.safe_dump(run.model_dump(mode="json"), sort_keys=False))
    for name in produced:
        with files.replacing(folder / name) as temporary:
            _link(unfinished / name, temporary)
    snapshots.remove_stale(folder, produced)
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
