"""Norms of a run's embeddings or features, image by image."""

from collections.abc import Mapping

import pandas as pd
from jaxtyping import Float64
from torch import Tensor

from hypersphere.datasets.types import TEST
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult, reading

MEASURES = ("norm",)


def norms(frozen: Frozen) -> ProbeResult:
    """Euclidean norms of the embeddings of all images of all splits, before any normalisation, in float64.

    Norms paper, Figs. 3 to 5 and Table S4.

    Returns:
        The mean for each split, ``norm;split=train`` and so on, and a table with one row per image: split, image (its
        place in the split, from 0) and norm.
    """
    lengths = {split: frozen.embeddings(split).double().norm(dim=1) for split in frozen.splits}
    return by_image("norm", lengths)


def by_image(measure: str, by_split: Mapping[str, Float64[Tensor, "n"]]) -> ProbeResult:
    """A number for each image of each split: its mean over a split, and a table with a row per image."""
    numbers = {split: number.cpu().numpy() for split, number in by_split.items()}
    rows = [
        pd.DataFrame({"split": split, "image": range(len(one)), measure: one})
        for split, one in numbers.items()
    ]
    values = {reading(measure, split=split): float(one.mean()) for split, one in numbers.items()}
    return ProbeResult(values, pd.concat(rows, ignore_index=True), n=len(numbers.get(TEST, ())))
