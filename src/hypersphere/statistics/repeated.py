"""What is said of images that a dataset holds more than once, by the counts of ``datasets/repeated.py``."""

from collections.abc import Mapping
from typing import Any

FEW = 3
"""Up to so many splits are named in a sentence."""
CALLED = {"images": "images", "sentences": "encoded sentences"}
"""Two sentences are equal in numbers of words where the words that differ are unknown."""
NOT_COUNTED = "repeated images were not counted"


def in_words(counts: Mapping[str, Any] | None, every: bool = False) -> str:
    """What a manifest's counts say, in words; empty if no image is repeated.

    ``images also in train: 3 of 10,000 in test; equal to one under another label: 2 of 50,000 in train``; ``every``:
    also those that are in one split twice. Of sentences, only those in train are said.
    """
    if counts is None:
        return NOT_COUNTED
    of, splits = counts["of"], counts["splits"]
    kinds = {"also in train": {name: one["in_train"] for name, one in splits.items()}}
    if of == "images":
        two_labels = {
            name: max(one["two_labels"].values(), default=0) for name, one in splits.items()
        }
        kinds["equal to one under another label"] = two_labels
        if every:
            kinds["equal to an earlier one of the split"] = {
                name: one["again"] for name, one in splits.items()
            }
    parts = []
    for what, by_split in kinds.items():
        listed = [
            f"{number:,} of {splits[name]['images']:,} in {name}"
            for name, number in by_split.items()
            if number
        ]
        if len(listed) > FEW:
            listed[FEW:] = [f"and in {len(listed) - FEW} more splits"]
        parts += [f"{what}: {', '.join(listed)}"] if listed else []
    return f"{CALLED[of]} {'; '.join(parts)}" if parts else ""


def in_a_line(name: str, counts: Mapping[str, Any] | None) -> str:
    """What `prepare` says of a dataset."""
    return f"{name}: {in_words(counts, every=True) or 'nothing is repeated'}"
