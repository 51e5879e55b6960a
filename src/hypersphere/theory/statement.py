"""A theorem as a statement that random inputs can contradict.

A statement draws its inputs, says for which of them its hypothesis holds, and by how much each draw violates its
conclusion. Inputs are float64 tensors whose first axis is the draw.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from hypersphere import prng
from hypersphere.config.claims import PRINTED as PRINTED
from hypersphere.config.rules import Verdict

Inputs = Mapping[str, Tensor]


class Checked(NamedTuple):
    """The result of a statement's check, for each draw."""

    met: Bool[Tensor, "draws"]
    """Whether the hypothesis holds; other draws are ignored."""
    excess: Float[Tensor, "draws"]
    """|left - right| over the scale of both sides for an equality; left - right over that scale for a bound."""


@dataclass(frozen=True)
class Statement:
    """One theorem, proposition, lemma or identity, in one reading."""

    id: str
    """The claim's id: ``margins.theorem_4_1``, or with the erratum that corrects it, ``margins.equation_16.m8``."""
    check: Callable[..., Checked]
    """Takes the inputs by name."""
    draw: Callable[[torch.Generator, int], Inputs]
    """Takes (generator, number of draws); returns random inputs, some of them extreme."""
    simple: Callable[[], Inputs]
    """Returns small, round inputs, the simplest first. The first that contradicts is printed as the counterexample."""
    tolerance: float = 1e-9
    """An excess up to this is rounding."""

    @property
    def reading(self) -> str:
        """The erratum that corrects it, ``M8``, or ``PRINTED``."""
        corrected = re.search(r"\.([a-z]\d+)$", self.id)
        return corrected[1].upper() if corrected else PRINTED


def given(**inputs: object) -> Callable[[], Inputs]:
    """Inputs written out, for ``Statement.simple``."""
    return lambda: {name: torch.tensor(value, dtype=torch.float64) for name, value in inputs.items()}


def spread(generator: torch.Generator, low: float, high: float, *shape: int) -> Float[Tensor, "..."]:
    """Log-uniform between 10^low and 10^high."""
    return 10 ** (low + (high - low) * torch.rand(*shape, generator=generator, dtype=torch.float64))


def everywhere(excess: Float[Tensor, "draws"]) -> Checked:
    """The result of a check whose hypothesis every draw meets."""
    return Checked(torch.ones_like(excess, dtype=torch.bool), excess)


def gradient(value: Callable[[Tensor], Tensor], at: Float[Tensor, "draws *d"]) -> Float[Tensor, "draws *d"]:
    """Gradient of each draw's value, by autograd. ``value`` returns one number for each draw, or their sum."""
    leaf = at.detach().clone().requires_grad_()
    return torch.autograd.grad(value(leaf).sum(), leaf)[0]


class Finding(NamedTuple):
    """The measured columns of a row of theory.csv."""

    draws: int
    met: int
    violated: int
    worst: float
    """The largest excess among draws that met the hypothesis."""
    counterexample: dict[str, list[float] | float] | None
    verdict: str


def examine(statement: Statement, draws: int) -> Finding:
    """Check a statement on ``draws`` keyed random inputs and on its simple ones."""
    generator = torch.Generator().manual_seed(prng.torch_seed(0, "theory", statement.id))
    met, excess = statement.check(**statement.draw(generator, draws))
    judged = excess[met]
    if not len(judged) or judged.isnan().any():
        raise ValueError(f"{statement.id}: {len(judged)} of {draws} draws met the hypothesis, or an excess is NaN")
    violated = int((judged > statement.tolerance).sum())
    simple = statement.simple()
    met, excess = statement.check(**simple)
    examples = (met & (excess > statement.tolerance)).nonzero().flatten()
    example = None
    if len(examples):
        first = int(examples[0])
        example = {name: value[first].tolist() for name, value in simple.items()} | {"excess": float(excess[first])}
    if violated or example is not None:
        verdict = Verdict.REFUTED
    else:
        verdict = Verdict.NO_COUNTEREXAMPLE if statement.reading == PRINTED else Verdict.NO_COUNTEREXAMPLE_ERRATUM
    return Finding(draws, len(judged), violated, float(judged.max()), example, verdict)
