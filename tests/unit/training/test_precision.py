"""bfloat16 in training: where it is used, what stays in float32, and how far it may lie from float32.

A processor without the instructions computes the same, slowly: so these tests need none.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from jaxtyping import UInt8
from safetensors.torch import load_file

from hypersphere.datasets import store
from hypersphere.declared.plan import Plan
from hypersphere.declared.run import Run
from hypersphere.training import build, device
from hypersphere.training.checkpoint import ENCODER, HEADS
from hypersphere.training.images import training_images

from ...of_images import METHODS
from .conftest import SELDOM, execute, of_method

EPSILON = 2.0**-8  # of bfloat16: 8 bits of significand
NO_SNAPSHOTS: dict[str, Any] = {"snapshots": frozenset(), **SELDOM}


@pytest.mark.parametrize("wanted", ["bfloat16", "float32"])
def test_a_processor_computes_in_float32(wanted: str) -> None:
    """Whatever its instructions: numbers of two precisions would not be comparable."""
    assert device.precision(wanted, torch.device("cpu")) == torch.float32


@pytest.mark.parametrize(("able", "expected"), [(True, torch.bfloat16), (False, torch.float32)])
def test_a_gpu_that_only_imitates_bfloat16_computes_in_float32(
    able: bool, expected: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: able or including_emulation)
    assert device.precision("bfloat16", torch.device("cuda", 0)) == expected


@pytest.mark.parametrize("method", ["simclr", "simsiam"])
def test_one_step_rounds_and_nothing_more(
    method: str, make_run: Callable[..., Run], images: UInt8[np.ndarray, "n h w 3"], tmp_path: Path
) -> None:
    """The loss differs, by a few roundings; weights and loss are float32. The control: float32 twice is equal."""
    run = make_run(method, schedule={"epochs": 1}, optimiser={"learning_rate": 0.01})
    history, weights = {}, {}
    for name, precision in (("full", torch.float32), ("again", torch.float32), ("half", torch.bfloat16)):
        folder = tmp_path / name
        (folder / "snapshots").mkdir(parents=True)
        execute(run, images, folder, precision=precision, **NO_SNAPSHOTS)
        history[name] = float((folder / "history.csv").read_text().splitlines()[1].split(",")[1])
        weights[name] = load_file(folder / ENCODER)
    assert history["full"] == history["again"]
    assert history["half"] != history["full"]
    assert history["half"] == pytest.approx(history["full"], abs=20 * EPSILON)
    assert {tensor.dtype for tensor in weights["half"].values()} <= {torch.float32, torch.int64}
    change = max(float((weights["half"][key] - weights["full"][key]).abs().max()) for key in weights["full"])
    assert 0 < change < 0.2


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


def test_training_in_bfloat16_learns_the_same(
    make_run: Callable[..., Run], images: UInt8[np.ndarray, "n h w 3"], tmp_path: Path
) -> None:
    """The last losses lie no further apart than those of two seeds."""
    last: dict[str, list[float]] = {"full": [], "half": []}
    for seed in range(3):
        run = make_run(seed=seed, schedule={"epochs": 20}, optimiser={"learning_rate": 0.5})
        for name, precision in (("full", torch.float32), ("half", torch.bfloat16)):
            folder = tmp_path / f"{name}{seed}"
            (folder / "snapshots").mkdir(parents=True)
            execute(run, images, folder, precision=precision, **NO_SNAPSHOTS)
            last[name].append(float((folder / "history.csv").read_text().splitlines()[-1].split(",")[1]))
    spread = np.std(last["full"], ddof=1)
    assert abs(np.mean(last["half"]) - np.mean(last["full"])) < 2 * spread
    assert max(last["half"]) < np.log(2 * run.batch.micro - 1)  # of an encoder that tells no images apart
