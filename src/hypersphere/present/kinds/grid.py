"""A heat map: one coordinate down, one across, a mean over seeds in each square."""

OF = "runs"
AXES = {"panels": False, "rows": True, "columns": True}
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")
