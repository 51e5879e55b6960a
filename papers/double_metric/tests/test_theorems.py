"""The double-metric paper's statements: verdicts, counterexamples re-worked by hand, mutants.

Which statements hold was derived with pen and paper (docstrings of theory/double_metric.py); the false ones are errata
D1, D2, D5, D7 and D22 to D24.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from torch import Tensor

from hypersphere.exact.statement import Checked, at_most, equal, examine, gradient
from papers.double_metric import theorems as module
from papers.double_metric.theorems import STATEMENTS, arc, chord
from tests.unit.exact.statements import example, judge
from tests.unit.objectives.shared import dot, softmax

BY_NAME = {each.id.removeprefix("double_metric."): each for each in STATEMENTS}
FALSE = {
    *(
        "lemma_1_sum",
        "definition_1",
        "proposition_2_step",
        "radius",
        "equation_1",
        "equation_2_attraction",
    ),
    *(
        "equation_6_alignment",
        "appendix_g_nt_xent",
        "appendix_g_temperature",
        "appendix_g_double_metric",
    ),
    "appendix_g_norm",
}


@pytest.mark.parametrize("name", BY_NAME)
def test_verdict(name: str) -> None:
    assert (judge(BY_NAME[name], name in FALSE).violated > 500) == (name in FALSE)


# --- Counterexamples, re-worked in plain Python from their own numbers.


def numeric(value: Callable[[float], float], at: float) -> float:
    """Central difference."""
    return (value(at + 1e-5) - value(at - 1e-5)) / 2e-5


def eq_2(cosines: Sequence[float], t: float, first: int = 1) -> float:
    """DM4 in one anchor. As Eq. 2 stands, the sums leave out the positive; with erratum D2 they begin with it, at 0."""
    logits = [c / t for c in cosines], [math.sqrt(2 - 2 * c) for c in cosines]
    return sum(math.log(math.fsum(map(math.exp, row[first:]))) - row[0] for row in logits)


def app_g(u: Sequence[float], t: float, beta: float) -> float:
    """Eq. 2 of the anchor u, free in the plane, with v_+ = (0, 1) and v_- = (-1, 0), alpha = 1."""
    inner = [u[1] / t, -u[0] / t]
    away = [math.hypot(u[0], u[1] - 1), math.hypot(u[0] + 1, u[1])]
    return -math.log(softmax(inner)[0]) - beta * math.log(softmax(away)[0])


def app_g_gradient(t: float, beta: float) -> list[float]:
    return [
        numeric(lambda x: app_g([x, 0.0], t, beta), 1.0),
        numeric(lambda y: app_g([1.0, y], t, beta), 0.0),
    ]


def printed_lines(t: float, norm: float) -> tuple[list[float], list[float]]:
    """App. G at u = (1, 0), v_+ = (0, 1), v_- = (-1, 0): the last line for NT-Xent, then the one of beta's term."""
    p, q = softmax([0, -1 / t]), softmax([math.sqrt(2), 2.0])
    unit = [1 / math.sqrt(2), -1 / math.sqrt(2)]
    nt_xent = [p[1] / t, (1 - p[0]) / t]
    return nt_xent, [1 / norm - q[0] * unit[0] - q[1], -1 / norm - q[0] * unit[1]]


Sides = tuple[float | list[float], float | list[float]]


def nt_xent_by_hand(found: dict[str, Any]) -> Sides:
    t = found["temperature"]
    return app_g_gradient(t, 0.0), printed_lines(t, math.sqrt(2))[0]


def temperature_by_hand(found: dict[str, Any]) -> Sides:
    """At tau = 1/2, Z = 1 + e^-2; the middle line has (0, 1)/tau - (e^0 (0, 1) + e^-1 (-1, 0))/Z, no tau in the sum."""
    z = 1 + math.exp(-2)
    return app_g_gradient(0.5, 0.0), [-math.exp(-1) / z, 1 / z - 2]


def double_metric_by_hand(
    found: dict[str, Any], norm: float = math.sqrt(2), sign: int = 1
) -> Sides:
    claim = [sign * (a + b) for a, b in zip(*printed_lines(1.0, norm), strict=True)]
    return app_g_gradient(1.0, 1.0), claim


norm_by_hand = partial(double_metric_by_hand, norm=2.0, sign=-1)


def attraction_by_hand(found: dict[str, Any]) -> Sides:
    """The slope of the loss, which must not be above 0."""
    c, *rest = found["cosines"]
    # wrong under either reading of the sums
    assert numeric(lambda x: eq_2([x, *rest], 1.0, first=0), c) > 0.1
    return numeric(lambda x: eq_2([x, *rest], found["temperature"]), c), 0


def alignment_by_hand(found: dict[str, Any]) -> Sides:
    """The positive at distance 1/2: -(1 - 1/(1/2)) = 1 upwards."""
    assert math.sqrt(2 - 2 * found["cosines"][0]) == 0.5
    return -(1 - 1 / 0.5), 0


BY_HAND: dict[str, tuple[dict[str, Any], Callable[[dict[str, Any]], Sides]]] = {
    "lemma_1_sum": (
        {"u": [1, 0], "v": [0, 1]},
        lambda found: (1**2, 2 * (1 - dot(found["u"], found["v"]))),
    ),
    "definition_1": (
        {"u": [1, 0], "v": [1, 0], "w": [0, 1]},
        lambda found: (math.acos(0), 2 * math.acos(1)),
    ),
    "proposition_2_step": (
        {"d_a": 2, "d_b": 1, "epsilon": 2},
        lambda found: (found["d_a"], found["d_b"]),
    ),
    "radius": (
        {"u": [1, 0], "v": [1, 0], "temperature": 0.5},
        lambda found: ((1 / 0.5) * (1 / 0.5), 1 / 0.5),
    ),
    "equation_1": ({"cosines": [0, 0], "temperature": 1}, lambda found: (0, math.log(2))),
    "equation_2_attraction": (
        {"cosines": [0.875, -1], "alpha": 1, "beta": 1, "temperature": 1},
        attraction_by_hand,
    ),
    "equation_6_alignment": (
        {"cosines": [0.875, -1], "alpha": 1, "beta": 1, "temperature": 1},
        alignment_by_hand,
    ),
    "appendix_g_nt_xent": (
        {"u": [1, 0], "positive": [0, 1], "negatives": [[-1, 0]]},
        nt_xent_by_hand,
    ),
    "appendix_g_temperature": ({"temperature": 0.5, "negatives": [[-1, 0]]}, temperature_by_hand),
    "appendix_g_double_metric": ({"temperature": 1, "alpha": 1, "beta": 1}, double_metric_by_hand),
    "appendix_g_norm": ({"temperature": 1, "alpha": 1, "beta": 1}, norm_by_hand),
}


@pytest.mark.parametrize("name", sorted(FALSE))
def test_counterexample_by_hand(name: str) -> None:
    """Both sides in the statement's own units."""
    found = example(BY_NAME[name])
    expected, by_hand = BY_HAND[name]
    assert {key: found[key] for key in expected} == expected
    left, right = by_hand(found)
    assert found["left"] == pytest.approx(left, abs=1e-6)
    assert found["right"] == pytest.approx(right, abs=1e-6)
    assert left != pytest.approx(right, abs=0.05)


# --- Mutants: the same machinery refutes formulas that are slightly wrong.


def without_saturation(
    cosines: Tensor, alpha: Tensor, beta: Tensor, temperature: Tensor
) -> Checked:
    """The slope as if p = q = 0."""
    d = module.sides(cosines[:, 0])
    rise = gradient(module.AnchorCosines(cosines, temperature, alpha, beta).loss, cosines)[:, 0]
    return equal(rise, beta / d - alpha / temperature, alpha / temperature + beta / d)


def lemma_1_sharper(u: Tensor, v: Tensor, w: Tensor, x: Tensor) -> Checked:
    by, change = (arc(u, v) - arc(w, x)).abs(), (chord(u, v) - chord(w, x)).abs()
    return at_most(4.01 * (by / 4).sin() ** 2, change)


MUTANTS: dict[str, tuple[str, Callable[..., Checked]]] = {
    "pi/2 rounded down": ("theorem_1", lambda u, v, w: at_most(arc(u, v), 1.57 * chord(u, v))),
    "chord below 0.999 arc": ("theorem_1", lambda u, v, w: at_most(chord(u, v), 0.999 * arc(u, v))),
    "a sharper modulus": ("lemma_1", lemma_1_sharper),
    "epsilon a little smaller": (
        "proposition_2_step.d7",
        lambda d_a, d_b, epsilon, r: at_most(
            d_a, 0.999 * epsilon * d_b, d_a, module.sandwiched(d_a, d_b, epsilon)
        ),
    ),
    "no saturation": ("equation_2_slope", without_saturation),
    "repulsion at every distance": (
        "equation_2_attraction.d1",
        lambda **drawn: at_most(
            -module.attraction(module.AnchorCosines(**drawn), sign=1).excess, 0
        ),
    ),
    "radius to the power 0.51": ("radius.d24", partial(module.radius, power=0.51)),
    "a gradient off by a thousandth": (
        "appendix_g_nt_xent.d5",
        partial(module.appendix_g, sign=-1.001),
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutant_is_refuted(mutant: str) -> None:
    name, check = MUTANTS[mutant]
    statement = BY_NAME[name]
    assert examine(statement, 2000).verdict != "refuted"
    wrong = replace(
        statement, check=check, simple=lambda: {key: v[:0] for key, v in statement.simple().items()}
    )
    assert examine(wrong, 2000).verdict == "refuted"
