"""Numbers in print: real minus signs, and intervals."""

import math

from hypersphere.config.measures import Measure


def number(value: float, decimals: int) -> str:
    """A fixed number of decimals, a real minus sign; an en dash for a missing number."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "diverges"
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def with_sign(value: float, decimals: int) -> str:
    """A number with a plus sign before what is above zero."""
    text = number(value, decimals)
    return f"+{text}" if not math.isnan(value) and float(f"{value:.{decimals}f}") > 0 else text


def interval(
    low: float, high: float, decimals: int, measure: Measure | None, sign: bool = True
) -> str:
    """``[+0.1, +2.3]``, or an en dash where there is none.

    It ends where the measure ends, as no accuracy is above 100 %. Of a difference (``sign``), it has one decimal more
    where an end rounds to zero, so that its side of zero is seen.
    """
    if math.isnan(low) or math.isnan(high):
        return "–"
    if measure:
        low, high = (measure.within(end, difference=sign) for end in (low, high))
    if not sign:
        return f"[{number(low, decimals)}, {number(high, decimals)}]"
    decimals += any(end != 0 and round(end, decimals) == 0 for end in (low, high))
    return f"[{with_sign(low, decimals)}, {with_sign(high, decimals)}]"
