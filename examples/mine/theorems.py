"""What the document proves, as statements that random inputs can contradict (docs/own_paper.md)."""

import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.exact.statement import Checked, Inputs, Statement, at_most, given, spread


def weight_of_nearest(
    cosines: Float[Tensor, "n m"], temperature: Float[Tensor, "n"]
) -> Float[Tensor, "n"]:
    """The softmax weight of the largest of m cosines."""
    return (cosines / temperature[:, None]).softmax(dim=1).amax(dim=1)


def lemma_1(cosines: Float[Tensor, "n m"], temperature: Float[Tensor, "n"]) -> Checked:
    """Half the temperature gives the nearest candidate no smaller weight."""
    return at_most(
        weight_of_nearest(cosines, temperature), weight_of_nearest(cosines, temperature / 2)
    )


def draw(generator: torch.Generator, draws: int) -> Inputs:
    """Five cosines, uniform in [-1, 1], and a temperature from 0.01 to 10."""
    cosines = 2 * torch.rand(draws, 5, generator=generator, dtype=torch.float64) - 1
    return {"cosines": cosines, "temperature": spread(generator, -2, 1, draws)}


STATEMENTS = (
    Statement("mine.lemma_1", lemma_1, draw, given(cosines=[[1.0, 0.0]], temperature=[1.0])),
)
