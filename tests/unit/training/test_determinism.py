"""The switches that a promise of equal bytes needs. The fixture of every test here called make_deterministic(1)."""

import os
import subprocess
import sys

import pytest
import torch

pytestmark = pytest.mark.heavy

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


def test_nondeterministic_operations_are_errors() -> None:
    assert torch.get_deterministic_debug_mode() == 2
    assert not torch.backends.cudnn.benchmark
    with pytest.raises(RuntimeError, match="deterministic"):
        torch.nn.functional.max_unpool1d(torch.ones(1, 1, 2), torch.zeros(1, 1, 2, dtype=torch.int64), [2])


def test_threads_are_those_asked_for_and_cublas_has_a_fixed_workspace() -> None:
    assert torch.get_num_threads() == 1
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] in (":4096:8", ":16:8")  # the two that NVIDIA calls deterministic


@pytest.mark.long
def test_optimisers_do_without_the_compiler() -> None:
    """The control: without the switch it is imported; and the steps are the same to the bit."""
    said = {
        switch: subprocess.run([sys.executable, "-c", OPTIMISE, switch], capture_output=True, text=True, check=True)
        for switch in ("with", "without")
    }
    (imported, *weights), (imported_without, *expected) = (done.stdout.split() for done in said.values())
    assert (imported, imported_without) == ("False", "True")
    assert weights == expected
    assert weights != ["1.0"] * 3
