"""Where an encoder looks: class activation maps of single test images (Selvaraju et al. 2017)."""

from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere import prng
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.errors import HypersphereError
from hypersphere.probes.feature_maps import enlarged, resized, seen_by, tinted
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.mlp import fit_mlp
from hypersphere.probes.result import ProbeResult, top_k

MEASURES = ("mlp_top1",)
PICTURES = (
    "images and, over them, what raises the score of their class (red: half of the image's highest, yellow: the "
    "highest); below: the predicted class"
)

CLASSES = 5
OPAQUE = 0.65
"""Share of the colour where a map is highest."""


def gradcam(frozen: Frozen, **mlp: Any) -> ProbeResult:
    """Fit the probe ``mlp``, and draw for one test image of each of five classes what raises the score of its class.

    Double metric paper, Fig. 4: "5 distinct classes chosen at random". Here classes and images are drawn by a fixed
    key, the same for every run.

    Returns:
        ``mlp_top1``, the probe's accuracy on the test set; a table with a row per picture: row ("image" or
        "map"), column (the class), caption (of a map: the predicted class) and image (its place in the split); and the
        pictures. A map goes from red, half of the highest, to yellow, the highest of the image.
    """
    labels, names = frozen.labels(TEST), frozen.class_names()
    truth = labels.cpu().numpy()
    present = np.unique(truth)
    some = np.sort(present[prng.permutation(len(present), 0, "gradcam", "classes")[:CLASSES]])
    order = prng.permutation(len(truth), 0, "gradcam", "images")
    places = np.array([order[truth[order] == label][0] for label in some])
    fitted = fit_mlp(frozen.features(TRAIN), frozen.labels(TRAIN), frozen.classes(), **mlp)
    accuracy = top_k(fitted.scores(frozen.features(TEST)), labels, 1)
    modules = frozen.encoder.modules()
    pools = [module for module in modules if isinstance(module, nn.AdaptiveAvgPool2d)]
    if len(pools) != 1:
        raise HypersphereError(
            "probe gradcam: encoder: needs one that ends in one average of feature maps (a ResNet)"
        )
    images = np.array(frozen.images(TEST)[places])
    maps, _, features = seen_by(pools[0], frozen.encoder, images, frozen.device)
    with torch.enable_grad():
        scores = fitted.scores(features.float())
        own = labels[torch.from_numpy(places).to(labels.device)]
        of_own = scores.gather(1, own[:, None]).sum()
        (slopes,) = torch.autograd.grad(of_own, maps)
    big = enlarged(images)
    heat = resized(activation_map(maps.detach(), slopes), big.shape[1:3], smooth=True)
    predicted = [names[label] for label in scores.argmax(dim=1).tolist()]
    table = pd.DataFrame(
        {
            "row": np.repeat(["image", "map"], len(places)),
            "column": [names[label] for label in some] * 2,
            "caption": [""] * len(places) + predicted,
            "image": np.tile(places, 2),
        }
    )
    yellow = (2 * heat - 1).clip(0, 1)
    colours = np.stack([np.ones_like(heat), yellow, np.zeros_like(heat)], axis=-1)
    shown = np.concatenate([big, tinted(big, colours, OPAQUE * heat)])
    return ProbeResult({"mlp_top1": accuracy}, table, shown, n=len(truth))


def activation_map(
    maps: Float[Tensor, "n c i j"], slopes: Float[Tensor, "n c i j"]
) -> Float[Tensor, "n i j"]:
    """ReLU of the sum over channels of a_c · A_c, a_c the mean over places of the score's gradient by A_c.

    Selvaraju et al. 2017, Eq. 1 and 2. Divided by its largest value; 0 everywhere if no place raises the score.
    """
    weights = slopes.mean(dim=(2, 3), keepdim=True)
    heat = (weights * maps).sum(dim=1).relu()
    highest = heat.amax(dim=(1, 2), keepdim=True)
    return heat / torch.where(highest > 0, highest, 1)
