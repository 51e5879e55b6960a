"""Studies compute as commands do; a printed number as a claim."""

from collections.abc import Callable
from typing import Any

import pytest

from hypersphere.config.claims import Claim
from hypersphere.training.determinism import make_deterministic


@pytest.fixture(scope="package", autouse=True)
def _as_commands_compute() -> None:
    make_deterministic(1)


@pytest.fixture
def claim() -> Callable[..., Claim]:
    def make(**changed: Any) -> Claim:
        fields = {name: "" for name in ("variant", "baseline", "setting", "reading", "sentence")}
        fields |= {"id": "a", "kind": "value", "origin": "printed", "artifact": "t", "method": "simclr"}
        fields |= {"dataset": "cifar10", "metric": "linear_top1", "reported": 50.0, "reported_std": None}
        fields |= {"direction": None, "source": "Table 1", "reading": "as printed"}
        return Claim.model_validate(fields | changed)

    return make
