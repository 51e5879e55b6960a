"""Norms of a run's embeddings or features, image by image."""

from typing import Literal

import pandas as pd

from hypersphere.datasets.types import TEST
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult, reading

MEASURES = ("norm",)
PIXELS = False


def norms(frozen: Frozen, *, layer: Literal["embeddings", "backbone"] = "embeddings") -> ProbeResult:
    """Euclidean norms of all images of all splits, before any normalisation, in float64.

    Norms paper, Figs. 3 to 5 and Table S4.

    Args:
        frozen: vectors of every split.
        layer: embeddings: the head's output, which the losses see. backbone: the encoder's output.

    Returns:
        The mean for each split, ``norm;split=train`` and so on, and a table with one row per image: split, image (its
        place in the split, from 0) and norm.
    """
    by_split = {split: frozen.features(split, layer).double().norm(dim=1).cpu().numpy() for split in frozen.splits}
    table = pd.concat(
        [pd.DataFrame({"split": split, "image": range(len(norm)), "norm": norm}) for split, norm in by_split.items()],
        ignore_index=True,
    )
    values = {reading("norm", split=split): float(norm.mean()) for split, norm in by_split.items()}
    return ProbeResult(values, table, n=len(by_split.get(TEST, ())))
