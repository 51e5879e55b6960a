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
    orders = {
        extreme: norms.argsort(descending=largest, stable=True)
        for extreme, largest in EXTREMES.items()
    }
    chosen = [
        (extreme, names[label], rank, image)
        for extreme, order in orders.items()
        for label in range(len(names))
        for rank, image in enumerate(order[labels[order] == label][:count].tolist(), 1)
    ]
    images = [image for *_, image in chosen]
    norm = norms.cpu().numpy()[images]
    columns = ["extreme", "row", "column", "image"]
    table = pd.DataFrame(chosen, columns=columns).assign(
        split=TRAIN, norm=norm, caption=[f"{one:#.3g}".rstrip(".") for one in norm]
    )
    means = table.groupby("extreme")["norm"].mean()
    values = {
        reading("norm", split=TRAIN, extreme=extreme): float(means[extreme]) for extreme in EXTREMES
    }
    return ProbeResult(values, table, np.asarray(frozen.images(TRAIN)[images]), n=len(norms))
