"""Numbers as people write them, and which of point and comma stands before the decimals.

``93,1`` has decimals, ``1,234,567`` has thousands, and ``1,234`` has either. So one convention is found for a whole
table, from all of its numbers, and each text has one reading in all columns.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from hypersphere.errors import HypersphereError

LARGEST = 10_000_000
"""Test images; no accuracy so fine is printed. Also the largest number of runs."""
DECIMALS = 12
POINT, COMMA = ".", ","
OTHER: Mapping[str, str] = {POINT: COMMA, COMMA: POINT}
"""The marks that may stand before decimals, each with the one that may stand between thousands then."""
NAMES: Mapping[str, str] = {POINT: "point", COMMA: "comma"}
MINUS = re.compile(
    "[\N{MINUS SIGN}\N{EN DASH}\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{FULLWIDTH HYPHEN-MINUS}]"
)
PERCENT = "%\N{FULLWIDTH PERCENT SIGN}"
SPACES = (
    " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}'\N{RIGHT SINGLE QUOTATION MARK}"
)
"""What stands between thousands under either convention."""


def _numeral(mark: str) -> re.Pattern[str]:
    """A number with decimals after ``mark``, and thousands in groups of three or in none."""
    decimals, power = f"(?:[{mark}][0-9]*)?", "(?:[eE][+-]?[0-9]{1,9})?"
    grouped = f"[1-9][0-9]{{0,2}}(?P<between>[{OTHER[mark]}{SPACES}])[0-9]{{3}}(?:(?P=between)[0-9]{{3}})*{decimals}"
    plain = f"(?:[0-9]+{decimals}|[{mark}][0-9]+){power}"
    return re.compile(f"[+-]?(?:{grouped}|{plain})")


NUMERAL = {mark: _numeral(mark) for mark in OTHER}
SEPARATORS = {mark: re.compile(f"[{other}{SPACES}]") for mark, other in OTHER.items()}
COUNT = re.compile(r"[0-9]+([.,]0)?")
"""A whole number, without its thousands; some programs write one decimal."""


class Written(NamedTuple):
    """A number of a table as it is written, and what is known of it."""

    where: str
    """The line and the column, in words."""
    text: str
    is_count: bool = False
    is_share: bool = False
    """Whether it is in percent of the test examples, so that of two readings one above 100 is not meant."""

    @property
    def readings(self) -> dict[str, Decimal]:
        """What it can be, by the mark before decimals."""
        readings: dict[str, Decimal] = {}
        for mark in OTHER:
            value = read(self.text, mark)
            is_whole = COUNT.fullmatch(_without_thousands(self.text, mark))
            if value is not None and (is_whole or not self.is_count):
                readings[mark] = value
        possible = {mark: value for mark, value in readings.items() if value <= 100}
        return possible if self.is_share and possible else readings


def _plain(text: str) -> str:
    return MINUS.sub("-", text.strip().rstrip(PERCENT).strip())


def _without_thousands(text: str, mark: str) -> str:
    return SEPARATORS[mark].sub("", _plain(text))


def read(text: str, mark: str) -> Decimal | None:
    """The number that a text is if decimals follow ``mark``; None if it is no number then."""
    if not NUMERAL[mark].fullmatch(_plain(text)):
        return None
    return Decimal(_without_thousands(text, mark).replace(mark, POINT))


def number(text: str, where: str, mark: str) -> Decimal:
    """A printed number whose decimals follow ``mark``, with or without a percent sign, with any minus sign."""
    value = read(text, mark)
    if value is None and read(text, OTHER[mark]) is not None:
        raise HypersphereError(
            f"{where}: must have its decimals after a {NAMES[mark]} (given: '{text}')"
        )
    if value is None or _decimals(value) > DECIMALS or value.adjusted() > DECIMALS:
        raise HypersphereError(
            f"{where}: must be a number, with {DECIMALS} decimals at most (given: '{text}')"
        )
    if _decimals(value) < 0:  # 1e3
        value = value.quantize(Decimal(1))
    return value or abs(value)  # no -0


def _decimals(value: Decimal) -> int:
    """The number of its decimals; less than 0 where its last zeros are written as a power."""
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), "a printed number is finite"
    return -exponent


def count(text: str, where: str, mark: str) -> int:
    """A number of runs or examples, with or without a separator of thousands."""
    value = read(text, mark)
    is_whole = value is not None and COUNT.fullmatch(_without_thousands(text, mark))
    if value is None or not is_whole or not 1 <= value <= LARGEST:
        raise HypersphereError(
            f"{where}: must be a whole number from 1 to {LARGEST} (given: '{text}')"
        )
    return int(value)


def unit(printed: Decimal) -> Fraction:
    """One unit of the last printed decimal."""
    return Fraction(10) ** -_decimals(printed)


def convention(table: str, numbers: Iterable[Written], points_are_usual: bool) -> str:
    """The mark before the decimals of a table, POINT or COMMA, as its numbers tell.

    A number tells if one reading alone makes it a number, a whole count, or at most 100 percent. If no number tells,
    and each that is no count has a point before its last three digits, points are decimal where they are usual: so
    programs write three decimals.

    Raises:
        HypersphereError: if two numbers tell opposite, or if no number tells and some have two readings.
    """
    telling: dict[str, Written] = {}
    open_: list[Written] = []
    only_points = points_are_usual
    for one in numbers:
        readings = one.readings
        if len(readings) == 1:
            (mark,) = readings
            telling.setdefault(mark, one)
        has_two = len(set(readings.values())) == 2
        if has_two:
            open_.append(one)
        if not one.is_count and not (has_two and POINT in one.text):
            only_points = False
    if len(telling) > 1:
        point, comma = telling[POINT], telling[COMMA]
        raise HypersphereError(
            f"{table}: {point.where}: '{point.text}' needs a decimal point, and {comma.where}: "
            f"'{comma.text}' a decimal comma; write all numbers in one way"
        )
    if telling or not open_ or only_points:
        return next(iter(telling), POINT)
    first = open_[0]
    either = " or ".join(map(str, first.readings.values()))
    raise HypersphereError(
        f"{table}: {first.where}: '{first.text}' can be {either}; give --decimal . or --decimal , to say which"
    )
