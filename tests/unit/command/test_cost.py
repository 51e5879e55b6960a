"""``hypersphere cost``: counts, sums over shared runs, hours from a stated rate, and what is left out by name."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere import files
from hypersphere.command import cli, cost
from hypersphere.command.cost import CORE, GPU, Amount, Cost, Size
from hypersphere.config import project, registry
from hypersphere.config.plan import Plan
from hypersphere.config.run import Dataset
from hypersphere.datasets.types import CLASS
from hypersphere.errors import HypersphereError
from hypersphere.training import work

ROOT = Path(__file__).resolve().parents[3]
Planned = Callable[..., Plan]
RATE = 1e-6
"""A million operations a second."""
TABLE = {
    "draw": "table",
    "title": "Another table",
    "rows": {"method": ["simclr"], "variant": ["baseline", "hot"]},
    "columns": {"dataset": ["cats"]},
    "measure": "knn_top1",
}
"""Of its four runs, two (the baseline of both seeds) are in ``table`` too, which has sixteen."""
TINY = {"run.encoder.width": 2, "run.batch": {"size": 256, "micro": 64}}
CATS = 2400
"""Training images of scikit-learn's digits with the source's defaults: 240 of each of ten classes."""


@pytest.fixture
def costed(planned: Planned) -> Callable[..., Cost]:
    """``costed(paper={…}, scale={…})``: of a project of two tables, at a million operations a second."""

    def make(paper: dict[str, Any] | None = None, **changes: Any) -> Cost:
        return cost.of(planned(paper=TINY | {"artifacts.other": TABLE} | (paper or {}), **changes), RATE)

    return make


def test_a_run_costs_its_steps(costed: Callable[..., Cost]) -> None:
    """Steps: whole batches of the images, four passes each, times epochs; the rest of an epoch's images is left out."""
    one = costed({"artifacts.table": TABLE, "artifacts.other": TABLE, "variants.hot": {}}, scale={"seeds": [0]})
    (run,) = one.plan.runs.values()
    assert one.whole.flops == work.flops(run, size=12, classes=10) * 4 * (CATS // 256) * 100


def test_one_more_epoch_costs_a_hundredth_more(costed: Callable[..., Cost]) -> None:
    before, after = costed().whole, costed({"run.schedule.epochs": 101}).whole
    assert after == before._replace(flops=before.flops * 101 // 100)


def test_shared_runs_are_counted_once(costed: Callable[..., Cost]) -> None:
    """Of 16 and 4 runs two are the same."""
    one = costed()
    table, other = (one.artifacts["p", name] for name in ("table", "other"))
    assert (table.runs, other.runs, one.whole.runs) == (16, 4, 18)
    assert (table.cells, other.cells, one.whole.cells) == (8, 2, 10)
    assert one.whole.flops == sum(flops for flops in one.runs.values() if isinstance(flops, int))
    assert one.whole.flops < table.flops + other.flops
    restricted = costed(config={"only": ["p/other"]})
    assert restricted.artifacts == {("p", "other"): other}
    assert restricted.whole == other


def test_the_file_has_hours_and_plain_numbers(costed: Callable[..., Cost], tmp_path: Path) -> None:
    one, file = costed(), tmp_path / "new" / "cost.csv"
    cost.write(one, file)
    rows = {(row["paper"], row["artifact"]): row for row in csv.DictReader(file.open())}
    assert list(rows) == [("p", "table"), ("p", "other"), ("all", "")]
    whole = rows["all", ""]
    assert tuple(whole) == cost.COLUMNS
    assert float(whole["device_hours"]) == pytest.approx(one.whole.flops / 1e6 / 3600, rel=1e-5)
    assert Amount(*(int(whole[name]) for name in ("cells", "runs", "runs_not_known", "flop"))) == one.whole


def test_what_is_not_known_is_named_and_not_guessed(costed: Callable[..., Cost]) -> None:
    one = costed(datasets={"dogs": {"source": {"name": "folder", "path": "mine", "size": 32}}})
    text = "\n".join(cost.lines(one))
    assert "not known  8 runs: the size of dogs is not known until it is prepared" in text
    assert "18 (8 not known)" in text
    assert (one.whole.runs, one.whole.unknown) == (18, 8)
    assert one.whole.flops == costed(paper={"artifacts.table.columns": {"dataset": ["cats"]}}).whole.flops


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"run.batch": {"size": 3000, "micro": 3000}}, "batch.size 3000 is more than the 2400 examples of cats"),
        (
            {"run.encoder": {"name": "vit", "image_size": 32, "patch": 8, "depth": 1, "width": 8, "heads": 2}},
            "simclr with vit cannot be counted (encoder: vit: image_size is 32",
        ),
    ],
)
def test_a_run_that_cannot_be_counted_is_named(
    costed: Callable[..., Cost], changes: dict[str, Any], reason: str
) -> None:
    one = costed(changes | {"artifacts.table": TABLE})
    assert all(str(found).startswith(reason) for found in one.runs.values())
    assert one.whole.flops == 0


def test_the_table(costed: Callable[..., Cost]) -> None:
    one = costed()
    text = list(cost.lines(one, verbose=True))
    assert text[0] == "scale      small: for tests"
    assert text[1].startswith("device     1e-06 TFLOP/s, stated, not measured: ")
    assert text[3].split() == ["cells", "runs", "operations", "core-hours"]
    assert [line.split()[0] for line in text[4:8]] == ["p", "p/table", "p/other", "all,"]
    assert text[9].startswith("shared     2 artifacts made apart would be 20 runs and ")
    assert text[10] == f"left out   {cost.LEFT_OUT}"
    assert len(list(cost.lines(one))) == len(text) - 2
    header, rule, document, artifact, *_ = cost.page(one).splitlines()
    assert rule.count("|") == header.count("|") == artifact.count("|")
    assert document.startswith("| **p** | 10 | 18 |")
    assert artifact.startswith("| `p/table` | 8 | 16 |")


def test_the_page_has_the_columns_of_today() -> None:
    table = (ROOT / "docs" / "cost.md").read_text().partition(cost.BEGIN)[2].partition(cost.END)[0].strip()
    assert table.startswith("| document, artifact | cells | runs | operations | GPU-hours |\n")


def test_what_is_not_made_is_named(costed: Callable[..., Cost]) -> None:
    left = costed(scale={"leaves_out": ["p/table"]})
    assert left.artifacts.keys() == {("p", "other")}
    assert "not made   1 artifact: left out at this scale" in list(cost.lines(left))
    assert "not made   p/table: left out at this scale" in list(cost.lines(left, verbose=True))
    none = costed(scale={"leaves_out": ["p/table", "p/other"]})
    assert "nothing would be trained" in list(cost.lines(none))


def test_a_rough_number_of_images_is_said(costed: Callable[..., Cost]) -> None:
    one = costed(datasets={"dogs": {"source": {"name": "imagenet100", "size": 16}}})
    assert "roughly    to train on: dogs has about 126,700" in list(cost.lines(one))


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (1e-5, "<0.001"), (0.01234, "0.012"), (3.44, "3.4"), (99.7, "100"), (1234, "1,230")]
)
def test_figures(number: float, text: str) -> None:
    assert cost._figure(number) == text


@pytest.mark.parametrize(
    ("flops", "text"), [(0, "0 FLOP"), (999, "999 FLOP"), (999_600, "1 MFLOP"), (12_345_678, "12.3 MFLOP")]
)
def test_prefixes(flops: int, text: str) -> None:
    assert cost._prefixed(flops) == text


def test_numbers_from_records_cost_nothing_to_train(planned: Planned) -> None:
    with pytest.raises(HypersphereError, match="cost: evidence_only"):
        cost.of(planned(config={"evidence_only": True}))


@pytest.mark.parametrize(("device", "gpu", "used"), [("auto", 0, CORE), ("auto", 1, GPU), ("cpu", 1, CORE)])
def test_the_device_is_the_one_that_would_train(planned: Planned, device: str, gpu: int, used: cost.Device) -> None:
    plan = planned(config={"device": device}, scale={"resources": {"mem_mb": 100, "runtime": 1, "gpu": gpu}})
    assert cost.of(plan).device == used
    assert cost.of(plan, 7).device[:2] == (used.unit, 7)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--tflops", "nan"], "cost: --tflops: must be a positive number (given: nan)"),
        (["--tflops", "0"], "cost: --tflops: must be a positive number (given: 0)"),
        (["--csv", "."], "cost: --csv: must be a file, not a folder (given: '.')"),
    ],
)
def test_wrong_calls_are_answered_in_a_sentence(
    project: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(project())
    assert cli.main(["cost", *words]) == 2
    assert capsys.readouterr().err == f"hypersphere: {sentence}\n"


def test_the_command(
    project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project(paper=TINY))
    assert cli.main(["cost", "--tflops", "2", "--csv", "cost.csv"]) == 0
    assert "all, each run once" in capsys.readouterr().out
    assert Path("cost.csv").read_text().count("\n") == 3


def dataset(source: dict[str, Any] | None, **fields: Any) -> Dataset:
    return Dataset.model_validate({"name": "some", "source": source, **fields})


def loaded(source: dict[str, Any], root: Path) -> tuple[float, int, int]:
    """Side, classes and training examples of what the loader returns, the oracle."""
    parameters = {key: value for key, value in source.items() if key != "name"}
    arrays = registry.load("datasets", source["name"])(root, False, **parameters)
    images = arrays.splits["train"].images
    return images.shape[1], len(arrays.class_names[CLASS]), len(images)


FEW = {"train_per_class": 3, "test_per_class": 2}


@pytest.mark.parametrize(
    "source",
    [
        {"name": "digits"},
        {"name": "digits", "task": "turned", "canvas": 9, "shift": 0, **FEW},
        {"name": "part", "base": "digits", "side": 8},
        {"name": "part", "base": "digits", **FEW},
        {"name": "colored_mnist", "base": "digits", "conflicting_percent": 5, **FEW},
        {"name": "corrupted_cifar", "base": "digits", "conflicting_percent": 5, "side": 10},
        {"name": "corruptions", "base": "digits", "origin": "made", **FEW},
        {"name": "multidigits", "scans": "digits", "side": 8, "canvas": 32, "count": 2, "train": 5, "test": 4},
    ],
)
def test_generated_sets_have_the_size_that_is_stated(source: dict[str, Any]) -> None:
    assert cost.stated(dataset(source)) == Size(*loaded(source, Path("nowhere")))


@pytest.mark.parametrize(
    "source", [{"name": "cifar", "classes": 10}, {"name": "part", "base": "cifar10", "side": 16, **FEW}]
)
def test_cifar_has_the_size_that_is_stated(source: dict[str, Any], real_cifar10: Path) -> None:
    assert cost.stated(dataset(source)) == Size(*loaded(source, real_cifar10))


@pytest.mark.parametrize(
    ("source", "size"),
    [  # as their authors publish them
        ({"name": "mnist"}, (28, 10, 60_000)),
        ({"name": "cifar", "classes": 100}, (32, 100, 50_000)),
        ({"name": "part", "base": "cifar100", "labels": "coarse"}, (32, 20, 50_000)),
        ({"name": "stl10", "size": 64}, (64, 10, 5_000)),
        ({"name": "tiny_imagenet"}, (64, 200, 100_000)),
        ({"name": "flowers102", "train": "test", "test": "val"}, (128, 102, 6_149)),
        ({"name": "biased_ffhq"}, (128, 2, 19_200)),
        ({"name": "sentences", "corpus": "text/bookcorpus"}, (13, 1, 70_293_000, True)),
        ({"name": "sentences", "corpus": "novels", "length": 9}, (9, 1, 171_174)),
    ],
)
def test_published_sets(source: dict[str, Any], size: tuple[Any, ...]) -> None:
    assert cost.stated(dataset(source)) == Size(*size)


@pytest.mark.parametrize(("classes", "head", "ratio", "images"), [(10, 5000, 1.5, 14_736), (100, 500, 1.034, 14_620)])
def test_imbalance_leaves_what_the_norms_paper_has(classes: int, head: int, ratio: float, images: int) -> None:
    found = cost.stated(dataset({"name": "cifar", "classes": classes}, imbalance={"head": head, "ratio": ratio}))
    assert found == Size(32, classes, images)


@pytest.mark.parametrize(
    "source", [None, {"name": "folder", "path": "mine", "size": 32}, {"name": "sentences", "corpus": "mine"}]
)
def test_what_is_not_known_is_not_guessed(source: dict[str, Any] | None) -> None:
    assert cost.stated(dataset(source)) is None


def test_every_declared_set_but_two_kinds_has_a_size() -> None:
    """ImageNet has no loader yet, and no encoder is trained on a task of sentences."""
    unknown = {
        one.source.name if one.source else "none"
        for one in project.load(ROOT, {}).datasets.values()
        if cost.stated(one) is None
    }
    assert unknown == {"none", "text_task"}


def test_a_prepared_copy_knows_better(costed: Callable[..., Cost]) -> None:
    one = costed()
    cats = next(iter(one.plan.runs.values())).dataset
    manifest = one.plan.data_folder(cats) / "manifest.json"
    content = {"splits": {"train": {"images": 7}}, "image_shape": [9, 9, 3], "class_names": {"class": ["a", "b"]}}
    files.write_json(manifest, content)
    assert one.size(cats) == Size(9, 2, 7)
    files.write_json(manifest, {"schema": 0})
    assert one.size(cats) == Size(12, 10, CATS)
