"""The steps as a curve and as a table."""

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.report.studies import Drawing, Layout


def sketch(table: pd.DataFrame) -> Drawing:
    def curve(figure: Figure) -> None:
        figure.subplots().plot(table["step"], table["value"])

    return Drawing((4.0, 2.0), "Halves by step", curve, f"Three steps of {len(table)}.")


def steps(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    printed = {row["variant"]: row["reported"] for row in claims.to_dict("records")}
    body = [[name, "7.0", f"{value:g}"] for name, value in printed.items()]
    return Layout(["Name", "Ours", "Printed"], body, "Steps | γ‖z‖² <script>alert(1)</script>.")
