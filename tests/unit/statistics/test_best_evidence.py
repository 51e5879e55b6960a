"""What is known of each claim: made-up runs and theorems of a small project, from results to the report's tables."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from hypersphere.provenance import exact, tables
from hypersphere.provenance.columns import THEORY
from hypersphere.statistics import best_evidence, exact_claims, price
from hypersphere.statistics.judged_records import REPORT

from .world import Make, at, claim, gain

DEFAULT = [50.0, 51.0, 52.0, 53.0, 54.0]
CUT3 = [56.5, 57.0, 58.0, 59.0, 59.5]
THEOREM = {"kind": "theorem", "artifact": "theorems", "method": "", "variant": "", "dataset": ""}
THEOREM |= {"metric": "", "reported": "", "sentence": "It holds."}
CLAIMS = [
    claim("norms.default", reported_std=0.3, reported_n=3),
    claim("norms.cut3", variant="cut3", reported=56.0, reported_std=0.4, reported_n=5),
    claim("norms.without_std", variant="cut9", method="simsiam", reported=40.0),
    gain("norms.gain"),
    gain("norms.larger", reported="", direction="larger"),
    gain("norms.half_printed", method="simsiam", variant="cut9"),
    gain("norms.waits", artifact="epochs", setting="epoch=50"),
    claim(
        "norms.elsewhere", artifact="transfers", metric="transfer_top1", setting="target=hundred"
    ),
    claim("norms.holds", **THEOREM),
    claim("norms.fails", **THEOREM),
]
HOURS = price.Hours({("norms", "epochs"): 4.0, ("norms", "table5"): 9.0}, {"norms.gain": 0.5})


@pytest.fixture
def known(make_world: Make, monkeypatch: pytest.MonkeyPatch) -> dict[str, pd.DataFrame]:
    """The report's tables by their names, each by the claims' ids."""
    world = make_world(seeds=range(5))
    config = world.plan.config
    world.say("table5", at(), DEFAULT)
    world.say("table5", at("simclr.cut3"), CUT3)
    world.say("table5", at("simsiam.default"), DEFAULT)
    world.say("table5", at("simsiam.cut9"), DEFAULT[::-1])
    world.measure("table5")
    checked = [
        ("norms.holds", "norms", "as printed", 100, 60, 0, 1e-16, "", "no counterexample"),
        ("norms.fails", "norms", "as printed", 100, 60, 3, 0.5, "x = 1", "refuted"),
    ]
    theory = pd.DataFrame(checked, columns=list(THEORY))
    tables.write(config.exact, {"theory": (theory, THEORY)})
    world.judged(*CLAIMS)
    exact_claims.write_theorems(config, exact.originals(config))
    monkeypatch.setattr(price, "hours", lambda: HOURS)
    claims, ladder = best_evidence.of_project(config)
    criteria = pd.read_csv(config.root / REPORT / "criteria.csv")
    written = pd.read_csv(config.root / REPORT / "claims.csv", dtype=str)
    assert list(written["id"]) == list(claims["id"]) == [one["id"] for one in CLAIMS]
    by_id = {"claims": claims, "ladder": ladder}
    return {"criteria": criteria} | {name: one.set_index("id") for name, one in by_id.items()}


def test_the_best_evidence_of_a_claim_speaks(known: dict[str, pd.DataFrame]) -> None:
    """By docs/statistics.md: a test on random draws is no proof, and five runs at the published scale are enough."""
    expected = {
        "norms.default": ("published", "inconclusive", "cannot tell", "high"),
        "norms.cut3": ("published", "inconclusive", "cannot tell", "high"),
        "norms.gain": ("published", "reproduced", "holds", "high"),
        "norms.larger": ("published", "reproduced", "holds", "high"),
        "norms.waits": ("nothing", "not run", "not tested", "none"),
        "norms.elsewhere": ("nothing", "not run", "not tested", "none"),
        "norms.holds": ("proof", "no counterexample", "holds", "moderate"),
        "norms.fails": ("proof", "refuted", "fails", "high"),
    }
    shown = ["rung", "verdict", "answer", "certainty"]
    found = known["claims"].loc[list(expected), shown]
    assert {name: tuple(row) for name, row in found.T.items()} == expected
    assert list(known["ladder"].index[:2]) == ["norms.holds", "norms.fails"]
    assert not {"norms.waits", "norms.elsewhere"} & set(known["ladder"].index)
    assert known["claims"]["direction"]["norms.waits"] == ""
    assert math.isnan(known["claims"]["n"]["norms.waits"])


def test_an_interval_is_of_the_deviations_that_both_arms_print(
    known: dict[str, pd.DataFrame],
) -> None:
    """Of 3 and 5 runs, by scipy; none where an arm prints no deviation or no number, or a word is published."""
    low, high = known["claims"]["reported_low"], known["claims"]["reported_high"]
    half = stats.t.ppf(0.975, 3 + 5 - 2) * math.sqrt(0.3**2 / 3 + 0.4**2 / 5)
    assert (low["norms.gain"], high["norms.gain"]) == pytest.approx((5 - half, 5 + half))
    assert list(low.index[low.notna()]) == list(high.index[high.notna()]) == ["norms.gain"]
    reported = known["claims"]["reported"]
    assert (reported["norms.gain"], reported["norms.larger"]) == ("5", "larger")
    assert reported["norms.holds"] == ""
    (counts,) = known["criteria"].to_dict("records")
    once = ["same_sign", "clear", "printed_inside", "with_interval"]
    expected = {"compared": 2, "ours_inside": 0, **dict.fromkeys(once, 1)}
    assert counts == {"paper": "norms", "rung": "published", **expected}


def test_what_settles_a_claim_has_a_price(known: dict[str, pd.DataFrame]) -> None:
    """Runs by statsmodels, with the pooled deviation of both arms; hours of an artifact, where nothing was run."""
    claims = known["claims"]
    waits = claims.loc["norms.waits"]
    assert waits["settle"] == "make reproduce SCALE=paper ONLY=norms/epochs"
    assert waits["gpu_hours"] == 4.0
    assert list(claims.index[claims["settle"] != ""]) == ["norms.waits"]
    gained = claims.loc["norms.gain"]
    spread = math.sqrt((np.var(DEFAULT, ddof=1) + np.var(CUT3, ddof=1)) / 2)
    assert gained["spread"] == pytest.approx(spread)
    power = [TTestIndPower().power(5 / spread, n, 0.05) for n in (2, 3)]
    assert power[0] < 0.8 <= power[1]
    assert (gained["runs_to_see"], gained["core_hours"]) == (3, 3 * 0.5)
