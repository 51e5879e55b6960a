"""What the temperature does to the weights of negatives: a slider for the temperature."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.present import sliders
from hypersphere.present.sliders import Panel, Slider

SIZE = (7.0, 3.2)
MEASURED = "Share of negatives in the gradient of all of them"
SLIDER = Slider(
    "Temperature τ",
    {
        "each": Panel("Each negative's share", "cosine with the anchor", "share (%)", 0.5),
        "hardest": Panel("The hardest negatives' share", "hardest negatives (% of all)", "share (%)", 9.877),
    },
    {"share": "share"},
    (0.07, 0.2, 1.0),
)


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """Three temperatures."""
    sliders.draw(figure, table, SLIDER)


def finding(table: pd.DataFrame) -> str:
    """What a low and a high temperature leave to the hardest tenth."""
    part = table[(table["panel"] == "hardest") & (table["x"] == SLIDER.panels["hardest"].at)].set_index("stop")["y"]
    low, high = SLIDER.stills[0], SLIDER.stills[-1]
    return (
        f"The hardest tenth of negatives has {part[low]:.0f} % of the gradient at τ = {low:g}, {part[high]:.0f} % at 1"
    )


def note(table: pd.DataFrame) -> str:
    """Setting."""
    negatives = int((table[table["panel"] == "each"].groupby("stop").size()).iloc[0])
    return (
        f"InfoNCE of one anchor with a positive at cosine 0.9 and {negatives} negatives at evenly spaced cosines from "
        "−1 to 1. A negative's weight is the derivative of the loss in its cosine; shares are of their sum. "
        f"{table['stop'].nunique()} temperatures from {table['stop'].min():g} to {table['stop'].max():g}."
    )
