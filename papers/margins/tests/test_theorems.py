"""The margins paper's statements and misprints: verdicts, counterexamples worked again with ``math``."""

import dataclasses
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from hypersphere.exact.statement import Checked, examine, gradient
from hypersphere.objectives.margin_logits import margin_logits
from papers.margins import theorems as margins
from papers.margins.theorems import STATEMENTS, Case
from tests.unit.exact.statements import example, judge

BY_ID = {statement.id: statement for statement in STATEMENTS}
REFUTED = {
    f"margins.{name}"
    for name in (
        "equation_3",
        "equation_16",
        "lemma_4_2_closing_form",
        "section_4_2_growth",
        "section_5_5_alpha",
    )
}


@pytest.mark.parametrize("name", BY_ID)
def test_verdict(name: str) -> None:
    """The verdicts come from our own derivations: App. A re-derived line by line."""
    found = judge(BY_ID[name], name in REFUTED)
    assert (found.violated > 100) == (name in REFUTED)
    if name not in REFUTED:
        assert found.worst < 1e-12  # three orders below the tolerance


def quantities(m1: float, m2: float) -> tuple[float, float, float, float]:
    """q~, q, and the sums of exponentials without and with margins: two candidates at 1 radian, t = 1, by hand."""
    plain = [math.exp(math.cos(1)), math.exp(math.cos(1))]
    with_margins = [math.exp(math.cos(1 + m1) - m2), math.exp(math.cos(1))]
    return plain[0] / sum(plain), with_margins[0] / sum(with_margins), sum(plain), sum(with_margins)


def test_counterexample_to_equation_3() -> None:
    """One candidate at angle 0, t = 1, beta = 2: -log(e/(2e)) = log 2, but -1 + 2·log(e) = 1."""
    simple = BY_ID["margins.equation_3"].simple()
    assert [simple[k][1].tolist() for k in ("theta", "p", "temperature", "beta")] == [
        [0.0],
        [1.0],
        1.0,
        2.0,
    ]
    found = example(BY_ID["margins.equation_3"])
    assert found["beta"] == 2
    assert -math.log(math.e / (2 * math.e)) == pytest.approx(math.log(2))
    assert (found["left"], found["right"]) == (pytest.approx(math.log(2)), 1)


def test_counterexample_to_equation_16() -> None:
    """m2 = 1: the gradient is (1 - q)·sin 1, the printed product (1 - q~)·sin 1."""
    found = example(BY_ID["margins.equation_16"])
    assert (found["m1"], found["m2"], found["beta"]) == (0, 1, 1)
    without, q, *_ = quantities(0, 1)
    left = (1 - q) * math.sin(1)
    right = (1 - q) * math.sin(1) * (1 - without) / (1 - q)
    assert left - right == pytest.approx(0.1945, abs=1e-4)
    # the other candidate has q_h = 1 - q, and so the opposite gradient
    assert found["left"] == pytest.approx([left, -left], rel=1e-12)
    assert found["right"] == pytest.approx([right, -right], rel=1e-12)


def test_counterexample_to_lemma_4_2s_closing_form() -> None:
    """m2 = 1: the ratio is 1.46; the closing form is 1.20 with q and 1.46 with q~."""
    found = example(BY_ID["margins.lemma_4_2_closing_form"])
    assert (found["m1"], found["m2"]) == (0, 1)
    without, q, total, total_with = quantities(0, 1)

    def closing(x: float) -> float:
        plain = math.exp(math.cos(1))
        return (plain / x) / (math.exp(math.cos(1) - 1) + plain * (1 / x - 1))

    assert total / total_with == pytest.approx(1.4621, abs=1e-4)
    assert closing(q) == pytest.approx(1.2048, abs=1e-4)
    assert closing(without) == pytest.approx(total / total_with, rel=1e-12)
    # the lemma's first equality
    assert (1 - q) / (1 - without) == pytest.approx(total / total_with, rel=1e-12)
    assert found["left"] == pytest.approx(total / total_with, rel=1e-12)
    assert found["right"] == pytest.approx(closing(q), rel=1e-12)


def test_counterexample_to_section_4_2s_growth() -> None:
    """theta = 3, m1 = 1, m2 = 0.1: cos 4 - cos 3 > 0.1, so eta = 1.27; the factor is 0.94 at 1/4 and 0.88 at 1/2.
    There is a subtractive margin, as Sec. 4.2 has it. Those of Table 5 (m1, m2) are too large beside m1 for this."""
    found = example(BY_ID["margins.section_4_2_growth"])
    assert (found["angle"], found["m1"], found["m2"], found["probability"]) == (3, 1, 0.1, 0.5)
    eta = math.exp(math.cos(4) - math.cos(3) - 0.1)
    small, large = (1 / (1 - (1 - eta) * q) for q in (0.25, 0.5))
    assert (round(small, 2), round(large, 2)) == (0.94, 0.88)
    assert (found["left"], found["right"]) == (pytest.approx(small), pytest.approx(large))
    table_5 = [
        (0.1, 0.4),
        (0.5, 0.7),
        (0.4, 0.6),
        (0.1, 0.4),
        (0.5, 0.4),
        (0.6, 0.6),
        (0.0, 0.2),
        (0.0, 0.8),
    ]
    assert all(m2 >= 1 - math.cos(m1) for m1, m2 in table_5)


def test_counterexample_to_section_5_5s_alpha() -> None:
    """m1 = 1: type I leaves out sin 2/sin 1 = 1.08 at the positive."""
    found = example(BY_ID["margins.section_5_5_alpha"])
    assert (found["m1"], found["m2"]) == (1, 0)
    without, q, *_ = quantities(1, 0)
    alpha = 1 - math.exp(math.cos(2) - math.cos(1))
    type_i, true = (1 - without) / (1 - alpha * without) * math.sin(1), (1 - q) * math.sin(2)
    assert true / type_i == pytest.approx(math.sin(2) / math.sin(1), rel=1e-12)
    assert true / type_i == pytest.approx(1.0806, abs=1e-4)
    assert (found["left"][0], found["right"][0]) == (pytest.approx(type_i), pytest.approx(true))


def bend(x: Case, bent: Tensor) -> Case:
    x.bent = bent
    return x


def reweigh(x: Case) -> Case:
    x.without = x.without / x.beta.clamp(min=0.1)
    return x


MUTANTS: dict[str, tuple[str, Callable[[Case], Checked]]] = {
    "Eq. 6 with cos for sin": (
        "theorem_4_1",
        lambda x: margins.theorem_4_1(bend(x, (x.theta + x.m1 * x.p).cos())),
    ),
    "Eq. 6 with m1 on negatives too": (
        "theorem_4_1",
        lambda x: margins.theorem_4_1(bend(x, (x.theta + x.m1).sin())),
    ),
    "Eq. 15 without m1 in the sine": (
        "equation_15",
        lambda x: margins.equation_15(bend(x, x.theta.sin())),
    ),
    "Eq. 13 without beta": ("equation_13", lambda x: margins.equation_13(reweigh(x))),
}


@pytest.mark.parametrize("wrong", MUTANTS)
def test_a_slightly_wrong_formula_is_refuted(wrong: str) -> None:
    name, check = MUTANTS[wrong]
    statement = BY_ID[f"margins.{name}"]
    false = dataclasses.replace(statement, check=lambda **inputs: check(Case(**inputs)))
    assert examine(false, 2000).verdict == "refuted"


def test_gradients_are_those_of_the_objectives() -> None:
    """The module's logits on angles are margin_logits on cosines; its loss is the package's own."""
    inputs = BY_ID["margins.theorem_4_1"].draw(torch.Generator().manual_seed(0), 40)
    case = Case(**inputs)
    for i in range(40):
        m1, m2, t = (inputs[k][i].item() for k in ("m1", "m2", "temperature"))
        logits = margin_logits(
            case.theta[[i]].cos(),
            case.p[[i]],
            temperature=t,
            angular=m1,
            subtractive=m2,
            beyond_pi="printed",
        )
        torch.testing.assert_close(logits, case.logits(case.theta)[[i]], rtol=1e-6, atol=1e-6 / t)


def one_case(theta: list[float], p: list[float], temperature: float, **more: float) -> Case:
    given = {"temperature": temperature, **more}
    row = (torch.tensor([values], dtype=torch.float64) for values in (theta, p))
    return Case(
        *row, **{name: torch.tensor([value], dtype=torch.float64) for name, value in given.items()}
    )


@pytest.mark.parametrize(
    ("p", "total"), [([1.0, 0.0, 0.0], 1), ([1.0, 1.0, 0.0], 2), ([0.5, 0.0, 0.0], 0.5)]
)
def test_equation_13_needs_targets_that_sum_to_1(p: list[float], total: float) -> None:
    """Erratum M32: by hand, the derivative of Eq. 3 is -p + beta·q times the sum of p."""
    case = one_case([0.3, 1.0, 2.0], p, 0.5, beta=1.0)
    found = gradient(case.loss, case.plain(case.theta))
    exponentials = [math.exp(math.cos(x) / 0.5) for x in (0.3, 1.0, 2.0)]
    expected = [total * e / sum(exponentials) - y for e, y in zip(exponentials, p, strict=True)]
    torch.testing.assert_close(found, torch.tensor([expected], dtype=torch.float64))
    assert bool(margins.equation_13(case).met) == (total == 1)


def test_two_positives_break_lemma_4_2_and_no_negative_breaks_lemma_4_4() -> None:
    """Erratum M32: p of zeros and ones is not enough, and a limit of 0/0 is taken where q~ = 1."""
    two = one_case([0.5, 1.0, 2.0], [1.0, 1.0, 0.0], 1.0, m2=1.0)
    ratio = (two.p - two.q) / (two.p - two.without)
    assert ratio[0, 0].item() != pytest.approx(ratio[0, 1].item(), rel=1e-2)
    alone = one_case([0.5], [1.0], 1.0, m2=60.0)
    assert alone.slope(alone.logits).item() == pytest.approx(0, abs=1e-12)
    assert math.sin(0.5) > 0.4
    assert not margins.lemma_4_4(alone).met.any()
