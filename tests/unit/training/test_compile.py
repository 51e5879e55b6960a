"""A compiled encoder: the switch reaches torch, and changes how a step is computed, not what.

Dynamo traces for real here; its graphs run as they are (``eager``), because making code for them takes a minute.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from jaxtyping import UInt8

from hypersphere.config.run import Run

from .conftest import SELDOM, execute, result

pytestmark = pytest.mark.heavy


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
