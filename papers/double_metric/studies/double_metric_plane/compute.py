"""Fig. 2 of the double-metric paper: two embeddings on the unit circle, their cosine, and the chord between them.

The figure is a sketch without numbers, so we chose the pair and the temperature. The chord's part in the gradient
follows from d|u-v|/d cos = -1/|u-v|: the logits of Eq. 2 change with a pair's cosine at the rates 1/tau (NT-Xent) and
-1/|u-v| (Euclidean, as printed) or +1/|u-v| (with the opposite sign, erratum D1).
"""

from math import asin, nan, pi

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor
from torch.linalg import vecdot

from hypersphere.exact.study import PRINTED, Context, ExactNumber, ExactStudy, everywhere, stack
from hypersphere.objectives.geometry import angles, unit

WEIGHTS = {
    "DM1": (0.75, 0.25),
    "DM2": (0.5, 0.5),
    "DM3": (0.25, 0.75),
    "DM4": (1.0, 1.0),
}
"""alpha and beta of Table 1."""
TEMPERATURES = (0.01, 0.05, 0.07, 0.1, 1.0)  # Table 5
SHOWN = (0.07, 1.0)  # the default of App. C.1, and the largest
SIGNS = {"printed": -1, "contrastive": 1}

LENGTHS = (1.7, 0.6)  # of the drawn pair before normalisation
DIRECTIONS = (0.3, 2.2)  # in radians
DRAWN = 0.5  # temperature of the drawn circles: at 0.07 the larger one would have a radius of 14

STEPS = 180
TURNS = 24
ROUNDING = 1e-12  # relative
NEAREST = 1e-2  # radians: the smallest angle of the weights


def at(angle: Float[Tensor, "*n"]) -> Float[Tensor, "*n 2"]:
    """Points of the unit circle."""
    return torch.stack([angle.cos(), angle.sin()], dim=-1)


def chord(u: Float[Tensor, "*n 2"], v: Float[Tensor, "*n 2"]) -> Float[Tensor, "*n"]:
    """Eq. 5, |u - v|; on the unit circle it is sqrt(2 - 2 cosine)."""
    return torch.linalg.vector_norm(u - v, dim=-1)


def cosine_weight(
    chords: Float[np.ndarray, "*n"],
    temperature: float,
    alpha: float,
    beta: float,
    sign: int,
) -> Float[np.ndarray, "*n"]:
    """alpha/tau ± beta/|u-v|: the rate at which the weighted logits of Eq. 2 rise with the cosine (D1: both signs).

    In the gradient, each term is also multiplied by a softmax probability, which depends on the other candidates.
    """
    return alpha / temperature + sign * beta / chords


def plane() -> pd.DataFrame:
    """Columns panel, series, x, y: points of the sketch, and its quantities (y of the panel ``numbers``)."""
    directions = torch.tensor(DIRECTIONS, dtype=torch.float64)
    lengths = torch.tensor(LENGTHS, dtype=torch.float64)
    features = at(directions) * lengths[:, None]
    u, v = unit(features)
    arc = at(torch.linspace(*DIRECTIONS, STEPS + 1, dtype=torch.float64))
    cosine = vecdot(u, v)
    numbers = {
        "cosine": cosine,
        "arc": angles(cosine),
        "chord": chord(u, v),
        "temperature": torch.tensor(DRAWN),
    }
    quantities = pd.DataFrame({"series": list(numbers), "y": list(map(float, numbers.values()))})
    return pd.concat(
        [
            points("features", features),
            points("units", torch.stack([u, v])),
            points("arc", arc),
            quantities.assign(panel="numbers"),
        ]
    )


def points(series: str, xy: Float[Tensor, "n 2"]) -> pd.DataFrame:
    """Points of the sketch."""
    return pd.DataFrame({"panel": "plane", "series": series, "x": xy[:, 0], "y": xy[:, 1]})


def weights() -> list[pd.DataFrame]:
    """The weight on the cosine (y) by angle (x), series (loss), sign and temperature."""
    theta = np.geomspace(NEAREST, pi, STEPS + 1)
    chords = 2 * np.sin(theta / 2)
    curves = []
    for temperature in SHOWN:
        axis = pd.DataFrame({"panel": "weights", "temperature": temperature, "x": theta})
        curves.append(axis.assign(series="NT-Xent", sign="none", y=1 / temperature))
        for loss, (alpha, beta) in WEIGHTS.items():
            for name, sign in SIGNS.items():
                weight = cosine_weight(chords, temperature, alpha, beta, sign)
                curves.append(axis.assign(series=loss, sign=name, y=weight))
    return curves


def zeros() -> pd.DataFrame:
    """The chord beta tau/alpha, where the printed weight is 0 (y), and its angle (x), NaN if the chord is above 2.

    At shorter chords a positive is pushed away (D1).
    """
    rows = []
    for temperature in SHOWN:
        for loss, (alpha, beta) in WEIGHTS.items():
            zero = beta * temperature / alpha
            angle = 2 * asin(zero / 2) if zero <= 2 else nan
            rows.append(
                {
                    "panel": "zero",
                    "series": loss,
                    "temperature": temperature,
                    "x": angle,
                    "y": zero,
                }
            )
    return pd.DataFrame(rows)


def double_metric_plane(context: Context) -> ExactStudy:
    """The figure, in panels, and sentences about it, checked on a grid of angles."""
    figure = stack([plane(), *weights(), zeros()])
    # On STEPS - 1 angles between 0 and pi, without the ends
    grid = torch.arange(1, STEPS, dtype=torch.float64) * pi / STEPS
    answers = [
        radius(grid, "dm.fig2.radius", 1.0, PRINTED),
        radius(grid, "dm.fig2.radius.d24", 0.5, "D24"),
        discrimination(grid),
        order(grid),
    ]
    return ExactStudy({"fig2": figure}, answers)


def radius(grid: Float[Tensor, "angles"], claim: str, power: float, reading: str) -> ExactNumber:
    """On the circle of radius tau^-power the inner product is cosine/tau, for all angles and all tau of Table 5."""
    u = at(torch.zeros_like(grid))
    v = at(grid)
    tau = torch.tensor(TEMPERATURES, dtype=torch.float64)[:, None]
    radius = tau**-power
    product = vecdot(radius[:, None] * u, radius[:, None] * v)
    gap = (product - vecdot(u, v) / tau).abs()
    return everywhere(claim, gap <= ROUNDING * radius**2, reading)


def discrimination(grid: Float[Tensor, "angles"]) -> ExactNumber:
    """At every angle: pairs with that angle, and so with one cosine, have different chords across the circle."""
    turns = torch.arange(TURNS, dtype=torch.float64)[:, None] * 2 * pi / TURNS
    chords = chord(at(turns.expand(-1, len(grid))), at(turns + grid))
    apart = chords.amax(dim=0) - chords.amin(dim=0)
    return everywhere("dm.fig2.discriminates", apart > ROUNDING)


def order(grid: Float[Tensor, "angles"]) -> ExactNumber:
    """Of any two pairs, the one with the longer chord has the smaller cosine."""
    u = at(torch.zeros_like(grid))
    v = at(grid)
    chords = chord(u, v)
    cosines = vecdot(u, v)
    first, second = torch.triu_indices(len(grid), len(grid), offset=1)
    longer = (chords[first] - chords[second]).sign()
    nearer = (cosines[first] - cosines[second]).sign()
    return everywhere("dm.fig2.discriminates.d7", longer * nearer == -1, "D7")
