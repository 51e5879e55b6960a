"""Distributions of what a probe says of single images, side by side."""

OF = "runs"
AXES = {"panels": False, "rows": False, "x": True}
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")
