"""Optimisers without torch's compiler."""

import subprocess
import sys

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
