"""Tables of docs/laptop.md on the margins paper."""

from .records import Row, difference, mean, records, values

VARIANTS = {
    "mocov3": ("baseline", "margins", "pos", "pos_curv", "ratio"),
    "simclr": ("baseline", "margins", "pos", "pos_curv", "ratio"),
    "byol": ("baseline", "curv"),
}
TRANSFER = {"cifar10": "cifar100", "cifar100": "cifar10"}


def probed(artifact: str, at: dict[str, object], target: str = "") -> list[float]:
    """The linear probe of a cell's runs at their end."""
    found = records("margins", artifact, {"dataset": "cifar10", **at})  # unless ``at`` has another
    return values(found, "margins", "linear", "linear_top1", target=target)


def table2_rows(_: list[Row], dataset: str = "cifar10") -> list[Row]:
    """Variants on a dataset, and the transfer to the other; those with a record."""
    rows = []
    for method, variants in VARIANTS.items():
        for variant in variants:
            shown, counts = [], set()
            for probed_on in (dataset, TRANSFER[dataset]):
                target = f"{probed_on}_5k_16px"
                these, others = (
                    probed("table2", {"dataset": dataset, "method": method, "variant": one}, target)
                    for one in (variant, "baseline")
                )
                counts.add(len(these))
                shown += [mean(these), "" if variant == "baseline" else difference(these, others)]
            (n,) = counts
            if n:
                rows.append([method, variant, str(n), *shown])
    return rows


def cifar100_rows(given: list[Row]) -> list[Row]:
    """The same on CIFAR-100."""
    return table2_rows(given, "cifar100")


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
