"""Features of frozen encoders, and the rows that evaluation writes."""

from pathlib import Path

import pandas as pd
import pytest
import torch
from torch import nn

from hypersphere import files
from hypersphere.datasets import store
from hypersphere.declared.plan import Plan
from hypersphere.encoders.resnet8 import resnet8
from hypersphere.errors import DamagedError
from hypersphere.integrity import provenance
from hypersphere.integrity.manifest import check_evaluation
from hypersphere.probes import evaluate
from hypersphere.probes import features as features_module
from hypersphere.probes.features import Pixels, extract
from hypersphere.probes.linear import linear
from hypersphere.training import checkpoint
from hypersphere.training.pretrain import pretrain_batch

CPU = torch.device("cpu")


@pytest.fixture
def data(tiny_plan: Plan) -> store.Prepared:
    return store.open(tiny_plan.data_folder(tiny_plan.datasets["upright"]))


@pytest.fixture
def encoder() -> nn.Module:
    torch.manual_seed(0)
    model = resnet8(width=2)
    model.train()(torch.rand(8, 3, 12, 12))  # running statistics of their own
    return model


def test_features_are_the_encoders_of_plain_images(data: store.Prepared, encoder: nn.Module) -> None:
    """By hand: bytes / 255, channels first, evaluation batch norm, one image at a time."""
    state = {name: value.clone() for name, value in encoder.state_dict().items()}
    found = extract(encoder, data, CPU)
    assert not encoder.training
    assert all(torch.equal(value, state[name]) for name, value in encoder.state_dict().items())
    for i in (0, 17, 79):
        image = torch.tensor(data.train_images[i].tolist()).permute(2, 0, 1)[None] / 255
        torch.testing.assert_close(found.bank[i], encoder(image)[0].detach(), atol=1e-5, rtol=1e-4)
    image = torch.tensor(data.test_images[5].tolist()).permute(2, 0, 1)[None] / 255
    torch.testing.assert_close(found.queries[5], encoder(image)[0].detach(), atol=1e-5, rtol=1e-4)
    assert found.bank_labels.tolist() == data.train_labels.tolist()
    assert found.query_labels.tolist() == data.test_labels.tolist()
    assert found.classes == 10


def test_features_do_not_depend_on_the_block(
    data: store.Prepared, encoder: nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = extract(encoder, data, CPU)
    monkeypatch.setattr(features_module, "BLOCK", 7)
    parts = extract(encoder, data, CPU)
    torch.testing.assert_close(parts.bank, whole.bank, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(parts.queries, whole.queries, atol=1e-6, rtol=1e-5)


def test_pixels_are_the_images(data: store.Prepared) -> None:
    found = extract(Pixels(), data, CPU)
    expected = torch.tensor(data.train_images.tolist()).permute(0, 3, 1, 2).reshape(80, -1) / 255
    torch.testing.assert_close(found.bank, expected)


@pytest.fixture
def table(tiny_plan: Plan) -> pd.DataFrame:
    """The evaluation of the first batch: three runs of SimCLR on upright digits."""
    batch = tiny_plan.batches[0]
    pretrain_batch(tiny_plan, batch)
    evaluate.evaluate_batch(tiny_plan, batch)
    return pd.read_csv(tiny_plan.config.results / "evaluations" / f"{batch.id}.csv")


def test_rows(tiny_plan: Plan, table: pd.DataFrame) -> None:
    """By hand: snapshots at 0, 2 and 4 epochs for kNN, the first and last epoch for the rest, one other dataset."""
    assert list(table.columns) == ["run", "epoch", "final", "metric", "probed_on", "value", "n_test", "status"]
    expected = {(0, "knn_top1"), (2, "knn_top1"), (4, "knn_top1")}
    expected |= {(epoch, f"{m}_top1") for epoch in (0, 4) for m in ("linear", "linear_sgd", "transfer")}
    for run in tiny_plan.batches[0].runs:
        rows = table[table["run"] == run.name]
        assert set(zip(rows["epoch"], rows["metric"], strict=True)) == expected
        assert len(rows) == len(expected)
    assert (table["final"] == (table["epoch"] == 4)).all()
    assert (table["probed_on"] == table["metric"].map(lambda m: "turned" if m == "transfer_top1" else "upright")).all()
    assert (table["n_test"] == table["probed_on"].map({"upright": 30, "turned": 48})).all()
    assert (table["status"] == "finished").all()
    assert table["value"].between(0, 100).all()


def test_a_value_is_the_share_of_correct_predictions(
    tiny_plan: Plan, table: pd.DataFrame, data: store.Prepared
) -> None:
    """Worked out here from the saved weights."""
    run = tiny_plan.batches[0].runs[1]
    encoder = resnet8(width=2)
    for epoch, file in ((0, "snapshots/epoch-0000.safetensors"), (4, "encoder.safetensors")):
        checkpoint.load_weights(encoder, tiny_plan.run_folder(run.name) / file)
        correct = linear(extract(encoder, data, CPU)) == torch.tensor(data.test_labels.tolist())
        row = table[(table["run"] == run.name) & (table["epoch"] == epoch) & (table["metric"] == "linear_top1")]
        assert row["value"].item() == pytest.approx(100 * correct.double().mean().item(), abs=1e-6)


def test_evaluation_has_equal_bytes_on_rerun(tiny_plan: Plan, table: pd.DataFrame) -> None:
    batch = tiny_plan.batches[0]
    path = tiny_plan.config.results / "evaluations" / f"{batch.id}.csv"
    before = path.read_bytes()
    path.unlink()
    evaluate.evaluate_batch(tiny_plan, batch)
    assert path.read_bytes() == before


def test_a_diverged_run_has_no_values(tiny_plan: Plan, table: pd.DataFrame) -> None:
    """Never chance accuracy."""
    batch = tiny_plan.batches[0]
    manifest = tiny_plan.run_folder(batch.runs[0].name) / "manifest.json"
    files.write_sealed(manifest, files.read_sealed(manifest) | {"status": "diverged", "epochs": 3})
    evaluate.evaluate_batch(tiny_plan, batch)
    table = pd.read_csv(tiny_plan.config.results / "evaluations" / f"{batch.id}.csv")
    rows = table[table["run"] == batch.runs[0].name]
    assert set(rows["metric"]) == {"knn_top1", "linear_top1", "linear_sgd_top1", "transfer_top1"}
    assert len(rows) == 4
    assert (rows["status"] == "diverged").all()
    assert rows["value"].isna().all()
    assert rows["n_test"].isna().all()
    assert (rows["epoch"] == 3).all()
    assert rows["final"].all()
    assert (table[table["run"] != batch.runs[0].name]["status"] == "finished").all()


def test_pixels_rows(tiny_plan: Plan) -> None:
    evaluate.evaluate_pixels(tiny_plan, tiny_plan.datasets["upright"])
    table = pd.read_csv(tiny_plan.config.results / "evaluations" / "pixels-upright.csv")
    assert (table["run"] == "pixels").all()
    assert table.set_index("metric").loc["classes", "value"] == 10
    assert {"knn_top1", "linear_top1", "linear_sgd_top1"} <= set(table["metric"])


@pytest.mark.parametrize("problem", ["altered", "missing", "untrained"])
def test_damaged_runs_are_refused(tiny_plan: Plan, problem: str) -> None:
    batch = tiny_plan.batches[0]
    pretrain_batch(tiny_plan, batch)
    folder = tiny_plan.run_folder(batch.runs[2].name)
    path: Path = folder / ("manifest.json" if problem == "untrained" else "encoder.safetensors")
    if problem == "altered":
        path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    else:
        path.unlink()
    with pytest.raises(DamagedError, match=path.name) as caught:
        evaluate.evaluate_batch(tiny_plan, batch)
    assert not (tiny_plan.config.results / "evaluations" / f"{batch.id}.csv").exists()
    # Without its marker the batch is trained again by the next Snakemake; the damaged file is left to be looked at.
    assert tiny_plan.marker(batch).exists()
    caught.value.disprove()
    assert not tiny_plan.marker(batch).exists()


def test_beside_the_rows_lies_what_they_were_made_from(tiny_plan: Plan) -> None:
    batch = tiny_plan.batches[0]
    pretrain_batch(tiny_plan, batch)
    evaluate.evaluate_batch(tiny_plan, batch)
    path = tiny_plan.config.results / "evaluations" / f"{batch.id}.csv"
    about = check_evaluation(path)
    assert about["code"] == provenance.evaluation_digest(tiny_plan, batch.runs)
    weights = {run.name: tiny_plan.run_folder(run.name) / "encoder.safetensors" for run in batch.runs}
    assert {name: of["encoder.safetensors"] for name, of in about["weights"].items()} == {
        name: files.sha256(file) for name, file in weights.items()
    }
    assert about["data"] == {
        name: store.open(tiny_plan.data_folder(dataset)).digest for name, dataset in tiny_plan.datasets.items()
    }
    assert (about["device"]["type"], about["threads"]) == ("cpu", 1)
