"""Published numbers: what the test set leaves to chance, numbers of runs, Welch's tests, last digits."""

from itertools import cycle

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report import words
from hypersphere.report.studies import Drawing, Layout
from hypersphere.report.style import COLOURS, GREY, MARKERS

UNPAIRED = (
    "Errors come from the size of the test set alone. They are unpaired and upper limits, because two encoders err on "
    "the same images and means over seeds err less. The noise from run to run comes on top."
)
ERRORS = (-20, -10, -5, -2, 0, 2, 5, 10, 20)
"""Where the axis of effects has ticks: so many standard errors."""


def binomial_floor(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """Each table of published accuracies and its floor: the standard error from the size of the test set alone."""
    has_effects = table["effects"] > 0
    shown = {
        "Published in": table["table"],
        "Accuracies": table["cells"],
        "of unknown test size": table["unknown"],
        "Median floor (points)": [words.number(floor, 2) for floor in table["floor"]],
        "Effects": table["effects"],
        "within 1.96 errors": table["within"],
        "Furthest (errors)": [words.with_sign(errors, 1) for errors in table["furthest"]],
        "beyond": table["effects"] - table["within"],
        "beyond by chance": table["by_chance"].map("{:.1f}".format).where(has_effects, "–"),
        "p of as many": table["p_as_many"].map("{:.2g}".format).where(has_effects, "–"),
    }
    note = (
        "Floor: the binomial standard error of an accuracy p over n test examples, root of p (1 - p) / n. An effect is "
        f"a variant minus its table's baseline; its error is the root of both squares. {UNPAIRED} By chance: "
        "one effect in twenty is beyond 1.96 errors if none is real. p: of as many beyond or more, "
        "if effects were independent; those of one table share a baseline, so true p are larger."
    )
    return Layout.of_table(pd.DataFrame(shown), note)


def binomial_effects(table: pd.DataFrame) -> Drawing:
    beyond = int(table["beyond"].sum())
    chance = table["by_chance"].iloc[0]
    finding = (
        f"{len(table) - beyond} of {len(table)} published effects are within the test set's own error. "
        f"{beyond} are beyond it, where chance alone gives {chance:.1f}"
    )
    note = (
        f"{len(table)} published effects: each variant's accuracy minus that of its table's baseline, divided by the "
        f"binomial standard error of the difference; {beyond} are beyond 1.96 (outside the band). "
        f"The axis is linear up to 2 and logarithmic beyond. {UNPAIRED}"
    )
    measured = "Variant minus baseline, divided by the binomial standard error of that difference"

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axhspan(-1.96, 1.96, color="#E9E9E9", linewidth=0, zorder=0)
        axes.axhline(0, color=GREY, linewidth=0.7, zorder=1)
        by_series = table.groupby("series", sort=False)
        for (name, rows), marker, colour in zip(
            by_series, cycle(MARKERS), cycle(COLOURS), strict=False
        ):
            axes.plot(
                rows["across"],
                rows["z"],
                marker,
                color=colour,
                markersize=4.5,
                label=str(name),
                zorder=3,
            )
        columns = table.drop_duplicates("column").sort_values("column")
        axes.set_xticks(columns["column"], columns["table"])
        axes.set_xlim(-0.5, len(columns) - 0.5)
        for edge in range(1, len(columns)):
            axes.axvline(edge - 0.5, color="#C8C8C8", linewidth=0.6, zorder=1)
        axes.grid(False, axis="x")
        axes.tick_params(axis="x", length=0)
        axes.set_yscale("symlog", linthresh=2, linscale=0.6)
        axes.set_yticks(ERRORS, [words.number(errors, 0) for errors in ERRORS])
        axes.minorticks_off()
        axes.set_ylim(min(-3.0, 1.3 * table["z"].min()), max(3.0, 1.3 * table["z"].max()))
        axes.set_ylabel("effect / its standard error")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")

    return Drawing((7.0, 3.0), measured, draw, note, finding)


def seed_counts(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """How many runs the decimals of published accuracies allow, table by table."""
    names = {"table": "Published in", "way": "If accuracies are", "cells": "Cells"}
    for n in (1, 2, 3, 4, 5, 10):
        names[f"n{n}"] = f"fit n = {n}"
    names |= {"all": "n of every cell", "none": "fit no n"}
    shown = table.fillna({"all": "none"})[list(names)].rename(columns=names)
    note = (
        "A mean of n runs over T test images is a multiple of 100 / (T n) percent. A number of runs fits a cell if one "
        "of these multiples is published so, and the published standard deviation, if there is one, belongs to n whole "
        "numbers of hits. Numbers up to 10 are tried. Only tables whose decimals can exclude a number are here. That "
        "nothing fits says that these assumptions fail (a dropped last batch, a padded one), never that a number is "
        "wrong."
    )
    return Layout.of_table(shown, note)


def printed_tests(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """How many published effects are significant, by Welch's test, at each number of runs."""
    arms = table["method"] + ", " + table["variant"]
    shown = {
        "Published in": table["table"],
        "Effects of": arms.where(table["variant"].notna(), "all"),
        "Effects": table["effects"],
    }
    for n in (2, 3, 5, 10):
        shown[f"p < 0.05 at n = {n}"] = table[f"below_{n}"]
    shown["at every n allowed"] = table["always"]
    shown["at no n allowed"] = table["never"]
    low, high = (table[end].map("{:.2g}".format) for end in ("low_3", "high_3"))
    shown["p at n = 3"] = low + " to " + high
    shown["Chance of no smaller p"] = table["chance"].map("{:.2g}".format)
    note = (
        "Each variant with a published standard deviation is compared with its table's baseline by Welch's test, "
        "as if both were means of n runs; nothing is corrected for the number of tests. Allowed are the numbers of "
        "runs from 2 to 10 that the decimals of both accuracies allow; all, where the decimals tell nothing. Chance of "
        "no smaller p: of as many independent uniform p, all at least as large as the smallest; near 0, the means "
        "agree better than their own deviations let expect."
    )
    return Layout.of_table(pd.DataFrame(shown), note)


def last_digits(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    shown = table.astype(object).fillna({"group": "all"})
    shown["p_odd"] = table["p_odd"].map("{:.2g}".format)
    digits = map(str, range(10))
    shown.columns = ["Published in", "Of", "Accuracies", *digits, "odd", "p of odd or even"]
    note = (
        "Below each digit: how many accuracies end in it, with the zeros of their table. p: exact, two-sided, "
        f"of so many odd digits if odd and even were equally likely; {len(table)} rows are tested, and nothing is "
        "corrected for that. Means of three runs over 10,000 images end in 0, 3 and 7 in the third decimal, means of "
        "five in even digits; one run over 5,000 images has an even second decimal. Quoted numbers, dropped batches "
        "and other test sets change digits too."
    )
    return Layout.of_table(shown, note)
