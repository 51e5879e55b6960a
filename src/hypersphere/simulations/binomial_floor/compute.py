"""The standard error that the size of the test set alone gives to printed accuracies and effects.

An accuracy p over n test examples has the binomial standard error sqrt(p (1 - p) / n): its floor. The error of a
difference is the root of the sum of both squares. That is the unpaired error, because printed numbers do not say which
examples both encoders got right. Two encoders err on the same examples of a test set, so the true error of a difference
is smaller; so is the error of a mean over seeds. The noise from run to run is in neither, and comes on top.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from hypersphere.config.claims import Claim, load
from hypersphere.simulations.printed import BASELINES, TEST_SIZES, TESTED, in_order, setting_and_variant
from hypersphere.simulations.study import Answer, Context, Study, counted

CRITICAL = 1.96
"""Two-sided 5 % of the normal distribution, in standard errors."""

CONTRASTIVE = "contrastive_top1"
"""An accuracy over an unknown number of pairs."""

FAILED = "N40"
"""The reading of a failed run. Its difference from the baseline is no effect."""
REPEATED = {"double_metric": ("Tables 2 and 5", "Table 2", ("Table 5a", "Table 5b"))}
"""Tables that print the accuracy of one setting twice: their joint name, the first table, the other tables."""

PLACE = ["method", "dataset", "setting", "metric"]
CELL = ["table", *PLACE, "variant"]


def floor(accuracy: np.ndarray, examples: np.ndarray) -> np.ndarray:
    """The binomial standard error of an accuracy in percent, in points."""
    return np.asarray(np.sqrt(accuracy * (100 - accuracy) / examples))


def printed_cells(claims: Iterable[Claim]) -> pd.DataFrame:
    """The accuracies of a paper, in the order of its claims. Examples and floor are NaN for an unknown test set."""
    rows = []
    names: dict[str, str] = {}
    for claim in claims:
        if claim.kind == "value" and claim.metric in (*TESTED, CONTRASTIVE):
            target = claim.coordinates.get("target", claim.dataset)
            examples = TEST_SIZES.get(str(target)) if claim.metric in TESTED else None
            place = (claim.method, claim.dataset, *setting_and_variant(claim))
            row = (names.setdefault(claim.artifact, claim.source), *place, claim.reading, claim.reported, examples)
            rows.append(row)
    cells = pd.DataFrame(rows, columns=[*CELL, "reading", "accuracy", "examples"])
    cells = cells.astype({"accuracy": float, "examples": float})
    cells["floor"] = floor(cells["accuracy"].to_numpy(), cells["examples"].to_numpy())
    return cells


def differences(variants: pd.DataFrame, baselines: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Variant minus the baseline of the same place, and its unpaired standard error, in points; z, their quotient."""
    pairs = variants.merge(baselines[[*on, "accuracy", "floor"]], on=on, suffixes=("", "_baseline"))
    pairs["difference"] = (pairs["accuracy"] - pairs["accuracy_baseline"]).round(10)  # printed decimals are exact
    pairs["error"] = np.hypot(pairs["floor"], pairs["floor_baseline"])
    pairs["z"] = pairs["difference"] / pairs["error"]
    return pairs


def printed_effects(cells: pd.DataFrame, repeated: tuple[str, str, Sequence[str]] | None = None) -> pd.DataFrame:
    """Every variant minus its table's baseline. Where tables repeat a setting, also the others minus the first."""
    ran = cells[(cells["reading"] != FAILED) & cells["examples"].notna()]
    plain = ran["variant"].isin(BASELINES)
    effects = [differences(ran[~plain], ran[plain], ["table", *PLACE])]
    if repeated is not None:
        together, first, repeats = repeated
        again = differences(ran[ran["table"].isin(repeats)], ran[ran["table"] == first], [*PLACE, "variant"])
        effects.append(again.assign(table=together))
    return pd.concat(effects, ignore_index=True)


def beyond(effects: pd.DataFrame) -> pd.Series:
    """Whether the size of the test set alone does not explain an effect."""
    return effects["z"].abs() >= CRITICAL


def summary(cells: pd.DataFrame, effects: pd.DataFrame) -> pd.DataFrame:
    """One row per table: its accuracies and their median floor, its effects and how many are within their error.

    Beside them: how many effects would be beyond their error by chance, and the probability of as many as there are.
    """
    rows = []
    for table in in_order([*cells["table"], *effects["table"]]):
        accuracies, compared = cells[cells["table"] == table], effects[effects["table"] == table]
        floors = accuracies["floor"].dropna()
        furthest = max(compared["z"], key=abs, default=math.nan)
        outside, number = int(beyond(compared).sum()), len(compared)
        known = (table, len(floors), len(accuracies) - len(floors), floors.median(), number, number - outside, furthest)
        rows.append((*known, by_chance(number), as_many_by_chance(outside, number)))
    columns = ["table", "cells", "unknown", "floor", "effects", "within", "furthest", "by_chance", "p_as_many"]
    return pd.DataFrame(rows, columns=columns)


class Sentence(NamedTuple):
    """A claim that no effect of some tables is significant."""

    claim: str
    tables: tuple[str, ...]
    variants: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()


SENTENCES: Mapping[str, tuple[Sentence, ...]] = {
    "margins": (
        Sentence("margins.binomial_floor.attenuation", ("Table 1",)),
        Sentence("margins.binomial_floor.simclr_pos", ("Table 2",), ("pos",), ("simclr",)),
    ),
    "lmcl": (
        *(Sentence(f"lmcl.binomial_floor.images.{name}", ("Table 2",), (), (name,)) for name in ("cmc", "dcl", "hcl")),
        *(
            Sentence(f"lmcl.binomial_floor.sentences.{name}", ("Table 4",), (), (name,))
            for name in ("qt", "qt_dcl", "qt_hcl")
        ),
    ),
    "embedding_norms": (Sentence("norms.binomial_floor.final", ("Table 4",)),),
    "double_metric": (
        Sentence("dm.binomial_floor.gains", ("Table 2",)),
        Sentence("dm.binomial_floor.repeated", (REPEATED["double_metric"][0],)),
    ),
}
"""What the margins paper says without a test, and for the other papers the same claim as our own, checked against the
test set's error. Sentences about the sign or the size of printed numbers are those of the study ``sentences``."""


def by_chance(effects: int) -> float:
    """How many of so many effects would be beyond their error by chance, if none were real: 5 %, in expectation."""
    return effects * math.erfc(CRITICAL / math.sqrt(2))


def as_many_by_chance(beyond: int, effects: int) -> float:
    """The probability of so many effects or more beyond their error by chance, if none were real.

    It takes effects for independent. Effects of one table share their baseline, so true probabilities are larger.
    """
    return float(stats.binom.sf(beyond - 1, effects, math.erfc(CRITICAL / math.sqrt(2))))


def answer(sentence: Sentence, effects: pd.DataFrame) -> Answer:
    """The number of effects that are not beyond their error."""
    selected = effects["table"].isin(sentence.tables)
    for column, chosen in (("variant", sentence.variants), ("method", sentence.methods)):
        if chosen:
            selected &= effects[column].isin(chosen)
    rows = effects[selected]
    return counted(sentence.claim, int((~beyond(rows)).sum()), len(rows))


def binomial_floor(context: Context) -> Study:
    """Floors of all printed accuracies of a paper, and its effects in units of their error."""
    file = context.config.claims_file(context.paper)
    cells = printed_cells(load(file))
    effects = printed_effects(cells, REPEATED.get(context.paper))
    answers = [answer(sentence, effects) for sentence in SENTENCES.get(context.paper, ())]
    by_table = effects.groupby("table")
    spread = (by_table.cumcount() + 0.5) / by_table["z"].transform("size") - 0.5
    effects["column"] = effects["table"].map({name: k for k, name in enumerate(in_order(effects["table"]))})
    effects["across"] = effects["column"] + 0.8 * spread  # side by side in their table's column, in printed order
    compares_methods = by_table["method"].nunique().max() > 1  # in some table
    effects["series"] = effects["method"] if compares_methods else effects["variant"]
    effects["beyond"] = beyond(effects).astype(int)
    effects["by_chance"] = by_chance(len(effects))
    markers = effects[[*CELL, "difference", "error", "z", "beyond", "by_chance", "series", "column", "across"]]
    tables = {"binomial_floor": summary(cells, effects), "binomial_effects": markers}
    declared = context.config.papers[context.paper].studied
    return Study({artifact: table for artifact, table in tables.items() if artifact in declared}, answers)
