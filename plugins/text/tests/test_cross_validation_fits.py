"""Fits for several penalties against scikit-learn's, on features of very different spread."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from hypersphere.probes.linear import fit_logistic, standardise
from hypersphere_text.probes.cross_validation import fits

PENALTIES = (1e-1, 1e-2, 1e-4)


def correlated(n: int = 400, d: int = 30, classes: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    """Features of which a few directions hold nearly all the spread; every class has examples everywhere."""
    random = np.random.default_rng(0)
    hidden = random.normal(size=(n, d))
    labels = (hidden[:, :classes] + random.normal(size=(n, classes))).argmax(axis=1)
    mixed = hidden * 0.8 ** np.arange(d) @ random.normal(size=(d, d))
    return standardise(torch.from_numpy(mixed), torch.from_numpy(mixed))[0], torch.from_numpy(labels)


def test_each_penaltys_weights_are_scikit_learns() -> None:
    bank, labels = correlated()
    found = list(fits(bank, labels, 3, PENALTIES, 500))
    assert [penalty for penalty, _, _ in found] == list(PENALTIES)
    for penalty, weights, bias in found:
        model = LogisticRegression(C=1 / (penalty * len(bank)), solver="newton-cg", tol=1e-10, max_iter=1000)
        model.fit(bank.numpy(), labels.numpy())
        # Adding one number to all classes' biases changes nothing.
        torch.testing.assert_close(weights, torch.from_numpy(model.coef_.T), atol=2e-3, rtol=1e-3)
        torch.testing.assert_close(bias - bias.mean(), torch.from_numpy(model.intercept_), atol=2e-3, rtol=1e-3)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_few_steps_come_closer_than_without_the_curvature(penalty: float) -> None:
    bank, labels = correlated()
    ((_, best, _),) = fits(bank, labels, 3, [penalty], 500)
    ((_, ours, _),) = fits(bank, labels, 3, [penalty], 10)
    plain, _ = fit_logistic(bank, labels, 3, penalty, 10)
    assert (ours - best).norm() < 0.2 * (plain - best).norm()
