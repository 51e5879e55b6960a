"""``hypersphere cost``: counts, sums over shared runs, hours from a stated rate, and what is left out by name."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere.command import cost
from hypersphere.command.cost import CORE, GPU, Amount, Cost, Size, stated
from hypersphere.config import registry
from hypersphere.config.run import Dataset
from hypersphere.datasets.types import CLASS
from hypersphere.speed import rates
from hypersphere.training import work

from ...fixtures import Planned, Refused
from ...golden.released import configured

ROOT = Path(__file__).resolve().parents[3]
TABLE = {
    "draw": "table",
    "title": "Another table",
    "rows": {"method": ["simclr"], "variant": ["baseline", "hot"]},
    "columns": {"dataset": ["cats"]},
    "measure": "knn_top1",
}
"""Of its four runs, two (the baseline of both seeds) are in ``table`` too, which has sixteen."""
TINY = {"run.encoder.width": 2, "run.batch": {"size": 256, "micro": 64}}


@pytest.fixture
def costed(planned: Planned) -> Callable[..., Cost]:
    """``costed(paper={…}, scale={…})``: of a project of two tables."""

    def make(paper: dict[str, Any] | None = None, **changes: Any) -> Cost:
        return Cost(planned(paper=TINY | {"artifacts.other": TABLE} | (paper or {}), **changes))

    return make


def whole(one: Cost) -> Amount:
    return one.amount(one.plan.chosen_artifacts)


def test_a_run_costs_its_steps(costed: Callable[..., Cost]) -> None:
    """Steps: whole batches of the images, four passes each, times epochs; the rest of an epoch's images is left out.

    Of scikit-learn's digits the source's defaults train on 240 of each of ten classes.
    """
    one = costed(
        {"artifacts.table": TABLE, "artifacts.other": TABLE, "variants.hot": {}},
        scale={"seeds": [0]},
    )
    (run,) = one.plan.runs.values()
    assert whole(one).flops == work.flops(run, size=12, classes=10) * 4 * (2400 // 256) * 100
    assert whole(one).hours == pytest.approx(whole(one).flops / 0.02e12 / 3600)
    longer = costed(
        {"artifacts.table": TABLE, "run.schedule.epochs": 101, "variants.hot": {}},
        scale={"seeds": [0]},
    )
    assert whole(longer).flops == whole(one).flops * 101 // 100


def test_shared_runs_are_counted_once(costed: Callable[..., Cost]) -> None:
    """Of 16 and 4 runs two are the same."""
    one = costed()
    table, other = (one.amount([("p", name)]) for name in ("table", "other"))
    assert (table.runs, other.runs, whole(one).runs) == (16, 4, 18)
    assert (table.cells, other.cells, whole(one).cells) == (8, 2, 10)
    assert whole(one).flops == sum(flops for flops in one.flops.values() if isinstance(flops, int))
    assert whole(one).flops < table.flops + other.flops
    assert whole(costed(config={"only": ["p/other"]})) == other


def test_a_measured_rate_counts_for_its_network_alone(costed: Callable[..., Cost]) -> None:
    """At twice the stated rate a network's runs take half the hours; another network's stay as they are."""
    plain = costed()
    (network,) = plain.networks
    for name, times in ((network, 2.0), ("another network, 12 px", 1.0)):
        row = {"device": "Core", "kind": "cpu", "network": name, "tflops": 2 * CORE.tflops}
        rates.write(rates.file_of(plain.plan.config.root, "Core"), rates.COLUMNS, [row])
        one = Cost(plain.plan)
        assert whole(one).hours == pytest.approx(whole(plain).hours / times)
        assert whole(one).measured_hours == (whole(one).hours if times == 2 else 0)
        said = "measured   1 of 1 network, at rates of their own: on Core"
        assert (said in cost.lines(one)) == (times == 2)


def test_the_table_and_the_file(costed: Callable[..., Cost]) -> None:
    """Rows are of cells, runs and core-hours; those of single artifacts are listed when asked for."""
    one = costed()
    every_row = [line.split() for line in cost.lines(one, True)]
    for row in (["p/table", "8", "16", "0.026"], ["p/other", "2", "4", "0.0049"]):
        assert row in every_row
    short = [line.split() for line in cost.lines(one, False)]
    assert [row for row in every_row if row not in short] == [
        ["p/table", "8", "16", "0.026"],
        ["p/other", "2", "4", "0.0049"],
    ]
    *_, every = csv.DictReader(cost.as_csv(one).splitlines())
    assert float(every["device_hours"]) == pytest.approx(whole(one).hours, rel=1e-5)
    assert (
        tuple(int(every[name]) for name in ("cells", "runs", "runs_not_known", "flop"))
        == whole(one)[:-2]
    )
    rough = costed(datasets={"dogs": {"source": {"name": "imagenet100", "size": 16}}})
    assert "roughly    to train on: dogs has about 126,700" in list(cost.lines(rough))


def test_what_is_not_known_is_named_and_not_guessed(costed: Callable[..., Cost]) -> None:
    one = costed(datasets={"dogs": {"source": {"name": "folder", "path": "mine", "size": 32}}})
    text = "\n".join(cost.lines(one))
    assert "not known  8 runs: the size of dogs is not stated" in text
    assert "18 (8 not known)" in text
    assert (
        whole(one).flops
        == whole(costed(paper={"artifacts.table.columns": {"dataset": ["cats"]}})).flops
    )
    vit = {"name": "vit", "image_size": 32, "patch": 8, "depth": 1, "width": 8, "heads": 2}
    refused = costed({"run.encoder": vit, "artifacts.table": TABLE})
    assert all(
        str(found).startswith("simclr with vit cannot be counted")
        for found in refused.flops.values()
    )
    assert whole(refused).flops == 0


def test_the_device_is_the_one_that_would_train(planned: Planned) -> None:
    for device, gpu, used in (("auto", 0, CORE), ("auto", 1, GPU), ("cpu", 1, CORE)):
        scale = {"resources": {"mem_mb": 100, "runtime": 1, "gpu": gpu}}
        plan = planned(config={"device": device}, scale=scale, paper=TINY | {"artifacts": {}})
        assert Cost(plan).device == used


def test_records_cost_nothing(planned: Planned, refused: Refused) -> None:
    with refused("cost", "evidence_only"):
        Cost(planned(config={"evidence_only": True}))


def dataset(source: dict[str, Any], **fields: Any) -> Dataset:
    return Dataset.model_validate({"name": "some", "source": source, **fields})


FEW = {"train_per_class": 3, "test_per_class": 2}


@pytest.mark.parametrize(
    "source",
    [
        {"name": "digits", "task": "turned", "canvas": 9, "shift": 0, **FEW},
        {"name": "part", "base": "digits", "side": 8, **FEW},
        {"name": "colored_mnist", "base": "digits", "conflicting_percent": 5, **FEW},
        {"name": "corrupted_cifar", "base": "digits", "conflicting_percent": 5, "side": 10},
        {"name": "corruptions", "base": "digits", "origin": "made", **FEW},
        {
            "name": "multidigits",
            "scans": "digits",
            "side": 8,
            "canvas": 32,
            "count": 2,
            "train": 5,
            "test": 4,
        },
    ],
)
def test_generated_sets_have_the_size_that_is_stated(source: dict[str, Any]) -> None:
    """Side, classes and training examples of what the loader returns are the oracle."""
    parameters = {key: value for key, value in source.items() if key != "name"}
    arrays = registry.load("datasets", source["name"])(Path("nowhere"), False, **parameters)
    images = arrays.splits["train"].images
    assert stated(dataset(source)) == Size(
        images.shape[1], len(arrays.class_names[CLASS]), len(images)
    )


@pytest.mark.parametrize(
    ("source", "size"),
    [  # as their authors publish them
        ({"name": "cifar", "classes": 10}, (32, 10, 50_000)),
        ({"name": "part", "base": "cifar100", "labels": "coarse"}, (32, 20, 50_000)),
        ({"name": "flowers102", "train": "test", "test": "val"}, (128, 102, 6_149)),
        ({"name": "sentences", "corpus": "text/bookcorpus"}, (13, 1, 70_293_000, True)),
        ({"name": "sentences", "corpus": "novels", "length": 9}, (9, 1, 171_174)),
        ({"name": "sentences", "corpus": "mine"}, None),  # what is not known is not guessed
        ({"name": "folder", "path": "mine", "size": 32}, None),
    ],
)
def test_published_sets(source: dict[str, Any], size: tuple[Any, ...] | None) -> None:
    assert stated(dataset(source)) == (size and Size(*size))


def test_imbalance_leaves_what_the_norms_paper_has() -> None:
    of_cifar = dataset({"name": "cifar", "classes": 10}, imbalance={"head": 5000, "ratio": 1.5})
    assert stated(of_cifar) == Size(32, 10, 14_736)


def test_every_declared_set_but_those_of_sentences_has_a_size() -> None:
    """No encoder is trained on a task of sentences."""
    unknown = [one.source for one in configured().datasets.values() if stated(one) is None]
    assert {source and source.name for source in unknown} == {"text_task"}
