"""MoCo v3: each query is matched with its key, a slow target's embedding of the other view, against the batch."""

from typing import Literal

from hypersphere.arguments import Fraction, PositiveInt
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Method, Parts
from hypersphere.methods.heads import mlp, sizes
from hypersphere.methods.momentum import Bootstrap

GIVES = ("pair",)
BATCH_NORM = ("batch_norm", "last_batch_norm")


def mocov3(
    parts: Parts,
    *,
    hidden: PositiveInt,
    dim: PositiveInt,
    layers: PositiveInt = 3,
    predictor_layers: PositiveInt = 2,
    batch_norm: bool = True,
    last_batch_norm: bool = True,
    bias: bool = False,
    momentum: Fraction = 0.99,
    momentum_schedule: Literal["constant", "cosine"] = "cosine",
    symmetric: bool = True,
    two_tau: bool = False,
) -> Method:
    """Projector feature_dim -> hidden … -> dim, and a predictor dim -> hidden … -> dim behind it.

    Chen et al. 2021, Alg. 1: the sum loss(q1, k2) + loss(q2, k1), with queries q from the predictor and keys k from the
    target (from memory; defaults from the authors' code). The objective compares queries with keys, for example
    ``generalised_info_nce`` with negatives other_view.

    Args:
        layers: in the authors' code 3 behind a ViT and 2 behind a ResNet.
        batch_norm: margins paper, App. C.1.
        last_batch_norm: of projector and predictor.
        symmetric: else the first view (strong, the student's) gives queries and the second (weak, the teacher's) keys
            (margins paper, App. C.1; erratum M16).
        two_tau: multiply the loss by twice the temperature, as in the authors' code (erratum M22).
    """
    projector, predictor = (
        mlp(widths, batch_norm=batch_norm, last_batch_norm=last_batch_norm, bias=bias)
        for widths in (
            sizes(parts.features, hidden, dim, layers),
            sizes(dim, hidden, dim, predictor_layers),
        )
    )
    weight = 1.0
    if two_tau:
        if parts.temperature is None:
            raise HypersphereError(
                "method: mocov3: two_tau needs an objective or logits with a temperature"
            )
        weight = 2 * parts.temperature
    return Bootstrap(
        parts,
        projector=projector,
        predictor=predictor,
        momentum=momentum,
        momentum_schedule=momentum_schedule,
        symmetric=symmetric,
        weight=weight,
        late=True,
    )
