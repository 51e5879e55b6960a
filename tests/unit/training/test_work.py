"""The operations of a step, against sums by hand."""

from itertools import pairwise
from typing import Any

import pytest

from hypersphere.config.run import Run
from hypersphere.training.work import flops, key

from .conftest import make_run

SIDE, CLASSES, IMAGES = 8, 3, 6
H, D, B = 8, 4, 2
"""Widths of the heads' hidden layers, embeddings and SimSiam's bottleneck."""
HEAD = {"hidden": H, "dim": D}
COSINE = {"name": "negative_cosine"}
METHODS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "supervised": ({"name": "supervised"}, {"name": "cross_entropy"}),
    "simclr": ({"name": "simclr", **HEAD}, {"name": "nt_xent", "temperature": 0.5}),
    "simsiam": ({"name": "simsiam", **HEAD, "bottleneck": B, "layers": 2}, COSINE),
    "byol": ({"name": "byol", **HEAD}, COSINE),
    "mocov2": (
        {"name": "mocov2", **HEAD, "queue": 12, "groups": 3},
        {"name": "momentum_contrast", "temperature": 0.2},
    ),
}
ALL_AT_ONCE = {"batch": {"size": IMAGES, "micro": IMAGES}}


def run(name: str, **changes: Any) -> Run:
    method, objective = METHODS[name]
    return make_run(method=method, objective=objective, **ALL_AT_ONCE | changes)


def linear(*widths: int) -> int:
    """FLOPs of linear layers for one vector."""
    return sum(2 * a * b for a, b in pairwise(widths))


# FLOPs of a ResNet-8's forward pass over one image: 2 for each product added
W, S = 2, SIDE * SIDE
STEM = 2 * 9 * 3 * W * S
FIRST = 2 * (9 * W * W + 9 * W * W) * S
SECOND = 2 * (9 * W * 2 * W + 9 * 2 * W * 2 * W + W * 2 * W) * S // 4
THIRD = 2 * (9 * 2 * W * 4 * W + 9 * 4 * W * 4 * W + 2 * W * 4 * W) * S // 16
FORWARD = STEM + FIRST + SECOND + THIRD
TRAINED = 3 * FORWARD - STEM
"""A backward pass has two products for each of the forward pass; the images themselves take no gradient."""
F = 4 * W
"""Features."""
PROJECTOR, PREDICTOR = linear(F, H, D), linear(D, H, D)
BY_HAND = {
    "supervised": TRAINED + 3 * linear(F, CLASSES),
    "simclr": 2 * (TRAINED + 3 * PROJECTOR),
    "simsiam": 2 * (TRAINED + 3 * PROJECTOR + 3 * linear(D, B, D)),
    "byol": 2 * (TRAINED + 3 * PROJECTOR + 3 * PREDICTOR + FORWARD + PROJECTOR),
    "mocov2": TRAINED + 3 * PROJECTOR + FORWARD + PROJECTOR,
}


@pytest.mark.parametrize("name", METHODS)
def test_operations_are_those_counted_by_hand(name: str) -> None:
    """Momentum targets pass forward alone, and only the views that each method trains on pass backward."""
    assert flops(run(name), SIDE, CLASSES) == IMAGES * BY_HAND[name]
    if name == "supervised":  # a convolution's grow with the area
        assert flops(run(name), 2 * SIDE, CLASSES) == IMAGES * (
            4 * TRAINED + 3 * linear(F, CLASSES)
        )


def test_an_encoder_that_takes_parts_passes_forward_twice() -> None:
    """And a target, which has no backward pass, once."""
    for name, again in (("simclr", 2 * FORWARD), ("byol", 2 * FORWARD), ("supervised", FORWARD)):
        parted = run(name, batch={"size": IMAGES, "micro": IMAGES, "parts": 3})
        assert flops(parted, SIDE, CLASSES) == IMAGES * (BY_HAND[name] + again)
        assert key(parted, SIDE) != key(run(name), SIDE)


WORDS, HIDDEN = 3, 5
SENTENCES: dict[str, Any] = {
    "kind": "text",
    "encoder": {"name": "gru", "vocabulary": 20, "words": WORDS, "hidden": HIDDEN},
    "method": {"name": "quick_thoughts"},
    "objective": {"name": "n_pair"},
    **ALL_AT_ONCE,
}


@pytest.mark.parametrize(("mean", "words"), [(4, 24), (2.5, 15), (1, 6)])
def test_operations_of_sentences_are_those_counted_by_hand(mean: float, words: int) -> None:
    """Six sentences of ``words`` words together. Three gates each take a word's embedding and the state.

    The backward pass has two products for each, except that no gradient goes to the state before the first word.
    """
    gates = 2 * 3 * HIDDEN
    each = 3 * words * gates * (WORDS + HIDDEN) - IMAGES * gates * HIDDEN
    assert flops(make_run(**SENTENCES), mean, CLASSES) == 2 * each  # of the two encoders


def test_runs_share_a_count_where_seed_and_schedule_alone_differ() -> None:
    same = run(
        "simclr",
        seed=5,
        batch={"size": 12, "micro": IMAGES},
        schedule={"epochs": 9, "warmup": 0.25},
    )
    assert key(same, SIDE) == key(run("simclr"), SIDE)
    assert key(run("simclr"), 16) != key(run("simclr"), SIDE) != key(run("byol"), SIDE)
    assert flops(same, SIDE, CLASSES) == flops(run("simclr"), SIDE, CLASSES)
