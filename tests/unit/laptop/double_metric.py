"""Tables of docs/laptop.md on the double-metric paper."""

from .records import Row, difference, mean, records, values

PAPER = "double_metric"
LOSSES = {
    "nt_xent": "NT-Xent",
    **{f"dm{i}": f"DM{i}" for i in (1, 2, 3, 4)},
    **{f"dm{i}_printed": f"DM{i}, printed sign" for i in (1, 2, 3, 4)},
}
TEMPERATURES = (0.01, 0.05, 0.07, 0.1, 1)


def biased(variant: str, bias: str) -> list[float]:
    """Colored MNIST with 5 % of conflicting images."""
    found = records(PAPER, "table4", {"dataset": "colored_mnist_5", "variant": variant})
    return values(found, PAPER, "mlp", "mlp_top1", reading=f"bias={bias}" if bias else "")


def colour_rows(_: list[Row]) -> list[Row]:
    """Of all, aligned and conflicting images."""
    rows = []
    for variant, name in LOSSES.items():
        each = [biased(variant, bias) for bias in ("", "aligned", "conflicting")]
        if each[0]:
            effect = "" if variant == "nt_xent" else difference(each[2], biased("nt_xent", "conflicting"))
            rows.append([name, str(len(each[0])), *map(mean, each), effect])
    return rows


def sphere_rows(_: list[Row]) -> list[Row]:
    """At the end: the probe of 512 features (here 64), of the three coordinates, and the spread in a class."""
    rows = []
    others = values(records(PAPER, "table6", {"variant": "nt_xent"}), PAPER, "mlp", "mlp_top1")
    for variant, name in LOSSES.items():
        found = records(PAPER, "table6_printed" if variant.endswith("printed") else "table6", {"variant": variant})
        features = values(found, PAPER, "mlp", "mlp_top1")
        if features:
            effect = "" if variant == "nt_xent" else difference(features, others)
            coordinates = values(found, PAPER, "mlp_output", "mlp_top1")
            spread = values(found, PAPER, "on_sphere", "class_spread")
            rows.append([name, str(len(features)), mean(features), effect, mean(coordinates), mean(spread, 3)])
    return rows


def temperature_rows(_: list[Row]) -> list[Row]:
    """Table 5a, seed 0."""
    rows = []
    for temperature in TEMPERATURES:
        each = [
            values(
                records(PAPER, "table5a", {"objective.temperature": temperature, "variant": variant})[:1],
                PAPER,
                "mlp",
                "mlp_top1",
            )
            for variant in ("nt_xent", "dm3")
        ]
        rows.append([f"{temperature:g}", *map(mean, each), difference(each[1], each[0])])
    return rows
