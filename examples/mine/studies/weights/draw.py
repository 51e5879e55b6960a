"""The weight of the nearest candidate against the temperature."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.studies import Drawing


def fig1(table: pd.DataFrame) -> Drawing:
    def curve(figure: Figure) -> None:
        axis = figure.subplots()
        axis.plot(table["temperature"], table["weight"], marker="o")
        axis.set(xscale="log", xlabel="temperature τ", ylabel="softmax weight of the nearest")

    note = "Three candidates with cosines of 0.9, 0.5 and 0.1."
    return Drawing((4.0, 2.6), "The weight of the nearest of three candidates", curve, note)
