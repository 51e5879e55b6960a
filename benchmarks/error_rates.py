"""How often the rule of comparisons is wrong: simulated, and written into docs/statistics.md.

python benchmarks/error_rates.py [DRAWS]

A table of a baseline and three variants that are no better. Each prints a gain of two standard deviations. In how many
tables does one of our comparisons, Holm-corrected over the three, exclude no effect on the printed side?
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from hypersphere import wording
from hypersphere.config import rules as rules_file
from hypersphere.config.rules import Verdict
from hypersphere.statistics import effects, verdicts
from hypersphere.statistics.effects import Pooled, Test

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "statistics.md"
BEGIN, END = "<!-- error rates: begin -->", "<!-- error rates: end -->"
SEEDS = (2, 3, 4, 5, 7, 10)
SPREADS = {
    "equal spreads": (1.0, 1.0, 1.0, 1.0),
    "the variants' three times the baseline's": (1.0, 3.0, 3.0, 3.0),
    "the first variant's three times the others'": (1.0, 3.0, 1.0, 1.0),
    "two variants collapsed": (1.0, 1.0, 0.0, 0.0),
    "two variants nearly collapsed": (1.0, 1.0, 0.01, 0.01),
    "the baseline collapsed": (0.0, 1.0, 1.0, 1.0),
}
"""Standard deviations over seeds of the baseline and the variants."""
PUBLISHED = 2.0
Rule = Callable[[pd.Series, pd.Series, Pooled], Test]


def share_wrong(rule: Rule, spreads: tuple[float, ...], seeds: int, draws: int, all_pooled: bool = False) -> float:
    """The share of tables with a comparison that is ``reproduced`` or ``direction only``, in percent.

    ``all_pooled``: whether all arms count in every pool, be they like the compared ones, other, or without spread.
    """
    rules = rules_file.load(ROOT)
    values = np.random.default_rng([seeds, draws]).standard_normal((draws, len(spreads), seeds))
    wrong = 0
    for table in values:
        arms = {str(i): pd.Series(table[i] * spread) for i, spread in enumerate(spreads)}
        compared = [str(i) for i in range(1, len(spreads))]
        tests = []
        for name in compared:
            pair = arms[name], arms["0"]
            pooled = effects.pool(arms.values(), constant=True) if all_pooled else effects.pool_for(pair, arms, rules)
            tests.append(rule(*pair, pooled))
        found = [float(arms[name].mean() - arms["0"].mean()) for name in compared]
        p = [test.p(one) for test, one in zip(tests, found, strict=True)]
        _, levels = effects.holm(p, rules.alpha, len(spreads) - 1)
        for test, one, level in zip(tests, found, levels, strict=True):
            adjusted, primary = test.interval(one, 1 - level), test.interval(one, rules.confidence)
            verdict = verdicts.of_effect(PUBLISHED, adjusted, primary, rules).verdict
            if verdict in (Verdict.REPRODUCED, Verdict.DIRECTION_ONLY):
                wrong += 1
                break
    return 100 * wrong / draws


def table(draws: int) -> str:
    """The page's table, in Markdown."""
    error = 100 * (0.025 * 0.975 / draws) ** 0.5
    lines = [
        f"Share of tables (%; {draws:,} of each, standard error {error:.1f} at 2.5) with a comparison that is "
        "`reproduced` or `direction only` though no variant differs from the baseline. Nominal: at most 2.5. In "
        "brackets: if the variance were always pooled, over all arms.",
        "",
        "| spreads over seeds | " + " | ".join(f"n = {seeds}" for seeds in SEEDS) + " |",
        "|---" * (1 + len(SEEDS)) + "|",
    ]
    for name, spreads in SPREADS.items():
        cells = [
            f"{share_wrong(effects.primary, spreads, seeds, draws):.1f} "
            f"({share_wrong(effects.pooled_test, spreads, seeds, draws, all_pooled=True):.1f})"
            for seeds in SEEDS
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    simulated = table(number)  # before the page is read, which may change meanwhile
    PAGE.write_text(wording.renewed(PAGE.read_text(encoding="utf-8"), BEGIN, END, simulated), encoding="utf-8")
