"""The form in which tensors are saved, in weights and in resume states."""

from torch import Tensor


def plain(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same values in the same precision: contiguous, on the CPU, without autograd history."""
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
