"""The cosine with a fixed direction, and its gradient, over the plane: norms paper, Figs. 1, 6 and S1.

Shapes: n points of the plane, r radii, t angles. Gradients are autograd's of the loss that training uses.
"""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere import prng
from hypersphere.exact.study import Context, ExactNumber, ExactStudy, everywhere, stack
from hypersphere.objectives.geometry import unit
from hypersphere.objectives.grad_scale import grad_scale
from hypersphere.objectives.negative_cosine import negative_cosine

NORTH = (0.0, 1.0)
"""All cosines of this file are with this direction."""
SIZE = 2.0
"""Fields are drawn on [-2, 2]²."""
ARROWS = 14
"""Along each side, evenly spaced. Their number is even, so none stands on the origin."""
RADII = (0.5, 1.0, 2.0)
RAY = math.radians(10)
"""Angle from the first axis of the highlighted gradients, which are at RADII."""
OUTPUTS = 60
TRAJECTORY_START = (-0.35, -0.6)
TRAJECTORY_RATE = 0.1
TRAJECTORY_STEPS = 16
STARTS = 200
RATES = (0.1, 0.3, 1.0, 3.0)
STEPS = 50
ROUNDING = 1e-12
"""Relative tolerance for two numbers that should be equal."""


def field(points: Float[Tensor, "n 2"], power: float) -> Float[Tensor, "n 2"]:
    """Gradient of each point's cosine with north, under GradScale (Sec. 6, Listing 2); power 0 is the plain one."""
    leaf = points.clone().requires_grad_()
    north = torch.tensor(NORTH, dtype=points.dtype).expand_as(points)
    loss = negative_cosine(grad_scale(leaf, power=power), north)
    (gradient,) = torch.autograd.grad(len(points) * loss, leaf)
    return -gradient


def descend(points: Float[Tensor, "n 2"], rate: float, steps: int) -> Float[Tensor, "steps+1 n 2"]:
    """Gradient descent on -cos: the positions of each point, its start first."""
    places = [points]
    for _ in range(steps):
        last = places[-1]
        places.append(last + rate * field(last, power=0))
    return torch.stack(places)


def circle(radius: float, angles: Float[np.ndarray, "t"]) -> Float[Tensor, "t 2"]:
    """Points at these angles from the first axis."""
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return torch.from_numpy(radius * directions)


def lattice() -> Float[Tensor, "n 2"]:
    """Positions of a field's arrows."""
    ticks = (np.arange(ARROWS) + 0.5) / ARROWS * 2 * SIZE - SIZE
    x, y = np.meshgrid(ticks, ticks)
    return torch.from_numpy(np.stack([x.ravel(), y.ravel()], axis=-1))


def norms(points: Float[Tensor, "*n 2"]) -> Float[Tensor, "*n"]:
    return torch.linalg.vector_norm(points, dim=-1)


def lengths(radii: Iterable[float], power: float) -> Float[Tensor, "r t"]:
    """Lengths of the gradient on circles of these radii. No angle is north or its opposite, where it is 0."""
    angles = (np.arange(360) + 0.5) * 2 * math.pi / 360
    gradients = [field(circle(radius, angles), power) for radius in radii]
    return norms(torch.stack(gradients))


def places(kind: str, points: Float[Tensor, "n 2"], **columns: object) -> pd.DataFrame:
    """Points as rows of a kind."""
    return pd.DataFrame({"kind": kind, **columns, "x": points[:, 0], "y": points[:, 1]})


def vectors(points: Float[Tensor, "n 2"], power: float = 0) -> pd.DataFrame:
    """Points, and the gradients there."""
    gradients = field(points, power)
    return pd.DataFrame(
        {
            "x": points[:, 0],
            "y": points[:, 1],
            "u": gradients[:, 0],
            "v": gradients[:, 1],
            "length": norms(gradients),
        }
    )


def cosine_field(context: Context) -> ExactStudy:
    """Figs. 1, 6 and S1, and sentences about them."""
    growth = norm_growth()
    tables = {"fig1": fig1(growth), "fig6": fig6(), "figS1": figS1()}
    return ExactStudy(tables, sentences(growth))


def norm_growth() -> Float[Tensor, "rates steps+1 starts"]:
    """Norms of points that start on the unit circle and descend, at each rate."""
    angles = 2 * math.pi * prng.uniform((STARTS,), 0, "cosine field", "starts")
    starts = circle(1.0, angles)
    paths = [descend(starts, rate, STEPS) for rate in RATES]
    return norms(torch.stack(paths))


def fig1(growth: Float[Tensor, "rates steps+1 starts"]) -> pd.DataFrame:
    """The rows of three panels.

    Left: random points that stand for a network's outputs, with norms between 0.25 and 1.75, and their projections in
    the same order. Middle: field, highlighted gradients, trajectory. Right: mean, least and largest norm over the
    starts, by step.
    """
    angle, share = prng.uniform((2, OUTPUTS), 0, "cosine field", "outputs")
    directions = circle(1.0, 2 * math.pi * angle)
    outputs = directions * torch.from_numpy(0.25 + 1.5 * share)[:, None]
    length = norms(outputs)
    start = torch.tensor([TRAJECTORY_START], dtype=torch.float64)
    path = descend(start, TRAJECTORY_RATE, TRAJECTORY_STEPS)[:, 0]
    ray = torch.cat([circle(radius, np.array([RAY])) for radius in RADII])
    rows = [
        places("output", outputs).assign(norm=length.numpy()),
        places("projection", unit(outputs)).assign(norm=length.numpy()),
        vectors(lattice()).assign(kind="field"),
        vectors(ray).assign(kind="highlighted"),
        vectors(path).assign(kind="trajectory", rate=TRAJECTORY_RATE, step=range(len(path))),
    ]
    for rate, norm in zip(RATES, growth, strict=True):
        steps = pd.DataFrame(
            {"kind": "norm", "rate": rate, "step": range(STEPS + 1), "starts": STARTS}
        )
        steps["norm"] = norm.mean(dim=-1).numpy()
        steps["low"] = norm.amin(dim=-1).numpy()
        steps["high"] = norm.amax(dim=-1).numpy()
        rows.append(steps)
    return stack(rows)


def fig6() -> pd.DataFrame:
    """The field without and with GradScale."""
    return stack(vectors(lattice(), power).assign(power=power) for power in (0, 1))


def figS1() -> pd.DataFrame:  # noqa: N802
    """A polar mesh, no cell of which crosses the origin, and the three circles."""
    angles = np.linspace(0, 2 * math.pi, 121)
    mesh = [("surface", radius) for radius in np.linspace(0.02, 2.2, 28)]
    circles = [("circle", radius) for radius in RADII]
    rows = []
    for kind, radius in mesh + circles:
        points = circle(radius, angles)
        line = places(kind, points, radius=radius, angle=angles)
        rows.append(line.assign(cosine=unit(points)[:, 1].numpy()))
    return stack(rows)


def sentences(growth: Float[Tensor, "rates steps+1 starts"]) -> list[ExactNumber]:
    """The sentences about the figures, by place."""
    radii = np.linspace(0.1, 4.0, 40)
    plain = lengths(radii, power=0)
    scaled = lengths(radii, power=1)
    at_radius_1 = plain[9:10]
    times_radius = plain * torch.from_numpy(radii)[:, None]
    arrows = lattice()
    gradients = field(arrows, power=0)
    along = (unit(arrows) * gradients).sum(dim=-1).abs()
    wider = torch.diff(lengths(RADII, power=0), dim=0)  # a wider circle, in every direction
    return [
        everywhere("norms.fig1.inverse", nearly_equal(times_radius, at_radius_1)),
        everywhere("norms.fig1.orthogonal", along <= ROUNDING * norms(gradients)),
        everywhere("norms.fig1.grows", growth[:, 1:] >= growth[:, :-1] * (1 - ROUNDING)),
        everywhere("norms.fig6.cancels", nearly_equal(scaled, scaled[:1])),
        everywhere("norms.figS1.less_steep", wider < 0),
    ]


def nearly_equal(a: Tensor, b: Tensor) -> Tensor:
    return torch.isclose(a, b, rtol=ROUNDING, atol=0)
