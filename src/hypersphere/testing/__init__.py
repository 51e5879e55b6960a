"""The contract of every loss, for our own and for those of plug-ins: ``check_objective("chord", {"push": 0.5})``.

Each function here that checks something raises an ``AssertionError`` with a sentence. It takes a loss as a function of
its batches, which are trained, and of its other tensors by their names.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
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

BATCHES = {name for pair in registry.PAIRS for name in pair} | {
    "student",
    "teacher",
    "scores",
    "scores_a",
    "scores_b",
}
"""Arguments that are one row for each image, and trained."""
TENSORS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "queue": lambda a, b: torch.cat([a, b]),
    "bank": lambda a, b: torch.cat([a, b]),
    "centre": lambda a, b: 0.1 * a[0],
    "labels": lambda a, b: torch.arange(len(a)) % max(len(a) // 3, 2),
    "index": lambda a, b: (5 * torch.arange(len(a)) + 1) % (2 * len(a)),
    "noise": lambda a, b: (7 * torch.arange(len(a))[:, None] + 3 * torch.arange(5)) % (2 * len(a)),
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
    loss, trained = objective(name, parameters, logits), batches_of(name)

    def drawn(n: int, d: int, dtype: torch.dtype) -> tuple[Batches, Others]:
        return list(draw(n, d, dtype=dtype))[: len(trained)], others(
            name, *draw(n, d, seed=7, dtype=dtype)
        )

    training_lowers(loss, len(trained), others(name, *draw(12, 8, seed=7, scale=1)))
    batches, tensors = drawn(3, 3, torch.float64)
    right = torch.autograd.gradcheck(
        lambda *z: loss([*z], tensors), leaves(batches), raise_exception=False
    )
    assert right, "its gradient is not that of its value"
    order_is_nothing(loss, *drawn(6, 4, torch.float64))
    halves_are_near(loss, drawn)
    wrong = not_finite(
        loss, len(trained), partial(others, name), difficult_batches(), torch.float32
    )
    assert wrong == [], f"not finite: {', '.join(wrong)}"


def objective(
    name: str, parameters: Mapping[str, Any], logits: Mapping[str, Any] | None = None
) -> Loss:
    """A loss with its parameters, which are checked against the function's signature, as in a run."""
    part: Component = TypeAdapter(Objective).validate_python({"name": name, **parameters})
    loss = partial(registry.load("objectives", part.name), **part.parameters)
    if logits is not None:
        of_logits: Component = TypeAdapter(Logits).validate_python(dict(logits))
        loss = partial(
            loss, to_logits=partial(registry.load("logits", of_logits.name), **of_logits.parameters)
        )
    return lambda batches, others: loss(
        **dict(zip(batches_of(name), batches, strict=True)), **others
    )


def batches_of(name: str) -> list[str]:
    """The arguments of a loss that are trained."""
    return [argument for argument in registry.tensors("objectives", name) if argument in BATCHES]


def others(name: str, a: Tensor, b: Tensor) -> Others:
    """What a loss takes beside its batches, made of two batches of embeddings."""
    names = [
        one
        for one in registry.tensors("objectives", name)
        if one not in BATCHES and one != registry.TO_LOGITS
    ]
    unknown = [one for one in names if one not in TENSORS]
    assert not unknown, (
        f"{name} takes {unknown[0]}: say in hypersphere.testing.TENSORS (or BATCHES) how it is made"
    )
    return {one: TENSORS[one](a, b) for one in names}


def draw(
    n: int = 5, d: int = 4, seed: int = 0, dtype: torch.dtype = torch.float64, scale: float = 3
) -> tuple[Tensor, Tensor]:
    """Two views' embeddings, of norms far from 1; the numbers are the same in every dtype, but for rounding."""
    z = (
        torch.randn(2, n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        * scale
    )
    return z[0].to(dtype), z[1].to(dtype)


def difficult_batches() -> dict[str, tuple[Tensor, Tensor]]:
    """Batches of three images at which a norm, a cosine or a distance is not differentiable, or far from 1; and of two.

    Points have a whole number as norm, so that cosines are ±1, or are drawn, so that they round to either side of it.
    """
    a, b = draw(3, 4, dtype=torch.float32)
    made = {
        "all zero": (0 * a, 0 * b),
        "identical views": (a, a),
        "antipodal views": (a, -a),
        "huge": (a * 1e6, b * 1e6),
        "huge and tiny norms": (a * 1e15, b * 1e-15),
        "two images": draw(2, 4, dtype=torch.float32),
    }
    first, second = torch.tensor([[1.0], [-1], [1]]), torch.tensor([[1.0], [-1], [-1]])
    for kind, point in {"whole": torch.tensor([[1.0, 2, 2]]), "drawn": a[:1]}.items():
        three = point.expand(3, -1)
        made |= {
            f"zero, {kind}": (three * (first < 0), three * (second > 0)),
            f"identical, {kind}": (three, three),
            f"antipodal, {kind}": (three, -three),
            f"both, {kind}": (three * first, three * second),
        }
    return made


def leaves(batches: Batches) -> Batches:
    """Copies that gradients are asked of."""
    return [batch.detach().clone().requires_grad_() for batch in batches]


def gradients(value: Tensor, batches: Batches) -> tuple[Tensor, ...]:
    """A batch that the loss does not train, such as a teacher's, has gradient 0."""
    return torch.autograd.grad(value, batches, allow_unused=True, materialize_grads=True)


def training_lowers(loss: Loss, views: int, others: Others) -> None:
    """A two-layer network, 20 steps along the gradient's signs: all losses finite, the last at least 5 % of the first
    below it. In float64, so that rounding decides hardly a sign.
    """
    generator = torch.Generator().manual_seed(1)
    n, d, normal = 12, 8, partial(torch.randn, generator=generator, dtype=torch.float64)
    images = normal(n, 6)
    seen = [images + 0.3 * normal(n, 6) for _ in range(views)]
    weights, values = [normal(6, 32) / 6**0.5, normal(32, d) / 32**0.5], []
    for _ in range(21):
        weights = leaves(weights)
        value = loss([(view @ weights[0]).tanh() @ weights[1] for view in seen], others)
        weights = [
            w - 0.02 * slope.sign()
            for w, slope in zip(weights, gradients(value, weights), strict=True)
        ]
        values.append(value.item())
    assert all(map(math.isfinite, values)), f"training makes it infinite: {values}"
    assert values[0] - values[-1] > 0.05 * abs(values[0]), f"training does not lower it: {values}"


def order_is_nothing(loss: Loss, batches: Batches, others: Others) -> None:
    """Six images: another order of everything that has a row for each changes no value, and moves gradients alike."""
    batches = leaves(batches)
    moved = leaves([batch[ORDER] for batch in batches])
    others_moved = {
        name: tensor[ORDER] if name in ROWS else tensor for name, tensor in others.items()
    }
    value, again = loss(batches, others), loss(moved, others_moved)
    torch.testing.assert_close(again, value, rtol=1e-10, atol=1e-12)
    for first, second in zip(gradients(value, batches), gradients(again, moved), strict=True):
        torch.testing.assert_close(second, first[ORDER], rtol=1e-8, atol=1e-12)


def halves_are_near(loss: Loss, drawn: Draw) -> None:
    """In single and half precision: value and gradients of the inputs' type, and near those of the same rounded inputs
    in float64. bfloat16 keeps eight bits.
    """
    for dtype, tolerance in {
        torch.float32: 1e-4,
        torch.bfloat16: 0.03,
        torch.float16: 0.03,
    }.items():
        batches, others = drawn(8, 16, dtype)
        results = []
        for kind in (dtype, torch.float64):
            z = leaves([batch.to(kind) for batch in batches])
            value = loss(
                z, {name: x.to(kind) if x.is_floating_point() else x for name, x in others.items()}
            )
            slopes = gradients(value, z)
            assert value.shape == (), "it is not a single number"
            assert {value.dtype, *(slope.dtype for slope in slopes)} == {kind}, (
                f"its type is not that of {kind} inputs"
            )
            results.append((value.double(), tuple(slope.double() for slope in slopes)))
        (value, slopes), (exact, expected) = results
        error = abs(value.item() - exact.item())
        assert error <= max(tolerance * abs(exact.item()), tolerance / 100), (
            f"{dtype}: {value} for {exact}"
        )
        assert expected[0].any(), "its gradient is zero"
        for slope, wanted in zip(slopes, expected, strict=True):
            assert (slope - wanted).norm() <= 3 * tolerance * wanted.norm(), (
                f"{dtype}: another gradient"
            )


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
        a, b = (one.to(dtype) for one in pair)
        batches = leaves([a, b][:views])
        value = loss(batches, make_others(b, a))
        if not (
            value.isfinite() and all(slope.isfinite().all() for slope in gradients(value, batches))
        ):
            wrong.append(name)
    return wrong
