"""All numerical switches of a process that trains or computes a result."""

import os

import torch

from hypersphere.training import startup


def make_deterministic(threads: int) -> None:
    """Deterministic algorithms, no autotuning, and a thread count that does not depend on the machine.

    Call it before anything is computed on a GPU.

    Args:
        threads: number of CPU threads for one operation; the rounding of sums depends on it.
    """
    # cuBLAS is deterministic only with a fixed workspace, and reads this before its first call.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(threads)
    # The same switch as use_deterministic_algorithms(True), without its import of the compiler, which takes seconds.
    torch.set_deterministic_debug_mode("error")
    # Filling every new tensor guards against reads of unwritten memory. Nothing here reads any, and it costs a quarter
    # of the time.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.backends.cudnn.benchmark = False
    startup.leave_the_compiler_out()
