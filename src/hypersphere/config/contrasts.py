"""Comparisons of an artifact's cells beside those with its baseline."""

from collections.abc import Container, Sequence

from hypersphere.config import coordinates
from hypersphere.config.coordinates import Coordinates, Scalar
from hypersphere.config.validation import Strict

Pair = tuple[dict[str, Scalar], dict[str, Scalar]]
"""A cell, and the one that it is compared with."""


class Contrast(Strict):
    """Cells, and what differs in the cell that each is compared with."""

    of: dict[str, Scalar | list[Scalar]]
    """The cells have one of these values of each key."""
    against: dict[str, Scalar]

    def pairs(self, points: Sequence[dict[str, Scalar]]) -> list[Pair]:
        """Its cells among ``points``, each with the one that it is compared with, if that is another of them."""
        cells = {coordinates.text(point): point for point in points}
        others = {text: coordinates.text({**point, **self.against}) for text, point in cells.items()}
        return [
            (cells[text], cells[other])
            for text, other in others.items()
            if self._covers(cells[text]) and other != text and other in cells
        ]

    def check(self, name: str, axes: Container[str], points: Sequence[dict[str, Scalar]]) -> None:
        """Refuse a comparison that an artifact of these keys and cells cannot make.

        Raises:
            ValueError: a key is on none of its axes, or no two cells differ so.
        """
        for key in (*self.of, *self.against):
            if key not in axes:
                raise ValueError(f"{name}: {key} is on no axis")
        if not self.pairs(points):
            raise ValueError(f"{name}: no two cells differ so")

    def _covers(self, point: Coordinates) -> bool:
        return all(point.get(key) in coordinates.alternatives(value) for key, value in self.of.items())
