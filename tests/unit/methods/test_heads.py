"""Heads as the papers draw them."""

from collections.abc import Callable
from typing import Any

import pytest

from hypersphere.methods.base import Method
from hypersphere.methods.byol import byol
from hypersphere.methods.cmc import cmc
from hypersphere.methods.dino import dino
from hypersphere.methods.instance_discrimination import instance_discrimination
from hypersphere.methods.mocov2 import mocov2
from hypersphere.methods.mocov3 import mocov3
from hypersphere.methods.simclr import simclr
from hypersphere.methods.simsiam import simsiam
from hypersphere.methods.supervised import supervised
from hypersphere.methods.swav import swav

from .shared import Streams, described, make_parts, nothing

WIDTHS: dict[Callable[..., Method], dict[str, Any]] = {
    cmc: {"hidden": None},
    dino: {"bottleneck": 4, "prototypes": 9},
    instance_discrimination: {"hidden": None},
    mocov2: {"queue": 6},
    simsiam: {"bottleneck": 3},
    swav: {"prototypes": 9},
}
"""Beside a hidden layer of 7 and 4 dimensions."""
CLA: dict[str, Any] = {"hidden": 8, "dim": 8, "layers": 3, "bottleneck": True, "last_batch_norm": True}
HEADS: list[tuple[Callable[..., Method], dict[str, Any], dict[str, str]]] = [
    # Grill et al. 2020, Sec. 3.3; the authors' code; Projector and Predictor of CLA/training/models.py
    (byol, {}, {"projector": "6-7 bn* ReLU 7-4+", "predictor": "4-7 bn* ReLU 7-4+"}),
    (byol, {"bias": False}, {"projector": "6-7 bn* ReLU 7-4", "predictor": "4-7 bn* ReLU 7-4"}),
    (byol, CLA, {"projector": "6-8 bn* ReLU 8-8 bn* ReLU 8-8 bn*", "predictor": "8-2 bn* ReLU 2-8+"}),
    (cmc, {}, {"lightness": "5-4+", "colour": "5-4+"}),
    (cmc, {"hidden": 7}, {"lightness": "5-7+ ReLU 7-4+", "colour": "5-7+ ReLU 7-4+"}),
    # Caron et al. 2021, Sec. 3.1, from memory
    (dino, {}, {"projector": "6-7+ GELU 7-7+ GELU 7-4+"}),
    (dino, {"batch_norm": True, "layers": 2}, {"projector": "6-7 bn* GELU 7-4+"}),
    (instance_discrimination, {}, {"projector": "6-4+"}),
    # Chen et al. 2020b; MoCo v1 had a linear map
    (mocov2, {}, {"projector": "6-7+ ReLU 7-4+"}),
    (mocov2, {"layers": 1}, {"projector": "6-4+"}),
    (mocov2, {"layers": 3, "batch_norm": True}, {"projector": "6-7 bn* ReLU 7-7 bn* ReLU 7-4+"}),
    # the authors' code: three layers behind a ViT, two in the predictor, no bias, batch norm to the end of both
    (mocov3, {}, {"projector": "6-7 bn* ReLU 7-7 bn* ReLU 7-4 bn", "predictor": "4-7 bn* ReLU 7-4 bn"}),
    (mocov3, {"layers": 2, "predictor_layers": 3}, {"predictor": "4-7 bn* ReLU 7-7 bn* ReLU 7-4 bn"}),
    (mocov3, {"layers": 2, "batch_norm": False}, {"projector": "6-7 ReLU 7-4 bn", "predictor": "4-7 ReLU 7-4 bn"}),
    (
        mocov3,
        {"layers": 2, "last_batch_norm": False, "bias": True},
        {"projector": "6-7 bn* ReLU 7-4+", "predictor": "4-7 bn* ReLU 7-4+"},
    ),
    # Chen et al. 2020, Sec. 4.2
    (simclr, {}, {"projector": "6-7+ ReLU 7-4+"}),
    (simclr, {"layers": 1}, {"projector": "6-4+"}),
    (simclr, {"layers": 1, "batch_norm": True, "bias": False}, {"projector": "6-4"}),
    (simclr, {"layers": 3, "bias": False}, {"projector": "6-7 ReLU 7-7 ReLU 7-4"}),
    (simclr, {"batch_norm": True}, {"projector": "6-7 bn* ReLU 7-4+"}),
    (simclr, {"last_batch_norm": True}, {"projector": "6-7+ ReLU 7-4 bn"}),
    # Chen and He 2021, Sec. 3; App. D, on CIFAR; Projector of CLA/training/models.py
    (simsiam, {}, {"projector": "6-7 bn* ReLU 7-7 bn* ReLU 7-4 bn", "predictor": "4-3 bn* ReLU 3-4+"}),
    (simsiam, {"layers": 2}, {"projector": "6-7 bn* ReLU 7-4 bn"}),
    (simsiam, {"layers": 2, "last_batch_norm": "affine"}, {"projector": "6-7 bn* ReLU 7-4 bn*"}),
    (supervised, {}, {"classifier": "6-10+"}),
    # Caron et al. 2020, from memory
    (swav, {}, {"projector": "6-7 bn* ReLU 7-4+", "prototypes": "4-9"}),
    (swav, {"layers": 3, "batch_norm": False}, {"projector": "6-7+ ReLU 7-7+ ReLU 7-4+"}),
]


@pytest.mark.parametrize(("method", "options", "expected"), HEADS)
def test_heads_are_the_papers(method: Callable[..., Method], options: dict[str, Any], expected: dict[str, str]) -> None:
    """A bias before a batch norm does nothing and is left out."""
    parts = make_parts(nothing, images=9, classes=10, **({"encoder": Streams()} if method is cmc else {}))
    widths = {} if method is supervised else {"hidden": 7, "dim": 4} | WIDTHS.get(method, {}) | options
    if method is dino:
        del widths["dim"]
    made = method(parts, **{name: width for name, width in widths.items() if width is not None})
    assert {name: described(made.get_submodule(name)) for name in expected} == expected
