"""Which device a process computes on, and that no other job of ours computes there."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from filelock import FileLock, Timeout

from hypersphere.errors import HypersphereError

# cuBLAS is deterministic only with a fixed workspace, and reads this before its first call.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

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

    Snakemake counts ``gpu`` but assigns none, so that jobs side by side must share them out among themselves.
    """
    candidates = devices(setting)
    if candidates[0].type == "cpu":
        yield candidates[0]
        return
    while True:
        for device in candidates:
            lock = FileLock(_lock_path(device))
            try:
                lock.acquire(timeout=WAIT_SECONDS / len(candidates))
            except Timeout:
                continue
            try:
                torch.cuda.set_device(device)
                yield device
            finally:
                lock.release()
            return


def _lock_path(device: torch.device) -> Path:
    """One file per physical device: indices change with CUDA_VISIBLE_DEVICES, the device's uuid does not."""
    uuid = getattr(torch.cuda.get_device_properties(device), "uuid", device.index)
    return Path(tempfile.gettempdir()) / f"hypersphere-gpu-{uuid}.lock"


def make_deterministic(threads: int) -> None:
    """Deterministic algorithms, no autotuning, and a thread count that does not depend on the machine."""
    torch.set_num_threads(threads)
    # The same switch as use_deterministic_algorithms(True), without its import of the compiler, which takes seconds.
    torch.set_deterministic_debug_mode("error")
    # Filling every new tensor guards against reads of unwritten memory, which nothing here does; it costs a quarter.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.backends.cudnn.benchmark = False


def describe(device: torch.device) -> str:
    """What the device is called, in words for people."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
