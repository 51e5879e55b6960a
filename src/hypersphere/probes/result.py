"""The result of a probe, and how predictions become percentages."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from hypersphere.config import coordinates
from hypersphere.config.coordinates import Scalar
from hypersphere.datasets.types import CONFLICTING, TEST
from hypersphere.errors import NotFiniteError
from hypersphere.probes.frozen import Frozen


class ProbeResult(NamedTuple):
    """A probe's numbers for one encoder on one dataset."""

    values: dict[str, float]
    """By measure, with the readings that distinguish values of one measure: ``norm;split=train``."""
    table: pd.DataFrame | None = None
    """Further data for figures, in tidy rows: for example a norm per image."""
    pictures: UInt8[np.ndarray, "n h w 3"] | None = None
    """A picture for each row of ``table``, which then has the columns ``row`` and ``column``, its place in a grid, and
    ``caption``, which is written below it."""
    n: int = 0
    """Number of test images behind the values; 0 if there are none."""
    counts: Mapping[str, int] = MappingProxyType({})
    """Numbers of test images behind single values, by key of ``values``, where these are fewer."""


def reading(measure: str, **readings: Scalar) -> str:
    """Key of a value: the measure, then its readings in canonical form, as in ``norm;split=train``."""
    return ";".join(filter(None, [measure, coordinates.text(readings)]))


def top_k(scores: Float[Tensor, "n c"], truth: Int[Tensor, "n"], k: int) -> float:
    """Share of images whose class is among the k with the highest scores, in percent.

    Of equal scores the lower class wins. With k classes or fewer the share is 100.

    Raises:
        NotFiniteError: a score is NaN or infinite; comparisons alone would not notice.
    """
    bad = int((~scores.isfinite()).any(dim=1).sum())
    if bad:
        raise NotFiniteError(
            f"the probe's scores of {bad} of {len(scores)} test images are NaN or infinite"
        )
    score = scores.gather(1, truth[:, None])
    is_lower = torch.arange(scores.shape[1], device=scores.device) < truth[:, None]
    ahead = (scores > score) | ((scores == score) & is_lower)
    return 100 * (ahead.sum(dim=1) < k).double().mean().item()


def scored(frozen: Frozen, scores: Float[Tensor, "n c"], measures: Sequence[str]) -> ProbeResult:
    """The share of test images whose class is among those with the highest scores, in percent.

    Args:
        scores: of each test image, for each class; of fewer, the first ones.
        measures: for the first the highest class counts, for the second any of the five highest.

    Returns:
        Each measure; and of a biased set also ``<measure>;bias=aligned`` and ``<measure>;bias=conflicting``, unless
        there is no such image.
    """
    truth = frozen.labels(TEST)[: len(scores)]
    tops = dict(zip(measures, (1, 5), strict=False))
    values = {measure: top_k(scores, truth, k) for measure, k in tops.items()}
    counts = {}
    conflicting = frozen.attribute(TEST, CONFLICTING)
    groups = {} if conflicting is None else {"aligned": ~conflicting, "conflicting": conflicting}
    for name, members in groups.items():
        if not members.any():
            continue
        chosen = torch.from_numpy(members).to(scores.device)
        for measure, k in tops.items():
            key = reading(measure, bias=name)
            values[key] = top_k(scores[chosen], truth[chosen], k)
            counts[key] = int(members.sum())
    return ProbeResult(values, n=len(truth), counts=counts)
