"""Tables of docs/laptop.md on large-margin contrastive learning: images, sentences, agents."""

import numpy as np

from ..printed import table as printed
from .records import Row, difference, mean, measured, records, value, values, with_interval

PAPER = "lmcl"
TASKS = ("mr", "cr", "subj", "mpqa", "trec", "msrp")
SENTENCE_METHODS = {"qt": "QT", "qt_dcl": "DCL", "qt_hcl": "HCL"}
IMAGE_METHODS = {"simclr": "SimCLR", "dcl": "DCL", "hcl": "HCL"}
BATCHES = (16, 64, 256)
CLASS_COUNTS = {
    # Of the most frequent class, and of all; TREC's and MSRP's are of the test sets (the tasks' own papers).
    "MR": (5331, 10662),
    "CR": (2407, 3775),
    "SUBJ": (5000, 10000),
    "MPQA": (7294, 10606),
    "TREC": (94, 500),
    "MSRP": (1147, 1725),
}


def image_rows(_: list[Row]) -> list[Row]:
    """Fig. 4 on CIFAR-10: by loss and batch, without and with the regulariser."""
    rows = []
    for method, label in IMAGE_METHODS.items():
        shown = []
        for batch in BATCHES:
            at = {"method": method, "dataset": "cifar10", "batch.size": batch}
            each = [
                values(records(PAPER, "fig4", {**at, "variant": one}), PAPER, "linear", "linear_top1")
                for one in ("default", "dp")
            ]
            shown += [*map(mean, each), difference(each[1], each[0])]
        rows.append([label, *shown])
    return rows


def summed_image_rows(_: list[Row]) -> list[Row]:
    """Batches of 64: without, averaged over pairs, summed over pairs."""
    rows = []
    for method, label in IMAGE_METHODS.items():
        at = {"method": method, "dataset": "cifar10", "batch.size": 64}
        each = [
            values(records(PAPER, artifact, {**at, "variant": variant}), PAPER, "linear", "linear_top1")
            for artifact, variant in (("fig4", "default"), ("fig4", "dp"), ("fig4_sum", "dp_sum"))
        ]
        rows.append([label, *map(mean, each)])
    return rows


def of_sentences(method: str, variant: str, task: str, *, epoch: int | None = None, **of: str) -> list[float]:
    """The values of one cell's runs."""
    found = records(PAPER, "table4", {"method": method, "variant": variant})
    protocol, measure = of.get("protocol", "sentences"), of.get("measure", "text_accuracy")
    return values(found, PAPER, protocol, measure, epoch=epoch, target=f"text_{task}_novels")


def sentence_rows(_: list[Row]) -> list[Row]:
    """Table 4 as the page has it: printed, of the records, and the controls."""
    on_paper, rows = printed(PAPER, "table4", "method.variant", "target"), []
    for method, label in SENTENCE_METHODS.items():
        for variant, suffix in (("default", ""), ("dp", " + DP")):
            each = [of_sentences(method, variant, task) for task in TASKS]
            shown = [f"{on_paper[f'{method}.{variant}'][f'text_{task}']:.1f}" for task in TASKS]
            rows.append([f"{label}{suffix}, printed", "", *shown])
            rows.append([f"{label}{suffix}", str(len(each[0])), *map(with_interval, each)])
    starts = [of_sentences("qt", "default", task, epoch=0) for task in TASKS]
    rows.append(["untrained", str(len(starts[0])), *map(with_interval, starts)])
    for measure, name in (("bag_of_words_accuracy", "bag of 1,000 words"), ("majority_accuracy", "majority")):
        found = [
            set(of_sentences("qt", "default", task, protocol="sentence_controls", measure=measure)) for task in TASKS
        ]
        rows.append([name, "", *(f"{one:.1f}" for (one,) in found)])
    return rows


def polarisation_rows(_: list[Row]) -> list[Row]:
    """With the regulariser minus without, as printed and of the records."""
    on_paper, rows = printed(PAPER, "table4", "method.variant", "target"), []
    for method, label in SENTENCE_METHODS.items():
        shown = [
            on_paper[f"{method}.dp"][f"text_{task}"] - on_paper[f"{method}.default"][f"text_{task}"] for task in TASKS
        ]
        rows.append([f"{label}, printed", "", *(f"{one:+.1f}" for one in shown)])
        arms = [[of_sentences(method, variant, task) for task in TASKS] for variant in ("dp", "default")]
        seeds = " and ".join(str(len(arm[0])) for arm in arms)
        rows.append([label, seeds, *(difference(*pair) for pair in zip(*arms, strict=True))])
    return rows


def summed_rows(_: list[Row]) -> list[Row]:
    """With the regulariser summed over pairs, minus without; seed 0."""
    rows = []
    for method, label in SENTENCE_METHODS.items():
        arms = []
        for variant in ("dp_sum", "default"):
            found = records(PAPER, "table4_sum", {"method": method, "variant": variant})
            arms.append(
                [values(found, PAPER, "sentences", "text_accuracy", target=f"text_{task}_novels") for task in TASKS]
            )
        rows.append([label, *(difference(*pair) for pair in zip(*arms, strict=True))])
    return rows


def distance_rows(_: list[Row]) -> list[Row]:
    """Fig. 5's means, of seed 0."""
    rows = []
    for method, variant, name in (("qt", "default", "QT"), ("qt_dcl", "default", "DCL"), ("qt", "dp", "QT + DP")):
        (record,) = records(PAPER, "fig5", {"method": method, "variant": variant})
        found = measured(record, PAPER, "sentence_distances", "distance")
        shown = [found["pairs=neighbours"], found["pairs=apart"]]
        rows.append([name, *(f"{one:.3f}" for one in shown), f"{shown[1] - shown[0]:.3f}"])
    return rows


def word_rows(lines: list[Row]) -> list[Row]:
    """The accuracy of counted words is the exact study's; majorities are those of the tasks' class counts."""
    rows = []
    for task, _, words, *_ in lines:
        column = [row[f"text_{task.lower()}"] for row in printed(PAPER, "table4", "method.variant", "target").values()]
        ends = min(column), max(column)
        majority = f"{100 * CLASS_COUNTS[task][0] / CLASS_COUNTS[task][1]:.1f}"
        above = " to ".join(f"{end - float(words):+.1f}" for end in ends).replace("-", "−")
        rows.append([task, majority, words, f"{ends[0]:.1f} to {ends[1]:.1f}", above])
    return rows


def of_agents(measure: str, variant: str, episodes: int = 100) -> list[float]:
    """Swing-up's scores of CURL's runs, by seed."""
    found = records(PAPER, "table5_curves", {"variant": variant, "dataset": "control_swingup"})
    each = [value(one, PAPER, measure, measure, epoch=episodes) for one in found]
    return [one for one in each if one is not None]


def agent_rows(_: list[Row]) -> list[Row]:
    """Random actions have the first states of the seeds without the regulariser."""
    chance = of_agents("random_score", "default")
    rows = []
    for variant, name in (("default", "CURL"), ("dp", "CURL + DP")):
        last = of_agents("score", variant)
        course = [f"{np.mean(of_agents('score', variant, at)):.0f}" for at in (0, 20, 40, 60, 80, 100)]
        rows.append([name, str(len(last)), *course, difference(last, chance)])
    return [*rows, ["random actions", str(len(chance)), *[""] * 5, f"{np.mean(chance):.0f}", ""]]
