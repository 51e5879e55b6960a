"""The contract of every loss, for our own and for those of plug-ins: ``check_objective("chord", {"push": 0.5})``.

Each function here that checks something raises an ``AssertionError`` with a sentence. It takes a loss as a function of
its batches, which are trained, and of its other tensors by their names.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from typing import Any

import torch
from pydantic import TypeAdapter
from torch import Tensor

from hypersphere.config import registry
from hypersphere.config.run import Component, Logits, Objective

Batches = list[Tensor]
Others = dict[str, Tensor]
Loss = Callable[[Batches, Others], Tensor]
Draw = Callable[[int, int, torch.dtype], tuple[Batches, Others]]
"""Batches and other tensors of so many images in so many dimensions."""

BATCHES = {
    *chain.from_iterable(registry.PAIRS),
    "student",
    "teacher",
    "scores",
    "scores_a",
    "scores_b",
}
"""Arguments that are one row for each image, and trained."""


def _both(a: Tensor, b: Tensor) -> Tensor:
    """2n vectors."""
    return torch.cat([a, b])


def _centre(a: Tensor, b: Tensor) -> Tensor:
    """A short vector."""
    return 0.1 * a[0]


def _labels(a: Tensor, b: Tensor) -> Tensor:
    """A class of each of n images, about three of one class."""
    n = len(a)
    return torch.arange(n) % max(n // 3, 2)


def _places(a: Tensor, b: Tensor) -> Tensor:
    """The place of each of n images in a bank of 2n."""
    n = len(a)
    return (5 * torch.arange(n) + 1) % (2 * n)


def _noise(a: Tensor, b: Tensor) -> Tensor:
    """Places of five other images of a bank of 2n, for each of n images."""
    n = len(a)
    first = 7 * torch.arange(n)[:, None]
    return (first + 3 * torch.arange(5)) % (2 * n)


TENSORS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "queue": _both,
    "bank": _both,
    "centre": _centre,
    "labels": _labels,
    "index": _places,
    "noise": _noise,
}
"""What losses take beside the batches, by the argument's name, made of two more batches; a bank has 2n images."""
ROWS = BATCHES | {"labels", "index", "noise"}
"""Arguments that go with the images when their order changes."""
ORDER = torch.tensor([3, 1, 5, 0, 2, 4])


def check_objective(
    name: str, parameters: Mapping[str, Any], logits: Mapping[str, Any] | None = None
) -> None:
    """Check a loss, found by its name as a run finds it, in one setting.

    Training lowers it; its gradient is that of its value; the order of images is nothing to it; half precision is near
    double; difficult batches (zero vectors, equal points, two images) have finite values and gradients. ``logits`` is
    the map of a loss that takes ``to_logits``: ``{"name": "cosine_logits", "temperature": 0.5}``.
    """
    loss = objective(name, parameters, logits)
    views = len(batches_of(name))
    make_others = partial(others, name)

    def drawn(n: int, d: int, dtype: torch.dtype) -> tuple[Batches, Others]:
        batches = draw(n, d, dtype=dtype)[:views]
        return list(batches), make_others(*draw(n, d, seed=7, dtype=dtype))

    training_lowers(loss, views, make_others(*draw(12, 8, seed=7, scale=1)))
    gradient_is_of_value(loss, *drawn(3, 3, torch.float64))
    order_is_nothing(loss, *drawn(6, 4, torch.float64))
    halves_are_near(loss, drawn)
    wrong = not_finite(loss, views, make_others, difficult_batches(), torch.float32)
    assert wrong == [], f"not finite: {', '.join(wrong)}"


def objective(
    name: str, parameters: Mapping[str, Any], logits: Mapping[str, Any] | None = None
) -> Loss:
    """A loss with its parameters, which are checked against the function's signature, as in a run."""
    component: Component = TypeAdapter(Objective).validate_python({"name": name, **parameters})
    function = partial(registry.load("objectives", name), **component.parameters)
    if logits is not None:
        component = TypeAdapter(Logits).validate_python(dict(logits))
        to_logits = registry.load("logits", component.name)
        function = partial(function, to_logits=partial(to_logits, **component.parameters))
    names = batches_of(name)

    def loss(batches: Batches, others: Others) -> Tensor:
        return function(**dict(zip(names, batches, strict=True)), **others)

    return loss


def batches_of(name: str) -> list[str]:
    """The arguments of a loss that are trained."""
    return [argument for argument in registry.tensors("objectives", name) if argument in BATCHES]


def others(name: str, a: Tensor, b: Tensor) -> Others:
    """What a loss takes beside its batches, made of two batches of embeddings."""
    tensors = {}
    for argument in registry.tensors("objectives", name):
        if argument in BATCHES or argument == registry.TO_LOGITS:
            continue
        assert argument in TENSORS, (
            f"{name} takes {argument}: say in hypersphere.testing.TENSORS (or BATCHES) how it is made"
        )
        tensors[argument] = TENSORS[argument](a, b)
    return tensors


def draw(
    n: int = 5, d: int = 4, seed: int = 0, dtype: torch.dtype = torch.float64, scale: float = 3
) -> tuple[Tensor, Tensor]:
    """Two views' embeddings, of norms far from 1; the numbers are the same in every dtype, but for rounding."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(2, n, d, generator=generator, dtype=torch.float64) * scale
    a, b = z.to(dtype)
    return a, b


def difficult_batches() -> dict[str, tuple[Tensor, Tensor]]:
    """Batches of three images at which a norm, a cosine or a distance is not differentiable, or far from 1; and of two.

    Points have a whole number as norm, so that cosines are ±1, or are drawn, so that they round to either side of it.
    """
    a, b = draw(3, 4, dtype=torch.float32)
    pairs = {
        "all zero": (0 * a, 0 * b),
        "identical views": (a, a),
        "antipodal views": (a, -a),
        "huge": (a * 1e6, b * 1e6),
        "huge and tiny norms": (a * 1e15, b * 1e-15),
        "two images": draw(2, 4, dtype=torch.float32),
    }
    first = torch.tensor([[1.0], [-1], [1]])
    second = torch.tensor([[1.0], [-1], [-1]])
    points = {"whole": torch.tensor([[1.0, 2, 2]]), "drawn": a[:1]}
    for kind, point in points.items():
        three = point.expand(3, -1)
        pairs[f"zero, {kind}"] = three * (first < 0), three * (second > 0)
        pairs[f"identical, {kind}"] = three, three
        pairs[f"antipodal, {kind}"] = three, -three
        pairs[f"both, {kind}"] = three * first, three * second
    return pairs


def leaves(batches: Batches) -> Batches:
    """Copies that gradients are asked of."""
    return [batch.detach().clone().requires_grad_() for batch in batches]


def gradients(value: Tensor, batches: Batches) -> tuple[Tensor, ...]:
    """A batch that the loss does not train, such as a teacher's, has gradient 0."""
    return torch.autograd.grad(value, batches, allow_unused=True, materialize_grads=True)


def gradient_is_of_value(loss: Loss, batches: Batches, others: Others) -> None:
    """The gradient is that of finite differences, in float64."""

    def value(*batches: Tensor) -> Tensor:
        return loss(list(batches), others)

    right = torch.autograd.gradcheck(value, leaves(batches), raise_exception=False)
    assert right, "its gradient is not that of its value"


def training_lowers(loss: Loss, views: int, others: Others) -> None:
    """A two-layer network, 20 steps along the gradient's signs: all losses finite, the last at least 5 % of the first
    below it. In float64, so that rounding decides hardly a sign.
    """
    generator = torch.Generator().manual_seed(1)
    normal = partial(torch.randn, generator=generator, dtype=torch.float64)
    images = normal(12, 6)
    seen = [images + 0.3 * normal(12, 6) for _ in range(views)]
    weights = [normal(6, 32) / 6**0.5, normal(32, 8) / 32**0.5]
    values = []
    for _ in range(21):
        first, second = weights = leaves(weights)
        embeddings = [(view @ first).tanh() @ second for view in seen]
        value = loss(embeddings, others)
        slopes = gradients(value, weights)
        weights = [part - 0.02 * slope.sign() for part, slope in zip(weights, slopes, strict=True)]
        values.append(value.item())
    lowered = values[0] - values[-1]
    assert all(map(math.isfinite, values)), f"training makes it infinite: {values}"
    assert lowered > 0.05 * abs(values[0]), f"training does not lower it: {values}"


def order_is_nothing(loss: Loss, batches: Batches, others: Others) -> None:
    """Six images: another order of everything that has a row for each changes no value, and moves gradients alike."""
    batches = leaves(batches)
    moved = leaves([batch[ORDER] for batch in batches])
    rows = {name: tensor[ORDER] for name, tensor in others.items() if name in ROWS}
    value = loss(batches, others)
    again = loss(moved, others | rows)
    torch.testing.assert_close(again, value, rtol=1e-10, atol=1e-12)
    slopes = gradients(value, batches)
    slopes_again = gradients(again, moved)
    for slope, slope_again in zip(slopes, slopes_again, strict=True):
        torch.testing.assert_close(slope_again, slope[ORDER], rtol=1e-8, atol=1e-12)


TOLERANCES = {torch.float32: 1e-4, torch.bfloat16: 0.03, torch.float16: 0.03}
"""How far a value may be off in a precision, as a share of it. bfloat16 keeps eight bits."""


def halves_are_near(loss: Loss, drawn: Draw) -> None:
    """Value and gradients have the inputs' type, also in single and half precision, and are near what the same rounded
    inputs give in float64.
    """
    for dtype, tolerance in TOLERANCES.items():
        batches, others = drawn(8, 16, dtype)
        value, slopes = _in_type(dtype, loss, batches, others)
        exact, expected = _in_type(torch.float64, loss, batches, others)
        error = abs(value.item() - exact.item())
        allowed = max(tolerance * abs(exact.item()), tolerance / 100)
        assert error <= allowed, f"{dtype}: {value} for {exact}"
        assert expected[0].any(), "its gradient is zero"
        for slope, wanted in zip(slopes, expected, strict=True):
            distance = (slope - wanted).norm()
            assert distance <= 3 * tolerance * wanted.norm(), f"{dtype}: another gradient"


def _in_type(
    dtype: torch.dtype, loss: Loss, batches: Batches, others: Others
) -> tuple[Tensor, Batches]:
    """Value and gradients in float64, of inputs in this type, of which both must be."""
    converted = {
        name: tensor.to(dtype) if tensor.is_floating_point() else tensor
        for name, tensor in others.items()
    }
    z = leaves([batch.to(dtype) for batch in batches])
    value = loss(z, converted)
    slopes = gradients(value, z)
    assert value.shape == (), "it is not a single number"
    types = {tensor.dtype for tensor in (value, *slopes)}
    assert types == {dtype}, f"its type is not that of {dtype} inputs"
    return value.double(), [slope.double() for slope in slopes]


def not_finite(
    loss: Loss,
    views: int,
    make_others: Callable[[Tensor, Tensor], Others],
    tried: Mapping[str, tuple[Tensor, Tensor]],
    dtype: torch.dtype,
) -> list[str]:
    """The names of those pairs of batches at which a value or gradient is infinite or NaN.

    Whatever a loss takes beside the batches is made of the same embeddings.
    """
    wrong = []
    for name, pair in tried.items():
        a, b = (batch.to(dtype) for batch in pair)
        batches = leaves([a, b][:views])
        value = loss(batches, make_others(b, a))
        numbers = [value, *gradients(value, batches)]
        if not all(tensor.isfinite().all() for tensor in numbers):
            wrong.append(name)
    return wrong
