"""How a run is executed: by the switches that a promise of equal bytes needs; in bfloat16, how far it may lie from
float32.

A processor without the instructions computes the same, slowly: so these tests need none.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from hypersphere.config.plan import Plan
from hypersphere.config.project import Compile, Precision
from hypersphere.config.run import Run
from hypersphere.training import build, device, loop, optimisation
from hypersphere.training.loop import Execution
from hypersphere.training.weights import ENCODER, HEADS

from ...of_images import METHODS
from .conftest import execute, make_run, of_method

pytestmark = pytest.mark.heavy
CPU = torch.device("cpu")
OPTIMISE = """
import sys
import torch
from hypersphere.training.determinism import make_deterministic
if sys.argv[1] == "with":
    make_deterministic(1)
weight = torch.nn.Parameter(torch.ones(3))
for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.LBFGS):
    optimiser = kind([{"params": [weight]}], lr=0.1)
    for _ in range(2):
        optimiser.zero_grad()
        weight.square().sum().backward()
        optimiser.step(lambda: weight.square().sum())
        optimiser.load_state_dict(optimiser.state_dict())
print("torch._dynamo" in sys.modules, *weight.tolist())
"""


def test_the_switches() -> None:
    """The fixture of every test here called make_deterministic(1)."""
    assert torch.get_deterministic_debug_mode() == 2  # an error, not a warning
    assert not torch.backends.cudnn.benchmark
    assert torch.get_num_threads() == 1
    # the two that NVIDIA calls deterministic
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] in (":4096:8", ":16:8")


@pytest.mark.long
def test_optimisers_do_without_the_compiler() -> None:
    """The control: without the switch it is imported; and the steps are the same to the bit."""
    said = [
        subprocess.check_output([sys.executable, "-c", OPTIMISE, how], text=True)
        for how in ("with", "without")
    ]
    (imported, *weights), (imported_without, *expected) = (one.split() for one in said)
    assert (imported, imported_without) == ("False", "True")
    assert weights == expected
    assert weights != ["1.0"] * 3


def gradient(run: Run, type_: torch.dtype) -> Tensor:
    """Of one training step on random views, computed in this type, at rate 0."""
    micro = run.batch.micro
    views = torch.rand(
        2, micro, 3, 8, 8, generator=torch.Generator().manual_seed(run.seed), dtype=torch.float64
    )
    model = build.build_method(run).train()
    model, views = (model.double(), views) if type_ == torch.float64 else (model, views.float())
    execution = Execution(
        CPU, frozenset(), {}, precision="bfloat16" if type_ == torch.bfloat16 else "float32"
    )
    optimiser, places = optimisation.build(model, run.optimiser), torch.arange(micro)
    loop._step(run, model, optimiser, iter([views]), places, places % 3, (0, 0, 0), execution)
    found = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    assert {tensor.dtype for tensor in found} == {
        torch.float64 if type_ == torch.float64 else torch.float32
    }
    return torch.cat([tensor.double().flatten() for tensor in found])


@pytest.mark.trained
@pytest.mark.parametrize("method", ["simclr", "simsiam"])
def test_a_step_rounds_and_nothing_more(method: str) -> None:
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
    outcome = execute(*of_method(methods_plan, method), tmp_path, precision="bfloat16")
    assert outcome.status == "finished"
    for name in (ENCODER, HEADS):
        assert {tensor.dtype for tensor in load_file(tmp_path / name).values()} <= {
            torch.float32,
            torch.int64,
        }


def test_the_loss_is_computed_in_float32() -> None:
    """Embeddings that bfloat16 holds exactly: a loss in bfloat16 would be rounded, the control."""
    run = make_run(objective={"name": "nt_xent", "temperature": 0.07})
    loss = build.loss_of(run)
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(8, 4, generator=generator).bfloat16() for _ in range(2))
    with torch.autocast("cpu", torch.bfloat16):
        found = loss(a, b)
    assert found.dtype == torch.float32
    assert found == loss(a.float(), b.float()) != loss(a, b).float()


@pytest.mark.parametrize("able", [True, False])
def test_a_processor_and_a_gpu_that_only_imitates_bfloat16_compute_in_float32(
    able: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        torch.cuda,
        "is_bf16_supported",
        lambda including_emulation=True: able or including_emulation,
    )
    assert device.precision("bfloat16", torch.device("cuda", 0)) == (
        "bfloat16" if able else "float32"
    )
    for wanted in get_args(Precision):
        assert device.precision(wanted, CPU) == "float32"


def test_factors_are_rounded_to_tf32_where_a_run_asks_for_it_alone(
    methods_plan: Plan, tmp_path: Path
) -> None:
    for precision, expected in (("tf32", True), ("float32", False), ("bfloat16", False)):
        run = of_method(methods_plan, "simclr")
        execute(*run, tmp_path / precision, precision=precision)
        switches = torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
        assert switches == (expected, expected)


ON_CARD = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


@pytest.mark.long
@pytest.mark.parametrize(
    ("mode", "where"),
    [
        ("default", "cpu"),
        pytest.param("default", "cuda", marks=ON_CARD),
        pytest.param("reduce-overhead", "cuda", marks=ON_CARD),
    ],
)
def test_a_compiled_encoder_trains_to_nearly_the_same_weights_and_repeats(
    methods_plan: Plan, tmp_path: Path, mode: Compile, where: str
) -> None:
    """Sums are rounded otherwise, so that weights differ by what float32 leaves open after eight steps."""
    run = of_method(methods_plan, "simclr")
    there = torch.device(where)
    execute(*run, tmp_path / "eager", device=there)
    for name in ("compiled", "again"):
        execute(*run, tmp_path / name, device=there, compile=mode)
    eager, compiled, again = (
        load_file(tmp_path / name / ENCODER) for name in ("eager", "compiled", "again")
    )
    assert eager.keys() == compiled.keys()
    for name, weight in eager.items():
        torch.testing.assert_close(compiled[name], weight, atol=1e-4, rtol=1e-3)
        assert torch.equal(compiled[name], again[name])
