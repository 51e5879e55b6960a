"""Pairs of views: whose they are, and that they are always the same."""

from typing import Any

import numpy as np
import pytest
import torch

from hypersphere.augmentations.draws import draw
from hypersphere.augmentations.ops import make_views
from hypersphere.config.recipe import Views
from hypersphere.probes import view_pairs as module
from hypersphere.probes.view_pairs import chosen, view_pairs

from .views_world import World, colours


def world(n: int = 20) -> Any:
    return World(n, colours)


def test_rows_are_two_views_of_the_chosen_images() -> None:
    """Worked out here one image at a time."""
    frozen = world()
    found = view_pairs(frozen, "test", 8)
    draws = draw((Views(), Views()), 20, 6, 0, 0)
    for row, place in enumerate(found.images.tolist()):
        image = torch.from_numpy(frozen.pixels[place : place + 1])
        a, b = make_views(image, draws.take(torch.tensor([place])), (Views(), Views()))
        torch.testing.assert_close(found.first[row], colours(a)[0], atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(found.second[row], colours(b)[0], atol=1e-6, rtol=1e-5)
    assert not torch.equal(found.first, found.second)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = view_pairs(world(), "test", 20)
    monkeypatch.setattr(module, "BLOCK", 3)
    parts = view_pairs(world(), "test", 20)
    torch.testing.assert_close(whole.first, parts.first)
    torch.testing.assert_close(whole.second, parts.second)


def test_a_method_of_one_view_gets_two_of_its_kind() -> None:
    frozen = world()
    frozen.run.branches = frozen.run.branches[:1]
    found, both = view_pairs(frozen, "test", 20), view_pairs(world(), "test", 20)
    assert torch.equal(found.first, both.first)
    assert torch.equal(found.second, both.second)


@pytest.mark.parametrize(("images", "most", "kept"), [(5, 9, 5), (9, 9, 9), (50, 9, 9)])
def test_chosen_images(images: int, most: int, kept: int) -> None:
    places = chosen(images, most)
    assert len(np.unique(places)) == kept
    assert places.tolist() == sorted(places.tolist()) == chosen(images, most).tolist()
    assert set(places) <= set(range(images))
