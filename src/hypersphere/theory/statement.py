"""A theorem as something that draws can contradict.

A statement says how to draw its inputs, for which of them its hypothesis holds, and by how much each draw violates
its conclusion. Inputs are float64 tensors whose first axis is the draw.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from hypersphere import keyed
from hypersphere.declared.claims import PRINTED as PRINTED
from hypersphere.theory.table import NO_COUNTEREXAMPLE, NO_COUNTEREXAMPLE_ERRATUM, REFUTED

Inputs = Mapping[str, Tensor]


class Checked(NamedTuple):
    """What one statement makes of its draws."""

    met: Bool[Tensor, "draws"]
    """Where the hypothesis holds; the other draws say nothing."""
    excess: Float[Tensor, "draws"]
    """For an equality |left - right| over the scale of its sides; for a bound, left - right over that scale."""


@dataclass(frozen=True)
class Statement:
    """One theorem, proposition, lemma or identity, in one reading."""

    id: str
    """The claim's id: ``margins.theorem_4_1``."""
    reading: str
    """``PRINTED``, or the erratum that corrects it: ``M7``."""
    check: Callable[..., Checked]
    """Takes the inputs by name."""
    draw: Callable[[torch.Generator, int], Inputs]
    """Random inputs, extreme ones among them: (generator, number of draws)."""
    simple: Callable[[], Inputs]
    """Small, round inputs, the simplest first: the first that contradicts the statement is its counterexample."""
    tolerance: float = 1e-9
    """What excess is rounding."""


def everywhere(excess: Float[Tensor, "draws"]) -> Checked:
    """For a statement whose hypothesis every draw meets."""
    return Checked(torch.ones_like(excess, dtype=torch.bool), excess)


def gradient(value: Callable[[Tensor], Tensor], at: Float[Tensor, "draws *d"]) -> Float[Tensor, "draws *d"]:
    """Of each draw's own value, by autograd: ``value`` gives one number a draw, or their sum."""
    leaf = at.detach().clone().requires_grad_()
    return torch.autograd.grad(value(leaf).sum(), leaf)[0]


class Finding(NamedTuple):
    """One row of theory.csv."""

    draws: int
    met: int
    violated: int
    worst: float
    """The largest excess among draws that met the hypothesis."""
    counterexample: dict[str, list[float] | float] | None
    verdict: str


def examine(statement: Statement, draws: int) -> Finding:
    """Hold a statement against ``draws`` keyed random inputs and its simple ones.

    Raises:
        ValueError: no draw met the hypothesis, or an excess is not a number; then nothing has been shown.
    """
    generator = torch.Generator().manual_seed(keyed.torch_seed(0, "theory", statement.id))
    met, excess = statement.check(**statement.draw(generator, draws))
    judged = excess[met]
    if not len(judged) or judged.isnan().any():
        raise ValueError(f"{statement.id}: {len(judged)} of {draws} draws met the hypothesis, or an excess is NaN")
    violated = int((judged > statement.tolerance).sum())
    example = _first_violation(statement)
    if violated or example is not None:
        verdict = REFUTED
    else:
        verdict = NO_COUNTEREXAMPLE if statement.reading == PRINTED else NO_COUNTEREXAMPLE_ERRATUM
    return Finding(draws, len(judged), violated, float(judged.max()), example, verdict)


def _first_violation(statement: Statement) -> dict[str, list[float] | float] | None:
    inputs = statement.simple()
    met, excess = statement.check(**inputs)
    found = (met & (excess > statement.tolerance)).nonzero().flatten()
    if not len(found):
        return None
    example = {name: value[found[0]].tolist() for name, value in inputs.items()}
    return {**example, "excess": float(excess[found[0]])}
