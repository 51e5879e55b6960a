"""Mini-batch SGD on frozen features, shared by the trained probes and the same for every run.

The probes give their gradients in closed form: in models this small, modules and autograd cost more than the
arithmetic.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere import prng

BATCH = 256
Gradients = Callable[[Float[Tensor, "b d"], Int[Tensor, "b"]], Sequence[Tensor]]
"""Maps a batch and its classes to the gradients of the batch's mean cross-entropy, one for each parameter."""


@torch.no_grad()
def fit(
    parameters: Sequence[Tensor],
    gradients: Gradients,
    bank: Float[Tensor, "*copies n d"],
    labels: Int[Tensor, "n"],
    purpose: str,
    epochs: int,
    batch: int,
    momentum: float,
    rate: Callable[[float], float],
) -> None:
    """Minimise the cross-entropy, in place.

    Args:
        parameters: changed in place; ``gradients`` sees the change.
        gradients: of the cross-entropy by the parameters, in their order.
        bank: features to train on; or several versions of them, of which epoch e takes version e mod copies.
        purpose: key of the order of images, with the epoch.
        rate: maps the epochs passed, from 0 to below ``epochs``, to the learning rate.
    """
    optimiser = torch.optim.SGD(parameters, momentum=momentum)
    for epoch in range(epochs):
        shown = bank if bank.ndim == 2 else bank[epoch % len(bank)]
        order = torch.from_numpy(prng.permutation(len(shown), 0, purpose, epoch)).to(bank.device)
        steps = order.split(batch)
        for step, index in enumerate(steps):
            of_batch = gradients(shown[index], labels[index])
            for parameter, gradient in zip(parameters, of_batch, strict=True):
                parameter.grad = gradient
            optimiser.param_groups[0]["lr"] = rate(epoch + step / len(steps))
            optimiser.step()


def cross_entropy(
    scores: Float[Tensor, "n c"], labels: Int[Tensor, "n"]
) -> tuple[Float[Tensor, ""], Float[Tensor, "n c"]]:
    """The mean cross-entropy, and its gradient by the scores: (softmax - one-hot) / n.

    Autograd takes this one derivative, so that its bits are those of a model that autograd trains as a whole: at a high
    rate, which some papers ask for, a difference in the last place grows into other predictions.
    """
    with torch.enable_grad():
        leaf = scores.detach().requires_grad_()
        loss = F.cross_entropy(leaf, labels)
    return loss.detach(), torch.autograd.grad(loss, leaf)[0]
