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
from hypersphere.objectives.geometry import unit
from hypersphere.objectives.grad_scale import grad_scale
from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.simulations.study import Context, ExactStudy, counted

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


def lengths(radii: Iterable[float], power: float) -> Float[Tensor, "r t"]:
    """Lengths of the gradient on circles of these radii. No angle is north or its opposite, where it is 0."""
    angles = (np.arange(360) + 0.5) * 2 * math.pi / 360
    return torch.stack([torch.linalg.vector_norm(field(circle(r, angles), power), dim=-1) for r in radii])


def vectors(points: Float[Tensor, "n 2"], power: float = 0) -> pd.DataFrame:
    """Points, and the gradients there."""
    gradients = field(points, power)
    columns = {"x": points[:, 0], "y": points[:, 1], "u": gradients[:, 0], "v": gradients[:, 1]}
    return pd.DataFrame({**columns, "length": torch.linalg.vector_norm(gradients, dim=-1)})


def cosine_field(context: Context) -> ExactStudy:
    """Figs. 1, 6 and S1, and sentences about them.

    Fig. 1 has three panels. Left: random points that stand for a network's outputs, with norms between 0.25 and 1.75,
    and their projections in the same order. Middle: field, highlighted gradients, trajectory. Right: mean, least and
    largest norm over the starts, by step.
    """
    starts = circle(1.0, 2 * math.pi * prng.uniform((STARTS,), 0, "cosine field", "starts"))
    grown = torch.linalg.vector_norm(torch.stack([descend(starts, rate, STEPS) for rate in RATES]), dim=-1)
    angle, norm = prng.uniform((2, OUTPUTS), 0, "cosine field", "outputs")
    outputs = circle(1.0, 2 * math.pi * angle) * torch.from_numpy(0.25 + 1.5 * norm)[:, None]
    norms = torch.linalg.vector_norm(outputs, dim=-1)
    fig1 = [
        pd.DataFrame({"kind": kind, "x": points[:, 0], "y": points[:, 1], "norm": norms})
        for kind, points in (("output", outputs), ("projection", unit(outputs)))
    ]
    path = descend(torch.tensor([TRAJECTORY_START], dtype=torch.float64), TRAJECTORY_RATE, TRAJECTORY_STEPS)[:, 0]
    ray = torch.cat([circle(radius, np.array([RAY])) for radius in RADII])
    fig1 += [vectors(points).assign(kind=kind) for kind, points in (("field", lattice()), ("highlighted", ray))]
    fig1.append(vectors(path).assign(kind="trajectory", rate=TRAJECTORY_RATE, step=range(len(path))))
    for rate, by_step in zip(RATES, grown, strict=True):
        columns = {"norm": by_step.mean(dim=-1), "low": by_step.amin(dim=-1), "high": by_step.amax(dim=-1)}
        about = {"kind": "norm", "rate": rate, "step": range(STEPS + 1), "starts": STARTS}
        fig1.append(pd.DataFrame({**about, **columns}))
    # Fig. S1: a polar mesh, no cell of which crosses the origin, and the three circles.
    angles = np.linspace(0, 2 * math.pi, 121)
    mesh = [("surface", radius) for radius in np.linspace(0.02, 2.2, 28)] + [("circle", radius) for radius in RADII]
    surface = []
    for kind, radius in mesh:
        points = circle(radius, angles)
        columns = {"x": points[:, 0], "y": points[:, 1], "cosine": unit(points)[:, 1]}
        surface.append(pd.DataFrame({"kind": kind, "radius": radius, "angle": angles, **columns}))
    tables = {
        "fig1": pd.concat(fig1, ignore_index=True),
        "fig6": pd.concat([vectors(lattice(), power).assign(power=power) for power in (0, 1)], ignore_index=True),
        "figS1": pd.concat(surface, ignore_index=True),
    }
    # The sentences, by place.
    radii = np.linspace(0.1, 4.0, 40)
    plain, scaled = lengths(radii, power=0), lengths(radii, power=1)
    gradients = field(lattice(), power=0)
    along = (unit(lattice()) * gradients).sum(dim=-1).abs()
    holds = {
        "fig1.inverse": torch.isclose(plain * torch.from_numpy(radii)[:, None], plain[9:10], rtol=ROUNDING, atol=0),
        "fig1.orthogonal": along <= ROUNDING * torch.linalg.vector_norm(gradients, dim=-1),
        "fig1.grows": grown[:, 1:] >= grown[:, :-1] * (1 - ROUNDING),
        "fig6.cancels": torch.isclose(scaled, scaled[:1], rtol=ROUNDING, atol=0),
        "figS1.less_steep": torch.diff(lengths(RADII, power=0), dim=0) < 0,  # a wider circle, in every direction
    }
    answers = [counted(f"norms.{name}", int(places.sum()), places.numel()) for name, places in holds.items()]
    return ExactStudy(tables, answers)
