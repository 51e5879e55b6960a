"""Norms of a run's embeddings in units of their mean over the images that it was trained on."""

from hypersphere.datasets.types import TRAIN
from hypersphere.errors import NotFiniteError
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.norms import by_image
from hypersphere.probes.result import ProbeResult

MEASURES = ("relative_norm",)


def relative_norms(frozen: Frozen) -> ProbeResult:
    """Euclidean norms of the embeddings of all images, over their mean on the run's own training images, in float64.

    Norms paper, Figs. 3 and S5: "normalized by the training set's mean embedding magnitude".

    Returns:
        The mean for each split, ``relative_norm;split=train`` and so on, 1 for the images trained on; and a table with
        a row per image: split, image (its place in the split, from 0) and relative_norm.

    Raises:
        NotFiniteError: all embeddings of the training images are zero, so that there is no unit.
    """
    unit = frozen.home.embeddings(TRAIN).double().norm(dim=1).mean().item()
    if unit == 0:
        raise NotFiniteError(
            "the embeddings of all training images are zero, so that no norm is relative to theirs"
        )
    return by_image(
        "relative_norm",
        {split: frozen.embeddings(split).double().norm(dim=1) / unit for split in frozen.splits},
    )
