"""What the toy study's datasets and spaces are called, in the order of print."""

DATASETS = {"three_bars": "Three-Bars", "nested_moons": "Nested-Moons"}
SPACES = {
    "euclidean": "Euclidean space",
    "cl": "conventional CL",
    "lmcl_mean": "LMCL, mean over pairs",
    "lmcl_sum": "LMCL, sum over pairs",
}
READINGS = (
    "LMCL is measured twice, since the paper's regulariser has lost its normaliser: its mean over a batch's pairs, and "
    "their sum."
)
