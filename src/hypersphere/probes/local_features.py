"""Regions of single images that a middle layer's features fall into (Chen, Luo & Li 2021)."""

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere.config.validation import not_one_of
from hypersphere.datasets.types import TEST
from hypersphere.errors import HypersphereError, NotFiniteError
from hypersphere.probes.clusters import kmeans
from hypersphere.probes.feature_maps import enlarged, resized, seen_by, tinted
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import directions
from hypersphere.probes.result import ProbeResult, reading
from hypersphere.probes.view_pairs import chosen

MEASURES = ("explained",)
PICTURES = (
    "images (1 cluster) and, over them, the clusters of each image's own places, the largest blue, the next orange and "
    "so on; below: the class"
)

CLUSTERS = (1, 2, 4, 6, 8)
"""Numbers of clusters, of the lecture's slide; with 1, the picture is the image itself."""
COLOURS = (
    (0.00, 0.45, 0.70),
    (0.84, 0.37, 0.00),
    (0.00, 0.62, 0.45),
    (0.80, 0.47, 0.65),
    (0.94, 0.89, 0.26),
    (0.34, 0.71, 0.91),
    (0.00, 0.00, 0.00),
    (1.00, 1.00, 1.00),
)
"""Okabe and Ito's, and white: of the largest region, of the next …"""
OPAQUE = 0.6
"""Share of the colour in a picture."""


def local_features(frozen: Frozen, *, stage: str = "layer2") -> ProbeResult:
    """K-means of the normalised features of all places of an image, each of eight images by itself.

    Args:
        stage: the part of the encoder whose output is clustered.

    Returns:
        ``explained;clusters=2`` and so on, the percentage of an image's variance of features that lies between its
        regions, mean over the shown images; a table with a row per picture: clusters, row (empty), column (its number,
        from 1), caption (its class) and image (its place in the split); and the pictures.
    """
    parts = dict(frozen.encoder.named_children())
    if stage not in parts:
        raise HypersphereError(f"probe local_features: stage: {not_one_of(stage, parts)}")
    places = chosen(len(frozen.images(TEST)), 8)
    shown = np.array(frozen.images(TEST)[places])
    maps = seen_by(parts[stage], frozen.encoder, shown, frozen.device)[1].detach()
    least = CLUSTERS[-1]
    if maps.ndim != 4 or maps[0, 0].numel() < least:
        raise HypersphereError(
            f"probe local_features: stage: the output of '{stage}' is not a map of {least} places or more"
        )
    if not bool(maps.isfinite().all()):
        raise NotFiniteError(f"the maps of '{stage}' are NaN or infinite at some places")
    big, names = enlarged(shown), frozen.class_names()
    labels = [names[label] for label in frozen.labels(TEST)[torch.from_numpy(places)].tolist()]
    columns = [str(number) for number in range(1, len(places) + 1)]
    values, tables, pictures = {}, [], []
    for k in CLUSTERS:
        regions, shares = [], []
        for features in maps:
            region, share = regions_of(features, k)
            regions.append(region)
            shares.append(share)
        values[reading("explained", clusters=k)] = float(np.mean(shares))
        rows = {"clusters": k, "row": "", "column": columns, "caption": labels, "image": places}
        tables.append(pd.DataFrame(rows))
        if k == 1:
            pictures.append(big)
            continue
        grown = resized(maps.new_tensor(np.stack(regions)), big.shape[1:3], smooth=False)
        colours = np.array(COLOURS)[grown.astype(int)]
        pictures.append(tinted(big, colours, np.full(grown.shape, OPAQUE)))
    return ProbeResult(
        values, pd.concat(tables, ignore_index=True), np.concatenate(pictures), n=len(places)
    )


def regions_of(features: Float[Tensor, "c i j"], k: int) -> tuple[Int[np.ndarray, "i j"], float]:
    """The region of each place of an image, from 0, the largest first; and the percentage that they explain."""
    points = directions(features.flatten(1).T)
    total = float((points - points.mean(dim=0)).square().sum())
    clusters, inertia = kmeans(points, k, 5, "local features")
    largest_first = np.argsort(-np.bincount(clusters, minlength=k), kind="stable")
    rank = np.argsort(largest_first, kind="stable")
    explained = max(0.0, 100 * (1 - inertia / total)) if total > 0 else 0.0
    return rank[clusters].reshape(features.shape[1:]), explained
