"""Weights of a trained run, read back: an edit here concerns who measures a run, and trains none again."""

from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.training.build import assemble
from hypersphere.training.weights import ENCODER, HEADS, snapshot_names

CLASSIFIER = "classifier.weight"
"""Name of a supervised head's tensor with one row per class; other heads have none."""


def weight_files(run: Run, epoch: int) -> tuple[str, str]:
    """Files of a run's encoder and head after ``epoch`` epochs, relative to the run's folder."""
    return (ENCODER, HEADS) if epoch == run.schedule.epochs else snapshot_names(epoch)


def read_weights(path: Path) -> dict[str, Tensor]:
    """Parameters and buffers by their names, on the CPU; a missing or damaged file is a sentence."""
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise HypersphereError(f"{path}: not a readable safetensors file ({error})") from None


def load_weights(module: nn.Module, path: Path) -> None:
    """Read parameters and buffers into a module; a file of another architecture is a sentence too."""
    weights = read_weights(path)
    try:
        module.load_state_dict(weights, strict=True)
    except RuntimeError as error:
        detail = str(error).splitlines()[-1].strip()
        raise HypersphereError(f"{path}: the weights are of another architecture ({detail})") from None


def load_frozen(run: Run, folder: Path, epoch: int) -> tuple[nn.Module, nn.Module]:
    """A run's encoder and head after ``epoch`` epochs, in evaluation mode, without gradients, on the CPU.

    No dataset is needed: the number of classes, if the head has one, is read from its file.
    The encoder maps [n, 3, h, w] to [n, feature_dim], and the head from there to embeddings [n, d] (``Method.head``).
    """
    encoder_file, heads_file = (folder / name for name in weight_files(run, epoch))
    classifier = read_weights(heads_file).get(CLASSIFIER)
    method = assemble(run, images=1, classes=1 if classifier is None else len(classifier))
    method.eval().requires_grad_(False)
    encoder, head = method.encoder, method.head.eval()
    load_weights(encoder, encoder_file)
    load_weights(head, heads_file)
    return encoder, head
