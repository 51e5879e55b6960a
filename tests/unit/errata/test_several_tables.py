"""What several of the papers' tables say together."""

import statistics

import pytest

MARGINS_TABLE_2_STD = {  # CIFAR-10, CIFAR-100, STL-10, Tiny-ImageNet; without the two rows of the ratio (M19)
    "moco": (0.109, 0.167, 0.175, 0.225),
    "moco.margins": (0.105, 0.254, 0.275, 0.280),
    "moco.pos": (0.159, 0.205, 0.398, 0.405),
    "moco.pos_curv": (0.025, 0.295, 0.057, 0.270),
    "simclr": (0.207, 0.277, 0.145, 0.220),
    "simclr.margins": (0.191, 0.414, 0.220, 0.410),
    "simclr.pos": (0.150, 0.302, 0.248, 0.295),
    "simclr.pos_curv": (0.067, 0.279, 0.156, 0.201),
    "byol": (0.109, 0.140, 0.668, 0.097),
    "byol.curv": (0.085, 0.340, 0.230, 0.564),
}
DOUBLE_METRIC_AT_007 = {  # NT-Xent, DM1 … DM4: Table 2, Table 5, both at temperature 0.07
    "cifar10": ((80.87, 80.82, 80.91, 81.85, 80.38), (77.96, 80.09, 80.33, 79.67, 79.73)),
    "cifar100": ((59.08, 59.63, 58.69, 59.22, 58.36), (56.73, 57.23, 56.82, 58.17, 55.96)),
}
LMCL_TABLE_5_STD = {
    "curl": (53, 32, 86, 38, 121, 42),
    "dcl": (23, 52, 96, 98, 98, 12),
    "hcl": (61, 82, 116, 42, 26, 62),
    "curl.dp": (63, 13, 73, 32, 53, 27),
    "dcl.dp": (33, 93, 87, 67, 93, 37),
    "hcl.dp": (51, 81, 95, 78, 89, 83),
}


def test_x5_noise_floors() -> None:
    """Stds, and the double-metric paper's two values for one setting; its largest gain over NT-Xent is smaller."""
    margins = [std for row in MARGINS_TABLE_2_STD.values() for std in row]
    assert (len(margins), min(margins), max(margins)) == (40, 0.025, 0.668)
    assert statistics.median(margins) == pytest.approx(0.22)
    assert (sum(std < 0.1 for std in margins), sum(std > 0.6 for std in margins)) == (5, 1)
    twice = [abs(a - b) for pair in DOUBLE_METRIC_AT_007.values() for a, b in zip(*pair, strict=True)]
    assert max(twice) == pytest.approx(2.91)
    gains = [max(row[1:]) - row[0] for pair in DOUBLE_METRIC_AT_007.values() for row in pair]
    assert max(gains) == pytest.approx(2.37)
    control = [std for row in LMCL_TABLE_5_STD.values() for std in row]
    assert (min(control), max(control)) == (12, 121)
