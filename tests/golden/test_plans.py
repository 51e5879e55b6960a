"""The plans of our studies as they were when their runs began: records carry these digests."""

from pathlib import Path

import pytest

from hypersphere.config import project as cfg
from hypersphere.config.project import Config
from hypersphere.config.study import Study

ROOT = Path(__file__).resolve().parents[2]
PLANS = {
    "step_size": "240dde24",
    "sentences": "c1d2959c",
    "confidence": "39312c57",
    "losses": "91142a98",
    "multidigits": "27ea095c",
    "cut_by_steps": "e9beac0b",
}


@pytest.fixture(scope="module")
def config() -> Config:
    return cfg.load(ROOT, {"scale": "laptop"})


def test_a_plan_stays_as_it_was_when_its_runs_began(config: Config) -> None:
    studies = config.papers["ours"].studies
    assert {name: studies[name].digest for name in PLANS} == PLANS


def test_a_changed_plan_is_another(config: Config) -> None:
    """The control."""
    study = config.papers["ours"].studies["step_size"]
    other = Study.model_validate(study.model_dump() | {"margin": study.margin + 1})
    assert other.digest != study.digest
