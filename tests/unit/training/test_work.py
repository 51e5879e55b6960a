"""The work of a step, against sums by hand, against torch's own counter on real tensors, and against saved weights."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from hypersphere.config.run import Run
from hypersphere.methods.base import Batch
from hypersphere.training import build
from hypersphere.training.weights import plain
from hypersphere.training.work import Counter, Counting, Work

SIDE, CLASSES = 8, 3
BASE: dict[str, Any] = {
    "dataset": {"name": "noise", "source": {"name": "digits"}},
    "views": {},
    "encoder": {"name": "resnet8", "width": 2},
    "optimiser": {"learning_rate": 1.0, "weight_decay": 0.0},
    "schedule": {"epochs": 4, "warmup": 0.25},
    "batch": {"size": 6, "micro": 6},
    "seed": 0,
}
H, D, B = 8, 4, 2
"""Widths of the heads' hidden layers, embeddings and SimSiam's bottleneck."""
NAMES: dict[str, dict[str, Any]] = {
    "supervised": {"method": {"name": "supervised"}, "objective": {"name": "cross_entropy"}},
    "simclr": {
        "method": {"name": "simclr", "hidden": H, "dim": D},
        "objective": {"name": "nt_xent", "temperature": 0.5},
    },
    "simsiam": {
        "method": {"name": "simsiam", "hidden": H, "dim": D, "bottleneck": B, "layers": 2},
        "objective": {"name": "negative_cosine"},
    },
    "byol": {
        "method": {"name": "byol", "hidden": H, "dim": D},
        "objective": {"name": "normalised_squared_error"},
    },
    "byol_one_direction": {
        "method": {"name": "byol", "hidden": H, "dim": D, "symmetric": False},
        "objective": {"name": "normalised_squared_error"},
    },
    "mocov2": {
        "method": {"name": "mocov2", "hidden": H, "dim": D, "queue": 12, "groups": 3},
        "objective": {"name": "momentum_contrast", "temperature": 0.2},
    },
}


def run(name: str, **changes: Any) -> Run:
    return Run.model_validate(BASE | NAMES[name] | changes)


def convolutions(width: int = 2, side: int = SIDE) -> tuple[int, int]:
    """FLOPs of a ResNet-8's forward pass over one image, and of its first convolution: 2 for each product added."""
    w, s = width, side * side
    stem = 2 * 9 * 3 * w * s
    first = 2 * (9 * w * w + 9 * w * w) * s
    second = 2 * (9 * w * 2 * w + 9 * 2 * w * 2 * w + w * 2 * w) * s // 4
    third = 2 * (9 * 2 * w * 4 * w + 9 * 4 * w * 4 * w + 2 * w * 4 * w) * s // 16
    return stem + first + second + third, stem


def linear(*widths: int) -> int:
    """FLOPs of linear layers for one vector."""
    return sum(2 * a * b for a, b in pairwise(widths))


FORWARD, STEM = convolutions()
TRAINED = 3 * FORWARD - STEM
"""A backward pass has two products for each of the forward pass; the images themselves take no gradient."""
F = 8
"""Features: four times the width."""
PROJECTOR, PREDICTOR = linear(F, H, D), linear(D, H, D)
BY_HAND = {
    "supervised": TRAINED + 3 * linear(F, CLASSES),
    "simclr": 2 * (TRAINED + 3 * PROJECTOR),
    "simsiam": 2 * (TRAINED + 3 * PROJECTOR + 3 * linear(D, B, D)),
    "byol": 2 * (TRAINED + 3 * PROJECTOR + 3 * PREDICTOR + FORWARD + PROJECTOR),
    "byol_one_direction": TRAINED + 3 * PROJECTOR + 3 * PREDICTOR + FORWARD + PROJECTOR,
    "mocov2": TRAINED + 3 * PROJECTOR + FORWARD + PROJECTOR,
}


@pytest.mark.parametrize("name", NAMES)
def test_operations_are_those_counted_by_hand(name: str) -> None:
    """Momentum targets pass forward alone, and only the views that each method trains on pass backward."""
    assert Counting().of(run(name), SIDE, CLASSES).step.flops == 6 * BY_HAND[name]


@pytest.mark.parametrize("name", ["supervised", "simsiam", "byol"])
def test_operations_are_those_that_torch_counts_in_a_real_step(name: str) -> None:
    """Real tensors, the run's own loss, which multiplies no matrices here, and torch's own counter."""
    one = run(name)
    torch.manual_seed(0)
    method = build.assemble(one, 6, CLASSES)
    method.begin()
    batch = Batch(torch.randn(len(one.branches), 6, 3, SIDE, SIDE), torch.arange(6), torch.arange(6) % CLASSES)
    with FlopCounterMode(display=False) as counter:
        method(batch).loss.backward()
    assert Counting().of(one, SIDE, CLASSES).step.flops == counter.get_total_flops()


WORDS, HIDDEN = 3, 5
SENTENCES: dict[str, Any] = {
    "kind": "text",
    "encoder": {"name": "gru", "vocabulary": 20, "words": WORDS, "hidden": HIDDEN},
    "method": {"name": "quick_thoughts"},
    "objective": {"name": "n_pair"},
}


@pytest.mark.parametrize(("mean", "words"), [(4, 24), (2.5, 15), (1, 6)])
def test_operations_of_sentences_are_those_counted_by_hand(mean: float, words: int) -> None:
    """Six sentences of ``words`` words together. Three gates each take a word's embedding and the state.

    The backward pass has two products for each, except that no gradient goes to the state before the first word.
    """
    step = Counting().of(Run.model_validate(BASE | SENTENCES), mean, CLASSES).step
    gates = 2 * 3 * HIDDEN
    each = 3 * words * gates * (WORDS + HIDDEN) - 6 * gates * HIDDEN
    assert step.flops == 2 * each  # of the two encoders


def test_a_sentence_model_takes_the_bytes_of_both_encoders() -> None:
    one = Run.model_validate(BASE | SENTENCES)
    encoder = build.assemble(one, 6, CLASSES).encoder
    size = sum(tensor.numel() * tensor.element_size() for tensor in plain(encoder.state_dict()).values())
    assert Counting().of(one, 4, CLASSES).stored == size > 0


def test_a_step_of_several_passes_is_their_sum() -> None:
    one = Counting().of(run("simclr", batch={"size": 6, "micro": 6}), SIDE, CLASSES)
    four = Counting().of(run("simclr", batch={"size": 24, "micro": 6}), SIDE, CLASSES)
    assert four.step == one.step * 4
    assert four.stored == one.stored


def test_operations_of_a_convolution_grow_with_the_area_and_the_images() -> None:
    counting = Counting()
    small, large = (counting.of(run("supervised"), side, CLASSES).step.flops for side in (8, 16))
    head = 6 * 3 * linear(F, CLASSES)
    assert large - head == 4 * (small - head)
    double = counting.of(run("supervised", batch={"size": 12, "micro": 12}), 8, CLASSES).step.flops
    assert double == 2 * small


def test_what_was_counted_before_does_not_matter() -> None:
    """An encoder that several methods share is counted once, and apart from them."""
    shared = Counting()
    for name in NAMES:
        assert shared.of(run(name), SIDE, CLASSES) == Counting().of(run(name), SIDE, CLASSES)
    assert shared.of(run("simclr", seed=5), SIDE, CLASSES) == shared.of(run("simclr"), SIDE, CLASSES)


def test_each_combination_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counting, built = Counting(), []
    real = build.build_encoder
    monkeypatch.setattr("hypersphere.training.work.build_encoder", lambda run: built.append(run) or real(run))
    counting.of(run("simclr"), SIDE, CLASSES)
    done = len(built)
    for seed in range(100):
        counting.of(run("simclr", seed=seed), SIDE, CLASSES)
    assert len(built) == done > 0


def test_bytes_are_those_of_each_operation_once() -> None:
    """x [5, 3] times w [3, 2], float32: both are read and the product written. A view moves nothing."""
    x, w = torch.empty(5, 3, device="meta"), torch.empty(3, 2, device="meta")
    with Counter() as counter:
        (x @ w).reshape(10)
    assert counter.work == Work(flops=2 * 5 * 3 * 2, bytes=4 * (15 + 6 + 10))


def test_bytes_of_the_backward_pass_count_where_a_gradient_flows() -> None:
    """A target costs less than the network that it follows, in bytes too."""
    both = Counting().of(run("byol_one_direction"), SIDE, CLASSES).step.bytes
    trained_twice = Counting().of(run("simsiam"), SIDE, CLASSES).step.bytes
    assert both < trained_twice


@pytest.mark.parametrize("name", NAMES)
def test_weights_take_the_bytes_of_the_tensors_that_are_saved(name: str) -> None:
    one = run(name)
    method = build.assemble(one, 6, CLASSES)
    method.begin()
    model = Counting().of(one, SIDE, CLASSES)

    def size(module: nn.Module) -> int:
        return sum(tensor.numel() * tensor.element_size() for tensor in plain(module.state_dict()).values())

    assert (model.encoder, model.heads) == (size(method.encoder), size(method.head))
    assert model.stored == model.encoder + model.heads
