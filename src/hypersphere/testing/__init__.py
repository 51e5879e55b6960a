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
from torch.autograd import grad, gradcheck
from torch.testing import assert_close

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
"""The arguments of losses that have one row for each image and are trained."""


def _both(a: Tensor, b: Tensor) -> Tensor:
    """A tensor of 2n vectors, such as a queue."""
    return torch.cat([a, b])


def _centre(a: Tensor, b: Tensor) -> Tensor:
    """A short vector."""
    return 0.1 * a[0]


def _labels(a: Tensor, b: Tensor) -> Tensor:
    """The classes of n images, about three images of each class."""
    n = len(a)
    classes = max(n // 3, 2)
    return torch.arange(n) % classes


def _places(a: Tensor, b: Tensor) -> Tensor:
    """The place of each of n images in a bank of 2n."""
    n = len(a)
    images = torch.arange(n)
    return (5 * images + 1) % (2 * n)


def _noise(a: Tensor, b: Tensor) -> Tensor:
    """The places of five other images in a bank of 2n, for each of n images."""
    n = len(a)
    images = torch.arange(n)[:, None]
    others = torch.arange(5)
    return (7 * images + 3 * others) % (2 * n)


TENSORS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "queue": _both,
    "bank": _both,
    "centre": _centre,
    "labels": _labels,
    "index": _places,
    "noise": _noise,
}
"""How to make an argument of a loss, by its name, from two more batches; a bank has 2n images."""
ROWS = BATCHES | {"labels", "index", "noise"}
"""The arguments whose rows move with the images when the order of images changes."""
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
        batches = draw(n, d, dtype=dtype)
        more = draw(n, d, seed=7, dtype=dtype)
        return list(batches[:views]), make_others(*more)

    of_training = draw(12, 8, seed=7, scale=1)
    training_lowers(loss, views, make_others(*of_training))
    gradient_is_of_value(loss, *drawn(3, 3, torch.float64))
    order_is_nothing(loss, *drawn(6, 4, torch.float64))
    halves_are_near(loss, drawn)
    wrong = not_finite(loss, views, make_others, difficult_batches(), torch.float32)
    listed = ", ".join(wrong)
    assert not wrong, f"not finite: {listed}"


def objective(
    name: str, parameters: Mapping[str, Any], logits: Mapping[str, Any] | None = None
) -> Loss:
    """A loss with its parameters, which are checked against the function's signature, as in a run."""
    declared = {"name": name, **parameters}
    component: Component = TypeAdapter(Objective).validate_python(declared)
    settings = dict(component.parameters)
    if logits is not None:
        component = TypeAdapter(Logits).validate_python(dict(logits))
        to_logits = registry.load("logits", component.name)
        settings[registry.TO_LOGITS] = partial(to_logits, **component.parameters)
    function = registry.load("objectives", name)
    names = batches_of(name)

    def loss(batches: Batches, others: Others) -> Tensor:
        by_name = dict(zip(names, batches, strict=True))
        return function(**by_name, **others, **settings)

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
    z = torch.randn(2, n, d, generator=generator, dtype=torch.float64)
    a, b = (scale * z).to(dtype)
    return a, b


def difficult_batches() -> dict[str, tuple[Tensor, Tensor]]:
    """Batches of three images, and of two, at which a norm, cosine or distance is not differentiable, or far from 1.

    Some points have a whole number as norm, so that cosines are ±1. Others are drawn, so that cosines round to either
    side of ±1.
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
    whole = torch.tensor([1.0, 2, 2])
    points = {"whole": whole, "drawn": a[0]}
    for kind, point in points.items():
        for name, pair in _pairs_along(point).items():
            pairs[f"{name}, {kind}"] = pair
    return pairs


def _pairs_along(point: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
    """Batches of three images, each at a point, at its antipode or at zero."""
    three = point.expand(3, -1)
    first = torch.tensor([[1.0], [-1], [1]])
    second = torch.tensor([[1.0], [-1], [-1]])
    in_second = three * (first < 0)
    in_first = three * (second > 0)
    return {
        "zero": (in_second, in_first),
        "identical": (three, three),
        "antipodal": (three, -three),
        "both": (three * first, three * second),
    }


def leaves(batches: Batches) -> Batches:
    """Copies of batches that require gradients."""
    return [batch.detach().clone().requires_grad_() for batch in batches]


def gradients(value: Tensor, batches: Batches) -> tuple[Tensor, ...]:
    """The gradients of a value. A batch that the loss does not train, such as a teacher's, has gradient 0."""
    return grad(value, batches, allow_unused=True, materialize_grads=True)


def gradient_is_of_value(loss: Loss, batches: Batches, others: Others) -> None:
    """Check that the gradient is near finite differences of the value, in float64."""

    def value(*batches: Tensor) -> Tensor:
        return loss(list(batches), others)

    right = gradcheck(value, leaves(batches), raise_exception=False)
    assert right, "its gradient is not that of its value"


def training_lowers(loss: Loss, views: int, others: Others) -> None:
    """Check that 20 steps along the gradient's signs lower the loss of a two-layer network by at least 5 %.

    All losses must be finite. Training is in float64, so that rounding decides hardly a sign.
    """
    generator = torch.Generator().manual_seed(1)
    normal = partial(torch.randn, generator=generator, dtype=torch.float64)
    images = normal(12, 6)
    noises = [normal(12, 6) for _ in range(views)]
    seen = [images + 0.3 * noise for noise in noises]
    first = normal(6, 32) / 6**0.5
    second = normal(32, 8) / 32**0.5
    weights = leaves([first, second])
    values = []
    for _ in range(21):
        first, second = weights
        hidden = [(view @ first).tanh() for view in seen]
        embeddings = [units @ second for units in hidden]
        value = loss(embeddings, others)
        values.append(value.item())
        slopes = gradients(value, weights)
        for part, slope in zip(weights, slopes, strict=True):
            part.data -= 0.02 * slope.sign()
    before, *_, after = values
    lowered = before - after
    finite = all(map(math.isfinite, values))
    assert finite, f"training makes it infinite: {values}"
    assert lowered > 0.05 * abs(before), f"training does not lower it: {values}"


def order_is_nothing(loss: Loss, batches: Batches, others: Others) -> None:
    """Check that another order of six images, with all their rows, leaves the value and moves gradients alike."""
    batches = leaves(batches)
    moved_batches = leaves([batch[ORDER] for batch in batches])
    moved_others = dict(others)
    for name in others.keys() & ROWS:
        moved_others[name] = others[name][ORDER]
    value = loss(batches, others)
    again = loss(moved_batches, moved_others)
    assert_close(again, value, rtol=1e-10, atol=1e-12)
    slopes = gradients(value, batches)
    slopes_again = gradients(again, moved_batches)
    for slope, slope_again in zip(slopes, slopes_again, strict=True):
        expected = slope[ORDER]
        assert_close(slope_again, expected, rtol=1e-8, atol=1e-12)


TOLERANCES = {torch.float32: 1e-4, torch.bfloat16: 0.03, torch.float16: 0.03}
"""How far a value may be off in a precision, as a share of the value. bfloat16 keeps eight bits."""


def halves_are_near(loss: Loss, drawn: Draw) -> None:
    """Check values and gradients in single and half precision.

    They have the type of the inputs, and are near what the same rounded inputs give in float64.
    """
    for dtype, tolerance in TOLERANCES.items():
        batches, others = drawn(8, 16, dtype)
        value, slopes = _in_type(dtype, loss, batches, others)
        exact, expected = _in_type(torch.float64, loss, batches, others)
        error = abs(value - exact)
        size = exact.abs().clamp(min=0.01)
        assert error <= tolerance * size, f"{dtype}: {value} for {exact}"
        assert expected[0].any(), "its gradient is zero"
        for slope, wanted in zip(slopes, expected, strict=True):
            distance = (slope - wanted).norm()
            allowed = 3 * tolerance * wanted.norm()
            assert distance <= allowed, f"{dtype}: another gradient"


def _in_type(
    dtype: torch.dtype, loss: Loss, batches: Batches, others: Others
) -> tuple[Tensor, Batches]:
    """Value and gradients for inputs of this type, returned in float64. Both must first have this type."""
    converted = dict(others)
    for name, tensor in others.items():
        if tensor.is_floating_point():
            converted[name] = tensor.to(dtype)
    z = leaves([batch.to(dtype) for batch in batches])
    value = loss(z, converted)
    slopes = gradients(value, z)
    assert value.shape == (), "it is not a single number"
    for tensor in (value, *slopes):
        assert tensor.dtype == dtype, f"its type is not that of {dtype} inputs"
    return value.double(), [slope.double() for slope in slopes]


def not_finite(
    loss: Loss,
    views: int,
    make_others: Callable[[Tensor, Tensor], Others],
    tried: Mapping[str, tuple[Tensor, Tensor]],
    dtype: torch.dtype,
) -> list[str]:
    """The names of the pairs of batches at which a value or gradient is infinite or NaN.

    The other arguments of the loss are made of the same embeddings.
    """
    wrong = []
    for name, pair in tried.items():
        a, b = [batch.to(dtype) for batch in pair]
        batches = leaves([a, b][:views])
        others = make_others(b, a)
        value = loss(batches, others)
        slopes = gradients(value, batches)
        finite = [tensor.isfinite().all() for tensor in (value, *slopes)]
        if not all(finite):
            wrong.append(name)
    return wrong
