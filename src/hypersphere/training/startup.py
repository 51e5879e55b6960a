"""A faster start of jobs that train or fit: no import of torch's compiler, which nothing here uses."""

import inspect

import torch
from torch.optim import SGD, Adam, AdamW, Optimizer

GUARDED = ("add_param_group", "zero_grad", "state_dict", "load_state_dict")


def leave_the_compiler_out() -> None:
    """Let torch's optimisers do without ``torch._dynamo``, whose import takes as long as that of torch itself.

    They import it only to tell it to leave them alone: a guard around some methods (torch/_compile.py), which first
    looks for an attribute of the method, and a break of the graph around ``step`` (torch/optim/optimizer.py). Values
    stay the same. A release of torch that does this elsewhere would import it again, and only take longer.
    """
    for name in GUARDED:
        method = inspect.unwrap(getattr(Optimizer, name))
        setattr(method, "__dynamo_disable", method)
    for kind in (SGD, Adam, AdamW):
        kind.step = torch.no_grad()(inspect.unwrap(kind.step))  # type: ignore[method-assign]
