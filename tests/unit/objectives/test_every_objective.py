"""Every loss there is: from YAML to a component, trained for 30 steps on fixed random data, and what all of them keep.

A new loss needs a line in ``PARAMETERS``, a new map to logits one in ``LOGITS``, and a tensor that no other loss takes
one in ``TENSORS``. The seven properties of each loss are in its own file.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import pytest
import torch
import yaml
from pydantic import TypeAdapter
from torch import Tensor

from hypersphere.declared import registry
from hypersphere.declared.run import Component, Logits, Objective

N, D, IMAGES = 12, 8, 20

PARAMETERS: dict[str, list[str]] = {
    "alignment": ["{}", "{power: 1, weight: 0.5}"],
    "alignment_uniformity": ["{}"],
    "cross_entropy": ["{}"],
    "debiased": ["{temperature: 0.5, tau_plus: 0.1}"],
    "decoupled": ["{temperature: 0.5}"],
    "decoupled_one_direction": ["{temperature: 0.5}"],
    "distance_polarization": ["{weight: 1}", "{weight: 0.1, reduction: sum, among: both_views}"],
    "double_metric": [
        "{temperature: 0.5, alpha: 1, beta: 0.5, sign: printed}",
        "{temperature: 0.5, alpha: 1, beta: 0.5, sign: contrastive}",
    ],
    "generalised_info_nce": [
        "{negatives: both_views}",
        "{negatives: other_view}",
        "{negatives: none, beta: 0}",
    ],
    "hard_contrastive": ["{temperature: 0.5, share: 0.3}"],
    "hard_negative": ["{temperature: 0.5, tau_plus: 0.1, concentration: 1}"],
    "info_nce": ["{temperature: 0.5}", "{temperature: 0.5, include_self: false}"],
    "momentum_contrast": ["{temperature: 0.5}"],
    "multiview_coding": ["{temperature: 0.5}"],
    "n_pair": ["{}"],
    "nce": [
        "{temperature: 0.5}",
        "{temperature: 0.5, negatives: other_view}",
        "{temperature: 0.5, negatives: both_views}",
    ],
    "nce_memory_bank": ["{temperature: 0.5}", "{temperature: 0.5, proximal: 1}"],
    "negative_cosine": ["{}"],
    "nonparametric_softmax": [
        "{temperature: 0.5}",
        "{temperature: 0.5, proximal: 1}",
        "{temperature: 0.5, denominator: batch}",
    ],
    "normalised_squared_error": ["{}"],
    "nt_xent": ["{temperature: 0.5}"],
    "pair_contrastive": ["{margin: 2}"],
    "self_distillation": ["{student_temperature: 0.5, teacher_temperature: 0.2}"],
    "supervised_contrastive": ["{temperature: 0.5}"],
    "swapped_prediction": ["{}"],
    "triplet": ["{margin: 1}", "{margin: 1, hinge: false}"],
    "tuplet": ["{}", "{normalise: false}"],
    "uniformity": ["{}", "{t: 4, weight: 0.5}"],
}
"""Settings of each loss, in YAML; each is a case."""

LOGITS: dict[str, list[str]] = {
    "attenuation_type_i": ["{temperature: 0.5, alpha: 1}", "{temperature: 0.5, alpha: 0}"],
    "attenuation_type_ii": ["{temperature: 0.5, alpha: 0.5}", "{temperature: 0.5, alpha: 1}"],
    "cosine_logits": ["{temperature: 0.5}"],
    "curvature": ["{temperature: 0.5, c: 2}", "{temperature: 0.5, c: 2, curve: algorithm_3}"],
    "curvature_as_printed": ["{temperature: 0.5, c: 2}"],
    "margin_logits": ["{temperature: 0.5, angular: 0.3, subtractive: 0.2}"],
    "positive_scaling": ["{temperature: 0.5, s: 3}"],
    "ratio_scaling": ["{temperature: 0.5, angular: 0.3}", "{temperature: 0.5, angular: 0.3, scope: row}"],
}
"""Settings of each map to logits; each is a case of every loss that takes one."""

SAME = [
    {
        "nt_xent {temperature: 0.5}",
        "info_nce {temperature: 0.5, include_self: false}",
        "generalised_info_nce {negatives: both_views} cosine_logits {temperature: 0.5}",
    },
    {
        "nce {temperature: 0.5, negatives: other_view}",
        "generalised_info_nce {negatives: other_view} cosine_logits {temperature: 0.5}",
    },
    {"alignment {}", "normalised_squared_error {}"},
]
"""What is one loss under several names: NT-Xent, its cross-view relative, and BYOL's."""

TENSORS: dict[str, Callable[[torch.Generator], Tensor]] = {
    "queue": lambda g: torch.randn(30, D, generator=g),
    "bank": lambda g: torch.randn(IMAGES, D, generator=g),
    "centre": lambda g: 0.1 * torch.randn(D, generator=g),
    "labels": lambda g: torch.arange(N) % 4,
    "index": lambda g: torch.randperm(IMAGES, generator=g)[:N],
    "noise": lambda g: torch.randint(IMAGES, (N, 5), generator=g),
}
"""What losses take beside embeddings, by the argument's name."""

BATCHES = {name for pair in registry.PAIRS for name in pair} | {"student", "teacher", "scores", "scores_a", "scores_b"}
"""Arguments that are one row for each image, and trained."""
ROWS = BATCHES | {"labels", "index", "noise"}
"""Arguments that go with the images when their order changes."""


class Case(NamedTuple):
    """One loss, with one map to logits if it takes one, in one setting."""

    objective: str
    setting: str | None
    logits: str | None = None
    logits_setting: str | None = None

    def __str__(self) -> str:
        return " ".join(part for part in self if part)


def cases() -> Iterator[Case]:
    """All that the registry finds; None stands for a setting that the tables lack."""
    for name in registry.names("objectives"):
        for setting in PARAMETERS.get(name, [None]):  # type: ignore[list-item]
            if registry.TO_LOGITS not in registry.tensors("objectives", name):
                yield Case(name, setting)
                continue
            for logits in registry.names("logits"):
                for logits_setting in LOGITS.get(logits, [None]):  # type: ignore[list-item]
                    yield Case(name, setting, logits, logits_setting)


EVERY = pytest.mark.parametrize("case", list(cases()), ids=str)


def component(kind: Any, table: str, name: str, setting: str | None) -> Component:
    """YAML to a component, checked against the function's signature, as in a run."""
    if setting is None:
        pytest.fail(f"{name} is in no test of every objective: add its settings, as YAML, to {table} in {__file__}")
    return TypeAdapter(kind).validate_python({"name": name, **yaml.safe_load(setting)})


def build(case: Case, dtype: torch.dtype) -> tuple[Callable[..., Tensor], list[str], dict[str, Tensor]]:
    """The loss with its parameters, its batches' names, and its other tensors."""
    part = component(Objective, "PARAMETERS", case.objective, case.setting)
    loss = partial(registry.load("objectives", part.name), **part.parameters)
    others: dict[str, Tensor] = {}
    batches = []
    for name in registry.tensors("objectives", case.objective):
        if name == registry.TO_LOGITS:
            assert case.logits is not None
            part = component(Logits, "LOGITS", case.logits, case.logits_setting)
            loss = partial(loss, **{name: partial(registry.load("logits", part.name), **part.parameters)})
        elif name in BATCHES:
            batches.append(name)
        elif name in TENSORS:
            tensor = TENSORS[name](torch.Generator().manual_seed(7))
            others[name] = tensor.to(dtype) if tensor.is_floating_point() else tensor
        else:
            pytest.fail(f"{case.objective} takes {name}: say in TENSORS (or BATCHES) in {__file__} how it is made")
    return loss, batches, others


def embeddings(count: int, dtype: torch.dtype) -> list[Tensor]:
    """Correlated views, of norms about 3."""
    z = torch.randn(3, N, D, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return [(z[0] + 0.5 * view).to(dtype).requires_grad_() for view in z[1 : 1 + count]]


@EVERY
def test_training_lowers_it(case: Case) -> None:
    """A two-layer network, 30 steps of Adam: all losses finite, the last at least 5 % of the first below it."""
    loss, batches, others = build(case, torch.float32)
    g = torch.Generator().manual_seed(1)
    images = torch.randn(N, 6, generator=g)
    views = [images + 0.3 * torch.randn(N, 6, generator=g) for _ in batches]
    weights = [(torch.randn(6, 32, generator=g) / 6**0.5), (torch.randn(32, D, generator=g) / 32**0.5)]
    optimiser = torch.optim.Adam([w.requires_grad_() for w in weights], lr=0.02)
    values = []
    for _ in range(31):
        z = [(view @ weights[0]).tanh() @ weights[1] for view in views]
        value = loss(**dict(zip(batches, z, strict=True)), **others)
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        values.append(value.item())
    assert all(torch.tensor(values).isfinite()), values
    assert values[0] - values[-1] > 0.05 * abs(values[0]), values


@EVERY
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_is_a_number_of_its_inputs_type_with_a_gradient(case: Case, dtype: torch.dtype) -> None:
    loss, batches, others = build(case, dtype)
    z = embeddings(len(batches), dtype)
    value = loss(**dict(zip(batches, z, strict=True)), **others)
    assert value.shape == ()
    assert value.dtype == dtype
    (gradient,) = torch.autograd.grad(value, z[:1])
    assert gradient.dtype == dtype
    assert gradient.isfinite().all()
    assert gradient.any()


@EVERY
def test_the_order_of_the_images_is_nothing_to_it(case: Case) -> None:
    """The same order for everything that has a row for each image; gradients move with the rows."""
    loss, batches, others = build(case, torch.float64)
    order = torch.randperm(N, generator=torch.Generator().manual_seed(3))
    z = embeddings(len(batches), torch.float64)
    moved = [batch.detach()[order].requires_grad_() for batch in z]
    others_moved = {name: tensor[order] if name in ROWS else tensor for name, tensor in others.items()}
    value = loss(**dict(zip(batches, z, strict=True)), **others)
    again = loss(**dict(zip(batches, moved, strict=True)), **others_moved)
    torch.testing.assert_close(again, value, rtol=1e-10, atol=1e-12)
    gradients = (torch.autograd.grad(x, leaf)[0] for x, leaf in ((value, z[0]), (again, moved[0])))
    torch.testing.assert_close(next(gradients)[order], next(gradients), rtol=1e-8, atol=1e-12)


def test_the_tables_name_nothing_that_is_gone() -> None:
    assert PARAMETERS.keys() <= set(registry.names("objectives"))
    assert LOGITS.keys() <= set(registry.names("logits"))
    taken = {name for loss in registry.names("objectives") for name in registry.tensors("objectives", loss)}
    assert TENSORS.keys() <= taken


def test_no_two_give_the_same_value() -> None:
    """All settings, on data of free norms: equal values are one equation under two names."""
    values = {}
    for case in cases():
        if case.logits in (None, "cosine_logits"):  # the other maps change gradients alone, or are margins
            loss, batches, others = build(case, torch.float64)
            z = embeddings(len(batches), torch.float64)
            values[str(case)] = loss(**dict(zip(batches, z, strict=True)), **others).item()
    same = {
        frozenset(pair) for pair in itertools.combinations(values, 2) if abs(values[pair[0]] - values[pair[1]]) < 1e-9
    }
    assert same == {frozenset(pair) for group in SAME for pair in itertools.combinations(group, 2)}
