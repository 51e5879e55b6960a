"""Failures of the machine during training, each reported in one sentence: out of memory, or a device that fails.

Any other error in training is a defect of the program, and gets a traceback.
"""

import re
import traceback
from typing import Literal, NamedTuple

import torch

from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.training import device as devices
from hypersphere.training.checkpoint import Progress

_ON_GPU = re.compile(r"CUDA|_STATUS_")
_DEVICE = re.compile(r"^(CUDA|HIP) (driver |unknown )?error|(CUBLAS|CUDNN|CUSOLVER|CUFFT)_STATUS_")
_REFUSED = re.compile(r"_STATUS_(NOT_SUPPORTED|BAD_PARAM|INVALID_VALUE)")
"""A library refused a call: the device still works."""
_ASSERT = re.compile(r"device-side assert")


class DeviceFailedError(HypersphereError):
    """The device can no longer be used by this process."""


class Failure(NamedTuple):
    """Why the machine ended a run's training."""

    kind: Literal["memory", "device", "defect"]
    what: str
    remedy: str

    def error(self, saved: str) -> HypersphereError:
        """The error to raise; ``saved`` says which state the run resumes from."""
        kind = HypersphereError if self.kind == "memory" else DeviceFailedError
        return kind(f"{self.what}; {saved}: {self.remedy}")


def diagnose(error: Exception, run: Run, device: torch.device, name: str) -> Failure | None:
    """The machine's failure behind an error of training; None if the machine is not the cause.

    A device-side assert counts as one although the program is at fault, because afterwards the process can no longer
    use the GPU.

    Args:
        error: raised while training.
        run: being trained.
        device: it was trained on.
        name: of the device, for people.
    """
    text, at = devices.first_line(error), _at(step_of(error))
    place = f"{device} ({name})" if device.type != "cpu" else "cpu"
    if devices.is_out_of_memory(error):
        on_gpu = isinstance(error, torch.cuda.OutOfMemoryError) or _ON_GPU.search(text)
        what = f"out of memory on {place if on_gpu else 'cpu'} {at}, in passes of {run.batch.micro} images"
        remedy = "run again on a machine with more memory (a smaller batch.micro would be another run)"
        return Failure("memory", what, remedy)
    if _is_device(error):
        what = f"the device {place} failed {at} ({text})"
        if _ASSERT.search(text):
            return Failure("defect", what, "the traceback says which operation refused its input")
        return Failure("device", what, "run again when it is back")
    return None


def step_of(error: BaseException) -> int | None:
    """The step, counted from 1, during which ``error`` was raised; None if training had not begun.

    The frame that caught the error is skipped: reading a frame's locals keeps them alive, this error among them.
    """
    for frame, _ in traceback.walk_tb(error.__traceback__.tb_next if error.__traceback__ else None):
        progress = frame.f_locals.get("progress")
        if isinstance(progress, Progress):
            return progress.step + 1
    return None


def _at(step: int | None) -> str:
    return "before the first step" if step is None else f"at step {step}"


def _is_device(error: Exception) -> bool:
    if not isinstance(error, RuntimeError) or _REFUSED.search(devices.first_line(error)):
        return False
    return isinstance(error, getattr(torch, "AcceleratorError", ())) or bool(_DEVICE.search(devices.first_line(error)))
