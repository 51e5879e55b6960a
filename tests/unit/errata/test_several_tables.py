"""What several of the papers' tables say together."""

import statistics

import pytest

from ..printed import table, with_deviations


def test_x5_noise_floors() -> None:
    """Stds, and the double-metric paper's two values for one setting; its largest gain over NT-Xent is smaller."""
    deviations = table("margins", "table2", "method.variant", "dataset", field="reported_std")
    margins = [std for row, cells in deviations.items() if not str(row).endswith("ratio") for std in cells.values()]
    assert (len(margins), min(margins), max(margins)) == (40, 0.025, 0.668)
    assert statistics.median(margins) == pytest.approx(0.22)
    assert (sum(std < 0.1 for std in margins), sum(std > 0.6 for std in margins)) == (5, 1)
    twice = []
    for dataset, artifact in (("cifar10", "table5a"), ("cifar100", "table5b")):
        at_007 = {"dataset": dataset, "objective.temperature": 0.07}
        first, second = (table("double_metric", name, "dataset", "variant", at_007) for name in ("table2", artifact))
        twice.append((first[dataset], second[dataset]))
    assert max(abs(a[loss] - b[loss]) for a, b in twice for loss in b) == pytest.approx(2.91)
    gains = [max(row.values()) - row["nt_xent"] for pair in twice for row in pair]
    assert max(gains) == pytest.approx(2.37)
    control = [std for row in with_deviations("lmcl", "table5", "method.variant").values() for _, std in row]
    assert (min(control), max(control)) == (12, 121)
