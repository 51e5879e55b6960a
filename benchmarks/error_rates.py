"""How often the rule of comparisons is wrong: simulated, and written into docs/reference/error_rates.md.

python benchmarks/error_rates.py [DRAWS]

- A table of a baseline and three variants that are no better. Each prints a gain of two standard deviations. In how
  many tables does one of our comparisons, Holm-corrected over the three, exclude no effect on the printed side?
- A study of a baseline and fifteen arms. In how many studies of arms that are no different does one comparison exclude
  no effect on either side? And how often is an arm found that is a point better?
"""

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from hypersphere import wording
from hypersphere.config import rules as rules_file
from hypersphere.config.rules import Verdict
from hypersphere.statistics import effects, verdicts
from hypersphere.statistics.effects import Pooled, Test
from hypersphere.t_test import holm

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "error_rates.md"
BEGIN, END = "<!-- error rates: begin -->", "<!-- error rates: end -->"
MANY_BEGIN, MANY_END = "<!-- many to one: begin -->", "<!-- many to one: end -->"
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
MANY_SEEDS = (5, 7, 10)
ARMS = 15
USUAL, NOISY = 0.49, 3.5
"""Standard deviations over seeds, in points, of the study ours/losses: of its arms together, and of the noisiest."""
GAIN = 1.0
"""Of the arm that is better, in points."""
MANY = {
    "equal spreads": [USUAL] * (1 + ARMS),
    "one noisy arm": [*[USUAL] * ARMS, NOISY],
    "6 of 15 arms collapsed": [*[USUAL] * (1 + ARMS - 6), *[0.0] * 6],
    "12 of 15 arms collapsed": [*[USUAL] * (1 + ARMS - 12), *[0.0] * 12],
    "the baseline's twice the arms'": [2 * USUAL, *[USUAL] * ARMS],
    "the arms' twice the baseline's": [USUAL, *[2 * USUAL] * ARMS],
}
"""Standard deviations of the baseline and the arms, in points. The first arm is the better one, where there is one."""
Rule = Callable[[pd.Series, pd.Series, Pooled], Test]


def share_wrong(
    rule: Rule, spreads: tuple[float, ...], seeds: int, draws: int, all_pooled: bool = False
) -> float:
    """The share of tables with a comparison that is ``reproduced`` or ``direction only``, in percent.

    ``all_pooled``: whether all arms count in every pool, be they like the compared ones, other, or without spread.
    """
    rules = rules_file.load(ROOT)
    size = verdicts.Size.of(PUBLISHED, rules)
    values = np.random.default_rng([seeds, draws]).standard_normal((draws, len(spreads), seeds))
    wrong = 0
    for table in values:
        arms = {str(i): pd.Series(table[i] * spread) for i, spread in enumerate(spreads)}
        compared = [str(i) for i in range(1, len(spreads))]
        tests = []
        for name in compared:
            pair = arms[name], arms["0"]
            pooled = (
                effects.pool(arms.values(), constant=True)
                if all_pooled
                else effects.pool_for(pair, arms, rules)
            )
            tests.append(rule(*pair, pooled))
        found = [float(arms[name].mean() - arms["0"].mean()) for name in compared]
        p = [test.p(one) for test, one in zip(tests, found, strict=True)]
        _, levels = holm(p, rules.alpha, len(spreads) - 1)
        for test, one, level in zip(tests, found, levels, strict=True):
            adjusted, primary = test.interval(one, 1 - level), test.interval(one, rules.confidence)
            verdict = verdicts.of_effect(PUBLISHED, size, adjusted, primary).verdict
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


class Rates(NamedTuple):
    """Shares of simulated studies, in percent."""

    wrong: float
    """Some arm is found to differ where none does: the family-wise error."""
    found: float
    """The better arm is found to differ, and to be better."""


def many_to_one(spreads: Sequence[float], seeds: int, draws: int) -> Rates:
    """How the comparisons of one study fare that are judged as ours are: each by its own test, with Holm."""
    rules = rules_file.load(ROOT)
    values = np.random.default_rng([seeds, draws]).standard_normal((draws, len(spreads), seeds))
    wrong = found = 0
    for study in values * np.array(spreads)[:, np.newaxis]:
        baseline, *arms = map(pd.Series, study)
        differences = (study[1:].mean(axis=1) - study[0].mean()).tolist()
        # never pooled with three runs
        tests = [effects.primary(arm, baseline, Pooled(math.nan, 0)) for arm in arms]
        p = [test.p(one) for test, one in zip(tests, differences, strict=True)]
        wrong += bool((holm(p, rules.alpha, len(arms))[0] <= rules.alpha).any())
        better = differences[0] + GAIN
        adjusted, _ = holm([tests[0].p(better), *p[1:]], rules.alpha, len(arms))
        found += bool(adjusted[0] <= rules.alpha and better > 0)
    return Rates(100 * wrong / draws, 100 * found / draws)


def dunnett(spreads: Sequence[float], seeds: int, draws: int) -> Rates:
    """The same of Dunnett's test (1955), which pools the variance over all arms; its limit is simulated, too."""
    random, rules, count = (
        np.random.default_rng([seeds, draws]),
        rules_file.load(ROOT),
        len(spreads),
    )
    normal, df = random.standard_normal((100_000, count)), count * (seeds - 1)
    largest = np.abs(normal[:, 1:] - normal[:, :1]).max(axis=1) / np.sqrt(
        2 * random.chisquare(df, len(normal)) / df
    )
    limit = np.quantile(largest, 1 - rules.alpha)
    values = random.standard_normal((draws, count, seeds)) * np.array(spreads)[:, np.newaxis]
    error = np.sqrt(values.var(axis=2, ddof=1).mean(axis=1) * 2 / seeds)
    differences = values[:, 1:].mean(axis=2) - values[:, :1].mean(axis=2)
    wrong = np.abs(differences).max(axis=1) > limit * error
    return Rates(
        100 * float(wrong.mean()), 100 * float((differences[:, 0] + GAIN > limit * error).mean())
    )


def many_table(draws: int) -> str:
    """The page's table of studies, in Markdown."""
    error = 100 * (0.05 * 0.95 / draws) ** 0.5
    lines = [
        f"Share of studies in which a comparison is clear though no arm differs (%; {draws:,} studies of each sort, "
        f"standard error {error:.1f} at 5). Nominal: at most 5. After the slash: the share in which an arm is found "
        f"that is {GAIN:g} point better. A study has {ARMS} arms and a baseline. Standard deviations are {USUAL} "
        f"points, {NOISY} of the noisy arm and 0 of a collapsed one. In brackets: by Dunnett’s test, which pools them.",
        "",
        "| spreads over seeds | " + " | ".join(f"n = {seeds}" for seeds in MANY_SEEDS) + " |",
        "|---" * (1 + len(MANY_SEEDS)) + "|",
    ]
    for name, spreads in MANY.items():
        cells = []
        for seeds in MANY_SEEDS:
            ours, pooled = many_to_one(spreads, seeds, draws), dunnett(spreads, seeds, draws)
            cells.append(
                f"{ours.wrong:.1f} / {ours.found:.0f} ({pooled.wrong:.1f} / {pooled.found:.0f})"
            )
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    # before the page is read, which may change meanwhile
    simulated, of_studies = table(number), many_table(number)
    page = wording.replace_between(PAGE.read_text(encoding="utf-8"), BEGIN, END, simulated)
    PAGE.write_text(
        wording.replace_between(page, MANY_BEGIN, MANY_END, of_studies), encoding="utf-8"
    )
