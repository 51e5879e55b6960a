"""Errors on corrupted images: of which split each is, and AugMix with keyed draws."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torchvision.transforms.v2 import AugMix

from hypersphere import prng
from hypersphere.probes.corruption import augmix_of, corruption
from hypersphere.probes.mlp import fit_mlp

from .conftest import floats

QUICK: dict[str, Any] = {"hidden": 8, "epochs": 12}
PLAIN = "corruption_error;augmentation=standard;corruption="


def images(split: str) -> np.ndarray:
    """Each of one of three colours, which corruption turns into others in some."""
    random = np.random.default_rng(len(split) if split == "train" else 0)
    n = 60 if split == "train" else 40
    found = random.integers(0, 60, (n, 4, 4, 3), dtype=np.uint8)
    found[np.arange(n), :, :, np.arange(n) % 3] += 150
    moved = {"fog-1": 10, "fog-2": 25}.get(split, 0)
    found[:moved] = np.roll(found[:moved], 1, axis=3)
    return found


def colours(found: torch.Tensor) -> torch.Tensor:
    return found.mean(dim=(2, 3))


def world() -> Any:
    """Whose features are the mean colours."""
    return SimpleNamespace(
        splits=("fog-1", "fog-2", "test", "train"),
        images=images,
        features=lambda split: colours(floats(images(split))),
        encode=colours,
        labels=lambda split: torch.arange(len(images(split))) % 3,
        classes=lambda: 3,
        attribute=lambda split, name: None,
    )


def test_errors_by_split(refused: Any) -> None:
    """A probe without mistakes on clean images errs on just the images that were turned into others. A set without
    corruptions is a sentence."""
    frozen = world()
    found = corruption(frozen, **QUICK | {"learning_rate": 1.0, "epochs": 90})
    plain = {key: value for key, value in found.values.items() if key.startswith(PLAIN)}
    assert plain == {
        f"{PLAIN}none": 0.0,
        f"{PLAIN}fog;severity=1": 25.0,
        f"{PLAIN}fog;severity=2": 62.5,
    }
    assert len(found.values) == 6
    assert found.n == 40
    frozen.splits = ("other", "test", "train")
    with refused("probe corruption", "target"):
        corruption(frozen, **QUICK)


def test_augmix_is_torchvisions_with_keyed_draws_kept_or_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of other images of the same shape, kept ones would be wrong."""
    pictures, state = images("train")[:3], torch.get_rng_state()
    found = augmix_of(pictures, 2)
    assert torch.equal(torch.get_rng_state(), state)
    for place in (2, 0):
        torch.manual_seed(prng.torch_seed(0, "augmix", 2, place))
        theirs = AugMix(all_ops=False)(torch.from_numpy(pictures[place]).permute(2, 0, 1))
        torch.testing.assert_close(found[place], theirs / 255)
    assert not torch.equal(found, augmix_of(pictures, 1))
    assert 0 <= float(found.min()) <= float(found.max()) <= 1
    other = augmix_of(255 - pictures, 2)
    assert not torch.equal(found, other)
    monkeypatch.setattr(sys.modules[augmix_of.__module__], "KEPT", 0)
    assert torch.equal(augmix_of(pictures, 2), found)
    assert torch.equal(augmix_of(255 - pictures, 2), other)


def test_versions_of_images_take_turns() -> None:
    """One epoch sees the first version alone; one version is the plain fit."""
    bank, labels = (
        torch.randn(30, 4, generator=torch.Generator().manual_seed(0)),
        torch.arange(30) % 3,
    )

    def fitted(features: torch.Tensor, epochs: int) -> torch.Tensor:
        return fit_mlp(features, labels, 3, hidden=8, epochs=epochs).w1

    assert torch.equal(fitted(torch.stack([bank, bank + 9]), 1), fitted(bank, 1))
    assert torch.equal(fitted(bank[None], 4), fitted(bank, 4))
    assert not torch.equal(fitted(torch.stack([bank, bank + 9]), 2), fitted(bank, 2))


def test_with_augmix_the_probe_is_fitted_on_its_versions() -> None:
    frozen = world()
    bank = torch.stack(
        [frozen.encode(augmix_of(frozen.images("train"), copy)) for copy in range(2)]
    )
    found = corruption(frozen, copies=2, **QUICK).values
    for name, features in (("standard", frozen.features("train")), ("augmix", bank)):
        fitted = fit_mlp(features, frozen.labels("train"), 3, **QUICK)
        wrong = fitted.scores(frozen.features("fog-2")).argmax(dim=1) != frozen.labels("fog-2")
        key = f"corruption_error;augmentation={name};corruption=fog;severity=2"
        assert found[key] == pytest.approx(100 * float(wrong.double().mean()))
