"""Instance discrimination by a softmax whose weights are the images' own remembered embeddings."""

from typing import Literal

from jaxtyping import Float, Int
from pydantic import NonNegativeFloat, PositiveFloat
from torch import Tensor

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
    its L_NCE, whose sum runs over n with a summand in i, and whose numerator has last epoch's z_i^(t-1) where its
    denominator has z_k (erratum S3).

    Args:
        z: embeddings, not normalised.
        index: which image each row is of.
        bank: each image's embedding when it was last seen, a constant.
        temperature: t, in units of cosine.
        proximal: beta, on the squared distance, between unit vectors, from where the image was last
            (erratum S11: the slide does not say that its Z is normalised).
        denominator: whether v are the bank's rows, positive included (Wu et al.: a softmax, so the first term is at
            least 0), or the rows of ``z``, z_i itself included and the positive not (the slide, taken literally).

    Returns:
        The mean over the n rows (the slide sums), in nats.

    Numerics: logits less the positive's go into the log-sum-exp; a zero embedding counts as cosine 0.
    """
    anchors, own = unit(z), unit(bank[index])
    positive = (anchors * own).sum(dim=1, keepdim=True)
    others = cosines(z, bank if denominator == "bank" else z)
    surprise = ((others - positive) / temperature).logsumexp(dim=1)
    return (surprise + proximal * (anchors - own).square().sum(dim=1)).mean()
