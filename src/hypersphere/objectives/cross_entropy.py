"""Supervised classification: the cross-entropy of a softmax over classes."""

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def cross_entropy(scores: Float[Tensor, "n k"], labels: Int[Tensor, "n"]) -> Float[Tensor, ""]:
    """-log(exp(s_iy) / sum over classes j of exp(s_ij)), y the label of image i.

    Lecture, "Single object vs Multiple objects" and the slide after it: the supervised baseline of its MultiDigits
    tables, quoted from Chen, Luo & Li 2021 (their Tables 3 and 4). It is the softmax of the contrastive losses, with
    classes in place of other images. Scores are not normalised, so scaling them changes the loss.

    Geometry: scores are pushed by the one-hot label less the softmax. No sphere holds them: once an image is classified
    correctly, longer scores lower the loss further.

    Args:
        scores: outputs of a linear layer, one for each of the k classes.
        labels: the images' classes, from 0.
    """
    return F.cross_entropy(scores, labels.long())
