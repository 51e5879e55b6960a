"""BYOL's heads and relatives; its wiring, which MoCo v3 shares, is in test_bootstrap.py."""

import os
from typing import Any

import pytest
import torch
from torch import Tensor

from hypersphere.methods.base import Method
from hypersphere.methods.byol import byol
from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.normalised_squared_error import normalised_squared_error

from .shared import Layer, described, make_batch, make_parts

os.environ["LIGHTLY_DID_VERSION_CHECK"] = "True"  # lightly would ask a server for its newest release
from lightly.models.modules.heads import BYOLPredictionHead, BYOLProjectionHead


def make(objective: Any = normalised_squared_error, **options: Any) -> Method:
    method = byol(make_parts(objective), **{"hidden": 7, "dim": 4} | options)
    method.begin()
    return method


def test_its_heads_are_the_papers() -> None:
    """Grill et al. 2020, Sec. 3.3, and lightly's: two layers, batch norm between them and none at the end."""
    method = make()
    projector, predictor = (method.get_submodule(name) for name in ("projector", "predictor"))
    assert described(projector) == described(BYOLProjectionHead(6, 7, 4).layers)
    assert described(predictor) == described(BYOLPredictionHead(4, 7, 4).layers)


def test_the_heads_of_the_norms_papers_authors() -> None:
    """Projector and Predictor of CLA/training/models.py; a bias before a batch norm does nothing and is left out."""
    method = make(hidden=8, dim=8, layers=3, bottleneck=True, last_batch_norm=True)
    normed: list[Layer] = [("batch norm", 8, True)]
    assert described(method.get_submodule("projector")) == [
        *[("linear", 6, 8, False), *normed, ("ReLU",)],
        *[("linear", 8, 8, False), *normed, ("ReLU",)],
        *[("linear", 8, 8, False), *normed],
    ]
    assert described(method.get_submodule("predictor")) == [
        *[("linear", 8, 2, False), ("batch norm", 2, True), ("ReLU",)],
        ("linear", 2, 8, True),
    ]


def test_its_heads_without_bias() -> None:
    """As in the authors' code."""
    method = make(bias=False)
    for name, inputs in (("projector", 6), ("predictor", 4)):
        assert described(method.get_submodule(name)) == [
            ("linear", inputs, 7, False),
            ("batch norm", 7, True),
            ("ReLU",),
            ("linear", 7, 4, False),
        ]


@pytest.mark.parametrize("symmetric", [True, False])
def test_it_trains_with_an_info_nce_of_beta_0(symmetric: bool) -> None:
    """Margins paper, Eq. 3 and App. E: -cos/t with t = 1/2 is 2 - 2cos but for a constant, in each direction."""

    def attraction(p: Tensor, z: Tensor) -> Tensor:
        return generalised_info_nce(
            p, z, lambda cosines, targets: cosine_logits(cosines, targets, temperature=0.5), negatives="none", beta=0.0
        )

    ours, theirs = (make(objective, symmetric=symmetric) for objective in (attraction, normalised_squared_error))
    constant = 4 if symmetric else 2
    torch.testing.assert_close(ours(make_batch()).loss + constant, theirs(make_batch()).loss)
