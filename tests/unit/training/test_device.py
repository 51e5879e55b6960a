"""Devices are shared out by file locks. Two are simulated: nothing here needs a GPU."""

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from hypersphere.errors import HypersphereError
from hypersphere.training import device as module
from hypersphere.training.device import DeviceFailedError, failure


@pytest.mark.parametrize("has_uuid", [True, False])
def test_a_device_is_locked_whatever_its_number_among_the_visible(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_uuid: bool
) -> None:
    """Slurm shows each job its own GPUs alone, and each job calls its first one cuda:0."""

    def visible() -> list[str]:
        return os.environ["CUDA_VISIBLE_DEVICES"].split(",")

    def properties(device: torch.device) -> SimpleNamespace:
        return (
            SimpleNamespace(uuid=f"GPU-{visible()[device.index]}")
            if has_uuid
            else SimpleNamespace()
        )

    def first(shown: str, job: ExitStack) -> torch.device:
        """The device that a job with these devices gets."""
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
        return job.enter_context(module.acquire("auto"))

    def job() -> torch.device:
        with module.acquire("auto") as device:
            return device

    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(visible()))
    monkeypatch.setattr(torch.cuda, "get_device_properties", properties)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.02)
    with ThreadPoolExecutor() as pool, ExitStack() as one, ExitStack() as two, ExitStack() as three:
        # neither waits for the other
        assert first("0", one) == first("1", two) == torch.device("cuda", 0)
        third = pool.submit(job)
        with pytest.raises(TimeoutError):  # it waits until what the second holds is given back
            third.result(0.3)
        two.close()
        assert third.result(5) == torch.device("cuda", 0)
        assert first("0,2", three) == torch.device("cuda", 1)  # the one that is free
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {0o666}  # other people's jobs can lock it


def test_runs_share_a_gpu_by_slots_and_its_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of two GPUs with two slots each, four jobs fill both, the second before the first has two; a fifth one waits."""
    shares: list[float] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    named = Mock(side_effect=lambda device: SimpleNamespace(uuid=f"GPU-{device.index}"))
    monkeypatch.setattr(torch.cuda, "get_device_properties", named)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    monkeypatch.setattr(
        torch.cuda, "set_per_process_memory_fraction", lambda share, device: shares.append(share)
    )
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.02)

    def fifth() -> torch.device:
        with module.acquire("auto", slots=2) as device:
            return device

    with ThreadPoolExecutor() as pool, ExitStack() as jobs:
        held = [jobs.enter_context(module.acquire("auto", slots=2)) for _ in range(4)]
        assert [device.index for device in held] == [0, 1, 0, 1]
        waiting = pool.submit(fifth)
        with pytest.raises(TimeoutError):
            waiting.result(0.3)
        jobs.close()
        assert waiting.result(5).type == "cuda"  # whichever is given back first
    assert shares == [0.5] * 5


def test_a_gpu_that_is_counted_and_does_not_answer_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, refused: Any
) -> None:
    """A driver that hangs after the count; torch's own assertion where the count was another's."""
    errors = [
        RuntimeError("CUDA unknown error - this may be due to a\nbad setup"),
        AssertionError("Invalid device id"),
    ]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    for error in errors:
        monkeypatch.setattr(torch.cuda, "get_device_properties", Mock(side_effect=error))
        with refused("device"), module.acquire("auto"):
            pytest.fail("there is none")
    with module.acquire("cpu") as device:  # the control
        assert device == torch.device("cpu")


def test_without_a_gpu(monkeypatch: pytest.MonkeyPatch, refused: Any) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert module.devices("auto") == module.devices("cpu") == [torch.device("cpu")]
    with refused("device"):
        module.devices("cuda")
    with module.acquire("auto") as a, module.acquire("auto") as b:  # a processor is shared
        assert a == b == torch.device("cpu")
    assert module.describe(torch.device("cpu")) == "cpu"


# What an error says of the machine, in the words that torch, numpy and the system give such errors.

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")
ON_GPU: list[Exception] = [
    torch.cuda.OutOfMemoryError(
        "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of"
    ),
    RuntimeError(
        "CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other call"
    ),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
]
ON_CPU: list[Exception] = [
    MemoryError(),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried"
    ),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not enough memory: you tried to"
    ),
    RuntimeError("std::bad_alloc"),
    OSError(12, "Cannot allocate memory"),
]
FAILED = [
    "CUDA error: unspecified launch failure\nCUDA kernel errors might be reported",
    "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(...)`",
    "CUDA driver error: unknown error",
    "CUDA unknown error - this may be due to an incorrectly set up environment",
    "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
    "cuDNN Frontend error: [cudnn_frontend] Error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE",
]
OTHERS: list[Exception] = [
    RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
    RuntimeError("cublas: set CUBLAS_WORKSPACE_CONFIG=:4096:8, see CUDA error handling"),
    RuntimeError("CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasGemmEx(...)`"),
    RuntimeError("cuDNN error: CUDNN_STATUS_BAD_PARAM"),
    ValueError("CUDA error: out of memory"),
    OSError(28, "No space left on device"),
    IsADirectoryError(21, "Is a directory", "out of memory/state"),
    HypersphereError("x.npy: cannot be written (Cannot allocate memory)"),
    RuntimeError(),
]
AT = "at step 6; the state of step 5 is kept"


def test_what_an_error_says_of_the_machine(monkeypatch: pytest.MonkeyPatch, names: Any) -> None:
    """Where memory is short, and what of; which device fails, with the first line of its error; else nothing."""
    monkeypatch.setattr(module, "describe", lambda device: "NVIDIA H200")
    for errors, device in ((ON_GPU, GPU), (ON_CPU, CPU), (ON_CPU, GPU)):
        said = [failure(error, device, AT) for error in errors]
        assert {type(one) for one in said} == {HypersphereError}
        (sentence,) = {str(one) for one in said}
        names(sentence, f"out of memory on {GPU if errors is ON_GPU else CPU}")
    for text in FAILED:
        broken = failure(RuntimeError(text), GPU, AT)
        assert isinstance(broken, DeviceFailedError)
        names(broken, f"the device {GPU} (NVIDIA H200) failed")
        assert AT in str(broken)
    for error in [*OTHERS, RuntimeError("gone.")]:
        assert failure(error, GPU, AT) is None
    if hasattr(torch, "AcceleratorError"):  # since torch 2.8, whatever its words
        assert isinstance(failure(torch.AcceleratorError("gone."), GPU, AT), DeviceFailedError)


def test_a_lock_that_cannot_be_written_names_the_folder_for_temporary_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, refused: Any
) -> None:
    """It is a file there, so that all jobs of a machine see it."""
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda device: SimpleNamespace(uuid="GPU-1")
    )
    (tmp_path / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    with refused("TMPDIR", "file"):
        module._claim(torch.device("cuda", 0), 0, 0.1)
