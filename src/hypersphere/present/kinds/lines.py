"""Lines: a measure against a coordinate, with a panel for each point of ``panels`` (and each measure)."""

OF = "runs"
AXES = {"panels": False, "lines": True, "x": True}
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")
