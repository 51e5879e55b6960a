"""Gradients of InfoNCE in an angle, and what an angular margin multiplies them by (margins paper, Fig. 1, 2 and 8).

Closed forms at beta = 1 and m2 = 0, on grids of an angle (rows, radians) and a probability (columns). The two are
independent: at one angle, other negatives give another probability. Grid points are the centres of equal cells on
(0, pi) and (0, 1), so that none is on an edge, where sin(theta) = 0.
"""

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from hypersphere.exact.study import (
    PRINTED,
    Context,
    ExactNumber,
    ExactStudy,
    ending,
    everywhere,
    stack,
)

Array = NDArray[np.float64]

TEMPERATURE = 0.25  # captions of Fig. 1 and 2
ANGULAR = 0.4  # the same
MARGINS = (0.2, 0.4, 0.8, 1.6, 3.1)  # Sec. 5.4; Fig. 8's own are not in the text
TEMPERATURES = (
    0.125,
    0.25,
    0.5,
)  # half, once and twice that of App. C.1; Fig. 8's own are not in the text
FINE = 60  # cells along each axis in Fig. 1 and 2: 3 degrees by 1/60
COARSE = 36  # in Fig. 8: 5 degrees by 1/36
EMPHASIS = 2.0  # the ratio above which erratum M35 counts a place as emphasised
# the probability up to which erratum M37 has the nearer of two positives weighted more
UP_TO = 0.875


def cells(end: float, n: int) -> Array:
    """Centres of n equal cells on (0, end)."""
    return (np.arange(n, dtype=np.float64) + 0.5) * (end / n)


def magnitude(target: float, probability: Array, angle: Array, temperature: float) -> Array:
    """|dL/dtheta| = |p - q|·sin(theta)/t without margins, per radian (Eq. 14 at beta = 1)."""
    return np.asarray(np.abs(target - probability) * np.sin(angle) / temperature)


def quotient_of_sines(angle: Array, margin: float) -> Array:
    """sin(theta + m1·p)/sin(theta), ``margin`` being m1·p (Theorem 4.1)."""
    return np.asarray(np.sin(angle + margin) / np.sin(angle))


def log_eta(angle: Array, m1: float, temperature: float) -> Array:
    """The margin's change of the positive's logit (exponent in Eq. 7, m2 = 0)."""
    return np.asarray((np.cos(angle + m1) - np.cos(angle)) / temperature)


def quotient_of_gaps(angle: Array, probability: Array, m1: float, temperature: float) -> Array:
    """(p - q)/(p - q~) as 1/(1 - (1 - eta)·q~), with angle and q~ of the positive (Theorem 4.1, Eq. 7)."""
    eta = np.exp(log_eta(angle, m1, temperature))
    return np.asarray(1 / (1 - probability + probability * eta))


def with_margin(angle: Array, probability: Array, m1: float, temperature: float) -> Array:
    """q of the positive from its q~: the margin shifts its logit and no other (Eq. 4)."""
    return np.asarray(expit(logit(probability) + log_eta(angle, m1, temperature)))


def sines_are_one(m1: float) -> float:
    """The angle where theta and theta + m1 are symmetric about pi/2: the quotient of sines is 1.

    There the quotient of gaps is largest, for every q~.
    """
    return (math.pi - m1) / 2


def gaps_are_one(m1: float) -> float:
    """The angle where the quotient of gaps is 1 for every q~: theta and theta + m1 are symmetric about pi (eta = 1)."""
    return math.pi - m1 / 2


def _long(angle: Array, probability: Array, **columns: object) -> pd.DataFrame:
    """A map as a table with one row per place. Further columns are maps or single values."""
    shape = np.broadcast_shapes(angle.shape, probability.shape)
    maps = {"theta": angle, "probability": probability, **columns}
    table = {}
    for name, values in maps.items():
        table[name] = np.broadcast_to(np.asarray(values), shape).ravel()
    return pd.DataFrame(table)


def _answer(claim: str, holds: NDArray[np.bool_], reading: str = PRINTED) -> ExactNumber:
    """The answer from ``holds``, by place. The id of a corrected reading ends in its erratum."""
    return everywhere(f"margins.{claim}{ending(reading)}", holds, reading)


def margin_gradients(context: Context) -> ExactStudy:
    """The maps of Fig. 1, 2 and 8, and sentences about them, checked at every place of the maps."""
    maps_1, answers_1 = fig1()
    maps_2, answers_2 = fig2()
    maps_8, answers_8 = fig8()
    tables = {"fig1": maps_1, "fig2": maps_2, "fig8": maps_8}
    return ExactStudy(tables, answers_1 + answers_2 + answers_8)


Figure = tuple[pd.DataFrame, list[ExactNumber]]
"""A figure's maps, and the answers to sentences about them."""


def fig1() -> Figure:
    """Sec. 4: of two neighbouring probabilities, the one nearer to its target has the smaller gradient."""
    angle = cells(math.pi, FINE)[:, None]
    probability = cells(1.0, FINE)
    positives = magnitude(1.0, probability, angle, TEMPERATURE)
    negatives = magnitude(0.0, probability, angle, TEMPERATURE)
    maps = [
        _long(
            angle,
            probability,
            panel="positives",
            magnitude=positives,
            temperature=TEMPERATURE,
        ),
        _long(
            angle,
            probability,
            panel="negatives",
            magnitude=negatives,
            temperature=TEMPERATURE,
        ),
    ]
    answers = [
        _answer("fig1.positives", np.diff(positives, axis=1) < 0),
        _answer("fig1.negatives", np.diff(negatives, axis=1) > 0),
    ]
    return stack(maps), answers


def fig2() -> Figure:
    """Sec. 4.1 and 5.3 on the quotient of sines, by angle, on the quotient of gaps, and on both factors together.

    Sentences about the scale of the quotient of sines are checked on its magnitude.
    """
    angle = cells(math.pi, FINE)[:, None]
    theta = angle[:, 0]
    probability = cells(1.0, FINE)
    sines = quotient_of_sines(angle, ANGULAR)
    gaps = quotient_of_gaps(angle, probability, ANGULAR, TEMPERATURE)
    peak = sines_are_one(ANGULAR)
    zero = math.pi - ANGULAR
    maps = [
        _long(angle, probability, panel="sines", multiplier=sines, one=peak, zero=zero),
        _long(
            angle,
            probability,
            panel="gaps",
            multiplier=gaps,
            one=gaps_are_one(ANGULAR),
            zero=math.nan,
        ),
    ]
    # The quotient of sines
    size = np.abs(sines[:, 0])
    raised = size > 1
    falls = np.diff(size) < 0
    convex = np.diff(size, n=2) > 0
    # The quotient of gaps
    distance = np.abs(theta - peak)
    # neighbours on both sides of the peak can be equally near
    steps = np.abs(np.diff(distance)) > 1e-9
    towards_peak = np.diff(gaps, axis=0) * np.diff(distance)[:, None] < 0
    grows = np.diff(gaps, axis=1) > 0
    # 0 for a function of the row times one of the column
    mixed = np.diff(np.diff(np.log(gaps), axis=0), axis=1)
    # Both factors
    q = with_margin(angle, probability, ANGULAR, TEMPERATURE)
    at_negatives = (1 - q) / (1 - probability)  # q-/q~- at p = 0, the same for each negative
    equal = np.isclose(at_negatives, gaps, rtol=1e-9, atol=0)
    changed = np.abs(at_negatives - 1) > 1e-9
    nearer = np.diff(np.abs(sines * gaps), axis=0) < 0
    nearer_and_small = nearer[theta[1:] < zero][:, probability <= UP_TO]
    answers = [
        _answer("fig2.sines_raise", raised),
        _answer("fig2.sines_raise", raised[theta < peak], "M34"),
        _answer("fig2.sines_fall", falls),
        _answer("fig2.sines_fall", falls[theta[1:] < zero], "M10"),
        _answer("fig2.convex", convex),
        _answer("fig2.convex", convex[theta[2:] < math.pi / 2], "M36"),
        _answer("fig2.terms", quotient_of_sines(theta, 0.0) != 1),
        _answer("fig2.terms", equal & changed, "M9"),
        _answer("fig2.small_angles", nearer),
        _answer("fig2.small_angles", nearer_and_small, "M37"),
        _answer("fig2.gaps_angle", towards_peak[steps]),
        _answer("fig2.gaps_probability", grows),
        _answer("fig2.gaps_probability", grows[theta < gaps_are_one(ANGULAR)], "M33"),
        _answer("fig2.not_a_product", np.abs(mixed).max() >= 1e-9),
    ]
    return stack(maps).assign(m1=ANGULAR, temperature=TEMPERATURE), answers


def fig8() -> Figure:
    """App. B, from each margin to the next: where the ratio is largest, how much of the map is above a level."""
    angle = cells(math.pi, COARSE)[:, None]
    probability = cells(1.0, COARSE)
    maps = []
    ratios = []
    for temperature in TEMPERATURES:
        for m1 in MARGINS:
            ratio = quotient_of_gaps(angle, probability, m1, temperature)
            ratios.append(ratio)
            one = gaps_are_one(m1)
            maps.append(
                _long(
                    angle,
                    probability,
                    temperature=temperature,
                    m1=m1,
                    ratio=ratio,
                    one=one,
                )
            )
    grid = np.reshape(ratios, (len(TEMPERATURES), len(MARGINS), COARSE, COARSE))
    peaks = grid.argmax(axis=2)
    above_one = (grid > 1.0).mean(axis=(2, 3))
    emphasised = (grid > EMPHASIS).mean(axis=(2, 3))
    small_margins = np.array(MARGINS)[1:] <= 0.8
    answers = [
        _answer("fig8.centre", np.diff(peaks, axis=1) < 0),
        _answer("fig8.area", np.diff(above_one, axis=1) > 0),
        _answer("fig8.area", np.diff(emphasised, axis=1)[:, small_margins] > 0, "M35"),
    ]
    return stack(maps), answers
