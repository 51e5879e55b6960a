"""Significance of printed effects: Welch's test on printed means and standard deviations, at each number of runs.

A test needs the number of runs, which is often not printed. So each effect is tested at every number from 2 to 10, and
at those alone that the decimals of both its accuracies allow (grim.py). The findings are about numbers, never
about people.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

import pandas as pd

from hypersphere.config.claims import Claim, load
from hypersphere.grim import MOST, Printed, admissible, informative
from hypersphere.simulations.printed import (
    BASELINES,
    TEST_SIZES,
    TESTED,
    in_order,
    setting_and_variant,
    units,
    with_zeros,
)
from hypersphere.simulations.seed_counts.compute import WAYS, assumptions
from hypersphere.simulations.study import Context, Study, counted
from hypersphere.t_test import t_p

LEVEL = 0.05
SHOWN = (2, 3, 5, 10)
"""Numbers of runs with a column of their own."""
RUNS = range(2, MOST + 1)
COLUMNS = ["table", "method", "variant", "effects", *(f"below_{n}" for n in SHOWN)]
COLUMNS += ["unfit", "always", "never", "low_3", "high_3", "chance"]


class Arm(NamedTuple):
    """A printed mean with its standard deviation over runs."""

    mean: float
    std: float
    allowed: tuple[int, ...]
    """The numbers of runs that its decimals allow."""


class Effect(NamedTuple):
    """A printed variant beside its table's baseline."""

    table: str
    method: str
    variant: str
    arm: Arm
    baseline: Arm

    def p(self, n: int) -> float:
        """Two-sided p of Welch's test with ``n`` runs an arm."""
        return welch_p(self.arm.mean, self.arm.std, self.baseline.mean, self.baseline.std, n)

    @property
    def allowed(self) -> list[int]:
        """The numbers of runs from 2 that the decimals of both arms allow."""
        return [n for n in RUNS if n in self.arm.allowed and n in self.baseline.allowed]


def welch_p(mean: float, std: float, other_mean: float, other_std: float, n: int) -> float:
    """Two-sided p of Welch's test (Welch 1947) for two means of ``n`` runs each; nan if neither varies."""
    of_one, of_other = std**2 / n, other_std**2 / n
    error = math.sqrt(of_one + of_other)
    if error == 0:
        return math.nan
    return t_p(mean - other_mean, error, (of_one + of_other) ** 2 * (n - 1) / (of_one**2 + of_other**2))


def printed_effects(claims: Sequence[Claim]) -> list[Effect]:
    """Every variant with a printed deviation, and the baseline of the same table and place that has one too."""
    spread = [claim for claim in claims if claim.kind == "value" and claim.reported_std and claim.reported is not None]
    finest = units((claim.source, Decimal(str(claim.reported))) for claim in spread)
    arms = {}
    for claim in spread:
        setting, metric, variant = setting_and_variant(claim)
        place = (claim.method, claim.dataset, setting, str(metric))
        arms[claim.artifact, place, variant] = _arm(claim, finest[claim.source])
    sources = {claim.artifact: claim.source for claim in reversed(spread)}
    effects = []
    for (artifact, place, variant), arm in arms.items():
        baseline = next((arms[artifact, place, name] for name in BASELINES if (artifact, place, name) in arms), None)
        if baseline is not None and variant not in BASELINES:
            effects.append(Effect(sources[artifact], place[0], variant, arm, baseline))
    return effects


def _arm(claim: Claim, unit: Decimal) -> Arm:
    assert claim.reported is not None
    assert claim.reported_std is not None
    examples = TEST_SIZES.get(str(claim.coordinates.get("target", claim.dataset)))
    allowed: tuple[int, ...] = tuple(RUNS)
    if claim.metric in TESTED and examples:
        printed = Printed(Decimal(str(claim.reported)), Decimal(str(claim.reported_std)))
        printed = with_zeros(printed, unit)
        made = assumptions(WAYS[0], examples)
        allowed = admissible(printed, made) if informative(printed, made) else allowed
    return Arm(claim.reported, claim.reported_std, allowed)


def summary(effects: Sequence[Effect]) -> pd.DataFrame:
    """A row for each table, method and variant, and one for each table.

    Counts of effects with p below ``LEVEL``: at each number of runs; at all numbers that the decimals allow
    (``always``) or at none of them (``never``); ``unfit`` effects allow none. Then the range of p at three runs, and
    the chance that as many independent p, uniform where no variant differs, would all be at least the smallest.
    """
    rows = []
    for table in in_order(effect.table for effect in effects):
        of_table = [effect for effect in effects if effect.table == table]
        groups = dict.fromkeys((effect.method, effect.variant) for effect in of_table)
        if len(groups) > 1:
            rows += [_row(table, *group, [e for e in of_table if (e.method, e.variant) == group]) for group in groups]
        rows.append(_row(table, "", "", of_table))
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(table: str, method: str, variant: str, effects: Sequence[Effect]) -> dict[str, object]:
    below = {f"below_{n}": sum(effect.p(n) < LEVEL for effect in effects) for n in SHOWN}
    fitting = [[effect.p(n) < LEVEL for n in effect.allowed] for effect in effects if effect.allowed]
    three = [effect.p(3) for effect in effects]
    return {
        **{"table": table, "method": method, "variant": variant, "effects": len(effects), **below},
        "unfit": len(effects) - len(fitting),
        "always": sum(all(one) for one in fitting),
        "never": sum(not any(one) for one in fitting),
        **{"low_3": min(three), "high_3": max(three), "chance": (1 - min(three)) ** len(three)},
    }


def printed_tests(context: Context) -> Study:
    """Welch's test of every effect that a paper prints with standard deviations."""
    effects = printed_effects(load(context.config.claims_file(context.paper)))
    if context.paper == "margins":
        gains = [e for e in effects if (e.table, e.method, e.variant) in {(t, "mocov3", "pos") for t in TWO_AND_THREE}]
        answer = counted("margins.printed_tests.pos", sum(e.p(3) < LEVEL for e in gains), len(gains))
    else:
        control = [e for e in effects if e.table == "Table 5"]
        answer = counted("lmcl.printed_tests.control", sum(e.p(3) >= LEVEL for e in control), len(control))
    return Study({"printed_tests": summary(effects)}, [answer])


TWO_AND_THREE = ("Table 2", "Table 3")
"""Linear probe and transfer of the margins paper."""
