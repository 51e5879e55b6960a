"""How a run is executed: in bfloat16, how far it may lie from float32; a compiled encoder, to the same bytes.

A processor without the instructions computes the same, slowly: so these tests need none. Dynamo traces for real here;
its graphs run as they are (``eager``), because making code for them takes a minute.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from jaxtyping import Float64, UInt8
from safetensors.torch import load_file
from torch import Tensor

from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.training import build, device, loop, optimisation
from hypersphere.training.loop import Execution
from hypersphere.training.trainers.image import Images, training_images
from hypersphere.training.weights import ENCODER, HEADS

from ...of_images import METHODS
from .conftest import SELDOM, execute, of_method, result

pytestmark = pytest.mark.heavy
CPU = torch.device("cpu")


NO_SNAPSHOTS: dict[str, Any] = {"snapshots": frozenset(), **SELDOM}


def gradient(run: Run, type_: torch.dtype) -> Float64[Tensor, "p"]:
    """Of one training step on random views, computed in this type, at rate 0."""
    micro = run.batch.micro
    views = torch.rand(2, micro, 3, 8, 8, generator=torch.Generator().manual_seed(run.seed), dtype=torch.float64)
    model = build.build_method(run).train()
    model, views = (model.double(), views) if type_ == torch.float64 else (model, views.float())
    execution = Execution(CPU, frozenset(), {}, precision=torch.bfloat16 if type_ == torch.bfloat16 else torch.float32)
    optimiser, places = optimisation.build(model, run.optimiser), torch.arange(micro)
    loop._step(run, model, optimiser, iter([views]), places, places % 3, (0, 0, 0), execution)
    found = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    assert {tensor.dtype for tensor in found} == {torch.float64 if type_ == torch.float64 else torch.float32}
    return torch.cat([tensor.double().flatten() for tensor in found])


@pytest.mark.trained
@pytest.mark.parametrize("method", ["simclr", "simsiam"])
def test_a_step_rounds_and_nothing_more(method: str, make_run: Callable[..., Run]) -> None:
    """To first order the relative error of a gradient is the unit roundoff times the step's condition, which is the
    same in each type. So bfloat16's error is 2^-8 / 2^-24 times float32's, but for how many numbers are rounded.

    Both are compared with float64; the median is over ten seeds, as some batches are ill-conditioned. Over 200 draws of
    ten seeds out of 200, under AVX-512, AVX2 and neither, the factor left was 0.9 to 3.8. Its logarithm has a mean of
    0.5 to 0.9 and a standard deviation of at most 0.25, so that both bounds are more than six of them away. Processors
    hardly change bfloat16's error: products of bfloat16 are exact in float32, in which they are summed.
    """
    errors: dict[torch.dtype, list[float]] = {torch.float32: [], torch.bfloat16: []}
    for seed in range(10):
        run = make_run(method, seed=seed, batch={"size": 16, "micro": 16})
        exact = gradient(run, torch.float64)
        for type_, found in errors.items():
            found.append(float((gradient(run, type_) - exact).norm() / exact.norm()))
    factor = np.median(errors[torch.bfloat16]) / np.median(errors[torch.float32]) / 2**16
    assert 1 / 8 < factor < 8


@pytest.mark.trained
@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_in_bfloat16(method: str, methods_plan: Plan, tmp_path: Path) -> None:
    """Training ends without an error, and the weights are float32. DINO's centre once refused means in bfloat16."""
    run = of_method(methods_plan, method)
    images = training_images(store.open(methods_plan.data_folder(run.dataset)))
    (tmp_path / "snapshots").mkdir()
    outcome = execute(run, images, tmp_path, precision=torch.bfloat16, **NO_SNAPSHOTS)
    assert outcome.status == "finished"
    for name in (ENCODER, HEADS):
        assert {tensor.dtype for tensor in load_file(tmp_path / name).values()} <= {torch.float32, torch.int64}


def test_the_loss_is_computed_in_float32(make_run: Callable[..., Run]) -> None:
    """Embeddings that bfloat16 holds exactly: a loss in bfloat16 would be rounded, the control."""
    run = make_run(objective={"name": "nt_xent", "temperature": 0.07})
    loss = build.loss_of(run)
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(8, 4, generator=generator).bfloat16() for _ in range(2))
    with torch.autocast("cpu", torch.bfloat16):
        found = loss(a, b, labels=torch.zeros(8, dtype=torch.long))
    expected = loss(a.float(), b.float(), labels=torch.zeros(8, dtype=torch.long))
    assert found.dtype == torch.float32
    assert found == expected
    assert loss(a, b, labels=torch.zeros(8, dtype=torch.long)).float() != expected


@pytest.mark.trained
def test_training_in_bfloat16_learns(make_run: Callable[..., Run], tmp_path: Path) -> None:
    """Three classes, each of one colour, which views keep, and noise. An encoder that tells none apart has a loss of
    log 3, and training leaves less than a tenth of it: over twenty seeds 0.009, standard deviation 0.005, at most 0.02.
    """
    random, labels = np.random.default_rng(0), np.arange(24) % 3
    pixels = random.integers(0, 128, (24, 8, 8, 3)) + 127 * np.eye(3, dtype=int)[labels][:, None, None]
    run = make_run(
        method={"name": "supervised"},
        objective={"name": "cross_entropy"},
        encoder={"width": 4},
        views={"brightness": 0, "contrast": 0, "saturation": 0, "hue": 0, "grayscale": 0},
        optimiser={"learning_rate": 0.5},
        schedule={"epochs": 40},
        batch={"size": 12, "micro": 12},
    )
    (tmp_path / "snapshots").mkdir()
    images = Images(pixels.astype(np.uint8), labels, np.arange(24))
    execute(run, images, tmp_path, precision=torch.bfloat16, **NO_SNAPSHOTS)
    last = float((tmp_path / "history.csv").read_text().splitlines()[-1].split(",")[1])
    assert last < np.log(3) / 10


def test_precision_reaches_the_steps_and_float32_is_repeated(
    make_run: Callable[..., Run], images: UInt8[np.ndarray, "n h w 3"], tmp_path: Path
) -> None:
    """Losses and weights in bfloat16 are others, and of type float32. The control: float32 twice is equal."""
    run = make_run(schedule={"epochs": 1}, optimiser={"learning_rate": 0.01})
    history, weights = {}, {}
    for name, precision in (("full", torch.float32), ("again", torch.float32), ("half", torch.bfloat16)):
        folder = tmp_path / name
        (folder / "snapshots").mkdir(parents=True)
        execute(run, images, folder, precision=precision, **NO_SNAPSHOTS)
        history[name] = (folder / "history.csv").read_text()
        weights[name] = load_file(folder / ENCODER)
    assert history["full"] == history["again"] != history["half"]
    assert {tensor.dtype for tensor in weights["half"].values()} <= {torch.float32, torch.int64}
    assert any(not torch.equal(weights["half"][key], weights["full"][key]) for key in weights["full"])


@pytest.mark.parametrize("able", [True, False])
def test_a_processor_and_a_gpu_that_only_imitates_bfloat16_compute_in_float32(
    able: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A processor whatever its instructions: numbers of two precisions would not be comparable."""
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: able or including_emulation)
    assert device.precision("bfloat16", torch.device("cuda", 0)) == (torch.bfloat16 if able else torch.float32)
    for wanted in ("bfloat16", "float32"):
        assert device.precision(wanted, CPU) == torch.float32


@pytest.mark.parametrize("method", ["simclr", "simsiam"])
def test_a_compiled_encoder_trains_to_the_same_bytes(
    method: str,
    make_run: Callable[..., Run],
    images: UInt8[np.ndarray, "n h w 3"],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graphs: list[int] = []

    def eager(graph: torch.fx.GraphModule, inputs: object) -> Callable[..., object]:
        graphs.append(len(graph.graph.nodes))
        return graph.forward

    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=eager))
    run = make_run(method, schedule={"epochs": 1, "warmup": 0.0})
    for name, compiled in (("plain", False), ("compiled", True)):
        assert not graphs
        execute(run, images, tmp_path / name, compile=compiled, snapshots=frozenset(), **SELDOM)
    assert graphs
    assert result(tmp_path / "plain") == result(tmp_path / "compiled")
    torch.compiler.reset()
