"""Images in buckets by their norm, and means over each bucket."""

import math
from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from hypersphere.probes.result import reading

BUCKETS = 20
"""Norms paper, Sec. 5: ranges of 0.05."""
Scale = Literal["maximum", "range"]
"""The norm's share of the largest norm (Fig. 4's caption), or its place between the smallest and the largest (the
authors' notebook)."""


def buckets(norms: Float[Tensor, "n"], scale: Scale) -> Int[Tensor, "n"]:
    """The bucket of each image, from 1 to 20; the largest norm is in the last.

    Under ``maximum`` bucket b has norms from (b - 1)/20 of the largest to below b/20; ``range`` divides the distance
    from the smallest to the largest norm likewise. If all norms are equal, ``maximum`` puts them into the last bucket,
    and ``range`` into the first; if all are zero, both put them into the first.
    """
    norms = norms.double()
    low = norms.min() if scale == "range" else torch.zeros_like(norms[0])
    span = norms.max() - low
    share = (norms - low) / span if span > 0 else torch.zeros_like(norms)
    return (share * BUCKETS).floor().long().clamp_max(BUCKETS - 1) + 1


def by_bucket(
    measure: str, place: Int[Tensor, "n"], more_than: int, mean: Callable[[Bool[Tensor, "n"]], float]
) -> tuple[dict[str, float], dict[str, int]]:
    """``mean`` of the images of each bucket, by reading, and their number; NaN for ``more_than`` images or fewer."""
    members = {reading(measure, bucket=bucket): place == bucket for bucket in range(1, BUCKETS + 1)}
    counts = {key: int(own.sum()) for key, own in members.items()}
    values = {key: mean(own) if counts[key] > more_than else math.nan for key, own in members.items()}
    return values, counts
