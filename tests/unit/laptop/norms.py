"""Tables of docs/laptop.md on the norms paper."""

import numpy as np

from ..printed import table as printed
from .records import Record, Row, difference, laptop, mean, measured, paired, records, replaced, value, values

PAPER = "embedding_norms"
EPOCHS = (0, 10, 25, 50, 100)
SETS = ("cifar10_lt", "cifar100_lt", "flowers102_lt")
VARIANTS = {"simclr": ("default", "cut3", "gradscale"), "simsiam": ("default", "cut9")}


def norm_rows(_: list[Row]) -> list[Row]:
    """Accuracy by norm, and norms by dataset, of the encoders of Figs. 3 to 5."""
    rows = []
    for own, other in (("cifar10", "cifar100"), ("cifar100", "cifar10")):
        for method in ("simclr", "simsiam"):
            (record,) = records(PAPER, "fig4", {"method": method, "dataset": own})
            accuracies = measured(record, PAPER, "norm_buckets", "bucket_top1")
            buckets = [one for one in accuracies.values() if one is not None]
            norms = [
                value(
                    record,
                    PAPER,
                    "relative_norms",
                    "relative_norm",
                    target=f"{at}_5k_16px",
                    reading="split=test",
                )
                for at in (own, other)
            ]
            shown = [f"{buckets[0]:.1f}", f"{buckets[-1]:.1f}", *(f"{one:.3f}" for one in norms)]
            rows.append([f"{method}, {own}", *shown])
    return rows


def of_table5(method: str, variant: str, dataset: str) -> list[Record]:
    """Records of one cell."""
    return records(PAPER, "table5", {"method": method, "variant": variant, "dataset": dataset})


def pixels(record: Record, protocol: str, measure: str, target: str) -> str:
    """A probe of the images themselves."""
    digest = laptop().protocols[PAPER][protocol].digest
    (found,) = {
        row["value"]
        for row in record["pixels"]
        if (row["measure"], row["target"], row["protocol"]) == (measure, target, digest)
    }
    return f"{found:.1f}"


def learnt_rows(_: list[Row]) -> list[Row]:
    """Seed 0 at its start and end, beside raw pixels, by three measures."""
    rows = []
    for own, variant in (("cifar10_lt", "default"), ("cifar10_lt", "cut3"), ("cifar100_lt", "default")):
        other = "cifar100_lt" if own == "cifar10_lt" else "cifar10_lt"
        record = of_table5("simclr", variant, own)[0]
        shown = []
        for target, measure, protocol in (
            (own, "knn_top1", "knn"),
            (own, "linear_top1", "linear"),
            (other, "linear_top1", "linear"),
        ):
            named = f"{target}_5k_16px"
            ends = [values([record], PAPER, protocol, measure, epoch=at, target=named) for at in (0, 100)]
            shown += [*map(mean, ends), pixels(record, protocol, measure, named)]
        rows.append([own, variant, *shown])
    return rows


DECAYS = (1e-8, 1e-6, 5e-6, 1e-5)


def decay_rows(_: list[Row]) -> list[Row]:
    """Table 2's SimCLR half: kNN at the end by cut and weight decay; a cut's gain is the mean over decays."""

    def knn(variant: str, decay: float) -> list[float]:
        at = {"method": "simclr", "variant": variant, "optimiser.weight_decay": decay}
        return values(records(PAPER, "table2", at), PAPER, "knn", "knn_top1")

    by_variant = {cut: [knn(cut, decay) for decay in DECAYS] for cut in ("default", "cut2", "cut4", "cut8")}
    over_decays = {cut: np.mean(found, axis=0).tolist() for cut, found in by_variant.items()}
    on_paper = printed(PAPER, "table2", "variant", "optimiser.weight_decay", {"method": "simclr"})
    rows = []
    for cut, found in by_variant.items():
        gain = difference(over_decays[cut], over_decays["default"])
        told = np.mean([on_paper[cut][decay] - on_paper["default"][decay] for decay in DECAYS])
        ends = ["", ""] if cut == "default" else [gain, f"{told:+.1f}"]
        rows.append([cut, str(len(over_decays[cut])), *map(mean, found), *ends])
    return rows


def intervention_rows(_: list[Row]) -> list[Row]:
    """Table 5 as training goes on. A course is shown at epochs that every record has."""
    rows = []
    for dataset in SETS:
        for method, variants in VARIANTS.items():
            others = values(of_table5(method, "default", dataset), PAPER, "knn", "knn_top1")
            for variant in variants:
                found = of_table5(method, variant, dataset)
                if not found:
                    continue
                name = found[0]["run"]["dataset"]["name"].removesuffix("_5k_16px")
                course = [_at(found, epoch) for epoch in EPOCHS]
                effect = difference(values(found, PAPER, "knn", "knn_top1"), others) if variant != "default" else ""
                rows.append([f"{method} {variant}", name, str(len(found)), *course, effect])
    return rows


def _at(found: list[Record], epoch: int) -> str:
    if not all(measured(one, PAPER, "knn", "knn_top1", epoch=epoch) for one in found):
        return ""
    sound = values(found, PAPER, "knn", "knn_top1", epoch=epoch)
    return mean(sound) if len(sound) == len(found) else "diverged"


def reading_rows(_: list[Row]) -> list[Row]:
    """Other readings of Table 5 that have records."""
    rows = []
    axes = [
        {key: cell.coordinates[key] for key in cell.coordinates if key != "measure"}
        for cell in laptop().artifacts[PAPER, "table5_readings"]
    ]
    for at in axes:
        found = records(PAPER, "table5_readings", at, exactly=True)
        more = [f"rate {one}" for key, one in at.items() if key not in ("method", "variant", "dataset")]
        name = ", ".join([f"{at['method']} {at['variant']}", *more])
        if not found or name in [row[0] for row in rows]:
            continue
        largest = [max(row["norm"] or 0 for row in one["history"]) for one in found]
        sound = values(found, PAPER, "knn", "knn_top1")
        others = values(
            records(PAPER, "table5_readings", {**at, "variant": "default"}, exactly=True), PAPER, "knn", "knn_top1"
        )
        rows.append(
            [
                name,
                str(len(found)),
                f"{np.mean(largest):,.0f}" if sound else "diverged",
                mean(sound) or "diverged",
                "" if at["variant"] == "default" else difference(sound, others),
            ]
        )
    return rows


def probe_rows(lines: list[Row]) -> list[Row]:
    """Ways to probe the same encoders; the words of the second column are the page's."""
    encoders = records(PAPER, "open_choices_knn")
    rows = []
    for probe, words, *_ in lines:
        measure, ours = ("linear_top1", "linear_sgd") if probe.startswith("linear") else ("knn_top1", "knn")
        both = [(value(one, PAPER, probe, measure), value(one, PAPER, ours, measure)) for one in encoders]
        whole = [(this, base) for this, base in both if this is not None and base is not None]
        these, bases = ([pair[i] for pair in whole] for i in (0, 1))
        rows.append([probe, words, str(len(whole)), mean(these), "" if probe == ours else paired(these, bases)])
    return rows


def precision_rows(lines: list[Row]) -> list[Row]:
    """bfloat16 beside float32, whose records were once replaced, and count in no other table."""
    rows = []
    for run, *_ in lines:
        variant = "cut3" if run.startswith("cut") else "default"
        (record,) = (one for one in of_table5("simclr", variant, "cifar10_lt") if one["run"]["seed"] == int(run[-1]))
        before = replaced()[record["name"]]
        assert [one["numerics"]["precision"] for one in (before, record)] == ["float32", "bfloat16"]
        rows.append([run, *(mean(values([one], PAPER, "knn", "knn_top1")) for one in (before, record))])
    return rows


def gradscale_norms() -> dict[int, float]:
    """By epoch: the mean norm while GradScale diverges on CIFAR-10."""
    (record,) = (one for one in of_table5("simclr", "gradscale", "cifar10_lt") if one["run"]["seed"] == 0)
    return {row["epoch"]: row["norm"] for row in record["history"]}
