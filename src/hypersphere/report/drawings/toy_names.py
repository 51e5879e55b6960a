"""Names of the toy study's datasets and spaces, in printed order."""

DATASETS = {"three_bars": "Three-Bars", "nested_moons": "Nested-Moons"}
SPACES = {
    "euclidean": "Euclidean space",
    "cl": "conventional CL",
    "lmcl_mean": "LMCL, mean over pairs",
    "lmcl_sum": "LMCL, sum over pairs",
}
READINGS = (
    "LMCL is measured twice, because the paper omits its regulariser's normaliser: with the mean over a batch's pairs, "
    "and with their sum."
)
