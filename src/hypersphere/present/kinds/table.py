"""A table: points down, points across, a mean over seeds in each cell."""

OF = "runs"
AXES = {"rows": True, "columns": True}
FOLDER = "tables"
FORMATS = ("csv", "md", "tex")
