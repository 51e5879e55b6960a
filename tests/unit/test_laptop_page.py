"""docs/laptop.md quotes what the records in evidence/laptop/ hold, read here with the json module alone."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hypersphere.declared import plan as planning

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "laptop.md"
EPOCHS = (0, 10, 25, 50, 100)


def table(first_heading: str) -> list[list[str]]:
    """The rows of the page's table whose first column has that heading."""
    text = PAGE.read_text(encoding="utf-8")
    block = next(block for block in re.split(r"\n\n", text) if block.startswith(f"| {first_heading} |"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()[2:]]


def the_record(**run: Any) -> dict[str, Any]:
    """The one record of seed 0 whose run has these fields."""
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
        if settings["seed"] == 0 and {key: fields[key] for key in run} == run:
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
    plan = planning.make(ROOT, {"scale": "laptop"})
    return {name: protocol.digest for of in plan.protocols.values() for name, protocol in of.items()}


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


def test_accuracies_of_the_interventions_are_those_of_all_records(digests: dict[str, str]) -> None:
    expected = set()
    for path in (ROOT / "evidence" / "laptop").glob("*_lt_5k_16px-*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        method, variant, dataset, seed, _ = record["name"].split("-")
        at = {"measure": "knn_top1", "protocol": digests["knn"], "target": dataset}
        values = {row["epoch"]: row["value"] for row in record["evaluations"] if {key: row[key] for key in at} == at}
        shown = ["" if e not in values else "diverged" if values[e] is None else f"{values[e]:.1f}" for e in EPOCHS]
        name = f"{method} {variant.rstrip('1') if variant.startswith('grad') else variant}"
        expected.add((name, dataset.removesuffix("_5k_16px"), seed[1:], *shown))
    assert {tuple(line) for line in table("run")} == expected
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    history = the_record(method="simclr", dataset="cifar10_lt_5k_16px", epochs=19)["history"]
    norms = {row["epoch"]: row["norm"] for row in history}
    assert f"{norms[2]:.1f} after two epochs, {norms[10]:.0f} after ten, {norms[17]:.0f} after seventeen, " in text
    assert f"{round(norms[18], -3):,.0f} after eighteen" in text


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
