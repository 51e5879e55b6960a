"""The margin-based loss over pairs: similar pairs attract, dissimilar ones repel up to a margin."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import PositiveFloat
from torch import Tensor

from hypersphere.objectives.geometry import distances
from hypersphere.objectives.pairs import without_diagonal


def pair_contrastive(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], *, margin: PositiveFloat
) -> Float[Tensor, ""]:
    """Of the n² pairs (z_a_i, z_b_j), those with i = j cost d², the others max(0, margin - d)².

    Lecture, "Contrastive Loss"; Hadsell et al. 2006, Eq. 1 and 4, who have a factor of 1/2 on both costs, and label a
    similar pair 0 (erratum S5). d is the Euclidean distance of embeddings as they are: they are not normalised.

    Args:
        z_a: embeddings of the first view.
        z_b: embeddings of the second view; row i is similar to row i of ``z_a``, every other row dissimilar.
        margin: epsilon, in units of distance.

    Returns:
        The mean over the n² pairs, in units of squared distance; the slide leaves the reduction open.

    Numerics: a distance has no gradient at 0; there it is taken as 0, and coinciding points do not repel. Squared
    distances beyond 65504 overflow in float16.
    """
    similar = (z_a - z_b).square().sum(dim=1)
    dissimilar = F.relu(margin - without_diagonal(distances(z_a, z_b))).square()
    return torch.cat([similar, dissimilar.flatten()]).mean()
