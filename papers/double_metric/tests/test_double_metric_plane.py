"""The plane of the double-metric paper's Fig. 2, against closed forms by hand and finite differences."""

import math

import numpy as np
import pytest

from hypersphere.exact.study import ExactStudy
from papers.double_metric.studies.double_metric_plane import compute as study
from tests.unit.exact.shared import held


@pytest.fixture(scope="module")
def made() -> ExactStudy:
    return study.double_metric_plane(None)


def test_the_sketch_by_hand(made: ExactStudy) -> None:
    """Vectors of length 1.7 and 0.6, 1.9 radians apart; tau = 0.5."""
    table = made.tables["fig2"]
    part = table[table["panel"] == "numbers"]
    found = dict(zip(part["series"], part["y"], strict=True))
    assert found == {
        "cosine": pytest.approx(math.cos(1.9)),
        "arc": pytest.approx(1.9),
        "chord": pytest.approx(2 * math.sin(0.95)),
        "temperature": 0.5,
    }
    plane = table[table["panel"] == "plane"].set_index("series")[["x", "y"]]
    features, units, arc = (plane.loc[name] for name in ("features", "units", "arc"))
    np.testing.assert_allclose(np.hypot(features["x"], features["y"]), [1.7, 0.6])
    np.testing.assert_allclose(units, features.to_numpy() / [[1.7], [0.6]])
    np.testing.assert_allclose(np.hypot(arc["x"], arc["y"]), 1)


@pytest.mark.parametrize("loss", study.WEIGHTS)
@pytest.mark.parametrize("temperature", [0.07, 1.0])
def test_weights_are_slopes_of_the_logits(loss: str, temperature: float) -> None:
    """Central differences of alpha·c/tau ± beta·sqrt(2 - 2c) over the cosine c; printed, the distance is added."""
    alpha, beta = study.WEIGHTS[loss]
    c, step = np.linspace(-0.9, 0.99, 40), 1e-6
    for name, added in (("printed", 1), ("contrastive", -1)):
        below, above = (
            alpha * x / temperature + added * beta * np.sqrt(2 - 2 * x)
            for x in (c - step, c + step)
        )
        slope = (above - below) / (2 * step)
        found = study.cosine_weight(np.sqrt(2 - 2 * c), temperature, alpha, beta, study.SIGNS[name])
        np.testing.assert_allclose(found, slope, rtol=1e-6, atol=1e-6)


def test_where_the_printed_weight_is_0(made: ExactStudy) -> None:
    """beta tau/alpha with Table 1's weights, as erratum D1 has it; below it the weight is negative, above positive."""
    table = made.tables["fig2"]
    zeros = table[table["panel"] == "zero"].set_index(["temperature", "series"])
    assert zeros.loc[0.07, "y"].to_dict() == pytest.approx(
        {"DM1": 0.07 / 3, "DM2": 0.07, "DM3": 0.21, "DM4": 0.07}
    )
    far = zeros.loc[1.0].loc["DM3"]
    assert far["y"] == pytest.approx(3)
    assert np.isnan(far["x"])
    np.testing.assert_allclose(2 * np.sin(zeros.loc[0.07, "x"] / 2), zeros.loc[0.07, "y"])
    for (temperature, loss), zero in zeros["y"].items():
        near = np.array([0.99, 1.01]) * zero
        around = study.cosine_weight(
            near, temperature, *study.WEIGHTS[loss], study.SIGNS["printed"]
        )
        assert around[0] < 0 < around[1]


def test_answers_by_counting(made: ExactStudy) -> None:
    """179 angles, five temperatures: radius 1/tau is right at tau = 1, and at the right angle, whose cosine is 0."""
    assert [one.reading for one in made.answers] == ["as printed", "D24", "as printed", "D7"]
    assert held(made, "dm.fig2.") == {
        "radius": (179 + 4, 179 * 5),
        "radius.d24": (179 * 5, 179 * 5),
        "discriminates": (0, 179),
        "discriminates.d7": (179 * 178 / 2, 179 * 178 / 2),
    }
