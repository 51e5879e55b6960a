"""Quick-Thoughts: two encoders of sentences, one for a sentence and one for its neighbour."""

import copy

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from hypersphere.methods.base import Batch, Method, Output, Parts

GIVES = ("pair",)
KIND = "text"
ENCODERS = ("gru",)


class TwoEncoders(nn.Module):
    """Both encoders' outputs of each sentence, joined; of the S sentences of an example, one after the other."""

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second
        self.feature_dim = int(first.feature_dim) + int(second.feature_dim)  # type: ignore[arg-type]

    def forward(self, tokens: Int[Tensor, "n s l"]) -> Float[Tensor, "n d"]:
        """Maps [n, S, L] to [n, S · feature_dim]."""
        flat = tokens.flatten(0, 1)
        return torch.cat([self.first(flat), self.second(flat)], dim=1).reshape(len(tokens), -1)


class QuickThoughts(Method):
    """Wiring of Logeswaran and Lee 2018, Sec. 3, with the next sentence as the only neighbour.

    There is no head: the loss is of the encoders' outputs.
    """

    HEADS = ()
    encoder: TwoEncoders

    def forward(self, batch: Batch) -> Output:
        """Loss of f(sentence) and g(next sentence); the batch's other next sentences are the negatives.

        The views are the sentences' tokens [2, n, L].
        """
        z_a, z_b = self.encoder.first(batch.views[0]), self.encoder.second(batch.views[1])
        loss = self.objective(self.gradient(z_a), self.gradient(z_b))
        return Output(loss, torch.cat([z_a, z_b]).detach())


def quick_thoughts(parts: Parts) -> Method:
    """Two encoders of one architecture, with initial weights of their own and no head.

    The frozen encoder gives both outputs, joined, as in the paper's evaluation.
    """
    return QuickThoughts(
        parts._replace(encoder=TwoEncoders(parts.encoder, copy.deepcopy(parts.encoder)))
    )
