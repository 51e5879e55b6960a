"""Self-distillation without labels: the student's softmax follows the teacher's centred and sharpened one (DINO)."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from hypersphere.arguments import PositiveFloat


def self_distillation(
    student: Float[Tensor, "n k"],
    teacher: Float[Tensor, "n k"],
    centre: Float[Tensor, "k"],
    *,
    student_temperature: PositiveFloat,
    teacher_temperature: PositiveFloat,
) -> Float[Tensor, ""]:
    """-sum over k of P_t log P_s, P_s = softmax(student/t_s), P_t = softmax((teacher - centre)/t_t) without gradient.

    Caron et al. 2021, Eq. 2 and Algorithm 1, one pair of crops. It is a control in the norms paper (Sec. 6, Table 3):
    outputs are not normalised, so scaling them changes the loss. This is true of the function alone. DINO's usual head
    normalises the bottleneck before the last layer, whose rows have unit norm: its outputs are cosines with prototypes,
    and the bottleneck's gradient is again inversely proportional to its norm.

    Geometry: the student's softmax is drawn to the teacher's, on the simplex and not on a sphere. Nothing pushes images
    apart: the centre and a sharper teacher keep outputs from being all alike.

    Args:
        centre: a running mean of the teacher's outputs, updated by the method.
        student_temperature: t_s, in units of the outputs.
        teacher_temperature: t_t; below t_s it sharpens.

    Returns:
        The mean over the n images, in nats: the teacher's entropy plus the student's divergence from it.
    """
    target = ((teacher - centre) / teacher_temperature).softmax(dim=1).detach()
    return F.cross_entropy(student / student_temperature, target)
