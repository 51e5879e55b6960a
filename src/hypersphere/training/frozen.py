"""Load a trained run's encoder and head."""

from pathlib import Path

from torch import nn

from hypersphere.config.run import Run
from hypersphere.training import checkpoint
from hypersphere.training.build import assemble

CLASSIFIER = "classifier.weight"
"""Name of a supervised head's tensor with one row per class; other heads have none."""


def weight_files(run: Run, epoch: int) -> tuple[str, str]:
    """Files of a run's encoder and head after ``epoch`` epochs, relative to the run's folder."""
    last = epoch == run.schedule.epochs
    return (checkpoint.ENCODER, checkpoint.HEADS) if last else checkpoint.snapshot_names(epoch)


def load_frozen(run: Run, folder: Path, epoch: int) -> tuple[nn.Module, nn.Module]:
    """A run's encoder and head after ``epoch`` epochs, in evaluation mode, without gradients, on the CPU.

    No dataset is needed: the number of classes, if the head has one, is read from its file.

    Args:
        run: the trained run.
        folder: the run's folder.
        epoch: the schedule's last, or one with a snapshot.

    Returns:
        The encoder, [n, 3, h, w] to [n, feature_dim], and the head, from there to embeddings [n, d] (``Method.head``).

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
