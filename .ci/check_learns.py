"""Whether every method of the lecture's tables, as `make reproduce` trained it, beats its own untrained encoder.

python .ci/check_learns.py RESULTS: the linear probe of each of five pretrainings at the last epoch less that at epoch
0, and the 95 % t interval of the mean, which must lie above zero. kNN is printed beside it: the untrained encoder is
good at that on these images, and few methods beat it.
"""

import sys
from pathlib import Path

import pandas as pd

from hypersphere.declared import registry
from hypersphere.means import mean_interval

SEEDS, CONFIDENCE = 5, 0.95
TABLE = Path("statistics", "lecture", "methods_untrained", "measurements.csv")
ASSERTED, PRINTED = "linear_top1", "knn_top1"


def gains(measurements: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Points that training adds: a row for each seed, a column for each method."""
    rows = measurements[(measurements["measure"] == measure) & (measurements["method"] != "control")]
    trained, untrained = (
        rows[chosen].pivot(index="seed", columns="method", values="value")
        for chosen in (rows["final"], rows["epoch"] == 0)
    )
    return trained - untrained


def said(values: pd.Series) -> str:
    """Mean, and half the width of its interval."""
    low, high = mean_interval(values.to_numpy(), CONFIDENCE)
    return f"{values.mean():+.1f} ± {(high - low) / 2:.1f}"


def check(measurements: pd.DataFrame) -> list[str]:
    """A line for each method.

    Raises:
        SystemExit: a method or a seed is missing, or a method does not beat its untrained encoder.
    """
    asserted, printed = gains(measurements, ASSERTED), gains(measurements, PRINTED)
    lacking = set(registry.names("methods")) - set(asserted.columns)
    if lacking or len(asserted) != SEEDS or asserted.isna().any(axis=None):
        raise SystemExit(f"the lecture's table lacks {', '.join(sorted(lacking)) or 'a seed of a method'}")
    lines, failed = [], []
    for method in asserted.columns:
        lines.append(f"{method}: linear probe {said(asserted[method])}, kNN {said(printed[method])} (n = {SEEDS})")
        failed += [] if mean_interval(asserted[method].to_numpy(), CONFIDENCE)[0] > 0 else [method]
    if failed:
        raise SystemExit("\n".join([*lines, f"no better than untrained: {', '.join(failed)}"]))
    return lines


if __name__ == "__main__":
    print("\n".join(check(pd.read_csv(Path(sys.argv[1]) / TABLE))))
