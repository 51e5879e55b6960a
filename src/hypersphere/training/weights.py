"""What a tensor is when it is saved, in a run's weights as in its resume state."""

from torch import Tensor


def plain(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same values in the same precision: contiguous, on the CPU, and of no graph."""
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
