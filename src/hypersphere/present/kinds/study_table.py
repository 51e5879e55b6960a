"""A table of an exact study."""

OF = "study"
FOLDER = "tables"
FORMATS = ("csv", "md", "tex")
