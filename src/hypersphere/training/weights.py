"""Weights of encoders and heads as safetensors, as they are written while a run is trained."""

from pathlib import Path

from safetensors.torch import save
from torch import Tensor, nn

from hypersphere import files

ENCODER = "encoder.safetensors"
HEADS = "heads.safetensors"
"""The modules between the encoder's output and the embeddings at the end of training: ``Method.head``."""


def snapshot_names(epoch: int) -> tuple[str, str]:
    """Both files of a snapshot after ``epoch`` epochs, encoder and heads, relative to the run's folder.

    The snapshot is unusable if either is missing.
    """
    return (
        f"snapshots/epoch-{epoch:04d}.safetensors",
        f"snapshots/epoch-{epoch:04d}.heads.safetensors",
    )


def plain(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same values in the same precision: contiguous, on the CPU, without autograd history."""
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}


def write_tensors(
    path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None
) -> None:
    """Write plain tensors atomically, in a file that whoever may read the folder may read."""
    with files.replacing(path) as temporary:
        # save_file would make files that only their owner may read
        temporary.write_bytes(save(tensors, metadata))


def save_weights(module: nn.Module, path: Path) -> None:
    """Write a module's parameters and buffers."""
    write_tensors(path, plain(module.state_dict()))
