"""Norms as confidence: areas by counting pairs, regressions by another optimiser, worlds whose answer is planted."""

import itertools
import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import sobel
from scipy.optimize import minimize
from torch import Tensor

from hypersphere.errors import NotFiniteError
from hypersphere.probes.norm_confidence import (
    LEFT_FREE,
    appearance,
    auroc,
    explained,
    norm_confidence,
)
from hypersphere.probes.norm_ood import norm_ood
from hypersphere.probes.result import ProbeResult

Array = np.ndarray
LUMA = np.array([0.2989, 0.587, 0.114])


def pictures(contrast: Array, brightness: Array, seed: int = 0) -> Array:
    """Grey images of 4 x 4 in two tones, in one of two patterns, whose edges differ."""
    tone = np.random.default_rng(seed).integers(0, 2, len(contrast))
    columns = np.where(np.arange(4) < 2, -1, 1) * np.ones((4, 1))
    patterns = np.stack([columns, np.where(np.indices((4, 4)).sum(axis=0) % 2, 1, -1)])[tone]
    light = brightness[:, None, None] + contrast[:, None, None] * patterns
    return np.repeat(np.clip(255 * light, 0, 255).round().astype(np.uint8)[..., None], 3, axis=3)


def seen_contrast(images: Array) -> Array:
    return np.array([np.std(image / 255 @ LUMA) for image in images])


@dataclass
class World:
    """Test images of two classes, voted right or wrong at will.

    Features are at an angle from the voted class's training image. With k = 2 the vote's share falls with the angle.
    """

    images: Array
    right: Array
    norms: Array
    angle: Array
    truth: Array

    def features(self) -> Tensor:
        voted = np.where(self.right, self.truth, 1 - self.truth)
        place = np.where(voted, np.pi / 2 - self.angle, self.angle)
        return torch.from_numpy(np.stack([np.cos(place), np.sin(place)], axis=1))

    def quantities(self) -> dict[str, Array]:
        """The vote's share by hand: of two training images, at the angles a and 90 degrees - a."""
        near, far = np.exp(np.stack([np.cos(self.angle), np.sin(self.angle)]) / 0.1)
        shares = {"vote": near / (near + far), "contrast": seen_contrast(self.images)}
        return {"norm": self.norms} | {name: values.round(9) for name, values in shares.items()}


def frozen(home: Any = None, **tested: World) -> Any:
    """Stands in for ``Frozen``: splits of test images, and one training image of each class."""
    place = SimpleNamespace(
        splits=(*tested, "train"),
        features=lambda split: (
            torch.eye(2, dtype=torch.float64) if split == "train" else tested[split].features()
        ),
        embeddings=lambda split: torch.from_numpy(tested[split].norms[:, None] * [[0.6, -0.8]]),
        images=lambda split: tested[split].images,
        labels=lambda split: (
            torch.arange(2) if split == "train" else torch.from_numpy(tested[split].truth)
        ),
        classes=lambda: 2,
    )
    place.home = home or place
    return place


def world(n: int = 3000, confident: float = 0.0, by: str = "norm", seed: int = 0) -> World:
    """Right votes depend on contrast, and as told on a hidden quality of the image that may be in its norm or vote.

    The norm is a bent function of contrast alone, times exp(quality) if it is in the norm.
    """
    random = np.random.default_rng(seed)
    images = pictures(random.uniform(0.02, 0.3, n), random.uniform(0.35, 0.65, n), seed)
    contrast, quality = seen_contrast(images), random.normal(size=n)
    slope = 1.5 * (contrast - contrast.mean()) / contrast.std()
    right = random.random(n) < 1 / (1 + np.exp(-slope - confident * quality))
    norms = np.exp(2 * np.sqrt(contrast)) * np.exp(quality / 10 if by in ("norm", "both") else 0)
    angle = np.pi / 8 - np.pi / 20 * np.tanh(quality) * (by in ("vote", "both"))
    return World(images, right, norms, angle, random.integers(0, 2, n))


def measured(one: World) -> ProbeResult:
    return norm_confidence(frozen(test=one), k=2)


def counted(positive: Array, by: Array) -> float:
    more = by[positive][:, None] - by[~positive]
    return float(100 * ((more > 0).mean() + (more == 0).mean() / 2))


@settings(deadline=None)  # the first call imports scikit-learn
@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=30))
def test_an_area_is_a_share_of_pairs_and_a_tie_is_half_a_pair(
    drawn: list[tuple[bool, int]],
) -> None:
    positive, by = (np.array(one) for one in zip(*drawn, strict=True))
    found = auroc(positive, by.astype(float))
    if positive.all() or not positive.any():
        assert math.isnan(found)
    else:
        assert found == pytest.approx(counted(positive, by))
        assert auroc(positive, np.exp(by)) == pytest.approx(
            100 - auroc(positive, -by.astype(float))
        )


def test_areas_of_one_quantity_are_those_of_pairs() -> None:
    one = world(160, confident=1.0, by="both")
    found = measured(one).values
    for name, values in one.quantities().items():
        tolerance = 0.1 if name == "contrast" else 1e-6
        assert found[f"{name}_auroc"] == pytest.approx(counted(one.right, values), abs=tolerance)


def test_appearance_is_that_of_each_image_alone() -> None:
    """Against numpy and scipy's two-dimensional Sobel, whose sums of weights are 8."""
    images = np.random.default_rng(0).integers(0, 256, (7, 5, 6, 3), dtype=np.uint8)
    found = appearance(images)
    for at, image in enumerate(images):
        light = image / 255 @ LUMA
        slopes = [sobel(light, axis, mode="nearest") / 8 for axis in (0, 1)]
        assert found["contrast"][at] == pytest.approx(light.std())
        assert found["brightness"][at] == pytest.approx(light.mean())
        assert found["edge"][at] == pytest.approx(np.hypot(*slopes).mean())
    ramp = np.repeat(
        np.tile(np.arange(0, 60, 10, dtype=np.uint8), (5, 1))[None, ..., None], 3, axis=3
    )
    inner = 10 / 255 * LUMA.sum()  # and half of that in the first and last column
    assert appearance(ramp)["edge"] == pytest.approx([inner * (4 + 2 * 0.5) / 6])


def test_a_norm_that_knows_more_adds_what_it_knows() -> None:
    """The gain is near that of the true probabilities; nothing is left of it where the vote knows the same."""
    one = world(confident=1.5)
    found = measured(one).values
    contrast = seen_contrast(one.images)
    quality = 10 * (np.log(one.norms) - 2 * np.sqrt(contrast))
    known = 1.5 * (contrast - contrast.mean()) / contrast.std() + 1.5 * quality
    expected = counted(one.right, known.round(12)) - found["contrast_auroc"]
    assert expected > 8
    assert found["norm_gain"] == pytest.approx(expected, abs=1)
    assert found["norm_gain_over_vote"] == pytest.approx(found["norm_gain"], abs=1)
    both = measured(world(confident=1.5, by="both")).values
    assert both["norm_gain"] == pytest.approx(found["norm_gain"], abs=1)
    assert abs(both["norm_gain_over_vote"]) < 0.5


def test_the_coefficient_is_another_optimisers() -> None:
    """The penalised likelihood written out, minimised by BFGS; polynomial terms by loops."""
    one = world(300, confident=1.0)
    looks = appearance(one.images)
    z = [(v - v.mean()) / v.std() for v in looks.values()]
    powers = [p for p in itertools.product(range(4), repeat=3) if 0 < sum(p) <= 3]
    columns = np.stack(
        [np.prod([c**q for c, q in zip(z, p, strict=True)], axis=0) for p in powers], axis=1
    )
    columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    norm = np.log(one.norms)
    norm = (norm - norm.mean()) / norm.std()
    matrix = np.column_stack([columns, np.eye(2)[one.truth], norm])
    sign = np.where(one.right, 1, -1)

    def loss(w: Array) -> float:
        return float(
            np.logaddexp(0, -sign * (matrix @ w[:-1] + w[-1])).sum()
            + (w[:-1] ** 2).sum() / (2 * LEFT_FREE)
        )

    best = minimize(
        loss, np.zeros(matrix.shape[1] + 1), method="BFGS", options={"gtol": 1e-5, "maxiter": 5000}
    )
    assert measured(one).values["norm_coefficient"] == pytest.approx(best.x[-2], abs=1e-3)
    assert best.x[-2] > 0.5


def test_what_has_no_answer_is_nan_or_a_sentence_and_norms_of_one_length_say_nothing(
    refused: Any,
) -> None:
    """All pairs of equal norms tie, and a constant column has no coefficient."""
    alike = world(300)
    alike.norms = np.full(300, 5.0)
    found = measured(alike).values
    assert found["norm_auroc"] == 50
    for measure in ("norm_coefficient", "norm_gain", "norm_gain_over_vote"):
        assert found[measure] == pytest.approx(0, abs=1e-9)
    one = world(60)
    for always in (False, True):
        one.right = np.full(60, always)
        assert all(math.isnan(value) for value in measured(one).values.values())
    one.right[:4] = False  # fewer than folds
    lost = {name for name, value in measured(one).values.items() if math.isnan(value)}
    assert lost == {"norm_gain", "norm_gain_over_vote", "norm_coefficient", "covariates_auroc"}
    one.norms[3] = 0
    with refused("the embeddings of 1 of 60 test images", kind=NotFiniteError):
        measured(one)


def test_a_class_without_a_right_vote_stays_finite() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 5, 400)
    right = (labels > 0) & (random.random(400) < 0.5)
    looks = {"contrast": random.random(400)}
    found = explained(right, random.random(400) + 1, looks, random.random(400), np.eye(5)[labels])
    assert all(math.isfinite(value) for value in found.values())


def told(home: World, **tested: World) -> ProbeResult:
    return norm_ood(frozen(frozen(test=home), **tested), k=2)


def by_pairs(own: World, other: list[World], quantity: str) -> float:
    found = [one.quantities()[quantity] for one in (own, *other)]
    return counted(np.arange(sum(map(len, found))) < len(found[0]), np.concatenate(found))


def test_other_images_are_told_apart_as_pairs_say() -> None:
    home, elsewhere = world(120, by="both"), world(90, seed=5)
    elsewhere.norms = 0.9 * elsewhere.norms
    found = told(home, test=elsewhere)
    for quantity in ("norm", "vote", "contrast"):
        assert found.values[f"ood_{quantity}_auroc"] == pytest.approx(
            by_pairs(home, [elsewhere], quantity), abs=0.1
        )
    assert found.n == 210


def test_of_a_corrupted_set_only_corrupted_images_count() -> None:
    """By corruption, by severity and together; the clean test images of that set are the encoder's own."""
    home = world(70)
    ways = {
        f"{name}-{level}": world(20 + level, seed=level)
        for name in ("fog", "snow")
        for level in (1, 2)
    }
    for at, one in enumerate(ways.values()):
        one.norms = one.norms * (0.8 + 0.1 * at)
    found = told(home, test=world(90, seed=5), **ways)
    groups = {
        "": "-",
        ";corruption=fog": "fog",
        ";corruption=snow": "snow",
        ";severity=1": "1",
        ";severity=2": "2",
    }
    assert found.values.keys() == {
        f"ood_{by}_auroc{group}" for by in ("norm", "vote", "contrast") for group in groups
    }
    for group, part in groups.items():
        others = [one for split, one in ways.items() if part in split]
        assert found.values[f"ood_norm_auroc{group}"] == pytest.approx(
            by_pairs(home, others, "norm")
        )
        assert found.counts[f"ood_norm_auroc{group}"] == 70 + sum(len(one.norms) for one in others)
