"""What the tests of the objectives share: draws, difficult points, oracles' arithmetic in Python floats, and checks.

The arithmetic takes lists and is plain Python, so that an oracle shares no tensor expression with the loss it judges.
A function named ``is_...`` or ``has_...`` asserts what its name says of a loss.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from hypersphere.objectives.generalised_info_nce import info_nce_of_logits
from hypersphere.objectives.geometry import unit
from hypersphere.testing import draw as draw

Loss = Callable[..., Tensor]
Map = Callable[[Tensor, Tensor], Tensor]
Vector = Sequence[float]

# draws


def scores(n: int, k: int) -> tuple[Tensor, Tensor]:
    """Two views' cosines with k prototypes, uniform in [-1, 1]."""
    first, second = (
        torch.rand(2, n, k, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 2 - 1
    )
    return first, second


def cosines_and_targets(n: int = 5, m: int = 4) -> tuple[Tensor, Tensor]:
    """Cosines all over (-1, 1); the positive of anchor i is candidate i mod m."""
    cosines = (
        torch.rand(n, m, generator=torch.Generator().manual_seed(3), dtype=torch.float64) * 1.98
        - 0.99
    )
    return cosines, torch.eye(m, dtype=torch.float64)[torch.arange(n) % m]


def rotation(d: int) -> Tensor:
    """An orthogonal matrix that mixes all dimensions."""
    z = torch.randn(d, d, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
    return torch.linalg.qr(z)[0]


def simplex(count: int, side: float | None = None) -> Tensor:
    """``count`` unit vectors, any two of them ``side`` apart, or as far as can be: at cosines -1/(count - 1)."""
    # sides sqrt(2 count / (count - 1))
    centred = unit(torch.eye(count, dtype=torch.float64) - 1 / count)
    if side is None:
        return centred
    ratio = side / math.sqrt(2 * count / (count - 1))
    pole = torch.full((count, 1), math.sqrt(1 - ratio**2), dtype=torch.float64)
    return torch.cat([pole, ratio * centred], dim=1)


# arithmetic on lists of Python floats


def dot(a: Vector, b: Vector) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def cosine(a: Vector, b: Vector) -> float:
    return dot(a, b) / math.hypot(*a) / math.hypot(*b)


def square(a: Vector, b: Vector) -> float:
    """Squared Euclidean distance."""
    return math.fsum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def chord(a: Vector, b: Vector) -> float:
    return math.hypot(*(x - y for x, y in zip(a, b, strict=True)))


def normed(a: Vector) -> list[float]:
    return [x / math.hypot(*a) for x in a]


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def softmax(logits: Vector) -> list[float]:
    top = max(logits)
    total = math.fsum(math.exp(x - top) for x in logits)
    return [math.exp(x - top) / total for x in logits]


def cross_entropies(
    u: list[list[float]],
    score: Callable[[Vector, Vector], float],
    keep: Callable[[int, int, int], bool] = lambda i, j, k: k != i,
) -> list[float]:
    """-log(exp(score(i, j)) / sum over kept k of exp(score(i, k))) of each of the 2n rows; ``keep`` sees (i, j, k)."""
    losses = []
    for i in range(len(u)):
        j = (i + len(u) // 2) % len(u)
        total = math.fsum(math.exp(score(u[i], u[k])) for k in range(len(u)) if keep(i, j, k))
        losses.append(math.log(total) - score(u[i], u[j]))
    return losses


def balanced(scores: list[list[float]], epsilon: float, iterations: int) -> list[list[float]]:
    """exp(scores/epsilon) with its columns and then its rows scaled to sums of 1, ``iterations`` times."""
    q = [[math.exp(x / epsilon) for x in row] for row in scores]
    for _ in range(iterations):
        columns = [math.fsum(row[j] for row in q) for j in range(len(q[0]))]
        q = [[x / columns[j] for j, x in enumerate(row)] for row in q]
        q = [[x / math.fsum(row) for x in row] for row in q]
    return q


# gradients and checks


def value_and_gradients(loss: Loss, *tensors: Tensor) -> tuple[Tensor, Tensor]:
    """The value, and the gradients with respect to all tensors, stacked. A tensor that the loss does not use is an
    error."""
    leaves = [z.detach().clone().requires_grad_() for z in tensors]
    value = loss(*leaves)
    return value.detach(), torch.cat(torch.autograd.grad(value, leaves))


def slopes(value: Callable[[Tensor], float], z: Tensor) -> Tensor:
    """Central differences of a value in every coordinate of float64."""
    h = 1e-5
    steps = h * torch.eye(z.numel(), dtype=z.dtype).view(-1, *z.shape)
    return torch.tensor(
        [(value(z + step) - value(z - step)) / (2 * h) for step in steps], dtype=z.dtype
    ).view_as(z)


def cosine_gradient(to_logits: Map, cosines: Tensor, targets: Tensor, beta: float = 1) -> Tensor:
    """Of the sum over anchors of the margins paper's Eq. 5, with respect to the cosines."""
    return value_and_gradients(
        lambda c: info_nce_of_logits(to_logits(c, targets), targets, beta) * len(c), cosines
    )[1]


def has_gradient_of_value(loss: Loss, *tensors: Tensor) -> None:
    """By finite differences in float64."""
    assert torch.autograd.gradcheck(
        loss, tuple(z.detach().clone().requires_grad_() for z in tensors)
    )


def is_finite(loss: Loss, *tensors: Tensor) -> Tensor:
    """One number of its inputs' type, with finite gradients; the value is given back."""
    value, gradients = value_and_gradients(loss, *tensors)
    assert value.shape == ()
    assert value.dtype == tensors[0].dtype
    assert value.isfinite()
    assert gradients.isfinite().all()
    return value
