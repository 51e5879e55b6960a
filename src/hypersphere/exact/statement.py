"""A theorem as a statement that random inputs can contradict.

A statement draws its inputs, says for which of them its hypothesis holds, and by how much each draw violates its
conclusion. Inputs are float64 tensors whose first axis is the draw.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from hypersphere.config.claims import PRINTED as PRINTED
from hypersphere.config.claims import reading_of
from hypersphere.config.rules import Verdict
from hypersphere.generators import generator, uniform

Inputs = Mapping[str, Tensor]
Example = dict[str, list[float] | float]
Case = TypeVar("Case")


class Checked(NamedTuple):
    """The result of a statement's check, for each draw."""

    met: Bool[Tensor, "draws"]
    """Whether the hypothesis holds; other draws are ignored."""
    excess: Float[Tensor, "draws"]
    """|left - right| over the scale of both sides for an equality; left - right over that scale for a bound."""
    left: Float[Tensor, "draws *parts"]
    right: Float[Tensor, "draws *parts"]
    """The two sides in the statement's own units: they are equal, or the left one is at most the right one.

    Of a statement that a number never rises they are its slope and 0. A counterexample shows them.
    """


@dataclass(frozen=True)
class Statement:
    """One theorem, proposition, lemma or identity, in one reading."""

    id: str
    """The claim's id: ``mine.theorem_4_1``, or with the erratum that corrects it, ``mine.equation_16.m8``."""
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
        return reading_of(self.id)

    def violated(self, checked: Checked) -> Bool[Tensor, "draws"]:
        """Whether a draw meets the hypothesis, and not the conclusion."""
        return checked.met & (checked.excess > self.tolerance)


def given(**inputs: object) -> Callable[[], Inputs]:
    """Inputs written out, for ``Statement.simple``."""
    return lambda: {
        name: torch.tensor(value, dtype=torch.float64) for name, value in inputs.items()
    }


def of_case(case: Callable[..., Case], check: Callable[[Case], Checked]) -> Callable[..., Checked]:
    """A check for ``Statement.check``: it makes a case of the inputs, and checks that."""

    def check_inputs(**inputs: Tensor) -> Checked:
        return check(case(**inputs))

    return check_inputs


def spread(g: torch.Generator, low: float, high: float, *shape: int) -> Float[Tensor, "..."]:
    """Log-uniform numbers between 10^low and 10^high."""
    return 10 ** (low + (high - low) * uniform(g, *shape))


def column(numbers: Float[Tensor, "draws *d"]) -> Float[Tensor, "draws 1 *d"]:
    """One number or vector for each draw, to be multiplied with several of the draw."""
    return numbers[:, None]


def inner(a: Float[Tensor, "*draws d"], b: Float[Tensor, "*draws d"]) -> Float[Tensor, "*draws"]:
    """Inner products."""
    return (a * b).sum(dim=-1)


def gradient(
    value: Callable[[Tensor], Tensor], at: Float[Tensor, "draws *d"]
) -> Float[Tensor, "draws *d"]:
    """Gradient of each draw's value, by autograd. ``value`` returns one number for each draw, or their sum."""
    leaf = at.detach().clone().requires_grad_()
    return torch.autograd.grad(value(leaf).sum(), leaf)[0]


def equal(
    left: Tensor,
    right: Tensor | float,
    scale: Tensor | float = 1.0,
    met: Bool[Tensor, "draws"] | None = None,
) -> Checked:
    """Check left = right, for each part of a draw. A scale may be of a draw, or of each part."""
    right = torch.as_tensor(right, dtype=left.dtype).expand_as(left)
    return _checked((left - right).abs(), left, right, scale, met)


def at_most(
    left: Tensor,
    right: Tensor | float,
    scale: Tensor | float = 1.0,
    met: Bool[Tensor, "draws"] | None = None,
) -> Checked:
    """Check left <= right, for each part of a draw. A scale may be of a draw, or of each part."""
    right = torch.as_tensor(right, dtype=left.dtype).expand_as(left)
    return _checked(left - right, left, right, scale, met)


def ascending(*terms: Float[Tensor, "draws"], scale: Tensor | float = 1.0) -> Checked:
    """Check that each term is at most the next one."""
    left = torch.stack(terms[:-1], dim=1)
    right = torch.stack(terms[1:], dim=1)
    return at_most(left, right, scale)


def _checked(
    beyond: Tensor,
    left: Tensor,
    right: Tensor,
    scale: Tensor | float,
    met: Tensor | None,
) -> Checked:
    """The excess of a draw is its worst part's. Without ``met`` every draw meets the hypothesis."""
    scale = torch.as_tensor(scale, dtype=left.dtype)
    missing_axes = beyond.ndim - scale.ndim
    excess = beyond / scale.reshape(scale.shape + (1,) * missing_axes)
    if excess.ndim > 1:
        excess = excess.flatten(1).amax(dim=1)
    if met is None:
        met = torch.ones_like(excess, dtype=torch.bool)
    return Checked(met, excess, left, right)


class Finding(NamedTuple):
    """The measured columns of a row of theory.csv."""

    draws: int
    met: int
    violated: int
    worst: float
    """The largest excess among draws that met the hypothesis."""
    counterexample: Example | None
    """The simplest input that violates it, by name, and the two sides there, ``left`` and ``right``."""
    verdict: str


def examine(statement: Statement, draws: int) -> Finding:
    """Check a statement on ``draws`` keyed random inputs and on its simple ones."""
    inputs = statement.draw(generator(0, "theory", statement.id), draws)
    checked = statement.check(**inputs)
    judged = checked.excess[checked.met]
    if not len(judged):
        raise ValueError(f"none of {draws} draws meets the hypothesis; draw inputs that do")
    if judged.isnan().any():
        raise ValueError("the two sides differ by NaN at a draw that meets the hypothesis")
    violated = int(statement.violated(checked).sum())
    example = counterexample(statement)
    refuted = violated > 0 or example is not None
    return Finding(
        draws,
        len(judged),
        violated,
        float(judged.max()),
        example,
        verdict(statement, refuted),
    )


def counterexample(statement: Statement) -> Example | None:
    """The first of the simple inputs that violates the statement, with both sides; None if all agree."""
    inputs = statement.simple()
    checked = statement.check(**inputs)
    contradicting = statement.violated(checked).nonzero().flatten()
    if not len(contradicting):
        return None
    first = int(contradicting[0])
    example: Example = {name: values[first].tolist() for name, values in inputs.items()}
    example["left"] = checked.left[first].squeeze().tolist()
    example["right"] = checked.right[first].squeeze().tolist()
    return example


def verdict(statement: Statement, refuted: bool) -> str:
    if refuted:
        return Verdict.REFUTED
    if statement.reading == PRINTED:
        return Verdict.NO_COUNTEREXAMPLE
    return Verdict.NO_COUNTEREXAMPLE_ERRATUM
