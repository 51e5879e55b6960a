"""Two views of each of some images, as in training, and their embeddings."""

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.augmentations.draws import draw
from hypersphere.augmentations.ops import make_views
from hypersphere.datasets.types import TEST
from hypersphere.errors import HypersphereError
from hypersphere.probes.frozen import BLOCK, Frozen


def view_pairs(
    frozen: Frozen, split: str = TEST, most: int = 2000
) -> tuple[Float[Tensor, "n e"], Float[Tensor, "n e"], Int[np.ndarray, "n"]]:
    """The embeddings of two views of at most ``most`` images of a split, and the images' places in it, ascending.

    Images and views are the same for every run with this augmentation. Of a method that trains on one view, both are of
    its augmentation.
    """
    images = frozen.images(split)
    branches = frozen.run.branches
    places = chosen(len(images), most)
    if len(places) < 2:
        raise HypersphereError(f"probe: needs at least 2 {split} images (given: {len(places)})")
    both = (branches[0], branches[-1])
    draws = draw(both, len(images), images.shape[1], 0, 0).take(torch.from_numpy(places))
    first, second = [], []
    for part in torch.arange(len(places)).split(BLOCK):
        pixels = np.array(images[places[part.numpy()]])
        a, b = make_views(torch.from_numpy(pixels).to(frozen.device), draws.take(part), both)
        first.append(frozen.embed(a))
        second.append(frozen.embed(b))
    return torch.cat(first), torch.cat(second), places


def chosen(images: int, most: int) -> Int[np.ndarray, "n"]:
    """Places of at most ``most`` of so many images, ascending: always the same ones."""
    if images <= most:
        return np.arange(images)
    return np.sort(prng.permutation(images, 0, "probed images")[:most])
