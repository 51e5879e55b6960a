"""Which device a process computes on, and that no other job of ours computes there."""

import gc
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from filelock import FileLock, Timeout

from hypersphere.errors import HypersphereError

WAIT_SECONDS = 1.0


def devices(setting: str) -> list[torch.device]:
    """The devices that ``auto``, ``cpu`` or ``cuda`` allows.

    Raises:
        HypersphereError: ``cuda`` is asked for and there is none.
    """
    count = torch.cuda.device_count() if setting != "cpu" else 0
    if setting == "cuda" and not count:
        raise HypersphereError("device: cuda was asked for, and torch finds no CUDA device; allowed here: auto, cpu")
    return [torch.device("cuda", i) for i in range(count)] or [torch.device("cpu")]


@contextmanager
def acquire(setting: str) -> Iterator[torch.device]:
    """Hold a device for as long as the block runs; a GPU is guarded by a file lock, and one waits for a free one.

    Snakemake counts ``gpu`` but assigns none, so that jobs side by side must share them out among themselves. A GPU
    that is counted and does not answer is left out, with a note.

    Raises:
        HypersphereError: none answers.
    """
    candidates = list(devices(setting))
    if candidates[0].type == "cpu":
        yield candidates[0]
        return
    while True:
        for device in tuple(candidates):
            try:
                lock = _claim(device, WAIT_SECONDS / len(candidates))
            except (RuntimeError, AssertionError) as error:  # torch asserts that a device's index is one it counted
                _leave_out(candidates, device, error)
                continue
            if lock is None:
                continue
            try:
                yield device
            finally:
                lock.release()
            return


def _claim(device: torch.device, seconds: float) -> FileLock | None:
    """The lock of a GPU, held, which is now the current one; None if another process holds it for ``seconds``.

    Raises:
        RuntimeError, AssertionError: it does not answer.
    """
    lock = FileLock(_lock_path(device))
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


def _leave_out(candidates: list[torch.device], device: torch.device, error: Exception) -> None:
    said = f"device: {device} does not answer ({first_line(error)})"
    candidates.remove(device)
    if not candidates:
        raise HypersphereError(f"{said}; run again when it is back, or with device: cpu") from None
    print(f"note: {said}; it is left out", flush=True)


def first_line(error: Exception) -> str:
    """What an error says, as far as it fits in a sentence: CUDA's go on for a paragraph."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return " ".join(lines[0].split()).rstrip(".")


def _lock_path(device: torch.device) -> Path:
    """One file per physical device: indices change with CUDA_VISIBLE_DEVICES, the device's uuid does not."""
    uuid = getattr(torch.cuda.get_device_properties(device), "uuid", device.index)
    return Path(tempfile.gettempdir()) / f"hypersphere-gpu-{uuid}.lock"


def describe(device: torch.device) -> str:
    """What the device is called, in words for people."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"


def free(device: torch.device) -> None:
    """Give back what nothing refers to any more: a GPU's memory is kept for the process until it is told."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
