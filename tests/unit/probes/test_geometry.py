"""Manipulation checks against closed forms."""

import math
from typing import Any

import pytest
import torch
from torch import nn

from hypersphere.probes.geometry import effective_rank, geometry, weight_norm

from .views_world import STILL, World, colours


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_equal_singular_values_count_the_dimensions(rank: int) -> None:
    """The entropy of ``rank`` equal shares is log rank (Roy & Vetterli 2007)."""
    matrix = torch.zeros(8, 6, dtype=torch.float64)
    matrix[:rank, :rank] = 3.0 * torch.eye(rank)
    assert effective_rank(matrix) == pytest.approx(rank)


def test_two_unequal_singular_values() -> None:
    """Shares 3/4 and 1/4: exp(-(3/4 log 3/4 + 1/4 log 1/4))."""
    expected = math.exp(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    assert effective_rank(torch.diag(torch.tensor([3.0, 1.0], dtype=torch.float64))) == pytest.approx(expected)
    assert effective_rank(torch.zeros(3, 2)) == 0.0


def test_weights_count_and_normalisations_and_biases_do_not() -> None:
    network = nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1), nn.Linear(1, 1))
    for parameter in network.parameters():
        nn.init.constant_(parameter, 100.0)
    nn.init.constant_(network[0].weight, 3.0)  # type: ignore[arg-type]
    nn.init.constant_(network[2].weight, 4.0)  # type: ignore[arg-type]
    assert weight_norm(network) == pytest.approx(5.0)


def test_still_views_have_a_cosine_of_one_and_the_norm_of_their_embeddings() -> None:
    frozen: Any = World(7, lambda images: 2.0 * torch.eye(7)[: len(images)], STILL)
    frozen.encoder = nn.Linear(1, 1)
    values = geometry(frozen).values
    assert values["positive_cosine"] == pytest.approx(1.0)
    assert values["norm"] == pytest.approx(2.0)
    assert values["effective_rank"] == pytest.approx(6.0)  # seven orthogonal vectors of equal length, centred


def test_moving_views_are_less_alike() -> None:
    frozen: Any = World(14, colours)
    frozen.encoder = nn.Linear(1, 1)
    assert geometry(frozen).values["positive_cosine"] < 1.0
