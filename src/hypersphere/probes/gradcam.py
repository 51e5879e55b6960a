"""Where an encoder looks: class activation maps of single test images (Selvaraju et al. 2017)."""

from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere import prng
from hypersphere.arguments import PositiveInt
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.probes.feature_maps import enlarged, last_maps, resized, tinted
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.mlp import fit_mlp
from hypersphere.probes.result import ProbeResult, top_k

MEASURES = ("mlp_top1",)
PIXELS = False
PICTURES = (
    "images and, over them, what raises the score of their class (red: half of the image's highest, yellow: the "
    "highest); below: the predicted class"
)

OPAQUE = 0.65
"""Share of the colour where a map is highest."""


def gradcam(frozen: Frozen, *, classes: PositiveInt = 5, **mlp: Any) -> ProbeResult:
    """Fit the probe ``mlp``, and draw for one test image of some classes what raises the score of its class.

    Double metric paper, Fig. 4: "5 distinct classes chosen at random". Here classes and images are drawn by a fixed
    key, the same for every run.

    Args:
        classes: how many; at most those of the dataset.
        mlp: all parameters of the probe ``mlp``.

    Returns:
        ``mlp_top1``, the probe's accuracy on the test set, in percent; a table with a row per picture: row ("image" or
        "map"), column (the class), caption (of a map: the predicted class) and image (its place in the split); and the
        pictures. A map goes from red, half of the highest, to yellow, the highest of the image.
    """
    truth, names = frozen.labels(TEST), frozen.class_names()
    places = _chosen(truth.cpu().numpy(), classes)
    images = np.array(frozen.images(TEST)[places])
    fitted = fit_mlp(frozen.features(TRAIN), frozen.labels(TRAIN), frozen.classes(), **mlp)
    maps, features = last_maps(frozen.encoder, images, frozen.device)
    accuracy = top_k(fitted.scores(frozen.features(TEST)), truth, 1)
    with torch.enable_grad():
        scores = fitted.scores(features.float())
        own = scores.gather(1, truth[torch.from_numpy(places).to(truth.device)][:, None]).sum()
        (slopes,) = torch.autograd.grad(own, maps)
    big = enlarged(images)
    heat = resized(activation_map(maps.detach(), slopes), big.shape[1:3], smooth=True)
    predicted = [names[label] for label in scores.argmax(dim=1).tolist()]
    columns = [names[int(label)] for label in truth.cpu().numpy()[places]]
    table = pd.concat(
        [
            pd.DataFrame({"row": "image", "column": columns, "caption": "", "image": places}),
            pd.DataFrame({"row": "map", "column": columns, "caption": predicted, "image": places}),
        ],
        ignore_index=True,
    )
    green = (2 * heat - 1).clip(0, 1)
    heated = tinted(big, np.stack([np.ones_like(heat), green, np.zeros_like(heat)], axis=-1), OPAQUE * heat)
    return ProbeResult({"mlp_top1": accuracy}, table, np.concatenate([big, heated]), n=len(truth))


def activation_map(maps: Float[Tensor, "n c i j"], slopes: Float[Tensor, "n c i j"]) -> Float[Tensor, "n i j"]:
    """ReLU of the sum over channels of a_c · A_c, a_c the mean over places of the score's gradient by A_c.

    Selvaraju et al. 2017, Eq. 1 and 2. Divided by its largest value; 0 everywhere if no place raises the score.
    """
    weights = slopes.mean(dim=(2, 3), keepdim=True)
    found = (weights * maps).sum(dim=1).relu()
    highest = found.amax(dim=(1, 2), keepdim=True)
    return found / torch.where(highest > 0, highest, 1)


def _chosen(truth: Int[np.ndarray, "n"], classes: int) -> Int[np.ndarray, "k"]:
    """A test image of each of some classes, those and it drawn by a fixed key; in the order of the classes."""
    present = np.unique(truth)
    some = np.sort(present[prng.permutation(len(present), 0, "gradcam", "classes")[:classes]])
    order = prng.permutation(len(truth), 0, "gradcam", "images")
    return np.array([next(place for place in order if truth[place] == label) for label in some])
