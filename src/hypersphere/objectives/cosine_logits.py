"""Plain logits: cosine over temperature."""

from jaxtyping import Float
from pydantic import PositiveFloat
from torch import Tensor


def cosine_logits(
    cosines: Float[Tensor, "n m"], targets: Float[Tensor, "n m"], *, temperature: PositiveFloat
) -> Float[Tensor, "n m"]:
    """cos / t, whatever the targets (margins paper, Eq. 2, Alg. 1).

    Args:
        cosines: of n anchors with their m candidates.
        targets: p, not used.
        temperature: t, in units of cosine.

    Returns:
        Logits, in nats.

    Numerics: no arccos is taken only to take its cosine (erratum M11).
    """
    return cosines / temperature
