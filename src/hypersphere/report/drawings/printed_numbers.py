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


def binomial_floor(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """Each table of published accuracies and its floor: the standard error from the size of the test set alone."""
    head = [
        "Published in",
        "Accuracies",
        "of unknown test size",
        "Median floor (points)",
        "Effects",
        "within 1.96 errors",
        "Furthest (errors)",
        "beyond",
        "beyond by chance",
        "p of as many",
    ]
    body = []
    for row in table.to_dict("records"):
        body.append(
            [
                row["table"],
                str(row["cells"]),
                str(row["unknown"]),
                words.number(row["floor"], 2),
                str(row["effects"]),
                str(row["within"]),
                words.signed(row["furthest"], 1),
                str(row["effects"] - row["within"]),
                f"{row['by_chance']:.1f}" if row["effects"] else "–",
                f"{row['p_as_many']:.2g}" if row["effects"] else "–",
            ]
        )
    note = (
        "Floor: the binomial standard error of an accuracy p over n test examples, root of p (1 - p) / n. An effect is "
        f"a variant minus its table's baseline; its error is the root of both squares. {UNPAIRED} By chance: "
        "one effect in twenty is beyond 1.96 errors if none is real. p: of as many beyond or more, "
        "if effects were independent; those of one table share a baseline, so true p are larger."
    )
    return Layout(head, body, note)


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
        looks = zip(cycle(MARKERS), cycle(COLOURS), strict=False)
        for (name, rows), (marker, colour) in zip(
            table.groupby("series", sort=False), looks, strict=False
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
        axes.set_yticks(
            [-20, -10, -5, -2, 0, 2, 5, 10, 20],
            ["−20", "−10", "−5", "−2", "0", "2", "5", "10", "20"],
        )
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
    columns = table.fillna({"all": "none"})[list(names)]
    note = (
        "A mean of n runs over T test images is a multiple of 100 / (T n) percent. A number of runs fits a cell if one "
        "of these multiples is published so, and the published standard deviation, if there is one, belongs to n whole "
        "numbers of hits. Numbers up to 10 are tried. Only tables whose decimals can exclude a number are here. That "
        "nothing fits says that these assumptions fail (a dropped last batch, a padded one), never that a number is "
        "wrong."
    )
    return Layout(
        list(names.values()),
        columns.astype(str).to_numpy().tolist(),
        note,
    )


def printed_tests(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """How many published effects are significant, by Welch's test, at each number of runs."""
    counts = {"effects": "Effects"}
    for n in (2, 3, 5, 10):
        counts[f"below_{n}"] = f"p < 0.05 at n = {n}"
    counts |= {"always": "at every n allowed", "never": "at no n allowed"}
    head = [
        "Published in",
        "Effects of",
        *counts.values(),
        "p at n = 3",
        "Chance of no smaller p",
    ]
    body = []
    for row in table.fillna("").to_dict("records"):
        body.append(
            [
                row["table"],
                f"{row['method']}, {row['variant']}" if row["variant"] else "all",
                *(str(row[name]) for name in counts),
                f"{row['low_3']:.2g} to {row['high_3']:.2g}",
                f"{row['chance']:.2g}",
            ]
        )
    note = (
        "Each variant with a published standard deviation is compared with its table's baseline by Welch's test, "
        "as if both were means of n runs; nothing is corrected for the number of tests. Allowed are the numbers of "
        "runs from 2 to 10 that the decimals of both accuracies allow; all, where the decimals tell nothing. Chance of "
        "no smaller p: of as many independent uniform p, all at least as large as the smallest; near 0, the means "
        "agree better than their own deviations let expect."
    )
    return Layout(head, body, note)


def last_digits(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    digits = [str(digit) for digit in range(10)]
    head = ["Published in", "Of", "Accuracies", *digits, "odd", "p of odd or even"]
    cells = table.astype(object).fillna({"group": "all"}).astype(str)
    cells["p_odd"] = [f"{p:.2g}" for p in table["p_odd"]]
    note = (
        "Below each digit: how many accuracies end in it, with the zeros of their table. p: exact, two-sided, "
        f"of so many odd digits if odd and even were equally likely; {len(table)} rows are tested, and nothing is "
        "corrected for that. Means of three runs over 10,000 images end in 0, 3 and 7 in the third decimal, means of "
        "five in even digits; one run over 5,000 images has an even second decimal. Quoted numbers, dropped batches "
        "and other test sets change digits too."
    )
    return Layout(head, cells.to_numpy().tolist(), note)
