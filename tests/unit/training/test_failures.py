"""What an error says of the machine, in one sentence; what is the program's own fault is left to a traceback.

The words are those that torch gives such errors, and numpy, and the system.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.training import failures
from hypersphere.training.checkpoint import Progress
from hypersphere.training.failures import diagnose, step_of

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")
ON_GPU: list[Exception] = [
    torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of"),
    torch.cuda.OutOfMemoryError("Allocation on device 0 would exceed allowed memory. (out of memory)"),
    RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other call"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
]
ON_CPU: list[Exception] = [
    MemoryError(),
    MemoryError("Unable to allocate 20.0 GiB for an array with shape (100, 100)"),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
        "allocate 4915200 bytes. Error code 12 (Cannot allocate memory)"
    ),
    RuntimeError("[enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not enough memory: you tried to"),
    RuntimeError("std::bad_alloc"),
    OSError(12, "Cannot allocate memory"),
]
FAILED: list[RuntimeError] = [
    RuntimeError("CUDA error: unspecified launch failure\nCUDA kernel errors might be reported"),
    RuntimeError("CUDA error: an illegal memory access was encountered"),
    RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(...)`"),
    RuntimeError("CUDA driver error: unknown error"),
    RuntimeError("CUDA unknown error - this may be due to an incorrectly set up environment"),
    RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"),
    RuntimeError("cuDNN Frontend error: [cudnn_frontend] Error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE"),
]
OTHERS: list[Exception] = [
    RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
    RuntimeError("cublas: set CUBLAS_WORKSPACE_CONFIG=:4096:8, see CUDA error handling"),
    RuntimeError("CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasGemmEx(...)`"),
    RuntimeError("cuDNN error: CUDNN_STATUS_BAD_PARAM"),
    ValueError("CUDA error: out of memory"),
    OSError(28, "No space left on device"),
    HypersphereError("x.npy: cannot be written (Cannot allocate memory)"),
    RuntimeError(),
]


@pytest.fixture
def run(make_run: Callable[..., Run]) -> Run:
    return make_run(batch={"size": 64, "micro": 16})


@pytest.mark.parametrize("error", ON_GPU, ids=str)
def test_a_gpu_short_of_memory_is_named(run: Run, error: Exception) -> None:
    failure = diagnose(error, run, GPU, "NVIDIA H200")
    assert failure is not None
    assert failure.kind == "memory"
    said = failure.error("the state of step 12 is kept")
    assert type(said) is HypersphereError
    assert str(said) == (
        "out of memory on cuda:0 (NVIDIA H200) before the first step, in passes of 16 images; the state of step 12 is "
        "kept: run again on a machine with more memory (a smaller batch.micro would be another run)"
    )


@pytest.mark.parametrize("error", ON_CPU, ids=repr)
def test_a_computer_short_of_memory_is_named_whatever_the_device(run: Run, error: Exception) -> None:
    for device in (CPU, GPU):
        failure = diagnose(error, run, device, "NVIDIA H200")
        assert failure is not None
        assert failure.kind == "memory"
        assert failure.what == "out of memory on cpu before the first step, in passes of 16 images"


@pytest.mark.parametrize("error", FAILED, ids=str)
def test_a_device_that_fails_is_named_with_the_first_line_of_its_error(run: Run, error: RuntimeError) -> None:
    failure = diagnose(error, run, GPU, "NVIDIA H200")
    assert failure is not None
    assert failure.kind == "device"
    said = failure.error("nothing was saved yet")
    assert isinstance(said, failures.DeviceFailedError)
    first = str(error).partition("\n")[0]
    assert str(said) == (
        f"the device cuda:0 (NVIDIA H200) failed before the first step ({first}); nothing was saved yet: run again "
        "when it is back"
    )


@pytest.mark.skipif(not hasattr(torch, "AcceleratorError"), reason="torch before 2.8 has no such error")
def test_an_accelerators_error_is_one_whatever_its_words(run: Run) -> None:
    failure = diagnose(torch.AcceleratorError("gone."), run, GPU, "X")
    assert failure is not None
    assert failure.what.endswith("(gone)")
    assert diagnose(RuntimeError("gone."), run, GPU, "X") is None  # the control


def test_a_failed_assert_on_the_device_is_a_defect_that_ends_it(run: Run) -> None:
    """The program is at fault, and its traceback is wanted; but no more is computed there in this process."""
    failure = diagnose(RuntimeError("CUDA error: device-side assert triggered\nCompile with"), run, GPU, "X")
    assert failure is not None
    assert failure.kind == "defect"
    assert isinstance(failure.error("k"), failures.DeviceFailedError)
    assert str(failure.error("k")).endswith("triggered); k: the traceback says which operation refused its input")


@pytest.mark.parametrize("error", OTHERS, ids=repr)
def test_what_else_goes_wrong_says_nothing_of_the_machine(run: Run, error: Exception) -> None:
    assert diagnose(error, run, GPU, "X") is None


def test_the_step_is_that_which_the_loop_was_taking() -> None:
    def taking(progress: Any) -> None:
        raise RuntimeError

    for given, expected in ((Progress({}, step=16), 17), (Progress({}), 1), ("another thing", None)):
        with pytest.raises(RuntimeError) as caught:
            taking(given)
        assert step_of(caught.value) == expected
    assert step_of(RuntimeError("never raised")) is None
