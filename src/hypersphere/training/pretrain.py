"""Train a batch of runs: one lock, one manifest and one fate per run, one marker for the batch."""

import resource
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

import torch
import yaml
from filelock import FileLock, Timeout

from hypersphere import files, provenance
from hypersphere.datasets import store
from hypersphere.errors import HypersphereError
from hypersphere.manifest import check_files, read_manifest
from hypersphere.plan import MANIFEST, BatchOfRuns, Plan
from hypersphere.spec import Run
from hypersphere.training import device as devices
from hypersphere.training.loop import ENCODER, HISTORY, TIMING, Execution, snapshot_name, train

SCHEMA = 1


def pretrain_batch(plan: Plan, batch: BatchOfRuns) -> None:
    """Train every unfinished run of ``batch``, then write the marker that Snakemake waits for.

    Raises:
        HypersphereError: some runs failed; the others are finished and will not be trained again.
    """
    marker = plan.marker(batch)
    pretrain(plan, batch.runs)
    manifests = {run.name: read_manifest(plan.run_folder(run.name)) for run in batch.runs}
    kept = ("status", "epochs", "code", "data", "files")
    files.write_json(marker, {name: {key: m[key] for key in kept} for name, m in manifests.items()})


def pretrain(plan: Plan, runs: Sequence[Run], save_every: float = 60.0) -> None:
    """Train runs one after another; a finished one is skipped, one that fails loses only itself.

    Raises:
        HypersphereError: naming each run that failed, after all were tried.
    """
    devices.make_deterministic(plan.config.scale.threads)
    failures = []
    with devices.acquire(plan.config.settings.device) as device:
        for run in runs:
            try:
                _pretrain_one(plan, run, device, save_every)
            except HypersphereError as error:
                failures.append(f"{run.name}: {error}")
            except Exception as error:
                traceback.print_exc()
                failures.append(f"{run.name}: {type(error).__name__}: {' '.join(str(error).split())}")
    if failures:
        raise HypersphereError("; ".join(failures))


def _pretrain_one(plan: Plan, run: Run, device: torch.device, save_every: float) -> None:
    folder = plan.run_folder(run.name)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            data = store.open(plan.data_folder(run.dataset))
            code = provenance.run_digest(run)
            snapshots = snapshot_epochs(plan.config.scale.snapshots, run.schedule.epochs)
            if finished(folder, code, data.digest, snapshots):
                print(f"{run.name}: finished before", flush=True)
                return
            _discard(folder)
            # A state saved under other snapshots, threads or device is no state of this run: its bytes would differ.
            execution = [snapshots, device.type, torch.get_num_threads()]
            digest = files.digest([run.name, code, data.digest, *execution])
            _train(run, data, code, Execution(device, frozenset(snapshots), digest, save_every), folder)
    except Timeout:
        raise HypersphereError(f"{folder}: another process is training this run") from None


def _train(run: Run, data: store.Prepared, code: str, execution: Execution, folder: Path) -> None:
    begun = time.perf_counter()
    files.write_text(folder / "run.yaml", yaml.safe_dump(run.model_dump(mode="json"), sort_keys=False))
    outcome = train(run, data.train_images, execution, folder, data.train_index)
    produced = [ENCODER, HISTORY, *sorted(str(p.relative_to(folder)) for p in folder.glob("snapshots/*.safetensors"))]
    manifest = {
        "schema": SCHEMA,
        "name": run.name,
        "run": run.model_dump(mode="json"),
        "status": outcome.status,
        "epochs": outcome.epochs,
        "resumed_at_epoch": outcome.started_at,
        "code": code,
        "data": data.digest,
        "files": {name: files.sha256(folder / name) for name in produced},
        "device": {"type": execution.device.type, "name": devices.describe(execution.device)},
        "numerics": {
            "precision": "float32",
            "tf32_convolutions": execution.device.type == "cuda" and torch.backends.cudnn.allow_tf32,
            "memory_format": "channels_last",
            "deterministic_algorithms": True,
            "threads": torch.get_num_threads(),
        },
        "seconds": round(time.perf_counter() - begun, 3),
        "peak_memory_mb": _peak_memory_mb(execution.device),
        "environment": provenance.environment(),
    }
    files.write_json(folder / MANIFEST, manifest)
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
        print(f"training again: {error}", flush=True)
        return False
    wanted = {snapshot_name(epoch) for epoch in snapshots if epoch < manifest["epochs"]}
    return (manifest["code"], manifest["data"]) == (code, data) and wanted <= manifest["files"].keys()


def _discard(folder: Path) -> None:
    """Remove an older result of other code or data, manifest first; the resume state is judged by its own digest."""
    for name in (MANIFEST, ENCODER, HISTORY, TIMING):
        (folder / name).unlink(missing_ok=True)


def _peak_memory_mb(device: torch.device) -> int:
    """Peak of the device's memory on a GPU, of the process's on a CPU, in mebibytes."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device) / 2**20)
    unit = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss is in bytes on macOS, in KiB on Linux
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)
