"""Linear probe without seed or schedule: regularised logistic regression, solved to convergence."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor

from hypersphere.probes.features import Features


def standardise(features: Features) -> tuple[Float[Tensor, "n d"], Float[Tensor, "m d"]]:
    """Bank and queries with the bank's mean taken out and divided by its standard deviation, in float64."""
    bank, queries = features.bank.double(), features.queries.double()
    mean, std = bank.mean(dim=0), bank.std(dim=0, correction=0).clamp_min(1e-6)
    return (bank - mean) / std, (queries - mean) / std


def linear(features: Features, *, penalty: PositiveFloat = 1e-3, iterations: PositiveInt = 200) -> Int[Tensor, "m"]:
    """Fit softmax regression on standardised features by full-batch L-BFGS in float64, from zero.

    Minimises the mean cross-entropy plus penalty/2 · ||weights||², the bias free: scikit-learn's LogisticRegression
    with C = 1 / (penalty · n). Equal bits on rerun; nothing is random.

    Args:
        features: bank (training) and queries (test).
        penalty: on the weights, per image.
        iterations: at most; the optimum is usually reached before.

    Returns:
        The predicted class of each query.
    """
    bank, queries = standardise(features)
    weights = torch.zeros(bank.shape[1], features.classes, dtype=bank.dtype, device=bank.device, requires_grad=True)
    bias = torch.zeros(features.classes, dtype=bank.dtype, device=bank.device, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [weights, bias], max_iter=iterations, tolerance_grad=1e-6, tolerance_change=1e-12, line_search_fn="strong_wolfe"
    )

    def closure() -> Tensor:
        optimiser.zero_grad()
        loss = F.cross_entropy(bank @ weights + bias, features.bank_labels) + penalty / 2 * weights.square().sum()
        loss.backward()
        return loss

    with torch.inference_mode(mode=False):
        optimiser.step(closure)
    return (queries @ weights + bias).argmax(dim=1)
