"""What is said of how numbers were made, in words."""

from pathlib import Path

import pytest

from hypersphere.declared import config as cfg
from hypersphere.declared.artifacts import Measured
from hypersphere.present import words

ROOT = Path(__file__).resolve().parents[3]
EXPECTED = (
    "Protocol: encoder resnet8 or lab streams (backbone resnet8) (the untrained one is resnet8); supervised, instance "
    "discrimination, CMC, SimCLR, MoCo v2, MoCo v3, BYOL, SwAV, DINO 20 epochs, batch 64; SimSiam 20 epochs, batch 128 "
    "(4 × 32)."
)


@pytest.fixture
def methods() -> tuple[cfg.Config, Measured]:
    config = cfg.load(ROOT, {"scale": "quick"})
    return config, config.papers["lecture"].measured["methods_knn"]


def test_methods_of_one_setting_are_named_together(methods: tuple[cfg.Config, Measured]) -> None:
    """Read off config/papers/lecture.yaml and config/scales/quick.yaml by hand."""
    config, artifact = methods
    assert words.protocol(config, config.papers["lecture"], artifact) == EXPECTED
