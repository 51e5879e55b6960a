"""BYOL: two views, no negatives, a predictor that learns to give a slow target's embedding of the other view."""

from typing import Literal

from hypersphere.arguments import Fraction, PositiveInt
from hypersphere.methods.base import Method, Parts
from hypersphere.methods.heads import mlp, sizes
from hypersphere.methods.momentum import Bootstrap

GIVES = ("pair",)
BATCH_NORM = True


def byol(
    parts: Parts,
    *,
    hidden: PositiveInt,
    dim: PositiveInt,
    layers: PositiveInt = 2,
    bottleneck: bool = False,
    last_batch_norm: bool = False,
    bias: bool = True,
    momentum: Fraction = 0.996,
    momentum_schedule: Literal["constant", "cosine"] = "cosine",
    symmetric: bool = True,
) -> Method:
    """Projector feature_dim -> hidden -> dim and predictor dim -> hidden -> dim, batch norm inside.

    Grill et al. 2020, Sec. 3.1-3.3 (from memory; lecture, "BYOL"): loss(q(z), z') + loss(q(z'), z), which is a sum
    (erratum S13). With ``normalised_squared_error`` as in the paper, or an InfoNCE of beta 0 (margins paper, Eq. 3).

    Args:
        hidden: 4096 in the paper.
        dim: 256 in the paper.
        bottleneck: the predictor's hidden layer has a quarter of ``dim``, not ``hidden`` (norms authors' code).
        last_batch_norm: the projector ends with a batch norm, with scale and shift (norms authors' code).
        bias: of the last linear layers; they have none in the authors' code, and the paper is silent.
    """
    widths = sizes(parts.features, hidden, dim, layers)
    projector = mlp(
        widths, batch_norm=True, last_batch_norm=last_batch_norm, last_affine=True, bias=bias
    )
    predictor = mlp(
        [dim, max(2, dim // 4) if bottleneck else hidden, dim], batch_norm=True, bias=bias
    )
    moving = {"momentum": momentum, "momentum_schedule": momentum_schedule, "symmetric": symmetric}
    return Bootstrap(parts, projector=projector, predictor=predictor, **moving)
