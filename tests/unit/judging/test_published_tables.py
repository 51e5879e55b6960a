"""Published tables of four papers, judged, against scipy's and statsmodels' tests of runs with the same moments."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW, ttost_ind

from hypersphere.judging import judged, reading
from hypersphere.statistics.effects import Moments

TABLES = Path(__file__).with_name("tables")
ASKED: dict[str, judged.Question] = {
    "usb": judged.Question("supervised", margin=1.5, better="lower"),
    "lrgb": judged.Question("GCN", margin=0.01),
    "gcn_res": judged.Question("GCN_res", margin=1.0),
    "half_hop": judged.Question("FeatDrop + EdgeDrop", margin=1.0),
}


def runs_with(moments: Moments) -> np.ndarray:
    """Runs that have exactly these moments."""
    drawn = np.random.default_rng(moments.n).standard_normal(moments.n)
    return moments.mean + moments.std * (drawn - drawn.mean()) / drawn.std(ddof=1)


@pytest.fixture(params=ASKED)
def table(request: pytest.FixtureRequest) -> judged.Judged:
    question = ASKED[request.param]
    runs = reading.read(TABLES / f"{request.param}.csv", reading.Asked(question.baseline))
    return judged.judge(runs, question, judged.rules())


def moments(table: judged.Judged, arm: str, dataset: str) -> Moments:
    found = table.runs.arms[dataset][arm]
    assert isinstance(found, Moments)
    return found


def test_p_is_that_of_scipy_and_holm_that_of_statsmodels(table: judged.Judged) -> None:
    ps = []
    for one in table.effects:
        own = moments(table, one.arm, one.dataset)
        other = moments(table, table.question.baseline, one.dataset)
        *_, p = stats.ttest_ind_from_stats(
            own.mean, own.std, own.n, other.mean, other.std, other.n, equal_var=False
        )
        assert one.p == pytest.approx(p)
        ps.append(p)
    _, adjusted, *_ = multipletests(ps, method="holm")
    assert [one.p_holm for one in table.effects] == pytest.approx(adjusted)


def test_intervals_and_equivalence_are_those_of_statsmodels(table: judged.Judged) -> None:
    margin = table.question.margin
    assert margin is not None
    for one in table.effects:
        pair = [
            runs_with(moments(table, arm, one.dataset))
            for arm in (one.arm, table.question.baseline)
        ]
        low, high = CompareMeans(*map(DescrStatsW, pair)).tconfint_diff(usevar="unequal")
        assert [one.low_alone, one.high_alone] == pytest.approx([low, high])
        p, *_ = ttost_ind(*pair, -margin, margin, usevar="unequal")
        is_equal = p <= 0.05 and one.p_holm > 0.05
        assert (one.answer == judged.NO_DIFFERENCE) == is_equal


def test_a_direction_needs_holm_and_its_sign(table: judged.Judged) -> None:
    sign = 1 if table.question.better == "higher" else -1
    for one in table.effects:
        word = one.answer.partition(" ")[0]
        if one.p_holm > 0.05:
            assert word in ("undecided", "no")
        else:
            assert word == ("better" if sign * one.effect > 0 else "worse")
