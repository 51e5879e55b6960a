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


def cosine_with_north(points: Float[Tensor, "n 2"]) -> Float[Tensor, "n"]:
    """The cosine of each point with north."""
    return (unit(points) * torch.tensor(NORTH, dtype=points.dtype)).sum(dim=-1)


def descend(points: Float[Tensor, "n 2"], rate: float, steps: int) -> Float[Tensor, "steps+1 n 2"]:
    """Gradient descent on -cos: the positions of each point, its start first."""
    places = [points]
    for _ in range(steps):
        places.append(places[-1] + rate * field(places[-1], power=0))
    return torch.stack(places)


def circle(radius: float, angles: Float[np.ndarray, "t"]) -> Float[Tensor, "t 2"]:
    """Points at these angles from the first axis."""
    return torch.from_numpy(radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1))


def directions(count: int) -> Float[np.ndarray, "t"]:
    """Evenly spaced angles. North and its opposite, where the gradient is 0, are not among them."""
    return (np.arange(count) + 0.5) * 2 * math.pi / count


def lattice() -> Float[Tensor, "n 2"]:
    """Positions of a field's arrows."""
    ticks = (np.arange(ARROWS) + 0.5) / ARROWS * 2 * SIZE - SIZE
    return torch.from_numpy(np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2))


def starts() -> Float[Tensor, "n 2"]:
    """Random directions of norm 1."""
    return circle(1.0, 2 * math.pi * prng.uniform((STARTS,), 0, "cosine field", "starts"))


def outputs() -> Float[Tensor, "n 2"]:
    """Random points that stand for a network's outputs: norms are uniform between 0.25 and 1.75."""
    angle, norm = prng.uniform((2, OUTPUTS), 0, "cosine field", "outputs")
    return circle(1.0, 2 * math.pi * angle) * torch.from_numpy(0.25 + 1.5 * norm)[:, None]


def cosine_field(context: Context) -> Study:
    """Figs. 1, 6 and S1."""
    grown = torch.linalg.vector_norm(torch.stack([descend(starts(), rate, STEPS) for rate in RATES]), dim=-1)
    arrows = [_vectors(lattice(), field(lattice(), power=power)).assign(power=power) for power in (0, 1)]
    tables = {"fig1": _fig1(grown), "fig6": pd.concat(arrows, ignore_index=True), "figS1": _fig_s1()}
    return Study(tables, _answers(grown))


def _vectors(points: Tensor, gradients: Tensor) -> pd.DataFrame:
    columns = {"x": points[:, 0], "y": points[:, 1], "u": gradients[:, 0], "v": gradients[:, 1]}
    columns["length"] = torch.linalg.vector_norm(gradients, dim=-1)
    return pd.DataFrame({name: column.numpy() for name, column in columns.items()})


def _fig1(grown: Float[Tensor, "rates steps+1 n"]) -> pd.DataFrame:
    """Rows of three panels.

    Left: outputs, and their projections in the same order. Middle: field, highlighted gradients, trajectory. Right:
    mean, least and largest norm over the starts, by step.
    """
    embeddings = outputs()
    norm = torch.linalg.vector_norm(embeddings, dim=-1).numpy()
    points = [pd.DataFrame(places.numpy(), columns=["x", "y"]) for places in (embeddings, unit(embeddings))]
    left = [
        table.assign(panel="left", kind=kind, norm=norm)
        for table, kind in zip(points, ("output", "projection"), strict=True)
    ]
    ray = torch.cat([circle(radius, np.array([RAY])) for radius in RADII])
    start = torch.tensor([TRAJECTORY_START], dtype=torch.float64)
    path = descend(start, TRAJECTORY_RATE, TRAJECTORY_STEPS)[:, 0]
    middle = [_vectors(places, field(places, power=0)) for places in (lattice(), ray, path)]
    kinds = ("field", "highlighted", "trajectory")
    middle = [table.assign(panel="middle", kind=kind) for table, kind in zip(middle, kinds, strict=True)]
    middle[-1] = middle[-1].assign(rate=TRAJECTORY_RATE, step=np.arange(TRAJECTORY_STEPS + 1))
    summary = {"norm": grown.mean(dim=-1), "low": grown.amin(dim=-1), "high": grown.amax(dim=-1)}
    right = [
        pd.DataFrame({name: values[i].numpy() for name, values in summary.items()}).assign(
            panel="right", kind="norm", rate=rate, step=np.arange(STEPS + 1), starts=STARTS
        )
        for i, rate in enumerate(RATES)
    ]
    table = pd.concat([*left, *middle, *right], ignore_index=True)
    return table[["panel", "kind", "rate", "step", "x", "y", "u", "v", "length", "norm", "low", "high", "starts"]]


def _fig_s1() -> pd.DataFrame:
    """The surface on a polar mesh, no cell of which crosses the origin, and the three circles."""
    angles = np.linspace(0, 2 * math.pi, 121)
    mesh = [("surface", radius) for radius in np.linspace(0.02, 2.2, 28)] + [("circle", radius) for radius in RADII]
    tables = []
    for kind, radius in mesh:
        points = circle(radius, angles)
        columns = {"x": points[:, 0].numpy(), "y": points[:, 1].numpy(), "cosine": cosine_with_north(points).numpy()}
        tables.append(pd.DataFrame({"kind": kind, "radius": radius, "angle": angles, **columns}))
    return pd.concat(tables, ignore_index=True)


def _lengths(radii: Iterable[float], power: float) -> Float[Tensor, "r t"]:
    """Lengths of the gradient on circles of these radii."""
    angles = directions(360)
    return torch.stack([torch.linalg.vector_norm(field(circle(r, angles), power), dim=-1) for r in radii])


def _equal(a: Tensor, b: Tensor) -> tuple[int, int]:
    """The number of places where a equals b, and the number of all places."""
    return int(((a - b).abs() <= ROUNDING * torch.maximum(a.abs(), b.abs())).sum()), a.numel()


def _answers(grown: Float[Tensor, "rates steps+1 n"]) -> list[Answer]:
    """Sentences about Figs. 1, 6 and S1."""
    norms = np.linspace(0.1, 4.0, 40)
    lengths, scaled = _lengths(norms, power=0), _lengths(norms, power=1)
    inverse = _equal(lengths * torch.from_numpy(norms)[:, None], lengths[9:10].expand_as(lengths))
    points = lattice()
    gradients = field(points, power=0)
    along = (unit(points) * gradients).sum(dim=-1).abs()
    orthogonal = along <= ROUNDING * torch.linalg.vector_norm(gradients, dim=-1)
    longer = grown[:, 1:] >= grown[:, :-1] * (1 - ROUNDING)
    less_steep = torch.diff(_lengths(RADII, power=0), dim=0) < 0  # a wider circle, in every direction
    return [
        counted("norms.fig1.inverse", *inverse),
        counted("norms.fig1.orthogonal", int(orthogonal.sum()), len(points)),
        counted("norms.fig1.grows", int(longer.sum()), longer.numel()),
        counted("norms.fig6.cancels", *_equal(scaled, scaled[:1].expand_as(scaled))),
        counted("norms.figS1.less_steep", int(less_steep.sum()), less_steep.numel()),
    ]
