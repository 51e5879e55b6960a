"""How much of a printed accuracy, or of a printed effect, the size of the test set alone leaves to chance.

An accuracy p over n test examples has the binomial standard error sqrt(p (1 - p) / n): its floor. The difference of two
has the root of the sum of both squares: unpaired, since printed numbers do not tell which examples both got right. On
one test set the errors of two encoders go together, so the true error of a difference is smaller; so is that of a mean
over seeds. The noise from run to run comes on top and is in neither.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from hypersphere.declared import coordinates
from hypersphere.declared.claims import Claim, load
from hypersphere.simulations.study import Answer, Context, Study, counted

CRITICAL = 1.96
"""Two-sided 5 % of the normal distribution, in standard errors."""

TEST_SIZES: Mapping[str, int] = {
    # Official test sets; the long-tailed and the biased versions keep the test images of the set they are made from.
    "cifar10": 10_000,
    "cifar100": 10_000,
    "cifar10_lt": 10_000,
    "cifar100_lt": 10_000,
    **{f"corrupted_cifar10_{ratio}": 10_000 for ratio in ("0_5", "1", "2", "5")},
    **{f"colored_mnist_{ratio}": 10_000 for ratio in ("0_5", "1", "2", "5")},
    "stl10": 8_000,
    # Validation sets, the only ones with public labels: 50 images a class.
    "imagenet": 50_000,
    "imagenet100": 5_000,
    "tiny_imagenet": 10_000,
    "flowers102_lt": 1_020,  # 10 a class; the norms paper trains on the official test set, Sec. 6
    # All sentences: in cross-validation each is tested once (sizes as in Kim 2014, Table 1).
    "text_mr": 10_662,
    "text_cr": 3_775,
    "text_subj": 10_000,
    "text_mpqa": 10_606,
}
"""Examples that an accuracy is a share of.

Not here: TREC and MSRP, which have test sets of their own beside the LMCL paper's ten folds; MultiDigits, whose size is
not printed.
"""
TESTED = ("linear_top1", "linear_top5", "knn_top1", "knn_top5", "mlp_top1", "transfer_top1", "text_accuracy")
"""Metrics that are a share of test examples."""
CONTRASTIVE = "contrastive_top1"
"""An accuracy too, over an unknown number of pairs."""

SWEPT = ("logits.s",)
"""Keys of settings by which the rows of a table differ, as others do by their variant (margins, Tables 9 and 10)."""
BASELINES = ("baseline", "default", "nt_xent", "wang_liu", "dp_lambda_0_1", "plain_tau_10", "batch_512", "logits.s=1")
"""What variants are compared with in their table: the plain method; in the double-metric paper's Table 7 at tau = 0.3
the row of another paper; in LMCL's Table 3 its own lambda; in the lecture's Table 5 the better row without
normalisation, and in its Table A.3 the smallest batch; in the margins paper's Tables 9 and 10 no emphasis.
"""
FAILED = "N40"
"""The reading of a run that failed, which is no effect."""
REPEATED = {"double_metric": ("Tables 2 and 5", "Table 2", ("Table 5a", "Table 5b"))}
"""Tables that print accuracies of one setting twice: what they are called together, the first and the others."""

NORMALISED = tuple(f"normalised_tau_{tau}" for tau in ("0_05", "0_1", "0_5", "1"))

PLACE = ["method", "dataset", "setting", "metric"]
CELL = ["table", *PLACE, "variant"]


def floor(accuracy: np.ndarray, examples: np.ndarray) -> np.ndarray:
    """The binomial standard error of an accuracy in percent, in points."""
    return np.asarray(np.sqrt(accuracy * (100 - accuracy) / examples))


def printed_cells(claims: Iterable[Claim]) -> pd.DataFrame:
    """The accuracies of a paper, in the order of its claims; no examples and no floor where the test set is unknown."""
    rows = []
    names: dict[str, str] = {}
    for claim in claims:
        if claim.kind == "value" and claim.metric in (*TESTED, CONTRASTIVE):
            target = claim.coordinates.get("target", claim.dataset)
            known = TEST_SIZES.get(str(target)) if claim.metric in TESTED else None
            place = (claim.method, claim.dataset, *_setting_and_variant(claim))
            row = (names.setdefault(claim.artifact, claim.source), *place, claim.reading, claim.reported, known)
            rows.append(row)
    cells = pd.DataFrame(rows, columns=[*CELL, "reading", "accuracy", "examples"])
    cells = cells.astype({"accuracy": float, "examples": float})
    cells["floor"] = floor(cells["accuracy"].to_numpy(), cells["examples"].to_numpy())
    return cells


def _setting_and_variant(claim: Claim) -> tuple[str, str | None, str]:
    """Setting, metric and variant of a claim; what a table sweeps is its variant, and no setting."""
    swept = {key: value for key, value in claim.coordinates.items() if key in SWEPT}
    rest = {key: value for key, value in claim.coordinates.items() if key not in swept}
    return coordinates.setting(rest), claim.metric, coordinates.text(swept) or claim.variant


def differences(variants: pd.DataFrame, baselines: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Each variant less the baseline at the same place, its unpaired standard error, both in points, and z."""
    both = variants.merge(baselines[[*on, "accuracy", "floor"]], on=on, suffixes=("", "_baseline"))
    both["difference"] = (both["accuracy"] - both["accuracy_baseline"]).round(10)  # printed decimals are exact
    both["error"] = np.hypot(both["floor"], both["floor_baseline"])
    both["z"] = both["difference"] / both["error"]
    return both


def printed_effects(cells: pd.DataFrame, repeated: tuple[str, str, Sequence[str]] | None = None) -> pd.DataFrame:
    """Every variant less its table's baseline; and, where tables print one setting twice, the others less the first."""
    ran = cells[(cells["reading"] != FAILED) & cells["examples"].notna()]
    plain = ran["variant"].isin(BASELINES)
    effects = [differences(ran[~plain], ran[plain], ["table", *PLACE])]
    if repeated is not None:
        together, first, others = repeated
        again = differences(ran[ran["table"].isin(others)], ran[ran["table"] == first], [*PLACE, "variant"])
        effects.append(again.assign(table=together))
    return pd.concat(effects, ignore_index=True)


def beyond(effects: pd.DataFrame) -> pd.Series:
    """Which effects the test set alone does not explain."""
    return effects["z"].abs() >= CRITICAL


def in_order(tables: Iterable[str]) -> list[str]:
    """``Table 2``, ``Table 10``, ``Table A.3``: numbers as numbers, the main text's before the appendix's."""
    return sorted(set(tables), key=_rank)


def _rank(table: str) -> tuple[str, int, str]:
    before, number, after = re.findall(r"(\D*)(\d+)(.*)", table)[0]
    return before, int(number), after


def summary(cells: pd.DataFrame, effects: pd.DataFrame) -> pd.DataFrame:
    """One row a table: its accuracies, their median floor, and its effects below and above their standard errors."""
    rows = []
    for table in in_order([*cells["table"], *effects["table"]]):
        own, compared = cells[cells["table"] == table], effects[effects["table"] == table]
        known = own["floor"].dropna()
        furthest = max(compared["z"], key=abs, default=math.nan)
        within = int((~beyond(compared)).sum())
        rows.append((table, len(known), len(own) - len(known), known.median(), len(compared), within, furthest))
    columns = ["table", "cells", "unknown", "floor", "effects", "within", "furthest"]
    return pd.DataFrame(rows, columns=columns)


class Sentence(NamedTuple):
    """A paper's own claim on the effects of some tables: each is a gain."""

    claim: str
    tables: tuple[str, ...]
    variants: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()


SENTENCES: Mapping[str, tuple[Sentence, ...]] = {
    "margins": (
        Sentence("margins.binomial_floor.ratio", ("Table 2", "Table 3"), ("ratio",)),
        Sentence("margins.binomial_floor.pos", ("Table 2", "Table 3"), ("pos",), ("mocov3",)),
        Sentence("margins.binomial_floor.long", ("Table 9", "Table 10")),
    ),
    "lmcl": (Sentence("lmcl.binomial_floor.table2", ("Table 2",)),),
    "embedding_norms": (Sentence("norms.binomial_floor.table6", ("Table 6",)),),
    "double_metric": (Sentence("dm.binomial_floor.table2", ("Table 2",), ("dm3",)),),
    "lecture": (Sentence("lecture.binomial_floor.normalised", ("Table 5",), NORMALISED),),
}
"""Sentences that the documents themselves make of accuracies. None of them speaks of the test set's error, which is in
the tables and in no claim."""


def answer(sentence: Sentence, effects: pd.DataFrame) -> Answer:
    """In how many of its places a sentence holds."""
    meant = effects["table"].isin(sentence.tables)
    for column, chosen in (("variant", sentence.variants), ("method", sentence.methods)):
        if chosen:
            meant &= effects[column].isin(chosen)
    gains = effects.loc[meant, "difference"]
    return counted(sentence.claim, int((gains > 0).sum()), len(gains))


def attenuation(effects: pd.DataFrame) -> list[Answer]:
    """Margins paper, Sec. 5.5: no effect of Table 1 is significant, which is one of the test set's error."""
    own = effects[effects["table"] == "Table 1"]
    return [counted("margins.binomial_floor.attenuation", int((~beyond(own)).sum()), len(own))]


def margins_against_positives(cells: pd.DataFrame) -> list[Answer]:
    """Margins paper, abstract against Table 2 (M27): for SimCLR, plain margins are above emphasised positives."""
    own = cells[(cells["table"] == "Table 2") & (cells["method"] == "simclr")]
    found = differences(own[own["variant"] == "margins"], own[own["variant"] == "pos"], PLACE)["difference"].tolist()
    return _either_way("margins.binomial_floor.positives_over_margins", found, "M27")


def mean_gains(effects: pd.DataFrame) -> list[Answer]:
    """Margins paper, Sec. 5.6 (M30): the ratio's mean gain, MoCo v3's less SimCLR's, in Tables 2 and 3."""
    found = []
    for table in ("Table 2", "Table 3"):
        own = effects[(effects["table"] == table) & (effects["variant"] == "ratio")]
        moco, simclr = (own.loc[own["method"] == method, "difference"] for method in ("mocov3", "simclr"))
        found.append(sum(moco) / len(moco) - sum(simclr) / len(simclr))
    return _either_way("margins.binomial_floor.ratio_gain", found, "M30")


def _either_way(claim: str, found: Sequence[float], erratum: str) -> list[Answer]:
    """A sentence by which all differences are negative, and the erratum by which they are positive."""
    return [
        counted(claim, sum(value < 0 for value in found), len(found)),
        counted(f"{claim}.{erratum.lower()}", sum(value > 0 for value in found), len(found), erratum),
    ]


def best_of_four(effects: pd.DataFrame) -> list[Answer]:
    """Double-metric paper, Table 4 (D13): the largest of four gains over the baseline, in each row."""
    best = effects[effects["table"] == "Table 4"].groupby(PLACE, sort=False)["difference"].max()
    return [counted("dm.binomial_floor.table4", int((best > 0).sum()), len(best))]


def binomial_floor(context: Context) -> Study:
    """The floors of all accuracies that the context's paper prints, and its effects against them."""
    file = context.config.root / "paper" / "claims" / f"{context.paper}.csv"
    cells = printed_cells(load(file))
    effects = printed_effects(cells, REPEATED.get(context.paper))
    answers = [answer(sentence, effects) for sentence in SENTENCES[context.paper]]
    if context.paper == "margins":
        answers += [*attenuation(effects), *margins_against_positives(cells), *mean_gains(effects)]
    if context.paper == "double_metric":
        answers += best_of_four(effects)
    by_table = effects.groupby("table")
    spread = (by_table.cumcount() + 0.5) / by_table["z"].transform("size") - 0.5
    effects["column"] = effects["table"].map({name: k for k, name in enumerate(in_order(effects["table"]))})
    effects["across"] = effects["column"] + 0.8 * spread  # side by side in their table's column, in printed order
    several = by_table["method"].nunique().max() > 1  # some table has more than one method
    effects["series"] = effects["method"] if several else effects["variant"]
    effects["beyond"] = beyond(effects).astype(int)
    shown = effects[[*CELL, "difference", "error", "z", "beyond", "series", "column", "across"]]
    made = {"binomial_floor": summary(cells, effects), "binomial_effects": shown}
    declared = context.config.papers[context.paper].studied
    return Study({artifact: made[artifact] for artifact in made if artifact in declared}, answers)
