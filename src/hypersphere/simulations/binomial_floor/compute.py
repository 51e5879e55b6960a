"""The standard error that the size of the test set alone gives to printed accuracies and effects (audit/chance.py)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from hypersphere.audit import chance
from hypersphere.audit.chance import CRITICAL, Effect, as_many_by_chance, by_chance
from hypersphere.audit.table import Cell
from hypersphere.config.claims import load
from hypersphere.simulations.printed import CONTRASTIVE, FAILED, TESTED, cells, in_order
from hypersphere.simulations.study import Context, Study, counted

REPEATED = {"double_metric": ("Tables 2 and 5", "Table 2", ("Table 5a", "Table 5b"))}
"""Tables that print the accuracy of one setting twice: their joint name, the first table, the other tables."""
MARKED = ["table", "method", "dataset", "setting", "metric", "variant", "difference", "error", "z"]


def effects(cells: Sequence[Cell], repeated: tuple[str, str, Sequence[str]] | None = None) -> list[Effect]:
    """Every variant and its table's baseline. Where tables repeat a setting, also the others and the first."""
    known = [cell for cell in cells if cell.n_test]
    found = list(chance.effects(known))
    if repeated is not None:
        together, first, repeats = repeated
        of_first = {cell[1:4]: cell for cell in known if cell.where == first}
        again = [cell for cell in known if cell.where in repeats and cell[1:4] in of_first]
        found += [Effect(cell._replace(where=together), of_first[cell[1:4]]) for cell in again]
    return found


def markers(effects: Iterable[Effect]) -> pd.DataFrame:
    """One row per effect, with its error, and its place in the figure."""
    rows = []
    for effect in effects:
        method, dataset, setting = effect.cell.column.split("\t")
        place = (effect.cell.where, method, dataset, setting, effect.cell.metric, effect.cell.row)
        rows.append((*place, effect.difference, effect.error, effect.z))
    table = pd.DataFrame(rows, columns=MARKED)
    table["beyond"] = (table["z"].abs() >= CRITICAL).astype(int)
    table["by_chance"] = by_chance(len(table))
    by_table = table.groupby("table")
    compares_methods = by_table["method"].nunique().max() > 1  # in some table
    table["series"] = table["method"] if compares_methods else table["variant"]
    spread = (by_table.cumcount() + 0.5) / by_table["z"].transform("size") - 0.5
    table["column"] = table["table"].map({name: k for k, name in enumerate(in_order(table["table"]))})
    table["across"] = table["column"] + 0.8 * spread  # side by side in their table's column, in printed order
    return table


def summary(cells: Sequence[Cell], effects: pd.DataFrame) -> pd.DataFrame:
    """One row per table: its accuracies and their median floor, its effects and how many are within their error.

    Beside them: how many effects would be beyond their error by chance, and the probability of as many as there are.
    """
    rows = []
    for table in in_order([*(cell.where for cell in cells), *effects["table"]]):
        floors = [chance.floor(cell) for cell in cells if cell.where == table]
        known = [one for one in floors if not math.isnan(one)]
        compared = effects[effects["table"] == table]
        number, outside = len(compared), int(compared["beyond"].sum())
        row = {"table": table, "cells": len(known), "unknown": len(floors) - len(known)}
        row |= {"floor": np.median(known) if known else math.nan, "effects": number, "within": number - outside}
        row |= {"furthest": max(compared["z"], key=abs, default=math.nan), "by_chance": by_chance(number)}
        rows.append(row | {"p_as_many": as_many_by_chance(outside, number)})
    return pd.DataFrame(rows)


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


def binomial_floor(context: Context) -> Study:
    """Floors of all printed accuracies of a paper, and its effects in units of their error."""
    every = cells(load(context.config.claims_file(context.paper)))
    printed = [(cell, claim.reading) for cell, claim in every if claim.metric in (*TESTED, CONTRASTIVE)]
    ran = [cell for cell, reading in printed if reading != FAILED]
    effects_of = markers(effects(ran, REPEATED.get(context.paper)))
    answers = []
    for sentence in SENTENCES.get(context.paper, ()):
        chosen = effects_of[effects_of["table"].isin(sentence.tables)]
        for column, names in (("variant", sentence.variants), ("method", sentence.methods)):
            chosen = chosen[chosen[column].isin(names)] if names else chosen
        answers.append(counted(sentence.claim, int((chosen["beyond"] == 0).sum()), len(chosen)))
    tables = {"binomial_floor": summary([cell for cell, _ in printed], effects_of), "binomial_effects": effects_of}
    declared = context.config.papers[context.paper].studied
    return Study({artifact: table for artifact, table in tables.items() if artifact in declared}, answers)
