"""What a probe returns, and how predictions become percentages."""

from typing import NamedTuple

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere.declared import coordinates
from hypersphere.declared.coordinates import Scalar
from hypersphere.errors import HypersphereError


class NotFiniteError(HypersphereError):
    """An encoder's features, or what a probe made of them, are NaN or infinite: there is nothing to measure."""


class Measured(NamedTuple):
    """Numbers of one encoder on one dataset."""

    values: dict[str, float]
    """By measure, and the readings that tell values of one measure apart: ``norm;split=train``."""
    table: pd.DataFrame | None = None
    """What a figure needs beyond numbers: one row per thing, a norm per image."""
    n: int = 0
    """Test images behind the values, 0 if there are none."""


def reading(measure: str, **readings: Scalar) -> str:
    """The key of a value: the measure, then its readings in canonical form, ``norm;split=train``."""
    return ";".join(filter(None, [measure, coordinates.text(readings)]))


def accuracy(predicted: Int[Tensor, "n"], truth: Int[Tensor, "n"]) -> float:
    """Share of predictions that are right, in percent."""
    return 100 * (predicted == truth).double().mean().item()


def top_k(scores: Float[Tensor, "n c"], truth: Int[Tensor, "n"], k: int) -> float:
    """Share of images whose class is among the k of highest score, in percent; of equal scores the lower class wins.

    Where there are no more than k classes it is 100.

    Raises:
        NotFiniteError: a score is NaN or infinite, which no comparison would notice.
    """
    bad = int((~scores.isfinite()).any(dim=1).sum())
    if bad:
        raise NotFiniteError(f"the probe's scores of {bad} of {len(scores)} test images are NaN or infinite")
    own = scores.gather(1, truth[:, None])
    lower = torch.arange(scores.shape[1], device=scores.device) < truth[:, None]
    before = (scores > own) | ((scores == own) & lower)
    return 100 * (before.sum(dim=1) < k).double().mean().item()
