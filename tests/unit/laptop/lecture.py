"""Tables of docs/laptop.md on the lecture."""

from ..printed import table as printed
from .records import Row, laptop, mean, records, values, with_interval

PAPER = "lecture"
NETWORKS = (("supervised", "default", "supervised"), ("simclr", "tau_0_2", "SimCLR"))


def method_rows(_: list[Row]) -> list[Row]:
    """Every method at one setting: kNN and linear probe before and after training, alignment, uniformity, K-means."""
    rows = []
    for method in dict.fromkeys(cell.coordinates["method"] for cell in laptop().artifacts[PAPER, "methods_untrained"]):
        found = records(PAPER, "methods_untrained", {"method": method, "epoch": 200})
        if not found:
            continue
        shown = []
        for protocol, measure in (("knn", "knn_top1"), ("linear", "linear_top1")):
            shown += [mean(values(found, PAPER, protocol, measure, epoch=epoch)) for epoch in (0, None)]
        shown += [mean(values(found, PAPER, "geometry", measure), 2) for measure in ("alignment", "uniformity")]
        rows.append([str(method), str(len(found)), *shown, mean(values(found, PAPER, "clusters", "kmeans_accuracy"))])
    return rows


def digit_rows(_: list[Row]) -> list[Row]:
    """Linear probes of either digit: at the end, of the untrained network, and as printed."""
    rows = []
    for second in (20, 40, 60, 80):
        for method, variant, name in NETWORKS:
            dataset = f"multidigits_20_{second}"
            found = records(PAPER, "table4", {"method": method, "variant": variant, "dataset": dataset})
            if not found:
                continue
            ends, starts, on_paper = [], [], []
            for label in ("digit_1", "digit_2"):
                at = {"reading": f"label={label}"}
                ends.append(with_interval(values(found, PAPER, "linear_digits", "linear_top1", **at)))
                start = values(found, PAPER, "linear_digits", "linear_top1", epoch=0, **at)
                starts.append(mean(start) if method == "simclr" else "")
                fixed = {"method": method, "variant": variant, "label": label}
                on_paper.append(f"{printed(PAPER, 'table4', 'epoch', 'dataset', fixed)[''][dataset]:.1f}")
            rows.append([f"20 and {second} px", name, str(len(found)), *ends, *starts, *on_paper])
    return rows
