"""A recurrent encoder of sentences: word embeddings, and the last state of a GRU."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from hypersphere.arguments import PositiveInt
from hypersphere_text.datasets.reading.words import PADDING

KIND = "text"
"""The kind of runs that it is for; without this constant, images."""
RANGE = 0.1
"""Initial word embeddings are uniform within this of 0."""


class GRU(nn.Module):
    """Maps sentences of tokens [n, L] to the states after their last words [n, feature_dim]."""

    def __init__(self, vocabulary: int, words: int, hidden: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, words, padding_idx=PADDING)
        self.gru = nn.GRU(words, hidden, batch_first=True)
        self.feature_dim = hidden

    def draw_initial(self, generator: Callable[[str], torch.Generator]) -> None:
        """Word embeddings uniform within ``RANGE``, that of padding zero; others uniform within 1/sqrt(hidden)."""
        for name, parameter in self.named_parameters():
            bound = RANGE if name == "words.weight" else self.gru.hidden_size**-0.5
            nn.init.uniform_(parameter, -bound, bound, generator=generator(name))
        self.words.weight[PADDING] = 0

    def forward(self, tokens: Int[Tensor, "n l"]) -> Float[Tensor, "n d"]:
        """The state after a sentence's last word. An empty sentence is padding."""
        lengths = (tokens != PADDING).sum(dim=1).clamp_min(1).cpu()
        packed = pack_padded_sequence(
            self.words(tokens), lengths, batch_first=True, enforce_sorted=False
        )
        return self.gru(packed)[1][0]


def gru(*, vocabulary: PositiveInt, words: PositiveInt, hidden: PositiveInt) -> nn.Module:
    """A gated recurrent network (Cho et al. 2014) over word embeddings, as in Quick-Thoughts.

    Args:
        vocabulary: numbers of words in use, as the dataset has them: 0 is padding, 1 an unknown word.
        words: length of a word's embedding.
        hidden: length of the state.

    The module maps tokens [n, L] to [n, feature_dim]; ``feature_dim`` is ``hidden``.
    """
    return GRU(vocabulary, words, hidden)
