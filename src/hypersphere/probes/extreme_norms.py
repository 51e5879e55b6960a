"""The images of highest and of lowest norm in each class, as pictures."""

import numpy as np
import pandas as pd

from hypersphere.arguments import PositiveInt
from hypersphere.datasets.types import TRAIN
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult, reading

MEASURES = ("norm",)

EXTREMES = {"highest": True, "lowest": False}
"""The readings, and whether the largest norms come first."""


def extreme_norms(frozen: Frozen, *, count: PositiveInt = 10) -> ProbeResult:
    """Choose, in each class, the ``count`` training images of largest and those of smallest norm, in float64.

    Norms paper, Fig. S6, by the norm of the embeddings. A class with fewer images shows all of them, at both ends.

    Returns:
        The mean norm of the chosen images, ``norm;split=train;extreme=highest`` and so on; a table with a row per
        image: split, extreme, row (its class), column (its rank, from 1), caption (its norm), image (its place in the
        split, from 0) and norm; and the images. Of equal norms the earlier image comes first.
    """
    norms = frozen.features(TRAIN).double().norm(dim=1)
    labels, names = frozen.labels(TRAIN), frozen.class_names()
    chosen = []
    for extreme, largest_first in EXTREMES.items():
        order = norms.argsort(descending=largest_first, stable=True)
        for label, name in enumerate(names):
            of_class = order[labels[order] == label][:count].tolist()
            chosen += [(extreme, name, rank, image) for rank, image in enumerate(of_class, start=1)]
    table = pd.DataFrame(chosen, columns=["extreme", "row", "column", "image"])
    images = table["image"].to_numpy(int)
    norm = norms.cpu().numpy()[images]
    captions = [f"{length:#.3g}".rstrip(".") for length in norm]
    table = table.assign(split=TRAIN, norm=norm, caption=captions)
    means = table.groupby("extreme")["norm"].mean()
    values = {
        reading("norm", split=TRAIN, extreme=extreme): float(means[extreme]) for extreme in EXTREMES
    }
    return ProbeResult(values, table, np.asarray(frozen.images(TRAIN)[images]), n=len(norms))
