"""Instance discrimination by a softmax whose weights are the images' embeddings in a memory bank."""

from typing import Literal

from jaxtyping import Float, Int
from torch import Tensor

from hypersphere.arguments import NonNegativeFloat, PositiveFloat
from hypersphere.objectives.geometry import cosines, unit


def nonparametric_softmax(
    z: Float[Tensor, "n d"],
    index: Int[Tensor, "n"],
    bank: Float[Tensor, "images d"],
    *,
    temperature: PositiveFloat,
    proximal: NonNegativeFloat = 0.0,
    denominator: Literal["bank", "batch"] = "bank",
) -> Float[Tensor, ""]:
    """-log(exp(cos(z_i, bank_i)/t) / sum over k of exp(cos(z_i, v_k)/t)) + proximal · ||z_i - bank_i||².

    Lecture, "Noise-Contrastive Estimation": its non-parametric softmax (Wu et al. 2018, Eq. 2) and, with ``proximal``,
    its L_NCE. The slide's sum runs over n but its summand has i, and its numerator has the last epoch's z_i^(t-1) where
    its denominator has z_k (erratum S3); it sums over the n rows.

    Geometry: a point is pulled to its own entry of the bank, and pushed from all entries by their softmax shares. The
    proximal term holds it near where it was in the last epoch.

    Args:
        proximal: beta, weight of the squared distance between unit vectors z_i and bank_i (erratum S11: the slide does
            not say that its Z is normalised).
        denominator: the rows v. bank: the bank's, with the positive (Wu et al.: a softmax, so the first term is at
            least 0). batch: those of ``z``, with z_i itself and without the positive (the slide, taken literally).

    Numerics: the positive's logit is subtracted before the log-sum-exp.
    """
    anchors, previous = unit(z), unit(bank[index])
    positive = (anchors * previous).sum(dim=1, keepdim=True)
    others = cosines(z, bank if denominator == "bank" else z)
    cross_entropy = ((others - positive) / temperature).logsumexp(dim=1)
    return (cross_entropy + proximal * (anchors - previous).square().sum(dim=1)).mean()
