"""Training: what a step is, equal bytes, resuming, divergence. Each promise beside a control that must fail."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from jaxtyping import UInt8
from safetensors.torch import load_file
from torch import Tensor

from hypersphere.errors import HypersphereError
from hypersphere.spec import Run
from hypersphere.training import loop, optimisation
from hypersphere.training.build import build_method
from hypersphere.training.loop import Execution, Outcome, train
from hypersphere.views.draws import draw
from hypersphere.views.ops import make_views

from .conftest import numbered

Images = UInt8[np.ndarray, "n h w 3"]
MakeRun = Callable[..., Run]


def execute(run: Run, images: Images, folder: Path, **changes: Any) -> Outcome:
    """Train on the CPU; snapshots after 0 and 2 epochs unless said otherwise."""
    options: dict[str, Any] = {"snapshots": frozenset({0, 2}), "parts": {"run": "r"}} | changes
    return train(run, numbered(images), Execution(device=torch.device("cpu"), **options), folder)


def result(folder: Path) -> dict[str, bytes]:
    """Every file of a run but its timing and the state to resume from."""
    left_out = ("timing.csv", "resume.safetensors")
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name not in left_out]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


CONTRACT = {
    "encoder.safetensors",
    "history.csv",
    "snapshots/epoch-0000.safetensors",
    "snapshots/epoch-0002.safetensors",
}


def test_an_image_has_the_same_views_in_a_part_of_a_dataset_as_in_the_whole(
    make_run: MakeRun, images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys are original numbers: images 3, 4, … of the whole are given the whole's draws when they come alone."""
    run, drawn = make_run("simclr", schedule={"epochs": 1, "warmup": 0.0}), []

    def record(data: Any, draws: Any, views: Any) -> Any:
        drawn.append(
            {image.numpy().tobytes(): box.numpy().tobytes() for image, box in zip(data, draws.box, strict=True)}
        )
        return make_views(data, draws, views)

    monkeypatch.setattr(loop, "make_views", record)
    part = np.arange(3, len(images))
    train(run, numbered(images), Execution(torch.device("cpu"), frozenset(), {}), tmp_path / "whole")
    whole = {key: box for step in drawn for key, box in step.items()}
    drawn.clear()
    train(run, numbered(images[part], part), Execution(torch.device("cpu"), frozenset(), {}), tmp_path / "part")
    alone = {key: box for step in drawn for key, box in step.items()}
    shared = whole.keys() & alone.keys()
    assert len(shared) >= 8
    assert all(whole[key] == alone[key] for key in shared)
    drawn.clear()
    train(run, numbered(images[part]), Execution(torch.device("cpu"), frozenset(), {}), tmp_path / "control")
    control = {key: box for step in drawn for key, box in step.items()}
    assert any(whole[key] != control[key] for key in shared & control.keys())


# What a step is


@pytest.mark.parametrize("method", ["simclr", "simsiam"])
def test_accumulated_gradient_is_the_mean_of_the_passes(make_run: MakeRun, images: Images, method: str) -> None:
    """Against a loop that takes each pass's gradient by itself."""
    run = make_run(method, batch={"size": 16, "micro": 4})
    model = build_method(run)
    reference = copy.deepcopy(model)
    data, draws, index = torch.from_numpy(images), draw(run.views, 19, 8, 0, 0), torch.arange(16).flip(0)
    optimiser = optimisation.build(model, run.optimiser)  # its rate is 0 until set
    model.train()
    loss, norm = loop._step(run, model, optimiser, data, draws, index).tolist()

    reference.train()
    passes = [make_views(data[part], draws.take(part), run.views) for part in index.split(4)]
    outputs = [reference(views) for views in passes]
    each = [torch.autograd.grad(output.loss, list(reference.parameters())) for output in outputs]
    for parameter, *gradients in zip(model.parameters(), *each, strict=True):
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad, torch.stack(gradients).mean(dim=0), atol=1e-6, rtol=1e-4)
    assert loss == pytest.approx(np.mean([output.loss.item() for output in outputs]), abs=1e-6)
    norms = [np.linalg.norm(output.embeddings.numpy(), axis=1).mean() for output in outputs]
    assert norm == pytest.approx(np.mean(norms), rel=1e-5)


def test_an_epoch_is_whole_batches_in_keyed_order_at_annealed_rates(
    make_run: MakeRun, images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """19 images, batches of 8: two steps, three images left out; peak 1.0 · 8/256; 8 steps, 2 of warm-up."""
    steps: list[tuple[list[int], float]] = []
    step = loop._step

    def spy(run: Run, method: Any, optimiser: Any, data: Tensor, draws: Any, index: Tensor) -> Tensor:
        steps.append((index.tolist(), optimiser.param_groups[0]["lr"]))
        return step(run, method, optimiser, data, draws, index)

    monkeypatch.setattr(loop, "_step", spy)
    execute(make_run(), images, tmp_path)
    peak = 8 / 256
    cosine = [0.5 * (1 + np.cos(np.pi * i / 6)) for i in range(6)]
    assert [rate for _, rate in steps] == pytest.approx([peak * f for f in [0.5, 1.0, *cosine]])
    for first, second in zip(steps[::2], steps[1::2], strict=True):
        assert len({*first[0], *second[0]}) == 16
    assert len({tuple(index) for index, _ in steps}) == 8
    history = (tmp_path / "history.csv").read_text().splitlines()
    assert history[0] == "epoch,loss,norm,learning_rate"
    rows = [[float(cell) for cell in line.split(",")] for line in history[1:]]
    assert [row[0] for row in rows] == [1, 2, 3, 4]
    assert [row[3] for row in rows] == pytest.approx([rate for _, rate in steps[1::2]])


def test_fewer_images_than_a_batch_is_said(make_run: MakeRun, images: Images, tmp_path: Path) -> None:
    with pytest.raises(HypersphereError, match=r"batch\.size 8 is more than the 7 images of noise"):
        execute(make_run(), images[:7], tmp_path)


# Equal bytes


@pytest.mark.parametrize("method", ["simclr", "simsiam"])
def test_same_run_same_bytes(make_run: MakeRun, images: Images, tmp_path: Path, method: str) -> None:
    for name, state in (("a", 1), ("b", 2)):
        torch.manual_seed(state)
        np.random.seed(state)
        outcome = execute(make_run(method), images, tmp_path / name)
        assert (outcome.status, outcome.epochs, outcome.starts) == ("finished", 4, [0])
    assert result(tmp_path / "a") == result(tmp_path / "b")
    assert result(tmp_path / "a").keys() == CONTRACT


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"optimiser": {"learning_rate": 1.0001}},
        {"objective": {"temperature": 0.51}},
        {"views": {"brightness": 0.41}},
        {"gradient": {"name": "grad_scale", "power": 1}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_run_other_bytes(make_run: MakeRun, images: Images, tmp_path: Path, change: dict[str, Any]) -> None:
    """Control for the test above, and a check that each of these fields reaches training."""
    execute(make_run(), images, tmp_path / "a")
    execute(make_run(**change), images, tmp_path / "b")
    assert result(tmp_path / "a")["encoder.safetensors"] != result(tmp_path / "b")["encoder.safetensors"]
    assert result(tmp_path / "a")["history.csv"] != result(tmp_path / "b")["history.csv"]


@pytest.mark.parametrize("options", [{"save_every": 0.0}, {"snapshots": frozenset({1, 3})}, {"snapshots": frozenset()}])
def test_how_often_we_save_changes_no_byte_of_the_rest(
    make_run: MakeRun, images: Images, tmp_path: Path, options: dict[str, Any]
) -> None:
    execute(make_run(), images, tmp_path / "a")
    execute(make_run(), images, tmp_path / "b", **options)
    a, b = result(tmp_path / "a"), result(tmp_path / "b")
    assert all(a[name] == b[name] for name in ("encoder.safetensors", "history.csv"))
    wanted = {f"snapshots/epoch-{epoch:04d}.safetensors" for epoch in options.get("snapshots", {0, 2})}
    assert {name for name in b if name.startswith("snapshots")} == wanted


def test_a_snapshot_is_the_encoder_at_that_epoch(make_run: MakeRun, images: Images, tmp_path: Path) -> None:
    """Epoch 0 is the initial encoder; the last epoch is the encoder's own file."""
    execute(make_run(), images, tmp_path, snapshots=frozenset({0, 3, 4}))
    initial = build_method(make_run()).encoder.state_dict()
    saved = load_file(tmp_path / "snapshots/epoch-0000.safetensors")
    assert saved.keys() == initial.keys()
    assert all(torch.equal(saved[name], value) for name, value in initial.items())
    assert not (tmp_path / "snapshots/epoch-0004.safetensors").exists()
    third = load_file(tmp_path / "snapshots/epoch-0003.safetensors")
    last = load_file(tmp_path / "encoder.safetensors")
    assert not torch.equal(third["conv1.weight"], last["conv1.weight"])


# Divergence


def test_a_diverged_run_writes_its_contract_files(make_run: MakeRun, images: Images, tmp_path: Path) -> None:
    run = make_run(optimiser={"learning_rate": 1e30})
    outcome = execute(run, images, tmp_path, save_every=0.0)
    assert outcome.status == "diverged"
    assert 1 <= outcome.epochs < 4
    assert {"encoder.safetensors", "history.csv"} <= result(tmp_path).keys()
    history = (tmp_path / "history.csv").read_text().splitlines()
    assert len(history) == 1 + outcome.epochs
    assert not np.isfinite([float(cell) for cell in history[-1].split(",")]).all()


def test_a_diverged_run_has_equal_bytes_too(make_run: MakeRun, images: Images, tmp_path: Path) -> None:
    run = make_run(optimiser={"learning_rate": 1e30})
    for name in ("a", "b"):
        execute(run, images, tmp_path / name)
    assert result(tmp_path / "a") == result(tmp_path / "b")
