"""All numerical switches of a process that trains or computes a result."""

import inspect
import os

import torch
from torch.optim import SGD, Adam, AdamW, Optimizer

GUARDED = ("add_param_group", "zero_grad", "state_dict", "load_state_dict")
"""Methods of torch's optimisers that import its compiler only to tell it to leave them alone."""


def make_deterministic(threads: int) -> None:
    """Deterministic algorithms, no autotuning, and so many CPU threads for one operation, whatever the machine.

    The rounding of sums depends on the threads. Call it before anything is computed on a GPU.
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
    allow_tf32(False)
    # Let torch's optimisers do without ``torch._dynamo``, whose import takes as long as that of torch itself. They
    # import it for a guard around some methods (torch/_compile.py), which first looks for an attribute of the method,
    # and for a break of the graph around ``step`` (torch/optim/optimizer.py). Values stay the same. A release of torch
    # that does this elsewhere would import it again, and only take longer.
    for name in GUARDED:
        method = inspect.unwrap(getattr(Optimizer, name))
        setattr(method, "__dynamo_disable", method)
    for kind in (SGD, Adam, AdamW):
        kind.step = torch.no_grad()(inspect.unwrap(kind.step))  # type: ignore[method-assign]


def allow_tf32(allowed: bool) -> None:
    """Whether a GPU may round the factors of products and convolutions in float32 to TF32, which has ten bits."""
    torch.backends.cudnn.allow_tf32 = allowed
    torch.backends.cuda.matmul.allow_tf32 = allowed
