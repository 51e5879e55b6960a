"""The norms paper's statements: their verdicts, and mutants."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from hypersphere.exact.statement import examine
from papers.embedding_norms import theorems as module
from papers.embedding_norms.theorems import STATEMENTS, info_nce
from tests.unit.exact.statements import judge

BY_ID = {statement.id.removeprefix("norms."): statement for statement in STATEMENTS}
FALSE = {
    *["proposition_3_2.equation_3", "section_3.step", "appendix_a_3", "appendix_d.equation_8"],
    *["theorem_3_4.main_text", "theorem_3_4.appendix", "appendix_a_4", "appendix_a_4.acute"],
}


@pytest.mark.parametrize("name", BY_ID)
def test_verdicts(name: str) -> None:
    """Expected: our derivations, one per erratum N10-N13, N46, N47; the rest as the paper says."""
    judge(BY_ID[name], name in FALSE)


# The machinery refutes a formula that is a little wrong.

MUTANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "magnitude 1.0001 sin": ("proposition_3_1.magnitude", {"factor": 1.0001}),
    "tangent without normalisation": (
        "proposition_3_1.tangent",
        {"loss": lambda z: -(z[:, 0] * z[:, 1]).sum(-1)},
    ),
    "squared error like the cosine": ("section_3.squared_error.magnitude", {"factor": 1}),
    "Eq. 3 with 0.999 of the attraction": ("proposition_3_2.equation_3.n10", {"pull": 0.999}),
    "Eq. 3 without it": ("proposition_3_2.equation_3.n10", {"pull": 0}),
    "growth without normalisation": (
        "corollary_3_3.cosine",
        {"loss": lambda z: -(z[:, 0] * z[:, 1]).sum(-1)},
    ),
    "growth with weight decay": (
        "corollary_3_3.infonce",
        {"loss": lambda z: module.info_nce(z) + 1e-3 * module.norm(z).sum(1)},
    ),
    "steps half as long again": ("section_3.step.n11", {"sign": -1.5}),
    "GradScale of power 0.999": ("section_6.grad_scale", {"power": 0.999}),
    "99 % of Theorem 3.4": (
        "theorem_3_4.acute.n13",
        {"bound": lambda s: 0.99 * 2 * s.a * s.sine**2},
    ),
    "a strict sign at angle 0 too": ("theorem_3_4.strict.n13", {"met": lambda s: s.cosine >= 0}),
    "Theorem 3.4 with sin³": ("theorem_3_4.acute.n13", {"bound": lambda s: 2 * s.a * s.sine**3}),
    "half the allowance for obtuse angles": (
        "theorem_3_4.all_angles.n13",
        {"bound": lambda s: (1 + s.a / 2) * 2 * s.a * s.sine**2},
    ),
    "the bound for the change": (
        "theorem_3_4.change.n13",
        {"bound": lambda s: 2 * s.a * s.sine**2},
    ),
    "A.4 with 0.999": (
        "appendix_a_4.n13",
        {"bound": lambda s: 0.999 * s.a * s.sine**2 * (2 - s.a * s.cosine)},
    ),
    "main text with rho²": ("theorem_3_4.main_text.n12", {"bound": lambda s: 2 * s.a * s.sine**2}),
    "C.1 with 0.999": ("proposition_c_1", {"bound": lambda d, x: 0.999 / (2 * d * x**2)}),
    "the cap with d/2": (
        "proposition_c_1.exponential",
        {"bound": lambda d, x: (1 - x**2) ** (d / 2) / 2},
    ),
    "Eq. 8 with 1.0001": ("appendix_d.equation_8.n47", {"sign": -1.0001}),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_slightly_wrong_formula_is_refuted(mutant: str) -> None:
    name, changed = MUTANTS[mutant]
    statement = BY_ID[name]
    assert examine(replace(statement, check=partial(statement.check, **changed)), 2000).violated > 0


def unprojected(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a


def unscaled(t: torch.Tensor, z: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
    (gradient,) = torch.autograd.grad(
        ((t * z).sum(-1) / module.norm(z)).sum(), z, create_graph=True
    )
    return gradient


def by_norm(z: torch.Tensor) -> torch.Tensor:
    return info_nce(z) * module.norm(z[:, 0])


@pytest.mark.parametrize(
    ("function", "other", "name"),
    [
        ("across", unprojected, "proposition_3_1.gradient"),
        ("across", unprojected, "proposition_3_2.equation_2"),
        ("across", unprojected, "proposition_3_2.temperature"),
        ("across", unprojected, "appendix_a_3.n12"),
        ("info_nce", by_norm, "proposition_3_2.inverse_norm"),
        ("_field", unscaled, "proposition_d_1"),
    ],
)
def test_a_statement_without_its_projection_or_scale_is_refuted(
    function: str, other: Callable[..., Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, function, other)
    assert examine(BY_ID[name], 2000).violated > 0
