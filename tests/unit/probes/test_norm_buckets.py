"""Accuracy and agreement by norm, against loops and scikit-learn."""

import math
from typing import Any, Literal

import numpy as np
import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier

from hypersphere.errors import HypersphereError
from hypersphere.probes.norm_buckets import buckets, norm_buckets


class People:
    """Stands in for ``Frozen``: features that vote, embeddings whose norm counts, and perhaps labels by people."""

    def __init__(self, n: int = 240, m: int = 160, more: bool = True) -> None:
        random = np.random.default_rng(0)
        self.sizes = {"train": n, "test": m}
        self.own = {split: torch.from_numpy(random.integers(0, 4, size)) for split, size in self.sizes.items()}
        centres = random.normal(size=(4, 5))
        self.vectors = {
            s: torch.from_numpy(centres[y.numpy()] + random.normal(size=(len(y), 5))) for s, y in self.own.items()
        }
        self.heads = {
            s: torch.from_numpy(random.lognormal(0, 0.4, (len(y), 1)) * [[0.6, 0.8]]) for s, y in self.own.items()
        }
        self.names: dict[tuple[str, str], Any] = {}
        if more:
            wrong = torch.from_numpy(random.random(n) < 0.2)
            self.names["train", "cifar10n-aggregate"] = torch.where(
                wrong, (self.own["train"] + 1) % 4, self.own["train"]
            )
            self.names["test", "cifar10h-entropy"] = random.random(m)

    def features(self, split: str) -> torch.Tensor:
        return self.vectors[split]

    def embeddings(self, split: str) -> torch.Tensor:
        return self.heads[split]

    def labels(self, split: str, name: str = "class") -> torch.Tensor:
        return self.own[split] if name == "class" else self.names[split, name]

    def attributes(self, split: str, name: str) -> np.ndarray:
        return np.array(self.names[split, name])

    def has(self, split: str, name: str) -> bool:
        return (split, name) in self.names

    def classes(self) -> int:
        return 4


def by_hand(norms: list[float], scale: str) -> list[int]:
    """Buckets by the limits' own arithmetic."""
    low = min(norms) if scale == "range" else 0.0
    return [min(20, 1 + math.floor(20 * (norm - low) / (max(norms) - low))) for norm in norms]


@pytest.mark.parametrize("scale", ["maximum", "range"])
@pytest.mark.parametrize("split", ["train", "test"])
def test_accuracy_is_scikit_learns_in_each_bucket(scale: Any, split: Any) -> None:
    """Of training images, each in turn left out of scikit-learn's bank; of test images, all at once."""
    people: Any = People()
    found = norm_buckets(people, k=7, split=split, scale=scale, more_than=4)
    x, y, queries = people.vectors["train"].numpy(), people.own["train"].numpy(), people.vectors[split].numpy()

    def model() -> KNeighborsClassifier:
        return KNeighborsClassifier(7, metric="cosine", algorithm="brute", weights=lambda d: np.exp((1 - d) / 0.1))

    if split == "train":
        rest = [np.arange(len(x)) != i for i in range(len(x))]
        said = np.array([model().fit(x[own], y[own]).predict(x[i : i + 1])[0] for i, own in enumerate(rest)])
    else:
        said = model().fit(x, y).predict(queries)
    places = by_hand([math.hypot(*one) for one in people.heads[split].tolist()], scale)
    right = said == people.own[split].numpy()
    few = 0
    for bucket in range(1, 21):
        own = [bool(right[i]) for i, place in enumerate(places) if place == bucket]
        key = f"bucket_top1;bucket={bucket}"
        assert found.values[f"bucket_share;bucket={bucket}"] == pytest.approx(100 * len(own) / len(places))
        assert found.counts[key] == len(own)
        few += len(own) <= 4
        expected = 100 * sum(own) / len(own) if len(own) > 4 else math.nan
        assert found.values[key] == pytest.approx(expected, nan_ok=True)
    assert 2 < few < 18


def test_people_agree_by_norm_as_a_loop_says() -> None:
    people: Any = People()
    found = norm_buckets(people, k=5, more_than=3).values
    for measure, split, known in (
        ("human_accuracy", "train", 100.0 * (people.names["train", "cifar10n-aggregate"] == people.own["train"])),
        ("human_entropy", "test", people.names["test", "cifar10h-entropy"]),
    ):
        places = by_hand([math.hypot(*one) for one in people.heads[split].tolist()], "maximum")
        for bucket in range(1, 21):
            own = [float(known[i]) for i, place in enumerate(places) if place == bucket]
            expected = math.fsum(own) / len(own) if len(own) > 3 else math.nan
            assert found[f"{measure};bucket={bucket}"] == pytest.approx(expected, nan_ok=True)


def test_what_a_dataset_lacks_is_nan() -> None:
    people: Any = People(more=False)
    found = norm_buckets(people, k=5).values
    assert {math.isnan(value) for key, value in found.items() if key.startswith("human")} == {True}
    assert sum(not math.isnan(value) for key, value in found.items() if key.startswith("bucket_share")) == 20


Scale = Literal["maximum", "range"]


@pytest.mark.parametrize(
    ("norms", "scale", "expected"),
    [
        ([0.0, 0.04, 0.05, 0.0999, 0.95, 1.0], "maximum", [1, 1, 2, 2, 20, 20]),
        ([2.0, 2.04, 2.11, 2.94, 3.0], "range", [1, 1, 3, 19, 20]),
        ([3.0, 3.0], "maximum", [20, 20]),
        ([3.0, 3.0], "range", [1, 1]),
        ([0.0, 0.0], "maximum", [1, 1]),
        ([0.0, 0.0], "range", [1, 1]),
        ([1e-30, 2e-30], "maximum", [11, 20]),
        ([7.0], "maximum", [20]),
    ],
)
def test_limits_equal_zero_and_tiny_norms(norms: list[float], scale: Scale, expected: list[int]) -> None:
    assert buckets(torch.tensor(norms, dtype=torch.float64), scale).tolist() == expected


def test_one_class_and_constant_features() -> None:
    """Of one class all are right; equal features tie, and the lowest of the most frequent classes wins."""
    people: Any = People()
    people.vectors = {split: torch.ones_like(one) for split, one in people.vectors.items()}
    found = norm_buckets(people, k=5, split="test", more_than=0).values
    most = int(people.own["train"].bincount().argmax())
    places = np.array(by_hand([math.hypot(*one) for one in people.heads["test"].tolist()], "maximum"))
    for bucket in set(places.tolist()):
        own = people.own["test"].numpy()[places == bucket]
        assert found[f"bucket_top1;bucket={bucket}"] == pytest.approx(100 * (own == most).mean())
    people.own = {split: torch.zeros_like(one) for split, one in people.own.items()}
    found = norm_buckets(people, k=5, more_than=0).values
    assert {v for key, v in found.items() if key.startswith("bucket_top1") and not math.isnan(v)} == {100.0}


def test_more_neighbours_than_images_that_vote_are_a_sentence() -> None:
    people: Any = People(n=30)
    norm_buckets(people, k=29)  # the control
    norm_buckets(people, k=30, split="test")
    with pytest.raises(HypersphereError, match=r"^knn: k: 30 is more than the 29"):
        norm_buckets(people, k=30)
