"""A figure of an exact study."""

OF = "study"
FOLDER = "figures"
FORMATS = ("svg", "png", "csv")
