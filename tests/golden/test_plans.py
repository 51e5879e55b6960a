"""The plans of our studies as they were when their runs began: records carry these digests."""

from hypersphere.config import project as cfg

from .released import ROOT

PLANS = {
    "step_size": "240dde24",
    "sentences": "c1d2959c",
    "confidence": "39312c57",
    "losses": "91142a98",
    "multidigits": "27ea095c",
    "cut_by_steps": "31fba121",
}


def test_a_plan_stays_as_it_was_when_its_runs_began() -> None:
    studies = cfg.load(ROOT, {"scale": "laptop"}).papers["ours"].studies
    assert {name: studies[name].digest for name in PLANS} == PLANS
