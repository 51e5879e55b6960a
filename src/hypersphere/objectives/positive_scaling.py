"""Plain logits whose positives' gradient is multiplied by a constant."""

from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat
from hypersphere.objectives.surgery import scale_positives


def positive_scaling(
    cosines: Float[Tensor, "n m"],
    targets: Float[Tensor, "n m"],
    *,
    temperature: PositiveFloat,
    s: PositiveFloat,
) -> Float[Tensor, "n m"]:
    """cos / t, with the gradient of the positive's logit multiplied by s ("+ pos.").

    Margins paper, Eq. 8 and 9, on logits without margins (erratum M12).

    Geometry: positives are pulled s times as hard at every angle; negatives are pushed as before.
    """
    logits = cosines / temperature
    return scale_positives(logits, targets, logits.new_tensor(s))
