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
    kinds = {"also in train": "in_train"}
    if counts["of"] == "images":
        kinds["equal to one under another label"] = "two_labels"
        if every:
            kinds["equal to an earlier one of the split"] = "again"
    parts = []
    for what, key in kinds.items():
        listed = []
        for split, one in counts["splits"].items():
            number = max(one[key].values(), default=0) if key == "two_labels" else one[key]
            if number:
                listed.append(f"{number:,} of {one['images']:,} in {split}")
        if len(listed) > FEW:
            listed[FEW:] = [f"and in {len(listed) - FEW} more splits"]
        if listed:
            parts.append(f"{what}: {', '.join(listed)}")
    return f"{CALLED[counts['of']]} {'; '.join(parts)}" if parts else ""


def in_a_line(name: str, counts: Mapping[str, Any] | None) -> str:
    """What `prepare` says of a dataset."""
    return f"{name}: {in_words(counts, every=True) or 'nothing is repeated'}"
