"""The cosine with a fixed direction, and its gradient, over the plane: norms paper, Figs. 1, 6 and S1.

Shapes: n points of the plane, r radii, t angles. Gradients are autograd's of the loss that training uses.
"""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from hypersphere import prng
from hypersphere.objectives.geometry import unit
from hypersphere.objectives.grad_scale import grad_scale
from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.simulations.study import Answer, Context, Study, counted

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
TRAJECTORY_START, TRAJECTORY_RATE, TRAJECTORY_STEPS = (-0.35, -0.6), 0.1, 16
STARTS = 200
RATES = (0.1, 0.3, 1.0, 3.0)
STEPS = 50
ROUNDING = 1e-12
"""Relative tolerance for two numbers that should be equal."""


def field(points: Float[Tensor, "n 2"], power: float) -> Float[Tensor, "n 2"]:
    """Gradient of each point's cosine with north, under GradScale (Sec. 6, Listing 2); power 0 is the plain one."""
    leaf = points.clone().requires_grad_()
    loss = negative_cosine(grad_scale(leaf, power=power), torch.tensor(NORTH, dtype=points.dtype).expand_as(points))
    (gradient,) = torch.autograd.grad(len(points) * loss, leaf)
    return -gradient


def descend(points: Float[Tensor, "n 2"], rate: float, steps: int) -> Float[Tensor, "steps+1 n 2"]:
    """Gradient descent on -cos: the positions of each point, its start first."""
    places = [points]
    for _ in range(steps):
        places.append(places[-1] + rate * field(places[-1], power=0))
    return torch.stack(places)


def circle(radius: float, angles: Float[np.ndarray, "t"]) -> Float[Tensor, "t 2"]:
    """Points at these angles from the first axis."""
    return torch.from_numpy(radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1))


def lattice() -> Float[Tensor, "n 2"]:
    """Positions of a field's arrows."""
    ticks = (np.arange(ARROWS) + 0.5) / ARROWS * 2 * SIZE - SIZE
    return torch.from_numpy(np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2))


def cosine_field(context: Context) -> Study:
    """Figs. 1, 6 and S1, and sentences about them."""
    starts = circle(1.0, 2 * math.pi * prng.uniform((STARTS,), 0, "cosine field", "starts"))
    grown = torch.linalg.vector_norm(torch.stack([descend(starts, rate, STEPS) for rate in RATES]), dim=-1)
    angles = np.linspace(0, 2 * math.pi, 121)
    mesh = [("surface", radius) for radius in np.linspace(0.02, 2.2, 28)] + [("circle", radius) for radius in RADII]
    surface = []  # on a polar mesh, no cell of which crosses the origin, and the three circles
    for kind, radius in mesh:
        points = circle(radius, angles)
        columns = {"x": points[:, 0], "y": points[:, 1], "cosine": unit(points)[:, 1]}
        surface.append(pd.DataFrame({"kind": kind, "radius": radius, "angle": angles, **columns}))
    tables = {
        "fig1": _figure_1(grown),
        "fig6": pd.concat([_vectors(lattice(), power).assign(power=power) for power in (0, 1)], ignore_index=True),
        "figS1": pd.concat(surface, ignore_index=True),
    }
    return Study(tables, _answers(grown))


def _vectors(points: Float[Tensor, "n 2"], power: float = 0) -> pd.DataFrame:
    """Points, and the gradients there."""
    gradients = field(points, power)
    columns = {"x": points[:, 0], "y": points[:, 1], "u": gradients[:, 0], "v": gradients[:, 1]}
    return pd.DataFrame({**columns, "length": torch.linalg.vector_norm(gradients, dim=-1)})


def _figure_1(grown: Float[Tensor, "rates steps+1 n"]) -> pd.DataFrame:
    """Rows of three panels, by kind.

    Left: random points that stand for a network's outputs, with norms between 0.25 and 1.75, and their projections in
    the same order. Middle: field, highlighted gradients, trajectory. Right: mean, least and largest norm over the
    starts, by step.
    """
    angle, norm = prng.uniform((2, OUTPUTS), 0, "cosine field", "outputs")
    outputs = circle(1.0, 2 * math.pi * angle) * torch.from_numpy(0.25 + 1.5 * norm)[:, None]
    norms = torch.linalg.vector_norm(outputs, dim=-1)
    tables = [
        pd.DataFrame({"kind": kind, "x": points[:, 0], "y": points[:, 1], "norm": norms})
        for kind, points in (("output", outputs), ("projection", unit(outputs)))
    ]
    path = descend(torch.tensor([TRAJECTORY_START], dtype=torch.float64), TRAJECTORY_RATE, TRAJECTORY_STEPS)[:, 0]
    ray = torch.cat([circle(radius, np.array([RAY])) for radius in RADII])
    tables += [_vectors(points).assign(kind=kind) for kind, points in (("field", lattice()), ("highlighted", ray))]
    tables.append(_vectors(path).assign(kind="trajectory", rate=TRAJECTORY_RATE, step=range(len(path))))
    for rate, by_step in zip(RATES, grown, strict=True):
        columns = {"norm": by_step.mean(dim=-1), "low": by_step.amin(dim=-1), "high": by_step.amax(dim=-1)}
        about = {"kind": "norm", "rate": rate, "step": range(STEPS + 1), "starts": STARTS}
        tables.append(pd.DataFrame({**about, **columns}))
    table = pd.concat(tables, ignore_index=True)
    return table[["kind", "rate", "step", "x", "y", "u", "v", "length", "norm", "low", "high", "starts"]]


def _lengths(radii: Iterable[float], power: float) -> Float[Tensor, "r t"]:
    """Lengths of the gradient on circles of these radii. No angle is north or its opposite, where it is 0."""
    angles = (np.arange(360) + 0.5) * 2 * math.pi / 360
    return torch.stack([torch.linalg.vector_norm(field(circle(r, angles), power), dim=-1) for r in radii])


def _equal(a: Tensor, b: Tensor) -> Bool[Tensor, "..."]:
    """Where a equals b."""
    return (a - b).abs() <= ROUNDING * torch.maximum(a.abs(), b.abs())


def _answers(grown: Float[Tensor, "rates steps+1 n"]) -> list[Answer]:
    norms = np.linspace(0.1, 4.0, 40)
    lengths, scaled = _lengths(norms, power=0), _lengths(norms, power=1)
    points = lattice()
    gradients = field(points, power=0)
    along = (unit(points) * gradients).sum(dim=-1).abs()
    holds = {
        "fig1.inverse": _equal(lengths * torch.from_numpy(norms)[:, None], lengths[9:10].expand_as(lengths)),
        "fig1.orthogonal": along <= ROUNDING * torch.linalg.vector_norm(gradients, dim=-1),
        "fig1.grows": grown[:, 1:] >= grown[:, :-1] * (1 - ROUNDING),
        "fig6.cancels": _equal(scaled, scaled[:1].expand_as(scaled)),
        "figS1.less_steep": torch.diff(_lengths(RADII, power=0), dim=0) < 0,  # a wider circle, in every direction
    }
    return [counted(f"norms.{name}", int(places.sum()), places.numel()) for name, places in holds.items()]
