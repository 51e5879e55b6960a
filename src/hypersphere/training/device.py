"""Which device a process computes on, and a lock that keeps other hypersphere jobs off it."""

import errno
import gc
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError

from hypersphere.errors import HypersphereError

WAIT_SECONDS = 1.0
_MEMORY = re.compile(
    r"CUDA error: out of memory|CUDA out of memory|_STATUS_ALLOC_FAILED"
    r"|DefaultCPUAllocator: (can't allocate|not enough) memory|std::bad_alloc|Cannot allocate memory"
)


def devices(setting: str) -> list[torch.device]:
    """The devices that ``auto``, ``cpu`` or ``cuda`` allows.

    Raises:
        HypersphereError: the setting is ``cuda`` and torch finds no GPU.
    """
    count = torch.cuda.device_count() if setting != "cpu" else 0
    if setting == "cuda" and not count:
        raise HypersphereError("device: cuda was asked for, but torch finds no CUDA device; allowed here: auto, cpu")
    return [torch.device("cuda", i) for i in range(count)] or [torch.device("cpu")]


@contextmanager
def acquire(setting: str) -> Iterator[torch.device]:
    """Hold a device while the block runs. A GPU is guarded by a file lock; if none is free, wait for one.

    Snakemake counts GPUs but assigns none, so parallel jobs must share them out among themselves. A GPU that does not
    answer is skipped, with a note.

    Raises:
        HypersphereError: no GPU answers.
    """
    candidates = list(devices(setting))
    if candidates[0].type == "cpu":
        yield candidates[0]
        return
    while True:
        for device in tuple(candidates):
            try:
                lock = _claim(device, WAIT_SECONDS / len(candidates))
            except (RuntimeError, AssertionError) as error:  # torch asserts that a device's index is below its count
                _drop(candidates, device, error)
                continue
            if lock is None:
                continue
            try:
                yield device
            finally:
                lock.release()
            return


def _claim(device: torch.device, seconds: float) -> FileLock | None:
    """Lock a GPU and make it torch's current device; None if another process holds the lock for ``seconds``.

    Raises:
        RuntimeError, AssertionError: the GPU does not answer.
    """
    lock = FileLock(_lock_path(device), mode=0o666)  # whoever else uses this machine must be able to lock it too
    try:
        lock.acquire(timeout=seconds)
    except Timeout:
        return None
    try:
        torch.cuda.set_device(device)
    except RuntimeError:
        lock.release()
        raise
    return lock


def _drop(candidates: list[torch.device], device: torch.device, error: Exception) -> None:
    """Remove a GPU that does not answer from the candidates.

    Raises:
        HypersphereError: it was the last one.
    """
    problem = f"device: {device} does not answer ({first_line(error)})"
    candidates.remove(device)
    if not candidates:
        raise HypersphereError(f"{problem}; run again when it is back, or with device: cpu") from None
    print(f"note: {problem}; it is skipped", flush=True)


def is_out_of_memory(error: Exception) -> bool:
    """Whether this computer or its GPU is short of memory, and not a word of a path or of another error says so."""
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, RuntimeError | SafetensorError) and bool(_MEMORY.search(first_line(error)))


def first_line(error: Exception) -> str:
    """First line of an error's message, without a full stop: CUDA's messages are paragraphs."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return " ".join(lines[0].split()).rstrip(".")


def _lock_path(device: torch.device) -> Path:
    """One lock file per physical device, whatever its index among the CUDA_VISIBLE_DEVICES that Slurm, say, sets.

    Its uuid says which it is; where torch knows none, the entry of that variable does.
    """
    name = getattr(torch.cuda.get_device_properties(device), "uuid", None)
    if name is None:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        name = visible.split(",")[device.index].strip() if visible else device.index
    return Path(tempfile.gettempdir()) / f"hypersphere-gpu-{name}.lock"


def describe(device: torch.device) -> str:
    """The device's name, for people."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"


def precision(wanted: str, device: torch.device) -> torch.dtype:
    """bfloat16 if it is wanted and the device is a GPU that has instructions for it, else float32.

    Every processor computes in float32: some have no instructions for bfloat16, and numbers of two precisions would not
    be comparable.
    """
    able = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.bfloat16 if able and wanted == "bfloat16" else torch.float32


def free(device: torch.device) -> None:
    """Free memory that nothing refers to any more; torch otherwise keeps a GPU's memory for the process."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
