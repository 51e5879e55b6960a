"""Tables of docs/laptop.md on the lecture."""

from ..printed import table as printed
from .records import Row, mean, records, values, with_interval

PAPER = "lecture"
NETWORKS = (("supervised", "default", "supervised"), ("simclr", "tau_0_2", "SimCLR"))


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
