"""NCE as the LMCL paper writes it: a softmax of the positive against negatives drawn from the data (InfoNCE)."""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.geometry import cosines, unit
from hypersphere.objectives.pairs import without_diagonal


def nce(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    temperature: PositiveFloat = 1.0,
    negatives: Literal["same_view", "other_view", "both_views"] = "same_view",
) -> Float[Tensor, ""]:
    """-log(exp(cos(x, x+)/t) / (exp(cos(x, x+)/t) + sum over n' negatives of exp(cos(x, x-)/t))), x a row of ``z_a``.

    LMCL paper, Eq. 1 and footnote 4, on unit vectors (Sec. 3.1) and without temperature, so t = 1 (erratum L7). The
    paper cites Gutmann and Hyvärinen, whose loss is a sum of binary terms: see ``nce_memory_bank``. It does not say
    which n' negatives a batch gives (erratum L11):

    - same_view, Eq. 1 to the letter: x and x- are drawn from the data alike, and only x+ is perturbed; n' = n-1.
    - other_view: n' = n-1; both directions together are ``multiview_coding``.
    - both_views: n' = 2n-2; both directions together are ``nt_xent``.

    Geometry: an anchor is pulled to its positive and pushed from its negatives along great circles. At t = 1 the
    softmax shares of two candidates differ by a factor of e² at most, so that far negatives push too.

    Numerics: if all embeddings are zero, so is the gradient (the start of the paper's toy study, erratum L9).
    """
    positive = (unit(z_a) * unit(z_b)).sum(dim=1, keepdim=True)
    others = {"same_view": [z_a], "other_view": [z_b], "both_views": [z_a, z_b]}[negatives]
    logits = (
        torch.cat([positive, *(without_diagonal(cosines(z_a, z)) for z in others)], dim=1)
        / temperature
    )
    return F.cross_entropy(logits, torch.zeros(len(z_a), dtype=torch.long, device=z_a.device))
