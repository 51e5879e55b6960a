"""Claimed accuracies beside the interval of what is found: over test images, of one encoder."""

import math
import re
from decimal import Decimal
from statistics import NormalDist
from typing import Literal, NamedTuple

from hypersphere.errors import HypersphereError

Measure = Literal["linear", "knn"]
MEASURES: tuple[Measure, ...] = ("linear", "knn")
"""What a claim can be of; without a name it is of the first."""
CONFIDENCE = 0.95
NUMBER = re.compile(r"\d{1,3}(\.\d+)?")
OPTION = "--claims"


class Accuracy(NamedTuple):
    """A share of test images in percent, with its interval over test images."""

    value: float
    low: float
    high: float
    n: int
    """Number of test images."""


class Claim(NamedTuple):
    """A claimed accuracy in percent, with all the decimals that it was given."""

    measure: Measure
    value: Decimal


Verdict = Literal["inside the interval", "above the interval", "below the interval"]


def accuracy(percent: float, n: int) -> Accuracy:
    """An accuracy with its interval of 95 % over test images (Wilson 1927).

    The ends are the shares p for which the one found is 1.96 standard errors away: (p - share)^2 = z^2 p (1 - p) / n.
    """
    share = round(percent / 100 * n) / n
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    shrunk = 1 + z**2 / n
    centre = (share + z**2 / (2 * n)) / shrunk
    reach = z / shrunk * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    low, high = max(centre - reach, 0.0), min(centre + reach, 1.0)
    return Accuracy(100 * share, 100 * low, 100 * high, n)


def parse(text: str) -> Claim:
    """The claim ``91.9`` or ``knn=91.9``.

    Raises:
        HypersphereError: it has another measure, or no number of percent.
    """
    name, equals, number = text.rpartition("=")
    measure = next((one for one in MEASURES if one == (name or MEASURES[0])), None)
    if measure is None or (equals and not name):
        raise HypersphereError(
            f"{OPTION}: must be NUMBER, linear=NUMBER or knn=NUMBER (given: '{text}')"
        )
    if not NUMBER.fullmatch(number) or Decimal(number) > 100:
        raise HypersphereError(
            f"{OPTION}: must be a number of percent, from 0 to 100 (given: '{text}')"
        )
    value = Decimal(number)
    if 0 < value < 1:
        raise HypersphereError(
            f"{OPTION}: must be in percent; for a share write {value.scaleb(2):f} (given: '{text}')"
        )
    return Claim(measure, value)


def judge(claim: Claim, found: Accuracy) -> Verdict:
    """Where a claim lies. It stands for all numbers that round to it, and is inside if any of them is."""
    value = float(claim.value)
    half = 10.0 ** -decimals(claim) / 2
    if value - half > found.high:
        return "above the interval"
    if value + half < found.low:
        return "below the interval"
    return "inside the interval"


def decimals(claim: Claim) -> int:
    """How many decimals a claim was given."""
    exponent = claim.value.as_tuple().exponent
    assert isinstance(exponent, int)  # it is finite
    return -exponent
