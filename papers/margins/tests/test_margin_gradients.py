"""Maps of the margins paper's Fig. 1, 2 and 8: closed forms against autograd of the losses, counts against algebra."""

import math

import numpy as np
import pytest
import torch

from hypersphere.exact.study import ExactStudy
from hypersphere.objectives.generalised_info_nce import info_nce_of_logits
from hypersphere.objectives.margin_logits import margin_logits
from papers.margins.studies.margin_gradients import compute as study
from tests.unit.exact.shared import held

THETA = (
    torch.rand(400, 5, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    * (math.pi - 0.02)
    + 0.01
)
"""Angles of 400 anchors with five candidates each, the positive first."""
ANGLES = THETA.numpy()


@pytest.fixture(scope="module")
def result() -> ExactStudy:
    return study.margin_gradients(None)


def _by_autograd(temperature: float, m1: float) -> tuple[np.ndarray, np.ndarray]:
    """dL/dtheta of every candidate and the softmax, from the project's own loss and logits."""
    theta = THETA.clone().requires_grad_()
    targets = torch.zeros_like(theta)
    targets[:, 0] = 1
    logits = margin_logits(theta.cos(), targets, temperature=temperature, angular=m1)
    loss = info_nce_of_logits(logits, targets, 1.0) * len(theta)
    (slope,) = torch.autograd.grad(loss, theta)
    return slope.numpy(), logits.detach().softmax(dim=1).numpy()


def test_magnitude_is_autograds_for_positives_and_negatives() -> None:
    slope, q = _by_autograd(0.25, 0.0)
    closed = np.stack(
        [study.magnitude(float(j == 0), q[:, j], ANGLES[:, j], 0.25) for j in range(5)], axis=1
    )
    assert np.abs(slope) == pytest.approx(closed, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("temperature", [0.125, 0.25, 0.5])
@pytest.mark.parametrize("m1", [0.2, 0.4, 0.8, 1.6, 3.1])
def test_the_two_factors_are_what_autograds_gradients_are_multiplied_by(
    m1: float, temperature: float
) -> None:
    """Theorem 4.1 with the margin's sign: beyond pi - m1 the positive's gradient is reversed (M10)."""
    (plain, without), (bent, q) = (_by_autograd(temperature, margin) for margin in (0.0, m1))
    theta = ANGLES[:, 0]
    ratio = study.quotient_of_gaps(theta, without[:, 0], m1, temperature)
    sines = study.quotient_of_sines(theta, m1)
    scale = (1 - without[:, 0]) * np.sin(theta) / temperature
    sound = 1 - without[:, 0] > 1e-6  # autograd's own 1 - q cancels below
    assert sound.mean() > 0.9
    assert plain[sound, 0] == pytest.approx(scale[sound], rel=1e-9)
    assert bent[sound, 0] == pytest.approx(
        (plain[:, 0] * sines * ratio)[sound], rel=1e-8, abs=1e-12
    )
    assert bent[:, 1:] == pytest.approx(plain[:, 1:] * ratio[:, None], rel=1e-8, abs=1e-12)
    assert ((sines < 0) == (theta > math.pi - m1)).all()
    assert (sines < 0).any()
    by_softmax = study.with_margin(theta, without[:, 0], m1, temperature)
    assert by_softmax[sound] == pytest.approx(q[sound, 0], rel=1e-8, abs=1e-14)


@pytest.mark.parametrize("m1", study.MARGINS)
def test_the_angles_of_the_lines(m1: float) -> None:
    """Between 0 and pi, sin(x + m1) = sin(x) at one angle, and cos(x + m1) = cos(x) at another."""
    sines, gaps = study.sines_are_one(m1), study.gaps_are_one(m1)
    assert math.sin(sines + m1) / math.sin(sines) == pytest.approx(1, abs=1e-12)
    assert math.cos(gaps + m1) == pytest.approx(math.cos(gaps), abs=1e-12)
    assert 0 < sines < gaps < math.pi


def test_tables_hold_whole_maps_at_cell_centres_as_plain_python_has_them(
    result: ExactStudy,
) -> None:
    """Every place again, from sums of exponentiated logits: one negative whose logit makes up the probability."""
    expected = {"fig1": (2, study.FINE), "fig2": (2, study.FINE), "fig8": (15, study.COARSE)}
    for name, (panels, n) in expected.items():
        table = result.tables[name]
        assert len(table) == panels * n * n < 30_000
        assert sorted(table["theta"].unique()) == pytest.approx(
            [(i + 0.5) * math.pi / n for i in range(n)]
        )
        assert sorted(table["probability"].unique()) == pytest.approx(
            [(j + 0.5) / n for j in range(n)]
        )
    for row in result.tables["fig1"].itertuples():
        gap = row.probability if row.panel == "negatives" else 1 - row.probability
        assert row.magnitude == pytest.approx(gap * math.sin(row.theta) / 0.25, rel=1e-12)
    multipliers = result.tables["fig2"]
    sines = multipliers[multipliers["panel"] == "sines"]
    expected = math.cos(0.4) + math.sin(0.4) / np.tan(sines["theta"])
    np.testing.assert_allclose(sines["multiplier"], expected, rtol=1e-9)
    gaps = multipliers[multipliers["panel"] == "gaps"].rename(columns={"multiplier": "ratio"})
    for table in (gaps, result.tables["fig8"]):
        positive = np.exp(np.cos(table["theta"]) / table["temperature"])
        negatives = positive * (1 - table["probability"]) / table["probability"]
        turned = np.exp(np.cos(table["theta"] + table["m1"]) / table["temperature"])
        np.testing.assert_allclose(
            table["ratio"], (positive + negatives) / (turned + negatives), rtol=1e-9
        )


def test_what_holds_everywhere_and_what_does_not(result: ExactStudy) -> None:
    counts = held(result, "margins.")
    refuted = {name for name, (holds, places) in counts.items() if holds < places}
    of_figure_2 = (
        "sines_raise",
        "sines_fall",
        "convex",
        "terms",
        "small_angles",
        "gaps_probability",
    )
    assert refuted == {*(f"fig2.{name}" for name in of_figure_2), "fig8.area"}
    corrected = {name.rpartition(".")[0] for name in counts if name.count(".") == 2}
    assert corrected == refuted
    for answer in result.answers:
        assert (answer.reading == "as printed") == (answer.id.count(".") == 2)
        assert answer.reading == "as printed" or answer.id.endswith(f".{answer.reading.lower()}")


def test_counts_from_the_angles_at_which_the_signs_change(result: ExactStudy) -> None:
    """Closed forms of the borders: (pi - m1)/2, pi/2, pi - m1 and pi - m1/2, with m1 = 0.4."""
    n, width = study.FINE, math.pi / study.FINE

    def below(angle: float) -> int:
        return math.floor(angle / width + 0.5)  # cells whose centre is below

    counts = held(result, "margins.")
    # |sin(x + m1)| > sin(x) at both ends
    raised, reversed_more = below((math.pi - 0.4) / 2), n - below(math.pi - 0.2)
    assert counts["fig2.sines_raise"] == (raised + reversed_more, n)
    assert counts["fig2.sines_raise.m34"] == (raised, raised)
    until_zero = below(math.pi - 0.4)
    # the step over the zero is down, all later ones up
    assert counts["fig2.sines_fall"] == (until_zero, n - 1)
    assert counts["fig2.sines_fall.m10"] == (until_zero - 1, until_zero - 1)
    assert counts["fig2.convex.m36"] == (below(math.pi / 2) - 2, below(math.pi / 2) - 2)
    # cot is convex up to pi/2; its magnitude again from the zero on, and at the kink
    assert counts["fig2.convex"] == (below(math.pi / 2) - 1 + n - until_zero, n - 2)
    assert counts["fig2.gaps_probability"] == (below(math.pi - 0.2) * (n - 1), n * (n - 1))
    assert counts["fig2.terms"] == (0, n)


def test_nearer_positives_are_weighted_less_in_a_corner(result: ExactStudy) -> None:
    """Eq. 6 with ``math`` at q~ = 0.99: the whole weight of a positive is larger at 0.9 than at 0.6 radians."""

    def weight(angle: float, q: float) -> float:
        eta = math.exp((math.cos(angle + 0.4) - math.cos(angle)) / 0.25)
        return math.sin(angle + 0.4) / math.sin(angle) / (1 - (1 - eta) * q)

    assert weight(0.9, 0.99) > weight(0.6, 0.99)
    assert weight(0.9, 0.875) < weight(0.6, 0.875)
    holds, places = held(result, "margins.")["fig2.small_angles"]
    assert places // 2 < holds < places


def test_the_emphasised_area_narrows_with_the_margin(result: ExactStudy) -> None:
    """Above 1 it is the angles below pi - m1/2 at every temperature, a share of 1 - m1/(2·pi): it never broadens.
    From a ratio of 2 on it broadens up to m1 = 0.8, and narrows from 1.6 to 3.1: M35 is not true of every margin."""
    shares = result.tables["fig8"].assign(
        above=lambda x: x["ratio"] > 1, double=lambda x: x["ratio"] > 2
    )
    by_map = shares.groupby(["temperature", "m1"])[["above", "double"]].mean()
    for t in study.TEMPERATURES:
        for m1, share in by_map.loc[t, "above"].items():
            assert share == pytest.approx(1 - float(m1) / (2 * math.pi), abs=0.5 / study.COARSE)
        doubled = by_map.loc[t, "double"]
        assert doubled[0.2] < doubled[0.4] < doubled[0.8]
        assert doubled[1.6] > doubled[3.1]
    assert held(result, "margins.")["fig8.area"] == (0, 12)
