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
"""What is said of an effect that its assumption, of no difference, does not explain: most authors hope for that."""
MANY_RUNS = 100
"""The largest number of runs that is looked for where none up to ``grim.MOST`` fits a mean."""
FEWEST_DIGITS = 8
AVERAGES = ("average", "avg", "avg.", "mean")
"""Names of a column that has the mean of the others."""


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
"""By name: the title of a check of an audit, and its assumption."""
EXACT = ("range", "average", "grim", "claims")
"""Checks of which numbers that do not fit are impossible under the assumption, and not merely unlikely."""


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
    """The number that it turns on: z of an effect, p of a test."""

    @property
    def impossible(self) -> bool:
        """Whether no chance explains it under the assumption."""
        return self.verdict == NOT and self.check in EXACT

    @property
    def place(self) -> str:
        """What it is about, in words."""
        return ", ".join(filter(None, self[1:5])) or "all"


def audit(
    cells: Sequence[Cell], sentences: Iterable[tuple[str, str]] = (), decimal: str = numerals.POINT
) -> list[Finding]:
    """All findings of a table, and of sentences, each with the table that it is about, in the order of the checks.

    ``decimal`` is the mark before the decimals of numbers in sentences.
    """
    tables: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        tables[cell.where].append(cell)
    found: list[Finding] = []
    for cell in cells:
        found += [*within(cell), *granular(cell), *spread(cell)]
    for of_table in tables.values():
        effects = list(chance.effects(of_table))
        found += [*averages(of_table), *common_runs(of_table), *digits(of_table), *copies(of_table)]
        found += [*floors(effects), *welch(effects)]
    for where, sentence in sentences:
        if where not in tables:
            raise HypersphereError(
                f"claim '{sentence}': there is no table '{where}' (there is '{next(iter(tables))}')"
            )
        check, of, numbers = relations.parse(sentence, tables[where], decimal)
        held, places, fails = relations.outcome([check], numbers)
        verdict = FITS if held >= relations.HOLDS[of](places) else NOT
        said = f"“{sentence}” holds in {held} of {places}" + (f"; not at {fails}" if fails else "")
        found.append(Finding("claims", where, "", "", "", verdict, said, held / places))
    order = list(CHECKS)
    return sorted(found, key=lambda one: order.index(one.check))


def _of(check: str, cell: Cell, verdict: str, says: str, value: float = math.nan) -> Finding:
    return Finding(check, *cell[:4], verdict, says, value)


def within(cell: Cell) -> Iterator[Finding]:
    """Whether a mean lies in the range that it must have."""
    mean, slack = Fraction(cell.mean), unit(cell.mean)
    ends = [("0", mean >= 0), ("100", mean <= 100)] if cell.n_test else []
    ends += [
        (f"{end}", mean + slack > Fraction(end) - unit(end))
        for end in [cell.low]
        if end is not None
    ]
    ends += [
        (f"{end}", mean - slack < Fraction(end) + unit(end))
        for end in [cell.high]
        if end is not None
    ]
    outside = [end for end, inside in ends if not inside]
    if ends:
        said = (
            f"{cell.mean} is beyond {outside[0]}" if outside else f"{cell.mean} is within its range"
        )
        yield _of("range", cell, NOT if outside else FITS, said)


def averages(cells: Sequence[Cell]) -> Iterator[Finding]:
    """Whether a column named average is the mean of its row."""
    rows: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        rows[cell.row, cell.metric].append(cell)
    for row in rows.values():
        others = [cell for cell in row if cell.column.lower() not in AVERAGES]
        named = [cell for cell in row if cell.column.lower() in AVERAGES]
        for cell in named if len(others) > 1 else ():
            mean = sum((Fraction(one.mean) for one in others), Fraction(0)) / len(others)
            slack = unit(cell.mean) + max(unit(one.mean) for one in others)
            near = abs(mean - Fraction(cell.mean)) <= slack
            said = f"{cell.mean}; the mean of {len(others)} columns is {float(mean):.6g}"
            yield _of("average", cell, FITS if near else NOT, said)


def granular(cell: Cell) -> Iterator[Finding]:
    """The numbers of runs that a mean and its standard deviation can be of."""
    if not cell.n_test:
        yield _of("grim", cell, NEEDS, "no number of test examples is given")
        return
    if not 0 <= cell.mean <= 100:
        return
    printed, runs = (
        grim.Printed(cell.mean, cell.std),
        range(1, grim.MOST + 1) if cell.n is None else [cell.n],
    )
    ways = grim.ways(cell.n_test, cell.std is not None)
    for way, assumptions in ways.items():
        outcomes = {n: grim.fits(printed, n, assumptions) for n in runs}
        if any(outcome is not False for outcome in outcomes.values()):
            verdict, said = runs_that_fit(outcomes, grim.informative(printed, assumptions))
            yield _of("grim", cell, verdict, f"{said} ({way})")
            return
    for n in range(grim.MOST + 1, MANY_RUNS + 1) if cell.n is None else ():
        outcome = {grim.fits(printed, n, assumptions) for assumptions in ways.values()}
        if outcome != {False}:
            said = f"{n} is the smallest" if True in outcome else f"not decided for n = {n}"
            verdict = FITS if True in outcome else UNINFORMATIVE
            yield _of("grim", cell, verdict, f"no number of runs up to {grim.MOST}; {said}", n)
            return
    runs_said = f"{cell.n} runs" if cell.n else f"any number of runs up to {MANY_RUNS}"
    deviation = "" if cell.std is None else f" ± {cell.std}"
    yield _of(
        "grim",
        cell,
        NOT,
        f"{cell.mean}{deviation} over {cell.n_test} examples is not of {runs_said}",
    )


def runs_that_fit(outcomes: Mapping[int, bool | None], informative: bool) -> tuple[str, str]:
    """The verdict of numbers of runs that were tried, and a sentence."""
    if not informative and all(outcomes.values()):
        return UNINFORMATIVE, "the published decimals allow every number of runs"
    fitting = ", ".join(str(n) for n, outcome in outcomes.items() if outcome)
    unknown = ", ".join(str(n) for n, outcome in outcomes.items() if outcome is None)
    said = [
        f"n = {fitting}" if fitting else "",
        f"not decided for n = {unknown}" if unknown else "",
    ]
    none = f"no number of runs up to {max(outcomes)}: an assumption fails"
    return FITS if fitting else UNINFORMATIVE if unknown else NOT, "; ".join(
        filter(None, said)
    ) or none


def common_runs(cells: Sequence[Cell]) -> Iterator[Finding]:
    """The numbers of runs that all cells of a table allow whose decimals can exclude one."""
    told = [cell for cell in cells if cell.n is None and cell.n_test and 0 <= cell.mean <= 100]
    told = [cell for cell in told if unit(cell.mean) < Fraction(100, cell.n_test or 1)]
    if len(told) > 1:
        common = grim.common([chance.allowed(cell, range(1, grim.MOST + 1)) for cell in told])
        said = f"n = {', '.join(map(str, common))} for {len(told)} cells"
        said = said if common else f"no number of runs up to {grim.MOST} for {len(told)} cells"
        yield Finding("runs", cells[0].where, "", "", "", FITS if common else NOT, said)


def spread(cell: Cell) -> Iterator[Finding]:
    """A standard deviation over runs, in units of the test set's floor."""
    floor, std = chance.floor(cell), chance.deviation(cell)
    if std is None:
        return
    if not cell.n_test:
        yield _of("spread", cell, NEEDS, "no number of test examples is given")
    elif floor > 0 and (runs := chance.allowed(cell)):
        # If each run met its own examples, (n - 1) ratio^2 would be a chi-square; p is two-sided.
        # A printed 0 may be anything up to ``std``, so that it can only be too small.
        ratio = std / floor
        squares = {n - 1: (n - 1) * ratio**2 for n in runs}
        below = {df: special.chdtr(df, x) for df, x in squares.items()}
        above = {df: special.chdtrc(df, x) for df, x in squares.items()} if cell.std else {}
        tails = [min(tail, above.get(df, tail)) for df, tail in below.items()]
        most_likely = min(1.0, float(2 * max(tails)))
        printed = f"{cell.std}" if cell.std else f"{cell.std} is at most {std:g}, which"
        said = f"{printed} is {ratio:.2g} times the floor, {floor:.2g}; p at most {most_likely:.2g}"
        yield _of("spread", cell, FITS if most_likely >= chance.LEVEL else NOT, said, ratio)


def floors(effects: Sequence[chance.Effect]) -> Iterator[Finding]:
    """Effects in units of the standard error that the test set gives, Holm-corrected over their table.

    And how many of the table are beyond their error, and how many would be by chance.
    """
    told = [effect for effect in effects if not math.isnan(effect.z)]
    adjusted, _ = holm([chance.normal_p(effect.z) for effect in told], chance.LEVEL, len(told))
    for effect, p in zip(told, adjusted, strict=True):
        said = f"{_against(effect)}: {effect.z:+.2f} errors of {effect.error:.2g}; Holm p {p:.2g}"
        inside = abs(effect.z) < chance.CRITICAL
        yield _of("floor", effect.cell, FITS if inside else BEYOND_TEST_SET, said, effect.z)
    for effect in effects:
        if not (effect.cell.n_test and effect.baseline.n_test):
            yield _of(
                "floor",
                effect.cell,
                NEEDS,
                f"{_against(effect)}: no number of test examples is given",
            )
    if told:
        beyond = sum(abs(effect.z) >= chance.CRITICAL for effect in told)
        p = chance.as_many_by_chance(beyond, len(told))
        said = f"{beyond} of {len(told)} beyond; {chance.by_chance(len(told)):.1f} by chance, as many with p {p:.2g}"
        verdict = FITS if p >= chance.LEVEL else BEYOND_TEST_SET
        yield Finding("table", told[0].cell.where, "", "", "", verdict, said, p)


def welch(effects: Sequence[chance.Effect]) -> Iterator[Finding]:
    """Welch's test of effects at each number of runs that the decimals allow; Holm's p at the smallest."""
    told = [(effect, effect.runs) for effect in effects if effect.has_spreads]
    fewest = [effect.p(*runs[0]) if runs else math.nan for effect, runs in told]
    adjusted, _ = holm(fewest, chance.LEVEL, len(told))
    for (effect, runs), p_holm in zip(told, adjusted, strict=True):
        if not runs:
            yield _of(
                "welch",
                effect.cell,
                UNINFORMATIVE,
                f"{_against(effect)}: no number of runs fits both",
            )
            continue
        p = [effect.p(*pair) for pair in runs]
        ends = dict(zip(runs[:1] + runs[-1:], p[:1] + p[-1:], strict=True))
        said = ", ".join(
            f"p {one:.2g} at n = {n}{f' and {m}' if m != n else ''}" for (n, m), one in ends.items()
        )
        below = [one < chance.LEVEL for one in p]
        verdict = BEYOND_RUNS if all(below) else FITS if not any(below) else UNINFORMATIVE
        yield _of(
            "welch", effect.cell, verdict, f"{_against(effect)}: {said}; Holm p {p_holm:.2g}", p[0]
        )


def _against(effect: chance.Effect) -> str:
    return f"{effect.cell.mean - effect.baseline.mean:+} against {effect.baseline.row}"


def digits(cells: Sequence[Cell]) -> Iterator[Finding]:
    """How many numbers of a table end in an odd digit, by metric."""
    metrics: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        metrics[cell.metric].append(cell)
    for metric, of_metric in metrics.items():
        odd, numbers = (
            sum(cell.mean.as_tuple().digits[-1] % 2 for cell in of_metric),
            len(of_metric),
        )
        p = chance.odd_p(odd, numbers)
        verdict = UNINFORMATIVE if numbers < FEWEST_DIGITS else FITS if p >= chance.LEVEL else NOT
        yield Finding(
            "digits",
            cells[0].where,
            "",
            "",
            metric,
            verdict,
            f"{odd} of {numbers} are odd; p {p:.2g}",
            p,
        )


def copies(cells: Sequence[Cell]) -> Iterator[Finding]:
    """Columns, or rows, that print the same three numbers or more, in place or one place further."""
    for kind, place in (("column", "row"), ("row", "column")):
        lines: dict[tuple[str, str], list[Cell]] = defaultdict(list)
        for cell in cells:
            lines[getattr(cell, kind), cell.metric].append(cell)
        seen: dict[tuple[object, ...], str] = {}
        for (name, metric), of_line in lines.items():
            places, means = (
                tuple(getattr(cell, place) for cell in of_line),
                tuple(cell.mean for cell in of_line),
            )
            moved = ", one place further"
            for part, twin, numbers, said in (
                (places, places, means, ""),
                ("first", "last", means[:-1], moved),
                ("last", "first", means[1:], moved),
            ):
                if len(set(numbers)) < 3:
                    continue
                if other := seen.get((metric, twin, numbers)):
                    found = f"{kind} {name} prints {len(numbers)} numbers of {kind} {other}{said}"
                    yield _of("copies", of_line[0], NOT, found)
                seen.setdefault((metric, part, numbers), name)
