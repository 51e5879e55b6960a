"""``hypersphere cost``: counts, sums over shared runs, times from stated rates, and what is left out by name."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere.command import cli, cost, rates
from hypersphere.command.cost import Cost
from hypersphere.command.rates import CORE, GPU, Rates
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.training.work import Counting, Work

Planned = Callable[..., Plan]
SLOW = Rates(device="a device", unit="core", tflops=1e-6, bandwidth=1e-6, watts=100, source="made up", price=3)
"""A million operations, or bytes, a second."""
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
    """``costed(paper={…}, scale={…})``: of a project of two tables, at SLOW's rates."""

    def make(paper: dict[str, Any] | None = None, **changes: Any) -> Cost:
        return cost.of(planned(paper=TINY | {"artifacts.other": TABLE} | (paper or {}), **changes), SLOW)

    return make


def test_a_run_costs_its_steps(costed: Callable[..., Cost]) -> None:
    """Steps: whole batches of the images, times epochs; the rest of an epoch's images is left out."""
    one = costed({"artifacts.table": TABLE, "artifacts.other": TABLE, "variants.hot": {}}, scale={"seeds": [0]})
    (run,) = one.plan.runs.values()
    step = Counting().of(run, size=12, classes=10).step
    assert one.whole.work == step * (CATS // 256) * 100


def test_one_more_epoch_costs_a_hundredth_more(costed: Callable[..., Cost]) -> None:
    before, after = costed().whole, costed({"run.schedule.epochs": 101}).whole
    assert after.work.flops * 100 == before.work.flops * 101
    assert after.work.bytes * 100 == before.work.bytes * 101
    assert after.seconds == pytest.approx(before.seconds * 1.01)
    assert (after.runs, after.cells, after.stored) == (before.runs, before.cells, before.stored)


def test_shared_runs_are_counted_once(costed: Callable[..., Cost]) -> None:
    """Of 16 and 4 runs two are the same."""
    one = costed()
    table, other = (one.artifacts["p", name] for name in ("table", "other"))
    assert (table.runs, other.runs, one.whole.runs) == (16, 4, 18)
    assert (table.cells, other.cells, one.whole.cells) == (8, 2, 10)
    works = [found for found in one._runs.values() if not isinstance(found, str)]
    assert one.whole.work == sum((work for work, _ in works), Work())
    assert one.whole.work.flops < table.work.flops + other.work.flops
    assert one.papers == {"p": one.whole}


def test_only_restricts_it(costed: Callable[..., Cost]) -> None:
    one = costed(config={"only": ["p/other"]})
    assert one.artifacts.keys() == {("p", "other")}
    assert one.whole == one.artifacts["p", "other"]
    assert one.datasets.keys() == {"cats"}


def test_snapshots_take_disk(costed: Callable[..., Cost]) -> None:
    """Epochs 0 and 50 are snapshots; the last epoch is the result itself.

    Without them, the first row's two runs keep epoch 0 all the same, as the untrained control.
    """
    plain = costed({"artifacts.table": TABLE})
    kept = costed({"artifacts.table": TABLE | {"columns": {"dataset": ["cats"], "epoch": [0, 50, 100]}}})
    state = Counting().of(next(iter(plain.plan.runs.values())), size=12, classes=10).stored
    assert plain.whole.runs == kept.whole.runs == 4
    assert plain.whole.stored == (2 * 2 + 2 * 1) * state
    assert kept.whole.stored == 4 * 3 * state
    assert kept.whole.work == plain.whole.work


def test_datasets_take_disk_once(costed: Callable[..., Cost]) -> None:
    """Ten and sixteen classes of 240 and 100 images of 12 px."""
    one = costed()
    cats, dogs = (classes * (240 + 100) * 12 * 12 * 3 for classes in (10, 16))
    assert one.whole.datasets == cats + dogs
    assert one.artifacts["p", "other"].datasets == cats


@pytest.mark.parametrize(
    ("flops", "moved", "seconds"), [(2_000_000, 1_000_000, 2.0), (1_000_000, 5_000_000, 5.0), (0, 0, 0.0)]
)
def test_the_slower_of_arithmetic_and_memory_decides(flops: int, moved: int, seconds: float) -> None:
    assert SLOW.seconds(flops, moved) == pytest.approx(seconds)


def test_energy_and_money_follow_from_time(costed: Callable[..., Cost], tmp_path: Path) -> None:
    one, file = costed(), tmp_path / "new" / "cost.csv"
    cost.write(one, file)
    rows = {(row["paper"], row["artifact"]): row for row in csv.DictReader(file.open())}
    assert list(rows) == [("p", "table"), ("p", "other"), ("all", "")]
    whole, hours = rows["all", ""], one.whole.seconds / 3600
    assert list(whole) == cost.COLUMNS
    assert float(whole["device_hours"]) == pytest.approx(hours, rel=1e-5)
    assert float(whole["kilowatt_hours"]) == pytest.approx(hours * 0.1, rel=1e-5)
    assert float(whole["price"]) == pytest.approx(hours * 3, rel=1e-5)
    assert (int(whole["flop"]), int(whole["bytes_moved"])) == (one.whole.work.flops, one.whole.work.bytes)
    assert (int(whole["runs"]), int(whole["runs_not_known"])) == (18, 0)


def test_what_is_not_known_is_named_and_not_guessed(costed: Callable[..., Cost]) -> None:
    one = costed(datasets={"dogs": {"source": {"name": "folder", "path": "mine", "size": 32}}})
    (reason,) = one.unknown
    assert reason == "the size of dogs is not known until it is prepared"
    assert len(one.whole.lost) == len(one.unknown[reason]) == 8
    assert one.whole.runs == 18
    text = "\n".join(cost.lines(one))
    assert f"not known  8 runs: {reason}" in text
    assert "not known  the disk of dogs" in text
    assert "18 (8 not known)" in text
    assert one.whole.work == costed(paper={"artifacts.table.columns": {"dataset": ["cats"]}}).whole.work


def test_a_batch_larger_than_the_dataset_is_named(costed: Callable[..., Cost]) -> None:
    one = costed({"run.batch": {"size": 3000, "micro": 3000}, "artifacts.table": TABLE})
    assert list(one.unknown) == ["batch.size 3000 is more than the 2400 images of cats"]
    assert one.whole.work == Work()


def test_a_model_that_cannot_be_counted_is_named(costed: Callable[..., Cost]) -> None:
    """A transformer for other images than the dataset's."""
    vit = {"name": "vit", "image_size": 32, "patch": 8, "depth": 1, "width": 8, "heads": 2}
    one = costed({"run.encoder": vit, "artifacts.table": TABLE})
    (reason,) = one.unknown
    assert reason.startswith("simclr with vit cannot be counted (encoder: vit: image_size is 32")


def test_the_table(costed: Callable[..., Cost]) -> None:
    one = costed()
    text = list(cost.lines(one, verbose=True))
    assert text[0] == "scale      small: for tests"
    assert text[1] == "device     a device: 1e-06 TFLOP/s, 1e-06 TB/s, 100 W, 3 an hour"
    assert text[2] == "           stated, not measured; made up"
    assert text[4].split() == ["cells", "runs", "arithmetic", "memory", "core-hours", "price", "kWh", *DISKS]
    names = [line.split()[0] for line in text[5:9]]
    assert names == ["p", "table", "other", "all,"]
    assert text[10].startswith("shared     2 artifacts made apart would be 20 runs and ")
    assert "sharing saves 2 runs and " in text[10]
    assert text[11].startswith("left out   probes, exact studies")
    assert len(list(cost.lines(one))) == len(text) - 2


DISKS = ["runs'", "disk", "data"]


def test_what_is_not_made_is_named(costed: Callable[..., Cost]) -> None:
    left = costed(scale={"leaves_out": ["p/table"]})
    assert left.artifacts.keys() == {("p", "other")}
    assert "not made   1 artifact: left out at this scale" in list(cost.lines(left))
    assert "not made   p/table: left out at this scale" in list(cost.lines(left, verbose=True))
    none = costed(scale={"leaves_out": ["p/table", "p/other"]})
    assert "nothing would be trained" in list(cost.lines(none))
    assert none.whole.runs == 0


def test_a_rough_number_of_images_is_said(costed: Callable[..., Cost]) -> None:
    one = costed(datasets={"dogs": {"source": {"name": "imagenet100", "size": 16}}})
    assert "roughly    to train on: dogs has about 126,700" in list(cost.lines(one))


@pytest.mark.parametrize(("precision", "said"), [("float32", False), ("bfloat16", True)])
def test_another_precision_is_said(costed: Callable[..., Cost], precision: str, said: bool) -> None:
    one = costed(scale={"precision": precision})
    assert ("roughly    memory: counted in float32; bfloat16 moves about half as much" in cost.lines(one)) == said


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (999_600, "1 MB"), (12_345_678, "12.3 MB"), (4.2e24, "4.2e+03 ZB")],
)
def test_prefixes(number: float, text: str) -> None:
    assert cost._prefixed(int(number), "B") == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (1e-5, "<0.001"), (0.01234, "0.012"), (3.44, "3.4"), (99.7, "100"), (1234, "1,230"), (974.4, "974")],
)
def test_figures(number: float, text: str) -> None:
    assert cost._figure(number) == text


def test_numbers_from_records_cost_nothing_to_train(planned: Planned) -> None:
    with pytest.raises(HypersphereError, match="cost: evidence_only: numbers come from records"):
        cost.of(planned(config={"evidence_only": True}), SLOW)


@pytest.mark.parametrize(
    ("device", "gpu", "unit"),
    [("auto", 0, "core"), ("auto", 1, "GPU"), ("cpu", 1, "core"), ("cuda", 0, "GPU")],
)
def test_the_device_is_the_one_that_would_train(planned: Planned, device: str, gpu: int, unit: str) -> None:
    resources = {"mem_mb": 100, "runtime": 1, "gpu": gpu}
    plan = planned(config={"device": device}, scale={"resources": resources})
    parser, _ = cli._parser()
    assert rates.of(plan, parser.parse_args(["cost"])) == (GPU if unit == "GPU" else CORE)
    changed = rates.of(plan, parser.parse_args(["cost", "--tflops", "7", "--price", "2.5"]))
    assert (changed.tflops, changed.price, changed.unit) == (7, 2.5, unit)
    assert changed.source.endswith("; given here: --tflops")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--price", "0"], "cost: --price: must be a positive number (given: 0)"),
        (["--watts", "-3"], "cost: --watts: must be a positive number (given: -3)"),
        (["--tflops", "nan"], "cost: --tflops: must be a positive number (given: nan)"),
        (["--bandwidth", "inf"], "cost: --bandwidth: must be a positive number (given: inf)"),
        (["--csv", "."], "cost: --csv: must be a file, not a folder (given: '.')"),
        (["--csv", ""], "cost: --csv: must be a file, not a folder (given: '')"),
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
    assert cli.main(["cost", "--price", "2", "--csv", "cost.csv"]) == 0
    out = capsys.readouterr().out
    assert "all, each run once" in out
    assert "price" in out
    assert Path("cost.csv").read_text().count("\n") == 3
