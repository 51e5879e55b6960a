"""Tables of docs/laptop.md on the margins paper."""

from .records import Row, difference, mean, records, values

VARIANTS = {
    "mocov3": ("baseline", "margins", "pos", "pos_curv", "ratio"),
    "simclr": ("baseline", "margins", "pos", "pos_curv", "ratio"),
    "byol": ("baseline", "curv"),
}


def probed(artifact: str, at: dict[str, object], target: str = "") -> list[float]:
    """The linear probe of a cell's runs at their end."""
    found = records("margins", artifact, {"dataset": "cifar10", **at})
    return values(found, "margins", "linear", "linear_top1", target=target)


def table2_rows(_: list[Row]) -> list[Row]:
    """On CIFAR-10, and the transfer to CIFAR-100."""
    rows = []
    for method, variants in VARIANTS.items():
        for variant in variants:
            shown, counts = [], set()
            for target in ("cifar10_5k_16px", "cifar100_5k_16px"):
                these, others = (
                    probed("table2", {"method": method, "variant": one}, target) for one in (variant, "baseline")
                )
                counts.add(len(these))
                shown += [mean(these), "" if variant == "baseline" else difference(these, others)]
            (n,) = counts
            rows.append([method, variant, str(n), *shown])
    return rows


def sweep_rows(_: list[Row]) -> list[Row]:
    """Fig. 3: MoCo v3's emphasised positives against s."""
    sweep = [probed("fig3", {"method": "mocov3", "variant": "pos", "logits.s": s}) for s in (2, 5, 10, 20, 40)]
    return [["linear probe", *map(mean, sweep)]]


def rate_rows(_: list[Row]) -> list[Row]:
    """The same at smaller learning rates."""
    rows = []
    for rate in (0.06, 0.02, 0.006):
        both = [
            probed("pos_rates", {"variant": variant, "optimiser.learning_rate": rate})
            for variant in ("baseline", "pos")
        ]
        rows.append([f"{rate:g}", *map(mean, both)])
    return rows
