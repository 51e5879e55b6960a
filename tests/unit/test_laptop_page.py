"""docs/laptop.md quotes what the records in evidence/laptop/ hold, read here with the json module alone."""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hypersphere.declared import plan as planning

from .printed import table as printed

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "laptop.md"
EPOCHS = (0, 10, 25, 50, 100)
TRIED = ("open_choices", "table5_readings")


def table(first_heading: str) -> list[list[str]]:
    """The rows of the page's table whose first column has that heading."""
    text = PAGE.read_text(encoding="utf-8")
    block = next(block for block in re.split(r"\n\n", text) if block.startswith(f"| {first_heading} |"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()[2:]]


Cell = tuple[str, ...]


@cache
def laptop() -> planning.Plan:
    """The plan of the laptop scale, made once."""
    return planning.make(ROOT, {"scale": "laptop"})


@cache
def records(paper: str, artifact: str) -> dict[Cell, list[dict[str, Any]]]:
    """By the coordinates of an artifact's cells: the records of their runs, by seed."""
    found: dict[Cell, list[dict[str, Any]]] = {}
    for cell in laptop().artifacts[paper, artifact]:
        paths = [] if cell.run is None else sorted((ROOT / "evidence" / "laptop").glob(f"{cell.run.name}-*.json"))
        for path in paths:
            key = tuple(str(value) for name, value in cell.coordinates.items() if name != "measure")
            found.setdefault(key, []).append(json.loads(path.read_text(encoding="utf-8")))
    return found


def the_record(**run: Any) -> dict[str, Any]:
    """The one record of seed 0 whose run has these fields; those of other choices and readings are left out."""
    tables = {one["name"] for of in records("embedding_norms", "table5").values() for one in of}
    choices = {
        one["name"]
        for tried in TRIED
        for of in records("embedding_norms", tried).values()
        for one in of
        if one["name"] not in tables
    }
    found = []
    for path in sorted((ROOT / "evidence" / "laptop").glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        settings = record["run"]
        fields = {
            "method": settings["method"]["name"],
            "dataset": settings["dataset"]["name"],
            "objective": settings["objective"]["name"],
            "dim": settings["method"].get("dim"),
            "cut": (settings["initialisation"] or {}).get("c"),
            "epochs": record["epochs"],
        }
        if record["name"] in choices or settings["seed"] != 0:
            continue
        if {key: fields[key] for key in run} == run:
            found.append(record)
    (one,) = found
    return one


def last_values(measure: str, protocol: str, **run: Any) -> dict[tuple[str, str], float]:
    """By target and reading: the run's values after its last epoch."""
    record = the_record(**run)
    return {
        (row["target"], row["reading"]): row["value"]
        for row in record["evaluations"]
        if (row["measure"], row["protocol"], row["epoch"]) == (measure, protocol, record["epochs"])
    }


@pytest.fixture(scope="module")
def digests() -> dict[str, str]:
    """Of the protocols by name, with the laptop scale's parameters."""
    return {name: protocol.digest for of in laptop().protocols.values() for name, protocol in of.items()}


def test_norms_and_accuracies_are_those_of_the_records(digests: dict[str, str]) -> None:
    for encoder, *quoted in table("encoder"):
        method, _, name = encoder.partition(", ")
        sets = {key: f"{key}_5k_16px" for key in ("cifar10", "cifar100")}
        own, other = sets[name], sets["cifar100" if name == "cifar10" else "cifar10"]
        run = {"method": method, "dataset": own, "epochs": 102}
        buckets = last_values("bucket_top1", digests["norm_buckets"], **run)
        shown = [value for (target, _), value in buckets.items() if target == own and value is not None]
        norms = last_values("relative_norm", digests["relative_norms"], **run)
        expected = [f"{shown[0]:.1f}", f"{shown[-1]:.1f}"]
        expected += [f"{norms[at, 'split=test']:.3f}" for at in (own, other)]
        assert quoted == expected, encoder


def test_accuracies_are_those_of_the_records(digests: dict[str, str]) -> None:
    sets = ("cifar10_lt", "cifar100_lt")
    for own, variant, *quoted in table("trained on"):
        other = sets[own == sets[0]]
        cut = 3.0 if variant == "cut3" else None
        record = the_record(method="simclr", dataset=f"{own}_5k_16px", epochs=100, cut=cut)
        cells = [(own, "knn_top1", "knn"), (own, "linear_top1", "linear"), (other, "linear_top1", "linear")]
        expected = []
        for target, measure, protocol in cells:
            at = {"target": f"{target}_5k_16px", "measure": measure, "protocol": digests[protocol]}
            rows = [row for row in record["evaluations"] if {key: row[key] for key in at} == at]
            accuracies = {row["epoch"]: f"{row['value']:.1f}" for row in rows}
            (pixels,) = (row["value"] for row in record["pixels"] if {key: row[key] for key in at} == at)
            expected += [accuracies.get(0, ""), accuracies[100], f"{pixels:.1f}"]
        assert quoted == expected, (own, variant)


def values(record: dict[str, Any], measure: str, target: str, protocol: str) -> dict[int, float | None]:
    """By epoch; None where the run had diverged."""
    at = {"measure": measure, "protocol": protocol, "target": target, "reading": ""}
    return {row["epoch"]: row["value"] for row in record["evaluations"] if {key: row[key] for key in at} == at}


def difference(these: list[float], others: list[float]) -> str:
    """Of two means, with scipy's 95 % interval by Welch where both have several runs."""
    text = f"{np.mean(these) - np.mean(others):+.1f}"
    if min(len(these), len(others)) < 2:
        return text
    interval = stats.ttest_ind(these, others, equal_var=False).confidence_interval(0.95)
    return f"{text} [{interval.low:+.1f}, {interval.high:+.1f}]"


def test_the_effects_of_the_interventions_are_those_of_all_records(digests: dict[str, str]) -> None:
    of_cells = records("embedding_norms", "table5")
    knn = {
        key: [values(one, "knn_top1", one["run"]["dataset"]["name"], digests["knn"]) for one in of]
        for key, of in of_cells.items()
    }
    expected = set()
    for (method, variant, dataset), of in knn.items():
        named = of_cells[method, variant, dataset][0]["run"]["dataset"]["name"].removesuffix("_5k_16px")
        shown, last = [], [one.get(100) for one in of]
        for epoch in EPOCHS:
            each = [one[epoch] for one in of if epoch in one]
            known = [value for value in each if value is not None]
            mean = "diverged" if len(known) < len(each) else f"{np.mean(known):.1f}" if known else ""
            shown.append(mean if len(each) == len(of) else "")
        sound = [value for value in last if value is not None]
        others = [one[100] for one in knn[method, "default", dataset]]
        effect = difference(sound, [value for value in others if value is not None]) if sound else ""
        row = (f"{method} {variant}", named, str(len(of)), *shown, "" if variant == "default" else effect)
        expected.add(row)
    assert {tuple(line) for line in table("intervention")} == expected
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    history = the_record(method="simclr", dataset="cifar10_lt_5k_16px", epochs=19)["history"]
    norms = {row["epoch"]: row["norm"] for row in history}
    assert f"{norms[2]:.1f} after two epochs, {norms[10]:.0f} after ten, {norms[17]:.0f} after seventeen, " in text
    assert f"{round(norms[18], -3):,.0f} after eighteen" in text


def test_the_readings_that_were_tried_are_those_of_the_records(digests: dict[str, str]) -> None:
    cells = records("embedding_norms", "table5_readings")
    knn = {
        key: [
            values(one, "knn_top1", "cifar10_lt_5k_16px", digests["knn"])[one["run"]["schedule"]["epochs"]]
            for one in of
        ]
        for key, of in cells.items()
    }
    expected = []
    for (method, variant, dataset, *more), of in knn.items():
        largest = [max(row["norm"] or 0 for row in one["history"]) for one in cells[method, variant, dataset, *more]]
        others = [value for value in knn.get((method, "default", dataset, *more), []) if value is not None]
        sound = [value for value in of if value is not None]
        expected.append(
            (
                ", ".join([f"{method} {variant}", *(f"rate {rate}" for rate in more)]),
                str(len(of)),
                f"{np.mean(largest):,.0f}" if sound else "diverged",
                f"{np.mean(sound):.1f}" if sound else "diverged",
                "" if variant == "default" or not sound or not others else difference(sound, others),
            )
        )
    assert [tuple(line) for line in table("reading")] == expected


def test_choices_of_the_probe_are_those_of_the_records() -> None:
    protocols = laptop().protocols["embedding_norms"]
    (record,) = (
        one
        for one in records("embedding_norms", "open_choices_knn")["simclr", "default", "cifar10_lt", "knn"]
        if one["run"]["seed"] == 0
    )
    for probe, *quoted in table("probe"):
        measure = "linear_top1" if probe.startswith("linear") else "knn_top1"
        of_ours = "linear_sgd" if measure == "linear_top1" else "knn"
        value, ours = (
            values(record, measure, "cifar10_lt_5k_16px", protocols[name].digest)[100] for name in (probe, of_ours)
        )
        assert value is not None
        assert ours is not None
        assert quoted[-2:] == [f"{value:.1f}", "" if probe == of_ours else f"{value - ours:+.1f}"], probe


def test_what_bfloat16_changed_is_said_of_the_records_that_are_kept(digests: dict[str, str]) -> None:
    of_cells = records("embedding_norms", "table5")
    for run, _, kept in table("run"):
        variant = "cut3" if run.startswith("cut") else "default"
        (record,) = (
            one for one in of_cells["simclr", variant, "cifar10_lt"] if one["run"]["seed"] == int(run.split()[-1])
        )
        assert record["numerics"]["precision"] == "bfloat16"
        assert kept == f"{values(record, 'knn_top1', 'cifar10_lt_5k_16px', digests['knn'])[100]:.1f}"


def margins(artifact: str, cell: Cell, target: str = "cifar10_5k_16px") -> list[float]:
    """The linear probe of a cell's runs at their end."""
    protocol = laptop().protocols["margins"]["linear"].digest
    found = [values(one, "linear_top1", target, protocol)[one["epochs"]] for one in records("margins", artifact)[cell]]
    return [value for value in found if value is not None]


def test_margins_are_those_of_the_records() -> None:
    for method, variant, seeds, *quoted in table("method"):
        expected = []
        for target in ("cifar10_5k_16px", "cifar100_5k_16px"):
            these, others = (margins("table2", (method, one, "cifar10"), target) for one in (variant, "baseline"))
            assert seeds == str(len(these))
            expected += [f"{np.mean(these):.1f}", "" if variant == "baseline" else difference(these, others)]
        assert quoted == expected, (method, variant)
    text = PAGE.read_text(encoding="utf-8")
    sweep = [margins("fig3", ("mocov3", "pos", "cifar10", s)) for s in ("2", "5", "10", "20", "40")]
    assert f"| linear probe | {' | '.join(f'{one:.1f}' for (one,) in sweep)} |" in text
    for rate in ("0.06", "0.02", "0.006"):
        both = [margins("pos_rates", ("mocov3", variant, "cifar10", rate))[0] for variant in ("baseline", "pos")]
        assert f"| {rate} | {both[0]:.1f} | {both[1]:.1f} |" in text


def test_losses_are_those_of_the_records(digests: dict[str, str]) -> None:
    for loss, *quoted in table("loss"):
        digit, plain = "colored_mnist_5_5k_14px", "cifar10_5k_16px"
        run = {"method": "simclr", "objective": loss, "epochs": 60}
        biased = last_values("mlp_top1", digests["mlp"], **run, dataset=digit)
        maps = last_values("mlp_top1", digests["activation_maps"], **run, dataset=plain, dim=128)
        sphere = {**run, "dataset": plain, "dim": 3}
        probed = last_values("mlp_top1", digests["mlp"], **sphere)
        spread = last_values("class_spread", digests["on_sphere"], **sphere)
        expected = [f"{biased[digit, bias]:.1f}" for bias in ("", "bias=aligned", "bias=conflicting")]
        expected += [f"{maps[plain, '']:.1f}", f"{probed[plain, '']:.1f}", f"{spread[plain, '']:.3f}"]
        assert quoted == expected, loss


TASKS = ("mr", "cr", "subj", "mpqa", "trec", "msrp")
SENTENCE_METHODS = {"qt": "QT", "qt_dcl": "DCL", "qt_hcl": "HCL"}


def of_sentences(protocol: str, measure: str, method: str, variant: str, task: str, epoch: int) -> list[float]:
    """The values of one cell's runs, at the start (epoch 0) or the end (1)."""
    digest = laptop().protocols["lmcl"][protocol].digest
    found = records("lmcl", "table4").get((method, variant, "bookcorpus", f"text_{task}"), [])
    of_runs = [values(one, measure, f"text_{task}_novels", digest) for one in found]
    return [float(value) for one in of_runs if (value := one.get(epoch)) is not None]


def mean(found: list[float]) -> str:
    """With scipy's 95 % interval of the mean, where there are several."""
    if len(found) < 2:
        return "".join(f"{value:.1f}" for value in found)
    half = stats.t.ppf(0.975, len(found) - 1) * stats.sem(found)
    return f"{np.mean(found):.1f} ± {half:.1f}"


def sentence_rows() -> list[tuple[str, ...]]:
    """Table 4 as the page has it: printed, of the records, and the controls."""
    on_paper, rows = printed("lmcl", "table4", "method.variant", "target"), []
    for method, label in SENTENCE_METHODS.items():
        for variant, suffix in (("default", ""), ("dp", " + DP")):
            each = [of_sentences("sentences", "text_accuracy", method, variant, task, 1) for task in TASKS]
            shown = [f"{on_paper[f'{method}.{variant}'][f'text_{task}']:.1f}" for task in TASKS]
            rows.append((f"{label}{suffix}, printed", "", *shown))
            rows.append((f"{label}{suffix}", str(len(each[0])), *map(mean, each)))
    starts = [of_sentences("sentences", "text_accuracy", "qt", "default", task, 0) for task in TASKS]
    rows.append(("untrained", str(len(starts[0])), *map(mean, starts)))
    for measure in ("bag_of_words_accuracy", "majority_accuracy"):
        found = [of_sentences("sentence_controls", measure, "qt", "default", task, 1) for task in TASKS]
        name = {"b": "bag of 1,000 words", "m": "majority"}[measure[0]]
        rows.append((name, "", *(f"{one:.1f}" for (one,) in found)))
    return rows


def polarisation_rows() -> list[tuple[str, ...]]:
    """With the regulariser minus without, as printed and of the records."""
    on_paper, rows = printed("lmcl", "table4", "method.variant", "target"), []
    for method, label in SENTENCE_METHODS.items():
        arms = [
            [of_sentences("sentences", "text_accuracy", method, variant, task, 1) for task in TASKS]
            for variant in ("dp", "default")
        ]
        tasks = [f"text_{task}" for task in TASKS]
        shown = [f"{on_paper[f'{method}.dp'][task] - on_paper[f'{method}.default'][task]:+.1f}" for task in tasks]
        rows.append((f"{label}, printed", "", *shown))
        if all(arm[0] for arm in arms):
            seeds = " and ".join(str(len(arm[0])) for arm in arms)
            rows.append((label, seeds, *(difference(*pair) for pair in zip(*arms, strict=True))))
    return rows


def distance_rows() -> list[tuple[str, ...]]:
    """Fig. 5's means, of seed 0."""
    rows = []
    digest = laptop().protocols["lmcl"]["sentence_distances"].digest
    for method, variant, name in (("qt", "default", "QT"), ("qt_dcl", "default", "DCL"), ("qt", "dp", "QT + DP")):
        (record,) = records("lmcl", "fig5")[method, variant, "bookcorpus", "neighbours"]
        found = {
            (row["epoch"], row["reading"]): row["value"] for row in record["evaluations"] if row["protocol"] == digest
        }
        shown = [found[1, f"pairs={pairs}"] for pairs in ("neighbours", "apart")]
        rows.append((name, *(f"{value:.3f}" for value in shown), f"{shown[1] - shown[0]:.3f}"))
    return rows


@pytest.mark.parametrize(
    ("heading", "rows"),
    [("sentences", sentence_rows), ("+ DP minus without", polarisation_rows), ("distances", distance_rows)],
)
def test_sentences_are_those_of_the_records(heading: str, rows: Callable[[], list[tuple[str, ...]]]) -> None:
    assert [tuple(line) for line in table(heading)] == rows()


def test_the_words_of_the_tasks_stand_beside_the_printed_columns() -> None:
    """The words themselves are the exact study's; majorities are those of the published numbers of each class."""
    of_tests = {"MR": (5331, 10662), "CR": (2407, 3775), "SUBJ": (5000, 10000), "MPQA": (7294, 10606)}
    of_tests |= {"TREC": (94, 500), "MSRP": (1147, 1725)}  # of training's most frequent class
    for task, majority, words, range_, above in table("task"):
        column = [row[f"text_{task.lower()}"] for row in printed("lmcl", "table4", "method.variant", "target").values()]
        ends = min(column), max(column)
        assert range_ == f"{ends[0]:.1f} to {ends[1]:.1f}"
        assert above == " to ".join(f"{end - float(words):+.1f}" for end in ends).replace("-", "−")
        assert majority == f"{100 * of_tests[task][0] / of_tests[task][1]:.1f}"


def of_agents(measure: str, variant: str, episodes: int = 100) -> list[float]:
    """Swing-up's scores of CURL's runs, by seed."""
    digest = laptop().protocols["lmcl"][measure].digest
    found = records("lmcl", "table5_curves")["curl", variant, "control_swingup", str(episodes)]
    by_epoch = [values(one, measure, "control_swingup_48px", digest) for one in found]
    return [float(value) for one in by_epoch if (value := one.get(episodes)) is not None]


def agent_rows() -> list[list[str]]:
    """The table of the page. Random actions have the first states of the seeds without the regulariser."""
    chance = of_agents("random_score", "default")
    rows = []
    for variant, name in (("default", "CURL"), ("dp", "CURL + DP")):
        last = of_agents("score", variant)
        course = [f"{np.mean(of_agents('score', variant, at)):.0f}" for at in (0, 20, 40, 60, 80, 100)]
        rows.append([name, str(len(last)), *course, difference(last, chance)])
    return [*rows, ["random actions", str(len(chance)), *[""] * 5, f"{np.mean(chance):.0f}", ""]]


def test_agents_are_those_of_the_records() -> None:
    assert table("agent") == agent_rows()
    gain = difference(of_agents("score", "dp"), of_agents("score", "default"))
    assert f"with the regulariser minus without: {gain}" in PAGE.read_text(encoding="utf-8")


def digit_rows() -> list[list[str]]:
    """Linear probes of either digit, with one seed: at the end, and of the untrained network."""
    digest = laptop().protocols["lecture"]["linear_digits"].digest
    rows = []
    for second in ("20", "80"):
        for method, variant, name in (("supervised", "default", "supervised"), ("simclr", "tau_0_2", "SimCLR")):
            dataset = f"multidigits_20_{second}"
            (record,) = records("lecture", "table4")[method, variant, dataset, "digit_1"]
            found = {
                (row["epoch"], row["reading"]): row["value"]
                for row in record["evaluations"]
                if (row["protocol"], row["measure"]) == (digest, "linear_top1")
            }
            last = [f"{found[record['epochs'], f'label=digit_{i}']:.1f}" for i in (1, 2)]
            start = [f"{found[0, f'label=digit_{i}']:.1f}" if method == "simclr" else "" for i in (1, 2)]
            fixed = {"method": method, "variant": variant}
            on_paper = [
                printed("lecture", "table4", "epoch", "dataset", {**fixed, "label": f"digit_{i}"})[""] for i in (1, 2)
            ]
            rows.append([f"20 and {second} px", name, *last, *start, *(f"{row[dataset]:.1f}" for row in on_paper)])
    return rows


def test_digits_are_those_of_the_records() -> None:
    assert table("digits") == digit_rows()
