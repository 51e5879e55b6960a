"""Whether every method of the lecture's table, as `make reproduce` trained it, beats its own untrained encoder.

python .ci/check_learns.py RESULTS: the linear probe of each of five pretrainings at the last epoch less that at epoch
0, and the 95 % t interval of the mean, which must lie above zero. kNN is printed beside it: the untrained encoder is
good at that on these images, and few methods beat it.
"""

import sys
from pathlib import Path

import pandas as pd
import scipy.stats

from hypersphere import registry

SEEDS = 5
ASSERTED, PRINTED = "linear_top1", "knn_top1"


def gains(measurements: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Points that training adds: a row for each seed, a column for each method."""
    rows = measurements[(measurements["paper"] == "lecture") & (measurements["metric"] == metric)]
    rows = rows[rows["method"] != "control"]
    trained, untrained = (
        rows[chosen].pivot(index="seed", columns="method", values="value")
        for chosen in (rows["final"], rows["epoch"] == 0)
    )
    return trained - untrained


def interval(values: pd.Series) -> tuple[float, float]:
    """Mean, and half the width of its 95 % t interval."""
    half = scipy.stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
    return float(values.mean()), float(half)


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
        (mean, half), (near, width) = interval(asserted[method]), interval(printed[method])
        lines.append(f"{method}: linear probe {mean:+.1f} ± {half:.1f}, kNN {near:+.1f} ± {width:.1f} (n = {SEEDS})")
        failed += [method] if mean - half <= 0 else []
    if failed:
        raise SystemExit("\n".join([*lines, f"no better than untrained: {', '.join(failed)}"]))
    return lines


if __name__ == "__main__":
    print("\n".join(check(pd.read_csv(Path(sys.argv[1]) / "statistics" / "measurements.csv"))))
