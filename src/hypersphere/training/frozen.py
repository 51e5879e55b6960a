"""A trained run's encoder and head, read back."""

from pathlib import Path

from torch import nn

from hypersphere.declared.run import Run
from hypersphere.training import checkpoint
from hypersphere.training.build import assemble

CLASSIFIER = "classifier.weight"
"""The tensor of a head that has a row for each class, if any has."""


def weight_files(run: Run, epoch: int) -> tuple[str, str]:
    """Where a run's encoder and head after ``epoch`` epochs are, in its folder."""
    last = epoch == run.schedule.epochs
    return (checkpoint.ENCODER, checkpoint.HEADS) if last else checkpoint.snapshot_names(epoch)


def load_frozen(run: Run, folder: Path, epoch: int) -> tuple[nn.Module, nn.Module]:
    """A run's encoder and head as they were after ``epoch`` epochs, in eval mode, without gradients, on the CPU.

    No data are needed: the number of classes, where a head knows one, is read off its file.

    Args:
        run: of which they are.
        folder: where its files are.
        epoch: the last of the schedule, or one of which there is a snapshot.

    Returns:
        What maps [n, 3, h, w] to [n, feature_dim], and what maps that to embeddings [n, d] (see ``Method.head``).

    Raises:
        HypersphereError: a file is missing, damaged, or of another architecture.
    """
    encoder_file, heads_file = (folder / name for name in weight_files(run, epoch))
    classifier = checkpoint.read_weights(heads_file).get(CLASSIFIER)
    method = assemble(run, images=1, classes=1 if classifier is None else len(classifier))
    method.eval().requires_grad_(False)
    encoder, head = method.encoder, method.head.eval()
    checkpoint.load_weights(encoder, encoder_file)
    checkpoint.load_weights(head, heads_file)
    return encoder, head
