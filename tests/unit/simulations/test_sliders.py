"""Curves of the figures with a slider: autograd of the losses against closed forms of the softmax and of the cosine."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from hypersphere.simulations.sliders import compute as sliders

Array = NDArray[np.float64]


def table(paper: str) -> pd.DataFrame:
    """The study's numbers for a document."""
    return sliders.sliders(cast(Any, SimpleNamespace(paper=paper))).tables["sliders"]


def margins(part: pd.DataFrame) -> Array:
    """Margins paper, Eq. 4 and 15 with one positive: the logit, and (1 - q)·|sin(theta + m1)|/t."""
    angular, subtractive = (np.where(part["line"] == line, part["stop"], 0) for line in ("angular", "subtractive"))
    logit = (np.cos(part["x"] + angular) - subtractive) / 0.25
    gradient = np.abs(np.sin(part["x"] + angular)) / 0.25 * 255 / (255 + np.exp(logit))
    return np.where(part["panel"] == "logit", logit, gradient)


def norms(part: pd.DataFrame) -> Array:
    """Norms paper, Prop. 3.1 and Cor. 3.3: sin/norm, and Pythagoras; GradScale (p = 1) multiplies by the norm."""
    size = np.sin(part["x"]) / np.where(part["line"] == "plain", part["stop"], 1)
    return np.where(part["panel"] == "gradient", size, np.hypot(part["stop"], size) - part["stop"])


@pytest.mark.parametrize(("paper", "closed"), [("margins", margins), ("embedding_norms", norms)])
def test_curves_by_angle_are_those_of_closed_forms(paper: str, closed: Any) -> None:
    """Places and values are rounded to four digits."""
    numbers = table(paper)
    np.testing.assert_allclose(numbers["y"], closed(numbers), rtol=1e-3, atol=4e-3)
