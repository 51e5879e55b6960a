"""One anchor of the margins paper: its angles, targets and margins, and the loss with its gradients.

Shapes: n draws, m candidates of one anchor. Gradients are autograd's, of Eq. 5 itself.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from hypersphere.objectives.generalised_info_nce import info_nce_of_logits
from hypersphere.objectives.surgery import scale_gradient
from hypersphere.theory.statement import Checked, gradient

TINY = 1e-290  # sides of an equality below this have underflowed
EPS = 1e-15  # below this, autograd's 1 - q~ is rounding, and a weight of its inverse multiplies nothing


class Case:
    """Angles and targets [n, m], parameters [n, 1] (default: no margins, beta = 1), and q with and without margins."""

    def __init__(self, theta: Tensor, p: Tensor, temperature: Tensor, **parameters: Tensor) -> None:
        self.theta, self.p, self.t = theta, p, temperature[:, None]
        given = {"beta": torch.ones_like(temperature)} | parameters
        zero = torch.zeros_like(temperature)
        self.m1, self.m2, self.beta, self.alpha = (given.get(x, zero)[:, None] for x in ("m1", "m2", "beta", "alpha"))
        self.without, self.q = (softmax(logits(theta)) for logits in (self.plain, self.logits))
        self.bent = (theta + self.m1 * p).sin()
        self.sums_to_1 = (p.sum(dim=1, keepdim=True) - 1).abs() < 1e-12
        self.one_hot = self.sums_to_1 & ((p == 0) | (p == 1)).all(dim=1, keepdim=True)

    def plain(self, theta: Tensor) -> Tensor:
        """Eq. 2."""
        return theta.cos() / self.t

    def logits(self, theta: Tensor) -> Tensor:
        """Eq. 4."""
        return ((theta + self.m1 * self.p).cos() - self.m2 * self.p) / self.t

    def loss(self, logits: Tensor) -> Tensor:
        """Eq. 5, summed over draws."""
        return info_nce_of_logits(logits, self.p, self.beta[:, 0]) * len(logits)

    def slope(self, to_logits: Callable[[Tensor], Tensor], weight: Tensor | float = 1.0) -> Tensor:
        """dL/dtheta, by autograd; ``weight`` is that of Eq. 9."""
        weight = torch.as_tensor(weight, dtype=self.theta.dtype)
        return gradient(lambda x: self.loss(scale_gradient(to_logits(x), weight)), self.theta)

    def positive(self, x: Tensor) -> Tensor:
        """The positive's entry of x, [n, 1]."""
        return (x * self.p).sum(dim=1, keepdim=True)

    @property
    def eta(self) -> Tensor:
        """exp of the margins' change of the positive's logit (A.3), [n, 1]."""
        return self.positive(self.logits(self.theta) - self.plain(self.theta)).exp()


def softmax(logits: Tensor) -> Tensor:
    return (logits - logits.logsumexp(dim=1, keepdim=True)).exp()


def equal(left: Tensor, right: Tensor, scale: Tensor, where: Tensor) -> Checked:
    """Check an equality for every candidate. A draw meets the hypothesis if any of its candidates does."""
    excess = (left - right).abs() / scale.clamp(min=TINY)
    return Checked(where.any(dim=1), torch.where(where, excess, 0).amax(dim=1))
