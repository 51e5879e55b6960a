"""Embeddings in space as points on the unit sphere, with their classes, and how far they spread."""

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float64
from torch import Tensor

from hypersphere.datasets.types import TEST
from hypersphere.errors import HypersphereError
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import directions
from hypersphere.probes.result import ProbeResult
from hypersphere.probes.view_pairs import chosen

MEASURES = ("spread", "class_spread")


def sphere_points(frozen: Frozen) -> ProbeResult:
    """Normalised embeddings of plain test images, for a run whose head has three outputs.

    Double metric paper, Fig. 1 and App. C.3.

    Returns:
        ``spread`` of all images and ``class_spread``, its mean over the classes, each from 0, one direction, to 1,
        directions that cancel out; and a table with one row per image, of at most 500: image (its place in the split),
        class and x, y, z.
    """
    embeddings = frozen.embeddings(TEST)
    if embeddings.shape[1] != 3:
        raise HypersphereError(
            f"probe sphere_points: needs method.dim 3 (given: {embeddings.shape[1]})"
        )
    points, labels = directions(embeddings), frozen.labels(TEST)
    within = [spread(points[labels == label]) for label in labels.unique()]
    values = {"spread": spread(points), "class_spread": float(np.mean(within))}
    places = chosen(len(points), 500)
    at = torch.from_numpy(places)
    table = pd.DataFrame({"image": places, "class": labels.cpu()[at].numpy()})
    table = table.assign(**dict(zip("xyz", points.cpu()[at].T.numpy(), strict=True)))
    return ProbeResult(values, table, n=len(points))


def spread(points: Float64[Tensor, "n d"]) -> float:
    """1 minus the length of the mean of unit vectors: the spherical variance (Mardia & Jupp 2000, Sec. 9.2)."""
    return 1 - float(points.mean(dim=0).norm())
