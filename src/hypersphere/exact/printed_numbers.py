"""What chance and rounding leave of a document's printed accuracies: audit/ on the numbers of its claims.

Four questions, each a table: is an effect beyond the error that the size of the test set alone gives; how many runs do
the decimals allow; is an effect significant by Welch's test, at each number of runs; are odd and even last digits
equally likely. The findings are about numbers, never about people: quoted numbers, other test sets and means over runs
change decimals and errors.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, product
from typing import Any

import pandas as pd

from hypersphere.audit import chance, grim
from hypersphere.audit.chance import CRITICAL, LEVEL, Effect
from hypersphere.audit.table import Cell
from hypersphere.config import audit_file, coordinates
from hypersphere.config.audit_file import Audit, AuditClaim, RepeatedTables
from hypersphere.config.claims import Claim, load
from hypersphere.exact.study import Context, ExactNumber, ExactStudy, counted, everywhere, only

TESTED = (
    "linear_top1",
    "linear_top5",
    "knn_top1",
    "knn_top5",
    "mlp_top1",
    "transfer_top1",
    "text_accuracy",
)
"""Metrics that are shares of test examples."""
CONTRASTIVE = "contrastive_top1"  # an accuracy over an unknown number of pairs
WAYS = (grim.MEASURED, grim.TRUNCATED, grim.RUNS_ROUNDED)
"""How the printed numbers may have come about."""
SHOWN = (2, 3, 5, 10)  # numbers of runs at which significant effects are counted
FEWEST = 8  # the least numbers of a group with a row of its own among the last digits


def printed_numbers(context: Context) -> ExactStudy:
    """The tables below that are artifacts of the paper, and the answers to its claims about them."""
    document = context.config.papers[context.paper]
    audit = audit_file.load(context.config.audit_file(context.paper))
    claims = load(context.config.claims_file(context.paper))
    every = cells(claims, audit)
    accuracies = [(cell, claim) for cell, claim in every if claim.metric in (*TESTED, CONTRASTIVE)]
    of_finished = [cell for cell, claim in accuracies if claim.reading != audit.failed]
    every_cell = [cell for cell, _ in every]
    with_spreads = [effect for effect in chance.effects(every_cell) if effect.has_spreads]
    by_test_set = binomial_effects(of_finished, audit.repeated)
    by_runs = welch_tests(with_spreads)
    runs = seed_counts(every_cell)
    digits = last_digits(every)
    tables = {
        "binomial_floor": binomial_floor([cell for cell, _ in accuracies], by_test_set),
        "binomial_effects": by_test_set.assign(series=by_test_set["series"].map(document.label)),
        "seed_counts": runs,
        "printed_tests": printed_tests(
            by_runs.assign(method=by_runs["method"].map(document.label))
        ),
        "last_digits": digits,
    }
    answers = [*on_runs(context.paper, runs), *on_digits(context.paper, digits)]
    answers += on_effects(
        claims,
        "binomial_floor",
        by_test_set.assign(significant=by_test_set["beyond"] == 1),
        audit,
    )
    answers += on_effects(
        claims,
        "printed_tests",
        by_runs.assign(significant=by_runs["p_3"] < LEVEL),
        audit,
    )
    return ExactStudy(
        {artifact: table for artifact, table in tables.items() if artifact in document.studied},
        in_order_of(claims, answers),
    )


def in_order_of(claims: Iterable[Claim], answers: Iterable[ExactNumber]) -> list[ExactNumber]:
    """The answers to these claims, in their order."""
    by_claim = {answer.id: answer for answer in answers}
    return [by_claim[claim.id] for claim in claims if claim.id in by_claim]


def on_runs(paper: str, runs: pd.DataFrame) -> list[ExactNumber]:
    """Do the decimals of every cell allow a number of runs, and those of every table one number for all its cells?"""
    measured = only(runs, way=grim.MEASURED)
    number = int(measured["cells"].sum())
    without = int(measured["none"].sum())
    return [
        counted(f"{paper}.seed_counts.fits", number - without, number),
        everywhere(f"{paper}.seed_counts.one_number", measured["all"] != ""),
    ]


def on_digits(paper: str, digits: pd.DataFrame) -> list[ExactNumber]:
    return [everywhere(f"{paper}.last_digits.parity", digits["p_odd"] >= LEVEL)]


def on_effects(
    claims: Iterable[Claim], artifact: str, effects: pd.DataFrame, audit: Audit
) -> Iterator[ExactNumber]:
    """Are none of a claim's effects significant, or, if it says so, all?"""
    for claim in claims:
        if claim.artifact == artifact:
            meant = effects[effects["table"].isin(named_tables(claim, effects["table"]))]
            says = audit.claims.get(claim.id, AuditClaim())
            meant = only(meant, **says.of)
            yield everywhere(claim.id, meant["significant"] == says.significant)


def named_tables(claim: Claim, tables: Iterable[str]) -> list[str]:
    """The tables that a claim's source names: ``Table 2``, or ``Tables 2 and 5`` if no table has that joint name."""
    source, _, _ = claim.source.partition(";")
    if source in set(tables):
        return [source]
    return [f"Table {number}" for number in re.findall(r"\d+", source)]


def cells(claims: Iterable[Claim], audit: Audit) -> list[tuple[Cell, Claim]]:
    """A paper's accuracies, and other numbers printed with a standard deviation, as the cells of an audit.

    A number in CSV has lost its last zeros: 61.83 was printed as 61.830 in a table of three decimals. A swept setting
    counts as the variant. A cell without a baseline in its place is compared with nothing.
    """
    known: list[tuple[Cell, Claim]] = []
    names: dict[str, str] = {}
    variants: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    exponents: dict[str, int] = defaultdict(int)
    for claim in claims:
        has_spread = bool(claim.reported_std)
        if claim.kind == "value" and (claim.metric in (*TESTED, CONTRASTIVE) or has_spread):
            name = names.setdefault(claim.artifact, claim.source)
            cell = cell_of(claim, name, audit)
            variants[place_of(cell)].add(cell.row)
            exponents[name] = min(exponents[name], int(cell.mean.as_tuple().exponent))
            known.append((cell, claim))

    completed = []
    for cell, claim in known:
        one = Decimal(1).scaleb(exponents[cell.where])
        mean = cell.mean.quantize(one)
        std = None if cell.std is None else cell.std.quantize(one)
        baseline = baseline_of(cell, variants[place_of(cell)], audit.baselines)
        completed.append((cell._replace(mean=mean, std=std, baseline=baseline), claim))
    return completed


def cell_of(claim: Claim, where: str, audit: Audit) -> Cell:
    """A claim as a cell of the table that it is printed in."""
    swept: dict[str, Any] = {}
    setting: dict[str, Any] = {}
    for key, value in claim.coordinates.items():
        (swept if key in audit.swept else setting)[key] = value
    tested_on = str(claim.coordinates.get("target", claim.dataset))
    return Cell(
        where=where,
        row=coordinates.text(swept) or claim.variant,
        column="\t".join((claim.method, claim.dataset, coordinates.setting(setting))),
        metric=str(claim.metric),
        mean=Decimal(f"{claim.reported:.10g}"),
        std=None if claim.reported_std is None else Decimal(f"{claim.reported_std:.10g}"),
        n_test=audit.test_sizes.get(tested_on) if claim.metric in TESTED else None,
    )


def place_of(cell: Cell) -> tuple[str, str, str]:
    """Where the variants stand that a cell may be compared with."""
    return cell.where, cell.column, cell.metric


def baseline_of(cell: Cell, variants: Collection[str], baselines: Sequence[str]) -> str:
    """The first baseline among the variants; the cell itself if there is none, or if it is one."""
    if cell.row not in baselines:
        for name in baselines:
            if name in variants:
                return name
    return cell.row


def in_order(tables: Iterable[str]) -> list[str]:
    """Sorted by number, the main text first: ``Table 2``, ``Table 10``, ``Table A.3``."""

    def parts(table: str) -> list[int | str]:
        return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", table)]

    return sorted(set(tables), key=parts)


def ranks_of(tables: Iterable[str]) -> dict[str, int]:
    """The rank of each table, from 0."""
    return {table: rank for rank, table in enumerate(in_order(tables))}


def binomial_effects(cells: Iterable[Cell], repeated: RepeatedTables | None = None) -> pd.DataFrame:
    """One row per effect, with its error, and its place in the figure: every variant less its table's baseline.

    Where tables repeat a setting, also the others less the first.
    """
    known = [cell for cell in cells if cell.n_test]
    effects = list(chance.effects(known))
    if repeated is not None:
        effects += repeated_effects(known, repeated)
    columns = [
        "table",
        "method",
        "dataset",
        "setting",
        "metric",
        "variant",
        "difference",
        "error",
        "z",
    ]
    rows = []
    for one in effects:
        cell = one.cell
        rows.append(
            (
                cell.where,
                *cell.column.split("\t"),
                cell.metric,
                cell.row,
                one.difference,
                one.error,
                one.z,
            )
        )
    table = pd.DataFrame(rows, columns=columns)
    table["beyond"] = (table["z"].abs() >= CRITICAL).astype(int)
    table["by_chance"] = chance.by_chance(len(table))
    by_table = table.groupby("table")
    compares_methods = by_table["method"].nunique().max() > 1  # in some table
    table["series"] = table["method"] if compares_methods else table["variant"]
    table["column"] = table["table"].map(ranks_of(table["table"]))
    share = (by_table.cumcount() + 0.5) / by_table["z"].transform("size")
    # side by side in their table's column, in printed order
    table["across"] = table["column"] + 0.8 * (share - 0.5)
    return table


def repeated_effects(cells: Iterable[Cell], repeated: RepeatedTables) -> list[Effect]:
    """Cells of other tables less the same cell of the first table."""
    of_first = {cell[1:4]: cell for cell in cells if cell.where == repeated.first}
    effects = []
    for cell in cells:
        if cell.where in repeated.others and cell[1:4] in of_first:
            effects.append(Effect(cell._replace(where=repeated.together), of_first[cell[1:4]]))
    return effects


def binomial_floor(cells: Sequence[Cell], effects: pd.DataFrame) -> pd.DataFrame:
    """One row per table: its accuracies and their median floor, its effects and how many are within their error.

    Beside them: how many effects would be beyond their error by chance, and the probability of as many as there are.
    """
    rows = []
    for table in in_order([*(cell.where for cell in cells), *effects["table"]]):
        floors = pd.Series(
            [chance.floor(cell) for cell in cells if cell.where == table], dtype=float
        )
        of_table = only(effects, table=table)
        number = len(of_table)
        beyond = int(of_table["beyond"].sum())
        rows.append(
            (
                table,
                floors.count(),
                floors.isna().sum(),
                floors.median(),
                number,
                number - beyond,
                max(of_table["z"], key=abs, default=math.nan),
                chance.by_chance(number),
                chance.as_many_by_chance(beyond, number),
            )
        )
    columns = [
        "table",
        "cells",
        "unknown",
        "floor",
        "effects",
        "within",
        "furthest",
        "by_chance",
        "p_as_many",
    ]
    return pd.DataFrame(rows, columns=columns)


def seed_counts(cells: Sequence[Cell]) -> pd.DataFrame:
    """How many cells n runs fit, and what fits all cells, for each table with informative cells and each way."""
    numbers = range(1, grim.MOST + 1)
    rows = []
    for table, way in product(in_order(cell.where for cell in cells), WAYS):
        of_table = [cell for cell in cells if cell.where == table]
        allowed = list(admissible_runs(of_table, way))
        if allowed:
            fits = Counter(chain.from_iterable(allowed))
            fit_all = " ".join(map(str, grim.common(allowed)))
            rows.append(
                (
                    table,
                    way,
                    len(allowed),
                    *(fits[n] for n in numbers),
                    fit_all,
                    allowed.count(()),
                )
            )
    columns = ["table", "way", "cells", *(f"n{n}" for n in numbers), "all", "none"]
    return pd.DataFrame(rows, columns=columns)


def admissible_runs(cells: Iterable[Cell], way: str) -> Iterator[tuple[int, ...]]:
    """The numbers of runs that a cell's decimals allow, for each cell whose decimals tell something."""
    for cell in cells:
        if cell.n_test:
            printed = grim.Printed(cell.mean, cell.std)
            assumptions = grim.ways(cell.n_test, False)[way]
            if grim.informative(printed, assumptions):
                yield grim.admissible(printed, assumptions)


def welch_tests(effects: Iterable[Effect]) -> pd.DataFrame:
    """One row per effect: Welch's p at some numbers of runs, and what it says at those that the decimals allow.

    ``always`` and ``never``: p is below ``LEVEL`` at each number of runs that both accuracies allow, or at none.
    """
    p_columns = [f"p_{n}" for n in SHOWN]
    rows = []
    for one in effects:
        method, *_ = one.cell.column.split("\t")
        p = [one.p(n) for n in SHOWN]
        below = [one.p(*runs) < LEVEL for runs in one.runs]
        always = bool(below) and all(below)
        never = bool(below) and not any(below)
        rows.append((one.cell.where, method, one.cell.row, *p, always, never))
    return pd.DataFrame(rows, columns=["table", "method", "variant", *p_columns, "always", "never"])


def printed_tests(tests: pd.DataFrame) -> pd.DataFrame:
    """A row for each method and variant of a table that has several, and one for each table.

    Counts of effects with p below ``LEVEL`` at each number of runs, and of what ``welch_tests`` says. Then the range of
    p at three runs, and the chance that as many independent p, uniform where no variant differs, would all be at least
    the smallest.
    """
    below = {f"below_{n}": tests[f"p_{n}"] < LEVEL for n in SHOWN}
    of_group = tests.assign(**below)
    of_table = of_group.assign(method="", variant="")
    groups = pd.concat([of_group, of_table]).groupby(["table", "method", "variant"], sort=False)
    counts = {name: (name, "sum") for name in (*below, "always", "never")}
    rows = groups.agg(
        effects=("p_3", "size"), **counts, low_3=("p_3", "min"), high_3=("p_3", "max")
    ).reset_index()
    rows["chance"] = (1 - rows["low_3"]) ** rows["effects"]
    has_one_group = rows.groupby("table")["table"].transform("size") == 2
    rows = rows[(rows["variant"] == "") | ~has_one_group]
    ranks = ranks_of(rows["table"])
    return rows.sort_values("table", key=lambda tables: tables.map(ranks), kind="stable")


def last_digits(cells: Iterable[tuple[Cell, Claim]]) -> pd.DataFrame:
    """Last digits of accuracies, by table, and by setting and variant where these have enough numbers.

    Where numbers spread over many units of their last decimal, each last digit is as likely as any other. An accuracy
    over T test images moves in steps of 100 / T: with T = 5,000 one run has an even second decimal.
    """
    groups: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for cell, claim in cells:
        if claim.metric in TESTED:
            digit = cell.mean.as_tuple().digits[-1]
            groups[claim.source][""].append(digit)
            untargeted = {key: value for key, value in claim.coordinates.items() if key != "target"}
            setting = coordinates.setting(untargeted)
            if setting:
                groups[claim.source][f"{setting}, {claim.variant}"].append(digit)
    rows = []
    for table in in_order(groups):
        for group, digits in groups[table].items():
            if len(digits) >= FEWEST:
                odd = sum(digit % 2 for digit in digits)
                counts = [digits.count(digit) for digit in range(10)]
                rows.append(
                    (
                        table,
                        group,
                        len(digits),
                        *counts,
                        odd,
                        chance.odd_p(odd, len(digits)),
                    )
                )
    columns = [
        "table",
        "group",
        "numbers",
        *(f"digit_{digit}" for digit in range(10)),
        "odd",
        "p_odd",
    ]
    return pd.DataFrame(rows, columns=columns)
