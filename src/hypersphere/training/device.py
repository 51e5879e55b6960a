"""Which device a process computes on, a lock that keeps other hypersphere jobs off it, and what its failures say."""

import errno
import os
import re
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError

from hypersphere import files
from hypersphere.config.project import Precision
from hypersphere.errors import HypersphereError

WAIT_SECONDS = 1.0
_MEMORY = re.compile(
    r"CUDA error: out of memory|CUDA out of memory|_STATUS_ALLOC_FAILED"
    r"|DefaultCPUAllocator: (can't allocate|not enough) memory|std::bad_alloc|Cannot allocate memory"
)
_ON_GPU = re.compile(r"CUDA|_STATUS_")
_DEVICE = re.compile(r"^(CUDA|HIP) (driver |unknown )?error|(CUBLAS|CUDNN|CUSOLVER|CUFFT)_STATUS_")
_REFUSED = re.compile(r"_STATUS_(NOT_SUPPORTED|BAD_PARAM|INVALID_VALUE)")
"""A library refused a call: the device still works."""


class DeviceFailedError(HypersphereError):
    """The device can no longer be used by this process."""


def devices(setting: str) -> list[torch.device]:
    """The devices that ``auto``, ``cpu`` or ``cuda`` allows; ``cuda`` where torch finds no GPU is a sentence."""
    count = torch.cuda.device_count() if setting != "cpu" else 0
    if setting == "cuda" and not count:
        raise HypersphereError(
            "device: cuda was asked for, but torch finds no CUDA device; allowed here: auto, cpu"
        )
    return [torch.device("cuda", i) for i in range(count)] or [torch.device("cpu")]


@contextmanager
def acquire(setting: str, slots: int = 1) -> Iterator[torch.device]:
    """Hold a slot of a device while the block runs. A GPU's slots are guarded by file locks; wait for a free one.

    Snakemake counts GPUs but assigns none, so parallel jobs must share them out among themselves. A GPU has one slot,
    or so many: each may take its share of the memory, and a job that needs more is out of memory. All jobs of a machine
    must be given the same number.
    """
    candidates = devices(setting)
    if candidates[0].type == "cpu":
        yield candidates[0]
        return
    places = list(product(range(slots), candidates))
    while True:
        for slot, device in places:
            try:
                lock = _claim(device, slot, WAIT_SECONDS / len(places))
            except Timeout:  # another process holds it
                continue
            # torch asserts that a device's index is below its count
            except (RuntimeError, AssertionError) as error:
                problem = f"device: {device} does not answer ({first_line(error)})"
                raise HypersphereError(
                    f"{problem}; run again when it is back, or with device: cpu"
                ) from None
            if slots > 1:
                torch.cuda.set_per_process_memory_fraction(1 / slots, device)
            try:
                yield device
            finally:
                lock.release()
            return


def _claim(device: torch.device, slot: int, seconds: float) -> FileLock:
    """Lock a GPU's slot and make it torch's current device; Timeout if another process has it for ``seconds``.

    There is one file for each slot of a physical device, whatever its index among the CUDA_VISIBLE_DEVICES that Slurm,
    say, sets. Its uuid says which it is; where torch knows none, the entry of that variable does.
    """
    name = getattr(torch.cuda.get_device_properties(device), "uuid", None)
    if name is None:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        name = visible.split(",")[device.index].strip() if visible else device.index
    number = f"-{slot}" if slot else ""
    file = f"hypersphere-gpu-{name}{number}.lock"
    try:
        # other people's jobs must be able to lock it
        lock = FileLock(Path(tempfile.gettempdir()) / file, mode=0o666)
        lock.acquire(timeout=seconds)
    except Timeout:
        raise
    except OSError as error:
        raise files.no_room(error, file) from None
    try:
        torch.cuda.set_device(device)
    except RuntimeError:
        lock.release()
        raise
    return lock


def is_out_of_memory(error: Exception) -> bool:
    """Whether this computer or its GPU is short of memory, and not a word of a path or of another error says so."""
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    if isinstance(error, RuntimeError | SafetensorError):
        return _MEMORY.search(first_line(error)) is not None
    return False


def first_line(error: Exception) -> str:
    """First line of an error's message, without a full stop: CUDA's messages are paragraphs."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return " ".join(lines[0].split()).rstrip(".")


def failure(error: Exception, device: torch.device, at: str) -> HypersphereError | None:
    """The machine's failure behind an error of training, in one sentence; None if the machine is not the cause.

    A device-side assert counts as one although the program is at fault, because afterwards the process can no longer
    use the GPU; its traceback is printed. ``at`` says at which step the error was raised, and which state is kept.
    """
    text = first_line(error)
    place = f"{device} ({describe(device)})" if device.type != "cpu" else "cpu"
    if is_out_of_memory(error):
        on_gpu = isinstance(error, torch.cuda.OutOfMemoryError) or _ON_GPU.search(text)
        remedy = "run again on a machine with more memory (more batch.parts would be another run)"
        return HypersphereError(f"out of memory on {place if on_gpu else 'cpu'} {at}: {remedy}")
    if not isinstance(error, RuntimeError) or _REFUSED.search(text):
        return None
    if isinstance(error, getattr(torch, "AcceleratorError", ())) or _DEVICE.search(text):
        remedy = "run again when it is back"
        if "device-side assert" in text:
            traceback.print_exception(error)
            remedy = "the traceback says which operation refused its input"
        return DeviceFailedError(f"the device {place} failed ({text}) {at}: {remedy}")
    return None


def describe(device: torch.device) -> str:
    """The device's name, for people."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"


def precision(wanted: Precision, device: torch.device) -> Precision:
    """What is wanted on a GPU; float32 on a processor, and for bfloat16 on a GPU that has no instructions for it.

    Every processor computes in float32: some have no instructions for bfloat16, and numbers of two precisions would not
    be comparable.
    """
    if device.type == "cpu":
        return "float32"
    able = torch.cuda.is_bf16_supported(including_emulation=False)
    return "float32" if wanted == "bfloat16" and not able else wanted
