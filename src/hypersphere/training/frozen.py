"""Weights of a trained run, read back: an edit here concerns who measures a run, and trains none again."""

from pathlib import Path

from safetensors.torch import load_file
from torch import nn

from hypersphere.config.run import Run
from hypersphere.training.build import assemble
from hypersphere.training.weights import ENCODER, HEADS, snapshot_names


def weight_files(run: Run, epoch: int) -> tuple[str, str]:
    """Files of a run's encoder and head after ``epoch`` epochs, relative to the run's folder."""
    return (ENCODER, HEADS) if epoch == run.schedule.epochs else snapshot_names(epoch)


def load_frozen(run: Run, folder: Path, epoch: int) -> tuple[nn.Module, nn.Module]:
    """A run's encoder and head after ``epoch`` epochs, in evaluation mode, without gradients, on the CPU.

    Whoever asks has checked the files against the run's manifest. No dataset is needed: the number of classes, if the
    head has one, is read from its file.
    The encoder maps [n, 3, h, w] to [n, feature_dim], and the head from there to embeddings [n, d] (``Method.head``).
    """
    encoder_file, heads_file = weight_files(run, epoch)
    heads = load_file(folder / heads_file)
    classifier = heads.get("classifier.weight")  # a supervised head's, with one row per class
    method = assemble(run, images=1, classes=1 if classifier is None else len(classifier))
    method.eval().requires_grad_(False)
    head = method.head.eval()
    head.load_state_dict(heads)
    method.encoder.load_state_dict(load_file(folder / encoder_file))
    return method.encoder, head
