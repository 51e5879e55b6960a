"""Attraction of positives and repulsion of everything else, both by chord distance."""

import torch
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.geometry import distances, unit
from hypersphere.objectives.pairs import without_diagonal


def chord(
    z_a: Float[Tensor, "n d"], z_b: Float[Tensor, "n d"], *, push: PositiveFloat = 1.0
) -> Float[Tensor, ""]:
    """Mean distance between two views of an image, less ``push`` times the mean distance between images.

    Args:
        z_a: embeddings of the first view, not normalised; row i is the positive of row i of ``z_b``.
        z_b: embeddings of the second view.
        push: weight of the repulsion.

    Returns:
        A mean over images, in units of the sphere's radius.

    Numerics: `distances` has gradient 0 where two points coincide; a zero embedding counts as the origin. The two means
    nearly cancel, so that they are computed in at least float32.
    """
    exact = torch.promote_types(z_a.dtype, torch.float32)
    between = distances(unit(z_a.to(exact)), unit(z_b.to(exact)))
    return (torch.diagonal(between).mean() - push * without_diagonal(between).mean()).to(z_a.dtype)
