"""What one setting does to a gradient, at every stop of a slider: a margin or a norm, one for each document.

Shapes: s stops, n places along the horizontal axis. Each number is of the losses that training uses; gradients are
autograd's. Numbers have four digits, as many as a page can show, so that what a page shows is what the table holds.
"""

import math
from collections.abc import Callable, Iterator

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.objectives.generalised_info_nce import info_nce_of_logits
from hypersphere.objectives.margin_logits import margin_logits
from hypersphere.simulations.cosine_field.compute import NORTH, circle, field
from hypersphere.simulations.study import Context, Study

TEMPERATURE = 0.25
"""Of the margins (App. C.1)."""
NEGATIVES = 255
"""Of an anchor, at a right angle to it: a batch of 256."""
MARGINS = [step / 20 for step in range(25)]
NORMS = [0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0]
RATE = 1.0
"""Learning rate of the one step that makes a norm grow."""
DEGREES = 3
"""Between two angles."""

Curves = Iterator[tuple[str, str, float, Tensor, Tensor]]
"""Panel, line, stop, places and values."""


def sliders(context: Context) -> Study:
    """The curves of the document's slider, one row for each place of each line at each stop."""
    parts = [
        pd.DataFrame({"panel": panel, "line": line, "stop": stop, "x": _digits(x), "y": _digits(y)})
        for panel, line, stop, x, y in OF[context.paper]()
    ]
    return Study({"sliders": pd.concat(parts, ignore_index=True)})


def margins() -> Curves:
    """Logit of the positive, and the size of its gradient, by its angle: without margin, angular, subtractive."""
    theta = angles()
    for margin in MARGINS:
        for line, given in (("none", {}), ("angular", {"angular": margin}), ("subtractive", {"subtractive": margin})):
            logit, slope = positive(theta, **given)
            yield "logit", line, margin, theta, logit
            yield "gradient", line, margin, theta, slope.abs()


def positive(
    theta: Float[Tensor, "n"], angular: float = 0.0, subtractive: float = 0.0
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    """Logit of a positive at each angle, and the derivative of InfoNCE (margins paper, Eq. 5) in that angle.

    Args:
        theta: radians.
        angular: m1, in radians.
        subtractive: m2, in units of cosine.
    """
    leaf = theta.clone().requires_grad_()
    cosines = torch.cat([leaf.cos()[:, None], torch.zeros(len(leaf), NEGATIVES, dtype=leaf.dtype)], dim=1)
    targets = torch.zeros_like(cosines)
    targets[:, 0] = 1
    logits = margin_logits(cosines, targets, temperature=TEMPERATURE, angular=angular, subtractive=subtractive)
    (slope,) = torch.autograd.grad(len(leaf) * info_nce_of_logits(logits, targets, 1.0), leaf)
    return logits[:, 0].detach(), slope


def norms() -> Curves:
    """Size of the gradient, and the norm's growth in one step, by the angle to the other embedding."""
    theta = angles()
    for norm in NORMS:
        places = circle(norm, (math.atan2(*reversed(NORTH)) - theta).numpy())
        for line, power in (("plain", 0), ("grad_scale", 1)):
            gradient = field(places, power)
            grown = torch.linalg.vector_norm(places + RATE * gradient, dim=-1) - norm
            yield "gradient", line, norm, theta, torch.linalg.vector_norm(gradient, dim=-1)
            yield "growth", line, norm, theta, grown


def angles() -> Float[Tensor, "n"]:
    """Angles from 0 to pi without the two ends, where a cosine has no slope."""
    return torch.arange(DEGREES, 180, DEGREES, dtype=torch.float64).deg2rad()


OF: dict[str, Callable[[], Curves]] = {"margins": margins, "embedding_norms": norms}


def _digits(values: Tensor) -> list[float]:
    """Four digits, and 0 for what is rounding alone."""
    return [0.0 if abs(value) < 1e-12 else float(f"{value:.4g}") for value in values.tolist()]
