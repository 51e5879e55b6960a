"""Norms, their extremes and their buckets: against loops and sorting."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from hypersphere.errors import NotFiniteError
from hypersphere.probes.extreme_norms import extreme_norms
from hypersphere.probes.norm_buckets import buckets, norm_buckets
from hypersphere.probes.norms import norms
from hypersphere.probes.relative_norms import relative_norms

from .conftest import neighbours


def test_norms_are_a_loop() -> None:
    """Of three splits; in float32, squares of the last vector underflow."""
    draw, sizes = torch.Generator().manual_seed(0), {"easy": 3, "test": 5, "train": 7}
    vectors = {split: torch.randn(n, 4, generator=draw) for split, n in sizes.items()}
    vectors["train"][-2:] *= torch.tensor([[0.0], [1e-30]])
    frozen: Any = SimpleNamespace(splits=(*sizes,), embeddings=vectors.__getitem__)
    found = norms(frozen)
    assert list(found.table.columns) == ["split", "image", "norm"]
    expected = [
        (split, image, math.hypot(*vector))
        for split in frozen.splits
        for image, vector in enumerate(vectors[split].tolist())
    ]
    rows = list(found.table.itertuples(index=False, name=None))
    assert rows == [
        (split, image, pytest.approx(norm, rel=1e-14)) for split, image, norm in expected
    ]
    for split in frozen.splits:
        own = [norm for of, _, norm in expected if of == split]
        assert found.values[f"norm;split={split}"] == pytest.approx(
            math.fsum(own) / len(own), rel=1e-14
        )


# In units of those of the images trained on


def world(own: list[float], other: list[float]) -> Any:
    """An encoder trained on images of the norms ``own``, asked about images of the norms ``other``."""

    def at(norms: list[float], home: Any) -> Any:
        vectors = {"train": torch.tensor([[norm, 0.0] for norm in norms], dtype=torch.float64)}
        vectors["test"] = 2 * vectors["train"]
        place = SimpleNamespace(embeddings=vectors.__getitem__, splits=("test", "train"))
        place.home = home or place
        return place

    return at(other, at(own, None))


def test_the_unit_is_the_mean_of_the_images_trained_on_unless_it_is_zero(refused: Any) -> None:
    """By hand: norms 1 and 3 have the mean 2."""
    elsewhere = world([1.0, 3.0], [4.0, 2.0, 0.0])
    for place in (elsewhere.home, elsewhere):
        found = relative_norms(place)
        assert found.values == {"relative_norm;split=test": 2.0, "relative_norm;split=train": 1.0}
    rows = list(found.table.itertuples(index=False, name=None))
    expected = {"test": (4.0, 2.0, 0.0), "train": (2.0, 1.0, 0.0)}
    assert rows == [
        (split, image, norm) for split, of in expected.items() for image, norm in enumerate(of)
    ]
    with refused("the embeddings of all training images", kind=NotFiniteError):
        relative_norms(world([0.0, 0.0], [1.0]))


# Images of highest and lowest norm


def faces(norms: list[float], classes: list[int]) -> Any:
    """Stands in for ``Frozen``: images in three classes, with given norms; image i is of colour i."""
    pixels = np.arange(len(norms), dtype=np.uint8)[:, None, None, None]
    return SimpleNamespace(
        features=lambda split: torch.tensor(
            [[-0.6 * norm, 0.8 * norm] for norm in norms], dtype=torch.float64
        ),
        labels=lambda split: torch.tensor(classes),
        class_names=lambda: ("ant", "bee", "cow"),
        images=lambda split: np.broadcast_to(pixels, (len(norms), 4, 4, 3)),
    )


def test_extremes_are_found_by_sorting_each_class_by_hand() -> None:
    random = np.random.default_rng(0)
    norms, classes = random.lognormal(size=60).tolist(), np.repeat([0, 1, 2], 20).tolist()
    found = extreme_norms(faces(norms, classes))
    expected = []
    for extreme in ("highest", "lowest"):
        for label, name in enumerate(("ant", "bee", "cow")):
            own = sorted((norm, i) for i, norm in enumerate(norms) if classes[i] == label)
            best = own[::-1][:10] if extreme == "highest" else own[:10]
            expected += [(extreme, name, rank, i) for rank, (_, i) in enumerate(best, 1)]
    rows = found.table[["extreme", "row", "column", "image"]]
    assert list(rows.itertuples(index=False, name=None)) == expected
    assert found.pictures[:, 0, 0, 0].tolist() == [i for *_, i in expected]
    for extreme in ("highest", "lowest"):
        chosen = [norms[i] for end, *_, i in expected if end == extreme]
        assert found.values[f"norm;split=train;extreme={extreme}"] == pytest.approx(
            sum(chosen) / 30
        )


def test_ties_small_classes_empty_ones_and_captions_of_three_digits() -> None:
    """Equal norms, zero among them, keep the images' order at both ends; a class without images has no row."""
    table = extreme_norms(faces([0.0, 9.726, 123.4, 0.0, 9.726, 4.5e-12], [0, 0, 2, 0, 0, 2])).table
    chosen = {
        key: part[["image", "caption"]].values.tolist()
        for key, part in table.groupby(["extreme", "row"])
    }
    assert chosen == {
        ("highest", "ant"): [[1, "9.73"], [4, "9.73"], [0, "0.00"], [3, "0.00"]],
        ("lowest", "ant"): [[0, "0.00"], [3, "0.00"], [1, "9.73"], [4, "9.73"]],
        ("highest", "cow"): [[2, "123"], [5, "4.50e-12"]],
        ("lowest", "cow"): [[5, "4.50e-12"], [2, "123"]],
    }


# Accuracy and agreement by norm


PEOPLE = "cifar10n-aggregate", "cifar10h-entropy"
"""Of training images a label, of test images an attribute."""


def people(more: bool = True) -> Any:
    """Features that vote, embeddings whose norm counts, and perhaps what people said."""
    random = np.random.default_rng(0)
    own = {split: random.integers(0, 4, size) for split, size in (("train", 240), ("test", 160))}
    centres = random.normal(size=(4, 5))
    features = {
        split: torch.from_numpy(centres[y] + random.normal(size=(len(y), 5)))
        for split, y in own.items()
    }
    heads = {
        s: torch.from_numpy(random.lognormal(0, 0.4, (len(y), 1)) * [[0.6, 0.8]])
        for s, y in own.items()
    }
    said = np.where(random.random(240) < 0.2, (own["train"] + 1) % 4, own["train"])
    entropies = random.random(160)
    return SimpleNamespace(
        features=features.__getitem__,
        embeddings=heads.__getitem__,
        labels=lambda split, name="class": torch.from_numpy(said if name in PEOPLE else own[split]),
        attribute=lambda split, name: entropies if more else None,
        split=lambda name: SimpleNamespace(labels=PEOPLE[:1] if more else ()),
        classes=lambda: 4,
    )


def by_hand(
    embeddings: Tensor, known: Tensor, scale: str, more_than: int
) -> tuple[list[int], list[float]]:
    """The images in each bucket, by the limits' own arithmetic, and the mean of what is known of them, NaN of few."""
    norms = [math.hypot(*one) for one in embeddings.tolist()]
    low = min(norms) if scale == "range" else 0.0
    members: list[list[float]] = [[] for _ in range(20)]
    for norm, value in zip(norms, known.tolist(), strict=True):
        members[min(19, math.floor(20 * (norm - low) / (max(norms) - low)))].append(value)
    means = [math.fsum(own) / len(own) if len(own) > more_than else math.nan for own in members]
    return [len(own) for own in members], means


@pytest.mark.parametrize("scale", ["maximum", "range"])
def test_accuracy_is_scikit_learns_in_each_bucket(scale: Any) -> None:
    """Each image is in turn left out of scikit-learn's bank."""
    frozen = people()
    found = norm_buckets(frozen, k=7, scale=scale, more_than=4)
    bank, labels = frozen.features("train"), frozen.labels("train")
    rest = [torch.arange(240) != i for i in range(240)]
    models = [neighbours(bank[own], labels[own], 7, 0.1) for own in rest]
    said = np.concatenate(
        [model.predict(query[None]) for model, query in zip(models, bank, strict=True)]
    )
    counts, means = by_hand(frozen.embeddings("train"), 100.0 * (said == labels.numpy()), scale, 4)
    for bucket, (count, mean) in enumerate(zip(counts, means, strict=True), 1):
        key = f"bucket_top1;bucket={bucket}"
        assert found.values[f"bucket_share;bucket={bucket}"] == pytest.approx(100 * count / 240)
        assert found.counts[key] == count
        assert found.values[key] == pytest.approx(mean, nan_ok=True)
    assert 2 < np.isnan(means).sum() < 18
    own = [(mean, count) for mean, count in zip(means, counts, strict=True) if not math.isnan(mean)]
    for end, (mean, count) in (("lowest", own[0]), ("highest", own[-1])):
        assert found.values[f"bucket_top1;bucket={end}"] == pytest.approx(mean)
        assert found.counts[f"bucket_top1;bucket={end}"] == count


def test_one_bucket_with_enough_images_has_no_ends() -> None:
    """No two buckets have more than half of the images."""
    found = norm_buckets(people(), k=7, more_than=240 // 2)
    assert {
        math.isnan(found.values[f"bucket_top1;bucket={end}"]) for end in ("lowest", "highest")
    } == {True}


def test_people_agree_by_norm_as_a_loop_says_and_what_a_dataset_lacks_is_nan() -> None:
    frozen = people()
    found = norm_buckets(frozen, k=5, more_than=3).values
    for measure, split, known in (
        (
            "human_accuracy",
            "train",
            100.0 * (frozen.labels("train", PEOPLE[0]) == frozen.labels("train")),
        ),
        ("human_entropy", "test", frozen.attribute("test", PEOPLE[1])),
    ):
        _, means = by_hand(frozen.embeddings(split), known, "maximum", 3)
        assert [found[f"{measure};bucket={bucket}"] for bucket in range(1, 21)] == pytest.approx(
            means, nan_ok=True
        )
    lacking = norm_buckets(people(more=False), k=5).values
    assert {math.isnan(value) for key, value in lacking.items() if key.startswith("human")} == {
        True
    }
    assert (
        sum(
            not math.isnan(value)
            for key, value in lacking.items()
            if key.startswith("bucket_share")
        )
        == 20
    )


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
def test_limits_equal_zero_and_tiny_norms(
    norms: list[float], scale: Any, expected: list[int]
) -> None:
    assert buckets(torch.tensor(norms, dtype=torch.float64), scale).tolist() == expected
