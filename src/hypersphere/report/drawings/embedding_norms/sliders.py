"""What an embedding's norm does to its gradient and to its own growth: a slider for the norm."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report import sliders
from hypersphere.report.sliders import Panel, Slider

SIZE = (7.0, 3.4)
MEASURED = "Size of the cosine's gradient, and growth of the norm in one step along it, by the angle of the pair"
SLIDER = Slider(
    "Norm of the embedding",
    {
        "gradient": Panel("Gradient", "angle of the pair (rad)", "size", 1.571),
        "growth": Panel("Growth of the norm in a step", "angle of the pair (rad)", "growth", 1.571),
    },
    {"plain": "plain", "grad_scale": "GradScale (p = 1)"},
    (0.5, 1.0, 2.0),
)


def draw(figure: Figure, table: pd.DataFrame) -> None:
    """Three norms."""
    sliders.draw(figure, table, SLIDER)


def note(table: pd.DataFrame) -> str:
    """Setting."""
    return (
        "A pair in the plane; the other embedding is fixed. The plain gradient falls as one over the norm, and a step "
        "along it (rate 1) lengthens the embedding, most where the norm is small. GradScale with p = 1 multiplies the "
        f"gradient by the norm. {table['stop'].nunique()} norms from {table['stop'].min():g} to "
        f"{table['stop'].max():g}."
    )
