"""What the machine does to a run in training, in one sentence each: no memory left, a device that fails.

Whatever else goes wrong in training is a defect of the program, and deserves a traceback.
"""

import errno
import re
import traceback
from typing import Literal, NamedTuple

import torch

from hypersphere.declared.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.training import device as devices
from hypersphere.training.checkpoint import Progress

_MEMORY = re.compile(
    r"CUDA error: out of memory|CUDA out of memory|_STATUS_ALLOC_FAILED"
    r"|DefaultCPUAllocator: (can't allocate|not enough) memory|std::bad_alloc|Cannot allocate memory"
)
_ON_GPU = re.compile(r"CUDA|_STATUS_")
_DEVICE = re.compile(r"^(CUDA|HIP) (driver |unknown )?error|(CUBLAS|CUDNN|CUSOLVER|CUFFT)_STATUS_")
_REFUSED = re.compile(r"_STATUS_(NOT_SUPPORTED|BAD_PARAM|INVALID_VALUE)")
"""A library's answer to a call that it does not take: the device is well."""
_ASSERT = re.compile(r"device-side assert")


class DeviceFailedError(HypersphereError):
    """The device computes nothing more in this process."""


class Failure(NamedTuple):
    """What became of a run."""

    kind: Literal["memory", "device", "defect"]
    what: str
    remedy: str

    def error(self, kept: str) -> HypersphereError:
        """To raise; ``kept`` says from where the run goes on."""
        kind = HypersphereError if self.kind == "memory" else DeviceFailedError
        return kind(f"{self.what}; {kept}: {self.remedy}")


def known(error: Exception, run: Run, device: torch.device, name: str) -> Failure | None:
    """What ``error``, raised while ``run`` was trained on ``device``, called ``name``, says of the machine.

    None if it says nothing of it. A device-side assert does, although the program is at fault: a GPU computes nothing
    more in the process in which one failed.
    """
    text, at = devices.first_line(error), _at(step_of(error))
    place = f"{device} ({name})" if device.type != "cpu" else "cpu"
    if _is_memory(error):
        on_gpu = isinstance(error, torch.cuda.OutOfMemoryError) or _ON_GPU.search(text)
        what = f"out of memory on {place if on_gpu else 'cpu'} {at}, in passes of {run.batch.micro} images"
        remedy = "run again where there is more (with a smaller batch.micro it would be another run)"
        return Failure("memory", what, remedy)
    if _is_device(error):
        what = f"the device {place} failed {at} ({text})"
        if _ASSERT.search(text):
            return Failure("defect", what, "the traceback says which operation refused its input")
        return Failure("device", what, "run again when it is back")
    return None


def step_of(error: BaseException) -> int | None:
    """The step, counted from 1, that was being taken when ``error`` was raised; None if training had not begun.

    The frame that caught it is not looked at: what is looked at keeps its values, this error among them.
    """
    for frame, _ in traceback.walk_tb(error.__traceback__.tb_next if error.__traceback__ else None):
        progress = frame.f_locals.get("progress")
        if isinstance(progress, Progress):
            return progress.step + 1
    return None


def _at(step: int | None) -> str:
    return "before the first step" if step is None else f"at step {step}"


def _is_memory(error: Exception) -> bool:
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, RuntimeError) and bool(_MEMORY.search(devices.first_line(error)))


def _is_device(error: Exception) -> bool:
    if not isinstance(error, RuntimeError) or _REFUSED.search(devices.first_line(error)):
        return False
    return isinstance(error, getattr(torch, "AcceleratorError", ())) or bool(_DEVICE.search(devices.first_line(error)))
