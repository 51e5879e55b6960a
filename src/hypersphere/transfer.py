"""Tensors on their way to a device."""

import torch
from torch import Tensor


def send(tensor: Tensor, device: torch.device, dtype: torch.dtype | None = None) -> Tensor:
    """The tensor on a device, and perhaps in another type; the host does not wait until it is there.

    From pinned memory a GPU fetches it alone. From other memory the host would first wait for all earlier kernels.
    """
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device, dtype, non_blocking=True)
