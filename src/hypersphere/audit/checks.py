"""The checks of an audit. Each states an assumption in words, and whether the printed numbers fit it.

That numbers do not fit an assumption says that the assumption fails, or a number, or both; it says nothing of people.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from scipy import special

from hypersphere.audit import chance, grim, numerals, relations
from hypersphere.audit.numerals import unit
from hypersphere.audit.table import Cell
from hypersphere.errors import HypersphereError
from hypersphere.t_test import holm

FITS, NOT, UNINFORMATIVE, NEEDS = "fits", "does not fit", "uninformative", "needs n_test"
BEYOND_TEST_SET = "larger than the noise of the test set"
BEYOND_RUNS = "larger than the noise over runs"
"""Verdicts on an effect that is too large if nothing really differs. Most authors hope for such an effect."""
MANY_RUNS = 100
"""The largest number of runs that is tried, if no number up to ``grim.MOST`` fits a mean."""
FEWEST_DIGITS = 8
"""The least number of last digits from which the check of odd and even digits concludes anything."""
AVERAGES = ("average", "avg", "avg.", "mean")
"""The names of a column that has the mean of the other columns."""


CHECKS: Mapping[str, tuple[str, str]] = {
    "range": (
        "Means within their range",
        "a share of examples lies between 0 and 100 percent, and a mean between the ends that are published with it",
    ),
    "average": (
        "Averages of a row",
        "a column named average has the unweighted mean of the row's other columns, up to rounding",
    ),
    "grim": (
        "Granularity (GRIM, GRIMMER)",
        "each run is a whole number of hits over n_test examples, all of them tested once; means and deviations are "
        "rounded or truncated, of raw or of rounded runs",
    ),
    "runs": (
        "One number of runs for a table",
        "all cells of a table are means of one number of runs, as measured and rounded",
    ),
    "claims": ("Sentences", "a sentence holds of the numbers as published"),
    "spread": (
        "Deviation over runs and the test set's floor",
        "runs differ as if each met its own random test examples; runs on the same examples differ less, and noise of "
        "training adds to it",
    ),
    "floor": (
        "Effects and the test set's floor",
        "a row and its baseline are equally accurate, and differ by their random test examples alone (unpaired, which "
        "is an upper limit on the same examples)",
    ),
    "welch": (
        "Effects and the spread over runs",
        "a row and its baseline are means of n runs each, with the published deviations and no true difference "
        "(Welch's test)",
    ),
    "table": (
        "All effects of a table",
        "no effect of the table is real and effects are independent, so that one in twenty is beyond 1.96 errors",
    ),
    "digits": ("Last digits", "odd and even last digits are equally likely"),
    "copies": (
        "Repeated columns",
        "no two columns, or rows, print the same numbers, in place or one place further",
    ),
}
"""The checks of an audit, by name, each with its title and its assumption."""
EXACT = ("range", "average", "grim", "claims")
"""The checks in which a number that does not fit is impossible under the assumption, and not only unlikely."""


class Finding(NamedTuple):
    """What a check says of a number, an effect, or a table."""

    check: str
    where: str
    row: str
    column: str
    metric: str
    verdict: str
    says: str
    value: float = math.nan
    """The number that decides the verdict: z of an effect, or p of a test."""

    @property
    def impossible(self) -> bool:
        """Whether no chance explains it under the assumption."""
        return self.verdict == NOT and self.check in EXACT

    @property
    def place(self) -> str:
        """What it is about, in words."""
        return ", ".join(filter(None, self[1:5])) or "all"


NO_TEST_SET = "no number of test examples is given"


def audit(
    cells: Sequence[Cell], sentences: Iterable[tuple[str, str]] = (), decimal: str = numerals.POINT
) -> list[Finding]:
    """Check the cells of tables, and sentences about them; return all findings in the order of the checks.

    A sentence comes with the name of its table before it. ``decimal`` is the decimal mark of numbers in sentences.
    """
    tables: dict[str, list[Cell]] = defaultdict(list)
    findings: list[Finding] = []
    for cell in cells:
        tables[cell.where].append(cell)
        for check_cell in (within, granular, spread):
            findings += check_cell(cell)
    for table in tables.values():
        for check_table in (averages, common_runs, digits, copies):
            findings += check_table(table)
        effects = list(chance.effects(table))
        findings += floors(effects)
        findings += welch(effects)
    for where, sentence in sentences:
        if where not in tables:
            raise HypersphereError(
                f"claim '{sentence}': there is no table '{where}' (there is '{next(iter(tables))}')"
            )
        findings.append(holds(sentence, where, tables[where], decimal))
    order = list(CHECKS)
    return sorted(findings, key=lambda one: order.index(one.check))


def _about_cell(
    check: str, cell: Cell, verdict: str, says: str, value: float = math.nan
) -> Finding:
    return Finding(check, *cell[:4], verdict, says, value)


def _about_table(
    check: str, where: str, verdict: str, says: str, value: float = math.nan
) -> Finding:
    return Finding(check, where, "", "", "", verdict, says, value)


def holds(sentence: str, where: str, cells: Sequence[Cell], decimal: str) -> Finding:
    """Whether a sentence holds of the numbers of its table, at as many places as the sentence claims."""
    check, quantifier, numbers = relations.parse(sentence, cells, decimal)
    held, places, fails = relations.outcome([check], numbers)
    enough = relations.HOLDS[quantifier](places)
    verdict = FITS if held >= enough else NOT
    says = f"“{sentence}” holds in {held} of {places}"
    if fails:
        says += f"; not at {fails}"
    return _about_table("claims", where, verdict, says, held / places)


def within(cell: Cell) -> Iterator[Finding]:
    """Whether a mean lies in the range that it must have: a share in 0 to 100, and a mean between its printed ends."""
    mean = Fraction(cell.mean)
    slack = unit(cell.mean)
    inside: dict[str, bool] = {}
    if cell.n_test:
        inside = {"0": mean >= 0, "100": mean <= 100}
    if cell.low is not None:
        least = Fraction(cell.low) - unit(cell.low)
        inside[str(cell.low)] = mean + slack > least
    if cell.high is not None:
        most = Fraction(cell.high) + unit(cell.high)
        inside[str(cell.high)] = mean - slack < most
    beyond = [end for end, holds in inside.items() if not holds]
    if beyond:
        yield _about_cell("range", cell, NOT, f"{cell.mean} is beyond {beyond[0]}")
    elif inside:
        yield _about_cell("range", cell, FITS, f"{cell.mean} is within its range")


def averages(cells: Sequence[Cell]) -> Iterator[Finding]:
    """Whether a column named average is the mean of its row."""
    rows: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        rows[cell.row, cell.metric].append(cell)
    for row in rows.values():
        others = [cell for cell in row if cell.column.lower() not in AVERAGES]
        if len(others) < 2:
            continue
        mean = Fraction(sum(one.mean for one in others)) / len(others)
        rounding = max(unit(one.mean) for one in others)
        for cell in row:
            if cell.column.lower() in AVERAGES:
                distance = abs(mean - Fraction(cell.mean))
                near = distance <= unit(cell.mean) + rounding
                says = f"{cell.mean}; the mean of {len(others)} columns is {float(mean):.6g}"
                yield _about_cell("average", cell, FITS if near else NOT, says)


def granular(cell: Cell) -> Iterator[Finding]:
    """Which numbers of runs fit a mean and its standard deviation.

    The ways of printing are tried in order, the likeliest first, up to one that allows any number.
    """
    if not cell.n_test:
        yield _about_cell("grim", cell, NEEDS, NO_TEST_SET)
        return
    if not 0 <= cell.mean <= 100:
        return
    printed = grim.Printed(cell.mean, cell.std)
    ways = grim.ways(cell.n_test, cell.std is not None)
    runs = [cell.n] if cell.n else range(1, grim.MOST + 1)
    for way, assumptions in ways.items():
        outcomes = {n: grim.fits(printed, n, assumptions) for n in runs}
        if set(outcomes.values()) != {False}:
            verdict, says = runs_that_fit(outcomes, grim.informative(printed, assumptions))
            yield _about_cell("grim", cell, verdict, f"{says} ({way})")
            return
    yield _fits_many_runs(cell, printed, ways) or _fits_no_runs(cell)


def _fits_many_runs(
    cell: Cell, printed: grim.Printed, ways: Mapping[str, grim.Assumptions]
) -> Finding | None:
    """Find the smallest number of runs above ``grim.MOST`` that fits a cell which prints no number of runs."""
    if cell.n:
        return None
    none = f"no number of runs up to {grim.MOST}"
    for n in range(grim.MOST + 1, MANY_RUNS + 1):
        outcomes = {grim.fits(printed, n, assumptions) for assumptions in ways.values()}
        if True in outcomes:
            return _about_cell("grim", cell, FITS, f"{none}; {n} is the smallest", n)
        if None in outcomes:
            return _about_cell("grim", cell, UNINFORMATIVE, f"{none}; not decided for n = {n}", n)
    return None


def _fits_no_runs(cell: Cell) -> Finding:
    runs = f"{cell.n} runs" if cell.n else f"any number of runs up to {MANY_RUNS}"
    deviation = "" if cell.std is None else f" ± {cell.std}"
    says = f"{cell.mean}{deviation} over {cell.n_test} examples is not of {runs}"
    return _about_cell("grim", cell, NOT, says)


def runs_that_fit(outcomes: Mapping[int, bool | None], informative: bool) -> tuple[str, str]:
    """The verdict, and the numbers of runs that fit as words. ``outcomes`` has each number that was tried."""
    if not informative and all(outcomes.values()):
        return UNINFORMATIVE, "the published decimals allow every number of runs"
    fitting = [str(n) for n, fits in outcomes.items() if fits]
    unknown = [str(n) for n, fits in outcomes.items() if fits is None]
    says = []
    if fitting:
        says.append(f"n = {', '.join(fitting)}")
    if unknown:
        says.append(f"not decided for n = {', '.join(unknown)}")
    if not says:
        return NOT, f"no number of runs up to {max(outcomes)}: an assumption fails"
    return FITS if fitting else UNINFORMATIVE, "; ".join(says)


def common_runs(cells: Sequence[Cell]) -> Iterator[Finding]:
    """Which numbers of runs fit all cells of a table. A cell whose decimals exclude no number is left out."""
    allowed = []
    for cell in cells:
        if cell.n or not cell.n_test or not 0 <= cell.mean <= 100:
            continue
        if unit(cell.mean) < Fraction(100, cell.n_test):
            allowed.append(chance.possible_runs(cell, range(1, grim.MOST + 1)))
    if len(allowed) < 2:
        return
    common = ", ".join(map(str, grim.common(allowed)))
    runs = f"n = {common}" if common else f"no number of runs up to {grim.MOST}"
    says = f"{runs} for {len(allowed)} cells"
    yield _about_table("runs", cells[0].where, FITS if common else NOT, says)


def spread(cell: Cell) -> Iterator[Finding]:
    """Compare a standard deviation over runs with the test set's floor."""
    std = chance.deviation(cell)
    if std is None:
        return
    if not cell.n_test:
        yield _about_cell("spread", cell, NEEDS, NO_TEST_SET)
        return
    floor = chance.floor(cell)
    runs = chance.possible_runs(cell)
    if not floor > 0 or not runs:
        return
    # If each run met its own examples, (n - 1) ratio^2 would be a chi-square; p is two-sided.
    # For a printed 0 ``std`` is an upper limit: it can be found too small, and never too large.
    ratio = std / floor
    tails = []
    for n in runs:
        square = (n - 1) * ratio**2
        below = special.chdtr(n - 1, square)
        above = special.chdtrc(n - 1, square)
        tails.append(min(below, above) if cell.std else below)
    p = min(1.0, 2 * float(max(tails)))
    printed = str(cell.std)
    if not cell.std:
        printed += f" is at most {std:g}, which"
    says = f"{printed} is {ratio:.2g} times the floor, {floor:.2g}; p at most {p:.2g}"
    yield _about_cell("spread", cell, FITS if p >= chance.LEVEL else NOT, says, ratio)


def floors(effects: Sequence[chance.Effect]) -> Iterator[Finding]:
    """Compare each effect of a table with the standard error that the test set gives; p is Holm-corrected.

    The last finding counts the effects beyond their error, and says how many of them chance would give.
    """
    known = [effect for effect in effects if not math.isnan(effect.z)]
    p_of = [chance.normal_p(effect.z) for effect in known]
    adjusted, _ = holm(p_of, chance.LEVEL, len(known))
    beyond = 0
    for effect, p in zip(known, adjusted, strict=True):
        is_beyond = abs(effect.z) >= chance.CRITICAL
        beyond += is_beyond
        says = f"{_against(effect)}: {effect.z:+.2f} errors of {effect.error:.2g}; Holm p {p:.2g}"
        yield _about_cell(
            "floor", effect.cell, BEYOND_TEST_SET if is_beyond else FITS, says, effect.z
        )
    for effect in effects:
        if not (effect.cell.n_test and effect.baseline.n_test):
            yield _about_cell("floor", effect.cell, NEEDS, f"{_against(effect)}: {NO_TEST_SET}")
    if known:
        p = chance.as_many_by_chance(beyond, len(known))
        by_chance = chance.by_chance(len(known))
        says = f"{beyond} of {len(known)} beyond; {by_chance:.1f} by chance, as many with p {p:.2g}"
        verdict = FITS if p >= chance.LEVEL else BEYOND_TEST_SET
        yield _about_table("table", known[0].cell.where, verdict, says, p)


def welch(effects: Sequence[chance.Effect]) -> Iterator[Finding]:
    """Test effects by Welch's test at each number of runs that the decimals allow; Holm's p is at the smallest."""
    with_spreads = [effect for effect in effects if effect.has_spreads]
    p_of: list[dict[tuple[int, int], float]] = []
    for effect in with_spreads:
        p_of.append({runs: effect.p(*runs) for runs in effect.runs})
    fewest = [next(iter(by_runs.values()), math.nan) for by_runs in p_of]
    adjusted, _ = holm(fewest, chance.LEVEL, len(with_spreads))
    for effect, by_runs, p_holm in zip(with_spreads, p_of, adjusted, strict=True):
        if not by_runs:
            says = f"{_against(effect)}: no number of runs fits both"
            yield _about_cell("welch", effect.cell, UNINFORMATIVE, says)
            continue
        runs = list(by_runs)
        ends = []
        for n, other in dict.fromkeys((runs[0], runs[-1])):
            at = f"{n}" if n == other else f"{n} and {other}"
            ends.append(f"p {by_runs[n, other]:.2g} at n = {at}")
        clear = [p < chance.LEVEL for p in by_runs.values()]
        verdict = UNINFORMATIVE if any(clear) else FITS
        if all(clear):
            verdict = BEYOND_RUNS
        says = f"{_against(effect)}: {', '.join(ends)}; Holm p {p_holm:.2g}"
        yield _about_cell("welch", effect.cell, verdict, says, by_runs[runs[0]])


def _against(effect: chance.Effect) -> str:
    return f"{effect.cell.mean - effect.baseline.mean:+} against {effect.baseline.row}"


def digits(cells: Sequence[Cell]) -> Iterator[Finding]:
    """How many numbers of a table end in an odd digit, by metric."""
    metrics: dict[str, list[int]] = defaultdict(list)
    for cell in cells:
        metrics[cell.metric].append(cell.mean.as_tuple().digits[-1])
    for metric, last in metrics.items():
        odd = sum(digit % 2 for digit in last)
        p = chance.odd_p(odd, len(last))
        verdict = FITS if p >= chance.LEVEL else NOT
        if len(last) < FEWEST_DIGITS:
            verdict = UNINFORMATIVE
        says = f"{odd} of {len(last)} are odd; p {p:.2g}"
        yield _about_table("digits", cells[0].where, verdict, says, p)._replace(metric=metric)


def copies(cells: Sequence[Cell]) -> Iterator[Finding]:
    """Columns, or rows, that print the same three numbers or more, in place or one place further."""
    for kind, place in (("column", "row"), ("row", "column")):
        lines: dict[tuple[str, str], list[Cell]] = defaultdict(list)
        for cell in cells:
            lines[getattr(cell, kind), cell.metric].append(cell)
        seen: dict[tuple[object, ...], str] = {}
        for (name, metric), line in lines.items():
            places = tuple(getattr(cell, place) for cell in line)
            means = tuple(cell.mean for cell in line)
            moved = ", one place further"
            # Two lines are compared at equal places, and the first of one with the last of the other.
            for part, twin, numbers, how in (
                (places, places, means, ""),
                ("first", "last", means[:-1], moved),
                ("last", "first", means[1:], moved),
            ):
                if len(set(numbers)) < 3:
                    continue
                other = seen.get((metric, twin, numbers))
                if other:
                    says = f"{kind} {name} prints {len(numbers)} numbers of {kind} {other}{how}"
                    yield _about_cell("copies", line[0], NOT, says)
                seen.setdefault((metric, part, numbers), name)
