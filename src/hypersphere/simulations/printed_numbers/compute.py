"""What chance and rounding leave of a document's printed accuracies: audit/ on the numbers of its claims.

Four questions, each a table: is an effect beyond the error that the size of the test set alone gives; how many runs do
the decimals allow; is an effect significant by Welch's test, at each number of runs; are odd and even last digits
equally likely. The findings are about numbers, never about people: quoted numbers, other test sets and means over runs
change decimals and errors.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import product

import pandas as pd

from hypersphere.audit import chance, grim
from hypersphere.audit.chance import CRITICAL, LEVEL, Effect
from hypersphere.audit.table import Cell
from hypersphere.config import coordinates
from hypersphere.config.claims import Claim, load
from hypersphere.simulations.study import Context, ExactStudy, counted

TEST_SIZES: Mapping[str, int] = {
    # Official test sets. Long-tailed and biased versions keep the test images of their original.
    **dict.fromkeys(("cifar10", "cifar100", "cifar10_lt", "cifar100_lt"), 10_000),
    **{f"corrupted_cifar10_{ratio}": 10_000 for ratio in ("0_5", "1", "2", "5")},
    **{f"colored_mnist_{ratio}": 10_000 for ratio in ("0_5", "1", "2", "5")},
    "stl10": 8_000,
    # Validation sets, the only ones with public labels: 50 images a class.
    "imagenet": 50_000,
    "imagenet100": 5_000,
    "tiny_imagenet": 10_000,
    "flowers102_lt": 1_020,  # 10 a class, because the norms paper trains on the official test set (Sec. 6)
    # All sentences, because cross-validation tests each once (sizes as in Kim 2014, Table 1).
    "text_mr": 10_662,
    "text_cr": 3_775,
    "text_subj": 10_000,
    "text_mpqa": 10_606,
}
"""Number of test examples of a dataset.

Left out: TREC and MSRP, which have test sets of their own beside the LMCL paper's ten folds, and MultiDigits, whose
size is not printed.
"""
TESTED = ("linear_top1", "linear_top5", "knn_top1", "knn_top5", "mlp_top1", "transfer_top1", "text_accuracy")
"""Metrics that are shares of test examples."""
CONTRASTIVE = "contrastive_top1"  # an accuracy over an unknown number of pairs
SWEPT = ("logits.s",)
"""Settings that differ between the rows of a table and stand for a variant (margins, Tables 9 and 10)."""
BASELINES = ("baseline", "default", "nt_xent", "wang_liu", "dp_lambda_0_1", "plain_tau_10", "batch_512", "logits.s=1")
"""The variant that the others of a table are compared with. In most tables it is the plain method. Exceptions: another
paper's row (double-metric Table 7, tau = 0.3), the paper's own lambda (LMCL Table 3), the better row without
normalisation (lecture Table 5), the smallest batch (lecture Table A.3), no emphasis (margins Tables 9 and 10).
"""
FAILED = "N40"
"""The reading of a failed run. Its difference from the baseline is no effect."""
REPEATED = {"double_metric": ("Tables 2 and 5", "Table 2", ("Table 5a", "Table 5b"))}
"""Tables that print the accuracy of one setting twice: their joint name, the first table, the other tables."""
WAYS = (grim.MEASURED, grim.TRUNCATED, grim.RUNS_ROUNDED)
"""How the printed numbers may have come about."""
SHOWN = (2, 3, 5, 10)  # numbers of runs at which significant effects are counted
FEWEST = 8  # the least numbers of a group with a row of its own among the last digits
MEANT: Mapping[str, Mapping[str, str]] = {
    "margins.binomial_floor.simclr_pos": {"method": "simclr", "variant": "pos"},
    "margins.printed_tests.pos": {"method": "mocov3", "variant": "pos"},
    **{f"lmcl.binomial_floor.images.{name}": {"method": name} for name in ("cmc", "dcl", "hcl")},
    **{f"lmcl.binomial_floor.sentences.{name}": {"method": name} for name in ("qt", "qt_dcl", "qt_hcl")},
}
"""What a claim means, if not all effects of the tables that its source names: its claims say what the margins paper
says without a test, and the same of the other papers. Sentences about the sign or the size of printed numbers are those
of the study ``sentences``."""
SIGNIFICANT = "margins.printed_tests.pos"
"""The claim that each effect is significant; the others say that none is."""


def printed_numbers(context: Context) -> ExactStudy:
    """Those of the tables below that are artifacts of the paper, and the claims about them."""
    paper, document = context.paper, context.config.papers[context.paper]
    claims = load(context.config.claims_file(paper))
    every = cells(claims)
    accuracies = [(cell, claim.reading) for cell, claim in every if claim.metric in (*TESTED, CONTRASTIVE)]
    ran = [cell for cell, reading in accuracies if reading != FAILED]
    by_test_set = binomial_effects(ran, REPEATED.get(paper))
    by_runs = welch_tests(effect for effect in chance.effects(cell for cell, _ in every) if effect.has_spreads)
    runs = seed_counts([cell for cell, _ in every])
    digits = last_digits(every)
    tables = {
        "binomial_floor": binomial_floor([cell for cell, _ in accuracies], by_test_set),
        "binomial_effects": by_test_set.assign(series=by_test_set["series"].map(document.label)),
        "seed_counts": runs,
        "printed_tests": printed_tests(by_runs.assign(method=by_runs["method"].map(document.label))),
        "last_digits": digits,
    }
    measured = runs[runs["way"] == grim.MEASURED]
    number = int(measured["cells"].sum())
    held = {
        f"{paper}.seed_counts.fits": (number - int(measured["none"].sum()), number),
        f"{paper}.seed_counts.one_number": (int((measured["all"] != "").sum()), len(measured)),
        f"{paper}.last_digits.parity": (int((digits["p_odd"] >= LEVEL).sum()), len(digits)),
    }
    tested = {
        "binomial_floor": by_test_set.assign(significant=by_test_set["beyond"] == 1),
        "printed_tests": by_runs.assign(significant=by_runs["p_3"] < LEVEL),
    }
    for claim in claims:
        if claim.artifact in tested:
            table, source = tested[claim.artifact], claim.source.partition(";")[0]
            several = [f"Table {number}" for number in re.findall(r"\d+", source)]
            meant = table[table["table"].isin([source] if source in set(table["table"]) else several)]
            for column, name in MEANT.get(claim.id, {}).items():
                meant = meant[meant[column] == name]
            held[claim.id] = int((meant["significant"] == (claim.id == SIGNIFICANT)).sum()), len(meant)
    answers = [counted(claim.id, *held[claim.id]) for claim in claims if claim.id in held]
    return ExactStudy({artifact: table for artifact, table in tables.items() if artifact in document.studied}, answers)


def cells(claims: Iterable[Claim]) -> list[tuple[Cell, Claim]]:
    """A paper's accuracies, and other numbers printed with a standard deviation, as the cells of an audit.

    A number in CSV has lost its last zeros: 61.83 was printed as 61.830 in a table of three decimals. A swept setting
    counts as the variant. A cell without a baseline in its place is compared with nothing.
    """
    found: list[tuple[Cell, Claim]] = []
    names: dict[str, str] = {}
    places: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    units: dict[str, Decimal] = defaultdict(lambda: Decimal(1))
    for claim in claims:
        tested = claim.metric in TESTED
        if claim.kind == "value" and (tested or claim.metric == CONTRASTIVE or claim.reported_std):
            swept = {key: value for key, value in claim.coordinates.items() if key in SWEPT}
            setting = {key: value for key, value in claim.coordinates.items() if key not in swept}
            cell = Cell(
                where=names.setdefault(claim.artifact, claim.source),
                row=coordinates.text(swept) or claim.variant,
                column="\t".join((claim.method, claim.dataset, coordinates.setting(setting))),
                metric=str(claim.metric),
                mean=Decimal(f"{claim.reported:.10g}"),
                std=None if claim.reported_std is None else Decimal(f"{claim.reported_std:.10g}"),
                n_test=TEST_SIZES.get(str(claim.coordinates.get("target", claim.dataset))) if tested else None,
            )
            places[cell.where, cell.column, cell.metric].add(cell.row)
            units[cell.where] = min(units[cell.where], Decimal(1).scaleb(int(cell.mean.as_tuple().exponent)))
            found.append((cell, claim))

    completed = []
    for cell, claim in found:
        variants, one = places[cell.where, cell.column, cell.metric], units[cell.where]
        baseline = next((name for name in BASELINES if name in variants and cell.row not in BASELINES), cell.row)
        std = None if cell.std is None else cell.std.quantize(one)
        completed.append((cell._replace(mean=cell.mean.quantize(one), std=std, baseline=baseline), claim))
    return completed


def in_order(tables: Iterable[str]) -> list[str]:
    """Sorted by number, the main text first: ``Table 2``, ``Table 10``, ``Table A.3``."""
    parted = {table: re.split(r"(\d+)", table) for table in tables}
    return sorted(parted, key=lambda table: [int(part) if part.isdigit() else part for part in parted[table]])


def binomial_effects(cells: Iterable[Cell], repeated: tuple[str, str, Sequence[str]] | None = None) -> pd.DataFrame:
    """One row per effect, with its error, and its place in the figure: every variant less its table's baseline.

    Where tables repeat a setting, also the others less the first.
    """
    known = [cell for cell in cells if cell.n_test]
    effects = list(chance.effects(known))
    if repeated is not None:
        together, first, repeats = repeated
        of_first = {cell[1:4]: cell for cell in known if cell.where == first}
        again = [cell for cell in known if cell.where in repeats and cell[1:4] in of_first]
        effects += [Effect(cell._replace(where=together), of_first[cell[1:4]]) for cell in again]
    columns = ["table", "method", "dataset", "setting", "metric", "variant", "difference", "error", "z"]
    rows = [
        (one.cell.where, *one.cell.column.split("\t"), one.cell.metric, one.cell.row, one.difference, one.error, one.z)
        for one in effects
    ]
    table = pd.DataFrame(rows, columns=columns)
    table["beyond"] = (table["z"].abs() >= CRITICAL).astype(int)
    table["by_chance"] = chance.by_chance(len(table))
    by_table = table.groupby("table")
    compares_methods = by_table["method"].nunique().max() > 1  # in some table
    table["series"] = table["method"] if compares_methods else table["variant"]
    spread = (by_table.cumcount() + 0.5) / by_table["z"].transform("size") - 0.5
    table["column"] = table["table"].map({name: k for k, name in enumerate(in_order(table["table"]))})
    table["across"] = table["column"] + 0.8 * spread  # side by side in their table's column, in printed order
    return table


def binomial_floor(cells: Sequence[Cell], effects: pd.DataFrame) -> pd.DataFrame:
    """One row per table: its accuracies and their median floor, its effects and how many are within their error.

    Beside them: how many effects would be beyond their error by chance, and the probability of as many as there are.
    """
    rows = []
    for table in in_order([*(cell.where for cell in cells), *effects["table"]]):
        floors = pd.Series([chance.floor(cell) for cell in cells if cell.where == table], dtype=float)
        compared = effects[effects["table"] == table]
        number, outside = len(compared), int(compared["beyond"].sum())
        furthest = max(compared["z"], key=abs, default=math.nan)
        chances = chance.by_chance(number), chance.as_many_by_chance(outside, number)
        about = floors.count(), floors.isna().sum(), floors.median()
        rows.append((table, *about, number, number - outside, furthest, *chances))
    columns = ["table", "cells", "unknown", "floor", "effects", "within", "furthest", "by_chance", "p_as_many"]
    return pd.DataFrame(rows, columns=columns)


def seed_counts(cells: Sequence[Cell]) -> pd.DataFrame:
    """For each table with informative cells, and each way: how many cells n runs fit, and what fits all of them."""
    numbers = {f"n{n}": n for n in range(1, grim.MOST + 1)}
    rows = []
    for table, way in product(in_order(cell.where for cell in cells), WAYS):
        of_table = [(grim.Printed(one.mean, one.std), one.n_test) for one in cells if one.where == table]
        told = [(number, grim.ways(n_test, False)[way]) for number, n_test in of_table if n_test]
        allowed = [grim.admissible(*one) for one in told if grim.informative(*one)]
        if allowed:
            counts = [sum(n in one for one in allowed) for n in numbers.values()]
            fit_all = " ".join(map(str, grim.common(allowed)))
            rows.append((table, way, len(allowed), *counts, fit_all, allowed.count(())))
    return pd.DataFrame(rows, columns=["table", "way", "cells", *numbers, "all", "none"])


def welch_tests(effects: Iterable[Effect]) -> pd.DataFrame:
    """One row per effect: Welch's p at some numbers of runs, and what it says at those that the decimals allow.

    ``always`` and ``never``: p is below ``LEVEL`` at each number of runs that both accuracies allow, or at none.
    """
    rows = []
    for one in effects:
        below = [one.p(*runs) < LEVEL for runs in one.runs]
        says = (bool(below) and all(below), bool(below) and not any(below))
        method = one.cell.column.split("\t")[0]
        rows.append((one.cell.where, method, one.cell.row, *(one.p(n) for n in SHOWN), *says))
    columns = ["table", "method", "variant", *(f"p_{n}" for n in SHOWN), "always", "never"]
    return pd.DataFrame(rows, columns=columns)


def printed_tests(tests: pd.DataFrame) -> pd.DataFrame:
    """A row for each method and variant of a table that has several, and one for each table.

    Counts of effects with p below ``LEVEL`` at each number of runs, and of what ``welch_tests`` says. Then the range of
    p at three runs, and the chance that as many independent p, uniform where no variant differs, would all be at least
    the smallest.
    """
    below = {f"below_{n}": tests[f"p_{n}"] < LEVEL for n in SHOWN}
    both = pd.concat([tests.assign(**below), tests.assign(**below, method="", variant="")])
    counts = {name: (name, "sum") for name in (*below, "always", "never")}
    by = both.groupby(["table", "method", "variant"], sort=False)
    found = by.agg(effects=("p_3", "size"), **counts, low_3=("p_3", "min"), high_3=("p_3", "max")).reset_index()
    found["chance"] = (1 - found["low_3"]) ** found["effects"]
    one_group = found.groupby("table")["table"].transform("size") == 2
    ranks = {table: rank for rank, table in enumerate(in_order(found["table"]))}
    shown = found[(found["variant"] == "") | ~one_group]
    return shown.sort_values("table", key=lambda tables: tables.map(ranks), kind="stable")


def last_digits(cells: Iterable[tuple[Cell, Claim]]) -> pd.DataFrame:
    """Last digits of accuracies, by table, and by setting and variant where these have enough numbers.

    Where numbers spread over many units of their last decimal, each last digit is as likely as any other. An accuracy
    over T test images moves in steps of 100 / T: with T = 5,000 one run has an even second decimal.
    """
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for cell, claim in cells:
        if claim.metric in TESTED:
            setting = coordinates.setting({key: value for key, value in claim.coordinates.items() if key != "target"})
            for group in ("", f"{setting}, {claim.variant}") if setting else ("",):
                groups[claim.source, group].append(cell.mean.as_tuple().digits[-1])
    rows = []
    for table in in_order(table for table, _ in groups):
        for (where, group), digits in groups.items():
            if where == table and len(digits) >= FEWEST:
                odd = sum(digit % 2 for digit in digits)
                counts = [digits.count(digit) for digit in range(10)]
                rows.append((table, group, len(digits), *counts, odd, chance.odd_p(odd, len(digits))))
    columns = ["table", "group", "numbers", *(f"digit_{digit}" for digit in range(10)), "odd", "p_odd"]
    return pd.DataFrame(rows, columns=columns)
