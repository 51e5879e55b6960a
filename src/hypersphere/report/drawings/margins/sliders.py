"""What a margin does to the positive's logit and gradient, by its angle: a slider for the margin's size."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report import sliders
from hypersphere.report.sliders import Panel, Slider

SIZE = (7.0, 3.6)
MEASURED = "Logit of the positive and size of its gradient, by its angle to the anchor"
SLIDER = Slider(
    "Margin m",
    {
        "logit": Panel("Logit of the positive", "angle of the positive (rad)", "logit (nat)", 0.7854),
        "gradient": Panel("Gradient in the angle", "angle of the positive (rad)", "size (nat per rad)", 0.7854),
    },
    {"none": "no margin", "angular": "angular margin", "subtractive": "subtractive margin"},
    (0.2, 0.4, 0.8),
)


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """Three margins."""
    sliders.draw(figure, table, SLIDER)


def note(table: pd.DataFrame) -> str:
    """Setting, and what differs between the two margins."""
    return (
        "InfoNCE (Eq. 5) with τ = 0.25 and 255 negatives at a right angle to the anchor. Either margin is of size m: "
        "m₁ in radians, m₂ in units of cosine. A subtractive margin lowers every logit alike; an angular one turns the "
        f"curve, so that logits rise again beyond π − m₁. {table['stop'].nunique()} margins from "
        f"{table['stop'].min():g} to {table['stop'].max():g}."
    )
