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

from hypersphere.simulations.study import PRINTED, Context, ExactNumber, ExactStudy, counted

Array = NDArray[np.float64]

TEMPERATURE, ANGULAR = 0.25, 0.4  # captions of Fig. 1 and 2
MARGINS = (0.2, 0.4, 0.8, 1.6, 3.1)  # Sec. 5.4; Fig. 8's own are not in the text
TEMPERATURES = (0.125, 0.25, 0.5)  # half, once and twice that of App. C.1; Fig. 8's own are not in the text
FINE, COARSE = 60, 36  # cells along each axis: 3 degrees by 1/60 in Fig. 1 and 2, 5 degrees by 1/36 in Fig. 8
EMPHASIS = 2.0  # the ratio above which erratum M35 counts a place as emphasised
UP_TO = 0.875  # the probability up to which erratum M37 has the nearer of two positives weighted more


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
    return np.asarray(1 / (1 - probability + probability * np.exp(log_eta(angle, m1, temperature))))


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
    flat = {"theta": angle, "probability": probability, **columns}
    return pd.DataFrame({name: np.broadcast_to(np.asarray(x), shape).ravel() for name, x in flat.items()})


def _count(claim: str, holds: NDArray[np.bool_], reading: str = PRINTED) -> ExactNumber:
    """The answer from ``holds``, by place. The id of a corrected reading ends in its erratum."""
    name = f"margins.{claim}" + ("" if reading == PRINTED else f".{reading.lower()}")
    return counted(name, int(holds.sum()), holds.size, reading)


def margin_gradients(context: Context) -> ExactStudy:
    """The maps of Fig. 1, 2 and 8, and sentences about them, checked at every place of the maps."""
    angle, probability = cells(math.pi, FINE)[:, None], cells(1.0, FINE)
    # Fig. 1. Sec. 4: of two neighbouring probabilities, the one nearer to its target has the smaller gradient.
    positives, negatives = (magnitude(target, probability, angle, TEMPERATURE) for target in (1.0, 0.0))
    fig1 = [
        _long(angle, probability, panel=panel, magnitude=map_, temperature=TEMPERATURE)
        for panel, map_ in (("positives", positives), ("negatives", negatives))
    ]
    answers = [
        _count("fig1.positives", np.diff(positives, axis=1) < 0),
        _count("fig1.negatives", np.diff(negatives, axis=1) > 0),
    ]
    # Fig. 2. Sec. 4.1 and 5.3 on the quotient of sines, by angle, on that of gaps, and on both factors together.
    # Sentences about the scale of the quotient of sines are checked on its magnitude.
    sines = quotient_of_sines(angle, ANGULAR)
    ratio = quotient_of_gaps(angle, probability, ANGULAR, TEMPERATURE)
    theta, at_zero, at_one = angle[:, 0], math.pi - ANGULAR, sines_are_one(ANGULAR)
    fig2 = [
        _long(angle, probability, panel=panel, multiplier=map_, one=one, zero=zero)
        for panel, map_, one, zero in (
            ("sines", sines, at_one, at_zero),
            ("gaps", ratio, gaps_are_one(ANGULAR), math.nan),
        )
    ]
    size = np.abs(sines[:, 0])
    raised, falls, convex = size > 1, np.diff(size) < 0, np.diff(size, n=2) > 0
    q = with_margin(angle, probability, ANGULAR, TEMPERATURE)
    at_negatives = (1 - q) / (1 - probability)  # q-/q~- at p = 0, the same for each negative
    equal = np.isclose(at_negatives, ratio, rtol=1e-9, atol=0) & (np.abs(at_negatives - 1) > 1e-9)
    nearer = np.diff(np.abs(sines * ratio), axis=0) < 0
    distance = np.abs(theta - at_one)
    steps = np.abs(np.diff(distance)) > 1e-9  # neighbours on both sides of the peak can be equally near
    towards_peak = (np.diff(ratio, axis=0) * np.diff(distance)[:, None] < 0)[steps]
    grows = np.diff(ratio, axis=1) > 0
    mixed = np.diff(np.diff(np.log(ratio), axis=0), axis=1)  # 0 for a function of the row times one of the column
    answers += [
        _count("fig2.sines_raise", raised),
        _count("fig2.sines_raise", raised[theta < at_one], "M34"),
        _count("fig2.sines_fall", falls),
        _count("fig2.sines_fall", falls[theta[1:] < at_zero], "M10"),
        _count("fig2.convex", convex),
        _count("fig2.convex", convex[theta[2:] < math.pi / 2], "M36"),
        _count("fig2.terms", quotient_of_sines(theta, 0.0) != 1),
        _count("fig2.terms", equal, "M9"),
        _count("fig2.small_angles", nearer),
        _count("fig2.small_angles", nearer[theta[1:] < at_zero][:, probability <= UP_TO], "M37"),
        _count("fig2.gaps_angle", towards_peak),
        _count("fig2.gaps_probability", grows),
        _count("fig2.gaps_probability", grows[theta < gaps_are_one(ANGULAR)], "M33"),
        _count("fig2.not_a_product", np.array([np.abs(mixed).max() >= 1e-9])),
    ]
    # Fig. 8. App. B, from each margin to the next: where the ratio is largest, how much of the map is above a level.
    coarse = cells(math.pi, COARSE)[:, None], cells(1.0, COARSE)
    grid = np.array([[quotient_of_gaps(*coarse, m1, t) for m1 in MARGINS] for t in TEMPERATURES])
    fig8 = [
        _long(*coarse, temperature=t, m1=m1, ratio=grid[i, j], one=gaps_are_one(m1))
        for i, t in enumerate(TEMPERATURES)
        for j, m1 in enumerate(MARGINS)
    ]
    above_one, emphasised = ((grid > level).mean(axis=(2, 3)) for level in (1.0, EMPHASIS))
    answers += [
        _count("fig8.centre", np.diff(grid.argmax(axis=2), axis=1) < 0),
        _count("fig8.area", np.diff(above_one, axis=1) > 0),
        _count("fig8.area", np.diff(emphasised, axis=1)[:, np.array(MARGINS)[1:] <= 0.8] > 0, "M35"),
    ]
    tables = {
        "fig1": pd.concat(fig1, ignore_index=True),
        "fig2": pd.concat(fig2, ignore_index=True).assign(m1=ANGULAR, temperature=TEMPERATURE),
        "fig8": pd.concat(fig8, ignore_index=True),
    }
    return ExactStudy(tables, answers)
