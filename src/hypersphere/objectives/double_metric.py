"""Double metric: NT-Xent plus a softmax cross-entropy over Euclidean distances of the same embeddings."""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import NonNegativeFloat, PositiveFloat
from hypersphere.objectives.geometry import distances, unit
from hypersphere.objectives.nt_xent import nt_xent
from hypersphere.objectives.pairs import without_diagonal


def double_metric(
    z_a: Float[Tensor, "n d"],
    z_b: Float[Tensor, "n d"],
    *,
    temperature: PositiveFloat,
    alpha: NonNegativeFloat,
    beta: NonNegativeFloat,
    sign: Literal["printed", "contrastive"],
) -> Float[Tensor, ""]:
    """alpha · NT-Xent + beta · (-log(exp(±|u_i - u_j|) / sum over k != i of exp(±|u_i - u_k|))), u = z/|z|.

    Double-metric paper, Eq. 2. Table 1 gives (alpha, beta): DM1 (0.75, 0.25), DM2 (0.5, 0.5), DM3 (0.25, 0.75), DM4
    (1, 1). The distance is not squared and has no temperature. As in NT-Xent the sum is over all 2n-1 embeddings of
    both views except the anchor (the printed indices omit the positive instead, erratum D2). The printed sign is +,
    which drives positives apart: they repel below a distance of about beta·t/alpha (erratum D1).

    Geometry: a chord is a function of the cosine, so both terms act along the same great circles. Where two points
    meet, the force of the first term fades with sin(angle), and that of the second does not: with the printed sign it
    pushes near positives apart.

    Figure: double_metric/fig2.

    Args:
        sign: ``printed`` is exp(+distance), ``contrastive`` is exp(-distance), which pulls positives together.

    Numerics: the gradient of a distance is set to 0 where two embeddings coincide; an anchor's distance to itself never
    enters. Distances come from differences of coordinates; a zero embedding is at distance 1 from every unit vector.
    """
    u_2nd = unit(torch.cat([z_a, z_b]))
    distance = without_diagonal(distances(u_2nd, u_2nd))
    first = torch.arange(len(z_a), device=z_a.device)
    # without its diagonal, row i < n has column i+n at i+n-1
    positive = torch.cat([first + len(z_a) - 1, first])
    euclidean = F.cross_entropy(distance if sign == "printed" else -distance, positive)
    return alpha * nt_xent(z_a, z_b, temperature=temperature) + beta * euclidean
