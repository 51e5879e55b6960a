"""The contract of every loss: from YAML to a component, trained for 20 steps, and what all of them keep.

Each property is tried in every setting of ``cases.py``, the value against ``oracles.py``. Libraries are in
``test_libraries.py``; what is particular to a loss or to its paper is with the losses of its family.
"""

import itertools
from collections.abc import Callable
from functools import partial

import pytest
import torch

from hypersphere import testing
from hypersphere.config import registry
from hypersphere.testing import ORDER, Batches, Others, leaves

from . import oracles
from .cases import LOGITS, OBJECTIVES, Case, build, cases, drawn, parameters_of
from .shared import draw, has_gradient_of_value, rotation

CASES = list(cases())
every_case = pytest.mark.parametrize("case", CASES, ids=str)
PLAIN = {*LOGITS["cosine_logits"], *LOGITS["margin_logits"], "{temperature: 0.5, alpha: 0}"}
"""Maps that have the gradient of their value; the others are there to have another."""
LEARNT = [
    case
    for case in CASES
    if case.logits_setting in (None, *(settings[0] for settings in LOGITS.values()))
]
"""Of each map one setting: a positive that is pulled much harder than negatives are pushed need not lower the value."""
ORDINARY = [
    case
    for case in CASES
    if case.logits_setting in (None, *PLAIN) or "negatives: none" not in str(case)
]
"""Without negatives a positive's probability is 1, and the weights 1/(1 - q) are the largest that a dtype has."""


@every_case
def test_value_is_that_of_the_equation(case: Case) -> None:
    """Against the loss's oracle, a loop in Python floats."""
    if case.objective not in oracles.LOSSES:
        pytest.fail(f"{case.objective} has no oracle: write one in {oracles.__file__}")
    given = parameters_of(case)
    if case.logits:
        given["to_logits"] = partial(
            oracles.LOGITS[case.logits], **parameters_of(case, logits=True)
        )
    loss = build(case)
    for n, d in ((2, 3), (5, 4), (7, 2)):
        batches, others = drawn(case, n, d)
        inputs = others | dict(zip(case.batches, batches, strict=True))
        expected = oracles.LOSSES[case.objective](
            **given, **{name: z.tolist() for name, z in inputs.items()}
        )
        assert loss(batches, others).item() == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.trained
@pytest.mark.parametrize("case", LEARNT, ids=str)
def test_training_lowers_it(case: Case) -> None:
    """The least fall is 8 %, of DM with the printed sign."""
    others = testing.others(case.objective, *draw(12, 8, seed=7, scale=1))
    testing.training_lowers(build(case), len(case.batches), others)


@every_case
def test_gradient_is_that_of_the_value(case: Case) -> None:
    """By finite differences in float64, but for what a loss or a map to logits holds constant."""
    loss, (batches, others) = build(case), drawn(case, 3, 3)
    learnt = {"all": len(batches), "first": 1, "none": 0}[case.setting.differentiates]
    if case.logits and case.logits_setting not in PLAIN:
        learnt = 0
    if learnt:
        has_gradient_of_value(lambda *z: loss([*z, *batches[learnt:]], others), *batches[:learnt])
    else:  # the control: the value alone would have another gradient
        inputs = tuple(leaves(batches))
        assert not torch.autograd.gradcheck(
            lambda *z: loss(list(z), others), inputs, raise_exception=False
        )


LENGTHS = torch.arange(1, 7, dtype=torch.float64)[:, None]


def turned(batches: Batches, others: Others) -> tuple[Batches, Others]:
    """All embeddings, a memory's too, rotated in the same way."""
    turn = rotation(4)
    memories = {name: x @ turn if x.is_floating_point() else x for name, x in others.items()}
    return [batch @ turn for batch in batches], memories


CHANGES: dict[str, Callable[[Batches, Others], tuple[Batches, Others]]] = {
    "turn": turned,
    "norms": lambda z, others: (
        [x * y for x, y in zip(z, (LENGTHS, 1 / LENGTHS), strict=False)],
        others,
    ),
    "swap": lambda z, others: (z[::-1], others),
    "order_one": lambda z, others: ([z[0][ORDER], *z[1:]], others),
    "turn_one": lambda z, others: ([z[0] @ rotation(4), *z[1:]], others),
    "shift": lambda z, others: ([z[0] + 1, *z[1:]], others),
}
"""Of six images in four dimensions: the space turned; rows of other norms; views exchanged; one view's rows in another
order, or turned alone; one view moved by one vector."""


@every_case
def test_symmetries_are_those_of_the_table_and_no_others(case: Case) -> None:
    loss, (batches, others) = build(case), drawn(case, 6, 4)
    value, kept = loss(batches, others).item(), set()
    for name, change in CHANGES.items():
        other = loss(*change(batches, others)).item()
        if name == "swap" and len(batches) == 1:
            continue
        if other == pytest.approx(value, rel=1e-10, abs=1e-11):
            kept.add(name)
        else:
            assert abs(other - value) > 1e-5 * abs(value), name
    assert kept == set(case.setting.keeps.split()) - ({"swap"} if len(batches) == 1 else set())


@every_case
def test_the_order_of_the_images_is_nothing_to_it(case: Case) -> None:
    testing.order_is_nothing(build(case), *drawn(case, 6, 4))


@pytest.mark.parametrize("case", ORDINARY, ids=str)
def test_single_and_half_precision_are_near_double(case: Case) -> None:
    testing.halves_are_near(build(case), partial(drawn, case))


@every_case
def test_difficult_batches_have_finite_values_and_gradients(case: Case) -> None:
    """Zero, equal, opposite, huge and tiny embeddings, and two images; at temperatures too whose exponentials are
    infinite, and in half precision, which rounds torch's guard against a norm of 0 to 0."""
    inputs, plain = testing.difficult_batches(), {"plain": draw(8, 4, dtype=torch.float32)}
    ordinary = {
        name: pair for name, pair in inputs.items() if "whole" in name or name == "all zero"
    }
    tries = [
        (None, inputs, torch.float32),
        (1e-3, plain, torch.float32),
        (1e-6, inputs | plain, torch.float32),
    ]
    # a positive that is pulled 20 times as hard leaves float16's range
    if case.logits_setting in (None, *PLAIN):
        tries += [(None, ordinary, dtype) for dtype in (torch.float16, torch.bfloat16)]
    wrong = []
    for t, tried, dtype in tries:
        others = partial(testing.others, case.objective)
        found = testing.not_finite(build(case, t), len(case.batches), others, tried, dtype)
        wrong += [(name, t, dtype) for name in found]
    assert wrong == []


def test_the_tables_name_nothing_that_is_gone() -> None:
    assert OBJECTIVES.keys() <= set(registry.names("objectives"))
    assert LOGITS.keys() <= set(registry.names("logits"))
    taken = {
        name
        for loss in registry.names("objectives")
        for name in registry.tensors("objectives", loss)
    }
    assert testing.TENSORS.keys() <= taken


def test_no_two_give_the_same_value() -> None:
    """All settings, on data of free norms: equal values are one equation under two names (NT-Xent, and BYOL's loss), or
    one value with two gradients."""
    groups = [
        {
            "nt_xent {temperature: 0.5}",
            "info_nce {temperature: 0.5, include_self: false}",
            "debiased {temperature: 0.5, tau_plus: 0}",
            "generalised_info_nce {negatives: both_views} cosine_logits {temperature: 0.5}",
        },
        {"alignment {}", "normalised_squared_error {}"},
        {"uniformity {}", "matched_uniformity {weight: 1}"},
    ]
    values = {}
    for case in CASES:
        # the other maps change gradients alone, or are margins
        if case.logits in (None, "cosine_logits"):
            values[str(case)] = build(case)(*drawn(case, 6, 4)).item()
    same = {
        frozenset({a, b})
        for a, b in itertools.combinations(values, 2)
        if abs(values[a] - values[b]) < 1e-9
    }
    assert same == {
        frozenset(pair) for group in groups for pair in itertools.combinations(group, 2)
    }
