"""The one rule by which a product in floating point becomes a whole number."""

PLACES = 9


def settle(product: float) -> float:
    """A product rounded to nine decimals, before its floor or ceiling is taken.

    What is a whole number on paper is one here: 729 · 3^-6 is 1, and in floating point a little less, so that its floor
    would be 0. Nothing that is counted here comes so near to a whole number without being one.
    """
    return round(product, PLACES)
