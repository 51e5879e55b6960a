"""The margin-based loss over pairs: similar pairs attract, dissimilar pairs repel up to a margin."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.geometry import distances
from hypersphere.objectives.pairs import without_diagonal


def pair_contrastive(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], *, margin: PositiveFloat
) -> Float[Tensor, ""]:
    """d² for the n similar pairs (z_a_i, z_b_i), and max(0, margin - d)² for the n² - n dissimilar ones (z_a_i, z_b_j).

    Lecture, "Contrastive Loss"; Hadsell et al. 2006, Eq. 1 and 4, who have a factor 1/2 on both terms and label a
    similar pair 0 (erratum S5). d is the Euclidean distance; embeddings are not normalised.

    Geometry: a similar pair is a spring that pulls by 2d. A dissimilar one pushes by 2 (margin - d) within the margin,
    and not beyond it. There is no sphere.

    Args:
        margin: epsilon, in units of distance.

    Returns:
        The mean over the n² pairs, in units of squared distance; the slide does not state the reduction.

    Numerics: the gradient of a distance is set to 0 at 0, so coinciding points do not repel. Squared distances beyond
    65504 overflow in float16.
    """
    similar = (z_a - z_b).square().sum(dim=1)
    dissimilar = F.relu(margin - without_diagonal(distances(z_a, z_b))).square()
    return torch.cat([similar, dissimilar.flatten()]).mean()
