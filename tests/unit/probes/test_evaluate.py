"""Evaluations: one sealed file for each run and protocol, made once, and again when, and only when, it must be."""

import shutil
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config import registry
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.encoders.resnet8 import resnet8
from hypersphere.errors import DamagedError
from hypersphere.probes import evaluate
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.linear import linear
from hypersphere.probes.result import ProbeResult
from hypersphere.provenance import digests, markers, pictures, sources
from hypersphere.provenance.manifest import check_evaluation
from hypersphere.provenance.tables import EVALUATION
from hypersphere.training.pretrain import pretrain

from ...harm import HARMS, flip


@pytest.fixture
def root(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "project"))


@pytest.fixture
def plan(root: Path) -> Plan:
    return planning.make(root, {"scale": "tiny"})


def digest(plan: Plan, probe: str, run: Run | None = None) -> str:
    asked = plan.evaluations[(run or plan.batches[0].runs[0]).name]
    return next(
        name
        for name, one in asked.items()
        if one.protocol.probe and one.protocol.probe.name == probe
    )


def evaluation(plan: Plan, probe: str) -> Path:
    """The file of the first run."""
    return plan.evaluation_file(plan.batches[0].runs[0].name, digest(plan, probe))


def answers(plan: Plan, run: Run, probe: str) -> pd.DataFrame:
    return pd.read_csv(plan.evaluation_file(run.name, digest(plan, probe)), keep_default_na=False)


def written(plan: Plan) -> dict[str, tuple[int, bytes]]:
    """When each evaluation of the first run was written, and its bytes: by file, with the probe for its digest."""
    run = plan.batches[0].runs[0].name
    names = {
        name: str(one.protocol.probe and one.protocol.probe.name)
        for name, one in plan.evaluations[run].items()
    }
    folder = plan.evaluation_file(run, "").parent
    found = {}
    for path in sorted(folder.iterdir()):
        digest, _, rest = path.name.partition(".")
        if digest in names:
            found[f"{names[digest]}.{rest}"] = path.stat().st_mtime_ns, path.read_bytes()
    return found


def again(plan: Plan) -> set[str]:
    """Evaluate once more; the files of the first run that were written anew."""
    before = written(plan)
    evaluate.evaluate_batch(plan, plan.batches[0])
    after = written(plan)
    return {name for name in after if after[name] != before.get(name)}


KNN, LINEAR = {"knn.csv", "knn.json"}, {"linear.csv", "linear.json"}
NORM = {"norms.csv", "norms.json", "norms.0000.upright.csv", "norms.0004.upright.csv"}


def test_a_file_for_each_run_and_protocol_and_of_pixels_for_each_probe_that_can(plan: Plan) -> None:
    """Those of pixels are under the dataset's name, and made once."""
    assert written(plan).keys() == KNN | LINEAR | NORM
    marker = files.read_sealed(plan.evaluated_marker(plan.batches[0].id))
    of_runs = {
        (run.name, name) for run in plan.batches[0].runs for name in plan.evaluations[run.name]
    }
    knn, linear = digest(plan, "knn"), digest(plan, "linear")
    of_pixels = {("pixels-upright", knn), ("pixels-upright", linear), ("pixels-turned", linear)}
    assert marker["manifests"].keys() == {
        f"evaluations/{of}/{name}.json" for of, name in of_runs | of_pixels
    }
    folder = plan.config.results / "evaluations" / "pixels-upright"
    found = {path.stem: pd.read_csv(path) for path in folder.glob("*.csv")}
    assert found.keys() == {knn, linear}
    for table in found.values():
        places = table[["run", "epoch", "target", "classes"]].drop_duplicates()
        assert places.values.tolist() == [["pixels", 0, "upright", 10]]
    times = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    evaluate.evaluate_batch(plan, plan.batches[0])
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == times


def test_rows(plan: Plan) -> None:
    """By hand: kNN at epochs 0, 2 and 4 of every run; the untrained encoder is the first run's for other probes."""
    for place, run in enumerate(plan.batches[0].runs):
        ends = {0, 4} if place == 0 else {4}
        knn, straight, norms = (answers(plan, run, probe) for probe in ("knn", "linear", "norms"))
        assert set(knn["epoch"]) == {0, 2, 4}
        assert set(knn["measure"]) == {"knn_top1", "knn_top5"}
        expected = {*product(ends, ("linear_top1", "linear_top5"), ("turned", "upright"))}
        assert (
            set(zip(straight["epoch"], straight["measure"], straight["target"], strict=True))
            == expected
        )
        assert len(straight) == len(expected)
        assert set(norms["reading"]) == {"split=train", "split=test"}
        assert set(norms["epoch"]) == ends
        for table in (knn, straight, norms):
            assert list(table.columns) == list(EVALUATION)
            assert set(table["run"]) == {run.name}
            assert set(table["status"]) == {"finished"}
            assert (table["n_test"] == table["target"].map({"upright": 30, "turned": 48})).all()
            assert (table["classes"] == table["target"].map({"upright": 10, "turned": 16})).all()
        assert pd.concat([knn, straight])["value"].between(0, 100).all()


def test_a_value_is_the_share_of_correct_predictions(plan: Plan) -> None:
    """Worked out here from the saved weights, at the start and at the end."""
    run, data = plan.batches[0].runs[0], store.open(plan.data_folder(plan.datasets["turned"]))
    table = answers(plan, run, "linear")
    for epoch, file in ((0, "snapshots/epoch-0000.safetensors"), (4, "encoder.safetensors")):
        encoder = resnet8(width=2)
        encoder.load_state_dict(load_file(plan.run_folder(run.name) / file))
        ours = linear(Frozen(encoder, nn.Identity(), data, torch.device("cpu"))).values
        rows = table[(table["epoch"] == epoch) & (table["target"] == "turned")]
        assert dict(zip(rows["measure"], rows["value"], strict=True)) == pytest.approx(
            ours, abs=1e-6
        )


def test_images_lie_beside_their_mean(plan: Plan) -> None:
    path = evaluation(plan, "norms")
    table = pd.read_csv(evaluate.table_name(path, (4, "upright")))
    assert table.groupby("split").size().to_dict() == {"test": 30, "train": 80}
    rows = answers(plan, plan.batches[0].runs[0], "norms")
    mean = rows[(rows["epoch"] == 4) & (rows["reading"] == "split=test")]["value"].item()
    assert mean == pytest.approx(table.loc[table["split"] == "test", "norm"].mean(), abs=2e-6)
    listed = {path.name, *(f"{path.stem}.{at}.upright.csv" for at in ("0000", "0004"))}
    assert set(check_evaluation(path)["files"]) == listed


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize(
    ("ending", "expected"), [("csv", KNN), ("json", KNN), ("0000.upright.csv", NORM)]
)
def test_what_is_damaged_is_measured_again_and_nothing_else(
    plan: Plan, harm: str, ending: str, expected: set[str]
) -> None:
    before = {name: content for name, (_, content) in written(plan).items()}
    path = evaluation(plan, "norms" if expected == NORM else "knn")
    HARMS[harm](path.with_name(f"{path.stem}.{ending}"))
    assert again(plan) <= expected
    assert {name: content for name, (_, content) in written(plan).items()} == before


EVERY = {"knn", "linear", "norms"}


def remade(plan: Plan) -> set[str]:
    return {name.partition(".")[0] for name in again(plan) if name.endswith(".json")}


def multiply(plan: Plan, name: str, factor: float) -> None:
    """Change a file of the first run's weights, and list it as the run would have."""
    folder = plan.run_folder(plan.batches[0].runs[0].name)
    tensors = load_file(folder / name)
    scaled = {
        key: value * factor if value.is_floating_point() else value
        for key, value in tensors.items()
    }
    save_file(scaled, folder / name)
    manifest = files.read_sealed(folder / "manifest.json")
    manifest["files"][name] = files.sha256(folder / name)
    files.write_sealed(folder / "manifest.json", manifest)


def other_code(plan: Plan) -> None:
    path = sources.PACKAGE / "probes" / "knn.py"
    path.write_text(path.read_text().replace("PIXELS = True", "PIXELS = bool(1)"))
    sources.forget()


def other_data(plan: Plan) -> None:
    """The turned digits, which transfer looks at."""
    manifest = plan.data_folder(plan.datasets["turned"]) / "manifest.json"
    files.write_sealed(manifest, files.read_sealed(manifest) | {"digest": "0" * 64})


OTHERS: dict[str, tuple[Callable[[Plan], object], set[str]]] = {
    "code of a probe": (other_code, {"knn"}),
    "weights in the middle": (
        lambda plan: multiply(plan, "snapshots/epoch-0002.safetensors", 1.5),
        {"knn"},
    ),
    "weights at the end": (lambda plan: multiply(plan, "heads.safetensors", 1.5), EVERY),
    "data": (other_data, {"linear"}),
}


@pytest.mark.parametrize("what", OTHERS)
def test_another_of_its_inputs_costs_the_protocols_that_look_at_it(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(
        sources, "PACKAGE", Path(shutil.copytree(sources.PACKAGE, tmp_path / "hypersphere"))
    )
    change, expected = OTHERS[what]
    change(plan)
    assert remade(plan) == expected
    assert remade(plan) == set()
    sources.forget()


def test_features_are_computed_once_for_all_protocols(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once an epoch, set of images and layer: of the run, at its ends and the middle; of both sets' pixels."""
    shutil.rmtree(plan.config.results / "evaluations")
    counted = Mock(wraps=Frozen)
    monkeypatch.setattr(evaluate, "Frozen", counted)
    evaluate.evaluate_runs(plan, plan.batches[0].runs[:1])
    given = [call.args[2:5] for call in counted.call_args_list]
    made = [(data.manifest["name"], *(layer or ["pixels"])) for data, _, *layer in given]
    times = {("upright", "backbone"): 3, ("upright", "embeddings"): 2, ("turned", "backbone"): 2}
    assert Counter(made) == times | {("upright", "pixels"): 1, ("turned", "pixels"): 1}


def test_a_diverged_run_has_no_values(plan: Plan) -> None:
    """Never chance accuracy. Its first weights are those of any run."""
    run = plan.batches[0].runs[0]
    manifest = plan.run_folder(run.name) / "manifest.json"
    files.write_sealed(manifest, files.read_sealed(manifest) | {"status": "diverged", "epochs": 3})
    assert remade(plan) == EVERY
    for probe in EVERY:
        table = answers(plan, run, probe)
        lost, initial = table[table["epoch"] > 0], table[table["epoch"] == 0]
        assert set(lost["status"]) == {"diverged"}
        assert set(lost["value"]) | set(lost["n_test"]) | set(lost["classes"]) | set(
            lost["reading"]
        ) == {""}
        assert set(initial["status"]) == {"finished"}
        assert set(lost["epoch"]) == ({2, 4} if probe == "knn" else {4})
    assert set(answers(plan, plan.batches[0].runs[1], "knn")["status"]) == {"finished"}


def test_of_weights_that_give_no_numbers_all_measures_are_undefined(
    plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though training itself noticed nothing: at the end, and at no earlier epoch."""
    run = plan.batches[0].runs[0]
    multiply(plan, "encoder.safetensors", float("nan"))
    assert remade(plan) == EVERY
    for probe in EVERY:
        table = answers(plan, run, probe)
        assert (table["status"] == "undefined").tolist() == (table["epoch"] == 4).tolist()
        lost = table[table["epoch"] == 4]
        assert set(lost["value"]) | set(lost["n_test"]) == {""}
        assert (lost["classes"] == lost["target"].map({"upright": 10, "turned": 16})).all()
    assert f"note: {run.name}: epoch 4: the features of 80 of 80" in capsys.readouterr().out
    assert not evaluate.table_name(evaluation(plan, "norms"), (4, "upright")).exists()


@pytest.mark.parametrize("problem", ["altered", "missing", "untrained"])
def test_damaged_runs_are_refused(plan: Plan, problem: str) -> None:
    batch = plan.batches[0]
    plan.evaluated_marker(batch.id).unlink()
    path = plan.run_folder(batch.runs[2].name) / (
        "manifest.json" if problem == "untrained" else "encoder.safetensors"
    )
    if problem == "altered":
        path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    else:
        path.unlink()
    with pytest.raises(DamagedError) as caught:
        evaluate.evaluate_batch(plan, batch)
    assert not plan.evaluated_marker(batch.id).exists()
    # Without its marker the batch is trained again by the next Snakemake; the damaged file is left to be looked at.
    assert plan.marker(batch).exists()
    caught.value.disprove()
    assert not plan.marker(batch).exists()


def test_beside_the_rows_lies_what_they_were_made_from(plan: Plan) -> None:
    run = plan.batches[0].runs[0]
    about = check_evaluation(evaluation(plan, "knn"))
    asked = plan.evaluations[run.name][digest(plan, "knn")]
    assert about["code"] == digests.protocol_digest(asked.protocol, run)
    assert about["protocol"] == {"probe": {"name": "knn", "k": 5}, "layer": "backbone"}
    assert about["at"] == [[0, "upright"], [2, "upright"], [4, "upright"]]
    folder = plan.run_folder(run.name)
    names = [
        f"{part}{kind}"
        for part in ("snapshots/epoch-0000", "snapshots/epoch-0002")
        for kind in ("", ".heads")
    ]
    weights = {f"{name}.safetensors" for name in (*names, "encoder", "heads")}
    assert about["weights"] == {"status": "finished"} | {
        name: files.sha256(folder / name) for name in weights
    }
    assert about["data"] == {
        "upright": store.open(plan.data_folder(plan.datasets["upright"])).digest
    }
    assert (about["device"]["type"], about["threads"]) == ("cpu", 1)


def test_values_of_a_part_count_its_images(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"linear_top1": 50.0, "linear_top1;bias=aligned": 75.0}
    found = ProbeResult(values, n=8, counts={"linear_top1;bias=aligned": 4})
    monkeypatch.setattr(registry, "load", lambda kind, name: lambda frozen: found)
    frozen: Any = SimpleNamespace(classes=lambda: 10)
    protocol = plan.evaluations[plan.batches[0].runs[0].name][digest(plan, "linear")].protocol
    rows = pd.DataFrame(
        evaluate._measured("a", protocol, (3, "b"), frozen)[0], columns=[*EVALUATION]
    )
    expected = [("", 50.0, 8), ("bias=aligned", 75.0, 4)]
    assert list(rows[["reading", "value", "n_test"]].itertuples(index=False, name=None)) == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e39])
def test_a_value_that_is_no_number_is_undefined_but_for_a_part_of_too_few_images(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, bad: float
) -> None:
    """The other values of the same probe stay; 1e39 is no number of float32."""
    values = {"norm_gain": bad, "norm_auroc": 60.0, "bucket_top1;bucket=1": np.nan}
    monkeypatch.setattr(
        registry, "load", lambda kind, name: lambda frozen: ProbeResult(values, n=8)
    )
    frozen: Any = SimpleNamespace(classes=lambda: 10)
    protocol = plan.evaluations[plan.batches[0].runs[0].name][digest(plan, "linear")].protocol
    rows = pd.DataFrame(
        evaluate._measured("a", protocol, (3, "b"), frozen)[0], columns=[*EVALUATION]
    )
    assert rows["status"].tolist() == ["undefined", "finished", "finished"]
    assert rows["value"].isna().tolist() == [True, False, True]
    assert rows["n_test"].fillna(0).tolist() == [0, 8, 8]
    assert set(rows["classes"]) == {10}


def after(root: Path, *changes: tuple[str, str]) -> Plan:
    path = root / "papers/embedding_norms/paper.yaml"
    for old, new in changes:
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    return planning.make(root, {"scale": "tiny"})


def artifact(text: str) -> tuple[str, str]:
    return "  norms_over_epochs:\n", f"{text}\n  norms_over_epochs:\n"


def protocol(text: str) -> tuple[str, str]:
    return "  linear: {probe", f"  {text}\n  linear: {{probe"


TWO_LAYERS = """  table5_mlp:
    {draw: table, title: Two layers, rows: *rows, columns: {dataset: [cifar10_lt]}, measure: mlp_top1}"""
PORTRAITS = """  portraits:
    {draw: pictures, title: Images, measure: norm, by: extreme_norms, panels: {extreme: [highest, lowest]},
     rows: {method.variant: [simclr.default, simclr.cut3]}, fixed: {dataset: cifar10_lt, split: train}}"""


MORE: dict[str, tuple[list[tuple[str, str]], str, set[int]]] = {
    "epoch": (
        [("x: {epoch: [0, 250, 500]}", "x: {epoch: [0, 250, 375, 500]}")],
        "knn",
        {0, 2, 3, 4},
    ),
    "probe": (
        [protocol("deep: {probe: {name: mlp, epochs: 1}}"), artifact(TWO_LAYERS)],
        "mlp",
        {0, 4},
    ),
}
"""What is asked for besides, by which probe, and at which epochs it then is. For an epoch the run is trained anew."""


@pytest.mark.parametrize("what", MORE)
def test_a_point_or_a_probe_more_costs_itself_alone(root: Path, plan: Plan, what: str) -> None:
    """No file of the others is touched, and their artifacts have no reason to be made again."""
    before = digests.artifact_digest(plan, "embedding_norms", "table5")
    changes, probe, epochs = MORE[what]
    more = after(root, *changes)
    pretrain(more, more.batches[0].runs)
    assert again(more) == {f"{probe}.csv", f"{probe}.json"}
    assert set(answers(more, more.batches[0].runs[0], probe)["epoch"]) == epochs
    assert digests.artifact_digest(more, "embedding_norms", "table5") == before


def test_pictures_lie_beside_their_table_and_a_damaged_one_is_made_again(
    root: Path, refused: Any
) -> None:
    """A row for each; they are the dataset's images. One flipped bit is found by verify, and by the evaluation."""
    extremes = protocol("extreme_norms: {probe: {name: extreme_norms}, layer: embeddings}")
    plan = after(root, extremes, artifact(PORTRAITS))
    evaluate.evaluate_batch(plan, plan.batches[0])
    path = evaluation(plan, "extreme_norms")
    table = pd.read_csv(evaluate.table_name(path, (4, "upright")))
    images = store.open(plan.data_folder(plan.datasets["upright"])).split("train").images
    assert len(table) == 2 * 80  # each class has fewer than ten, which are at both ends
    picture = path.with_name(f"{path.stem}.0004.upright.png")
    assert np.array_equal(
        pictures.read(picture).reshape(len(table), *images.shape[1:]), images[table["image"]]
    )
    before = picture.read_bytes()
    for check in (
        lambda: check_evaluation(path),
        lambda: markers.check(plan.evaluated_marker(plan.batches[0].id)),
    ):
        check()
        flip(picture)
        with refused(picture, kind=DamagedError):
            check()
        evaluate.evaluate_batch(plan, plan.batches[0])
        assert picture.read_bytes() == before
