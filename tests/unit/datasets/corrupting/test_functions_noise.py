"""Noise has the mean and spread of its definition; Poisson counts are those of scipy's own quantiles."""

import numpy as np
from scipy import stats

from hypersphere.datasets.composing import Draws
from hypersphere.datasets.corrupting import functions as noise

N = 40
DRAWS = Draws(np.arange(N), 0, ("test",))
GREY = np.full((N, 16, 16, 3), 102 / 255)  # 0.4
VALUES = GREY.size


def test_gaussian_noise_has_its_standard_deviation() -> None:
    errors = noise.gaussian_noise(GREY, DRAWS, scale=0.1) - GREY
    assert abs(errors.mean()) < 5 * 0.1 / np.sqrt(VALUES)
    assert abs(errors.std() - 0.1) < 5 * 0.1 / np.sqrt(2 * VALUES)


def test_speckle_noise_grows_with_the_value() -> None:
    errors = noise.speckle_noise(GREY, DRAWS, scale=0.1) - GREY
    assert abs(errors.std() - 0.04) < 5 * 0.04 / np.sqrt(2 * VALUES)
    black = np.zeros_like(GREY)
    np.testing.assert_array_equal(noise.speckle_noise(black, DRAWS, scale=0.1), black)


def test_shot_noise_is_a_poisson_count() -> None:
    """Mean v and variance v / photons; each count is the quantile that scipy's own search finds."""
    shown = noise.shot_noise(GREY, DRAWS, photons=60)
    assert abs(shown.mean() - 0.4) < 5 * np.sqrt(0.4 / 60 / VALUES)
    assert abs(shown.var() / (0.4 / 60) - 1) < 0.05
    ramp = np.broadcast_to((np.arange(256) / 255).reshape(1, 16, 16, 1), (2, 16, 16, 3))
    two = Draws(np.arange(2), 0, ("test",))
    expected = stats.poisson.ppf(two.uniform("noise", 16, 16, 3), 500 * ramp) / 500
    np.testing.assert_allclose(noise.shot_noise(ramp, two, photons=500), expected, atol=1e-12)


def test_impulse_noise_hits_a_share_and_leaves_the_rest() -> None:
    shown = noise.impulse_noise(GREY, DRAWS, share=0.1)
    hit = shown != GREY
    assert set(np.unique(shown[hit])) == {0.0, 1.0}
    assert abs(hit.mean() - 0.1) < 5 * np.sqrt(0.1 * 0.9 / VALUES)
    assert abs(shown[hit].mean() - 0.5) < 5 * np.sqrt(0.25 / hit.sum())
