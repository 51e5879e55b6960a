"""Errors of a two-layer probe on corrupted test images (Hendrycks & Dietterich 2019)."""

import re
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from hypersphere import prng
from hypersphere.arguments import PositiveInt
from hypersphere.augmentations.ops import to_float
from hypersphere.config.coordinates import Scalar
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.errors import HypersphereError
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.mlp import fit_mlp
from hypersphere.probes.result import ProbeResult, reading, top_k

MEASURES = ("corruption_error", "mce", "relative_mce")
"""The last two compare runs: statistics/corruption_errors.py computes them from the first."""

WAY = re.compile(r".+-[1-9]")
"""Names of the splits of corrupted images: ``fog-3``."""
CLEAN = "none"
"""Stands for a corruption in the error on clean test images."""
KEPT = 2**22
"""Bytes. Versions of no more images than this are kept for the next encoder of a job, which is probed on the same."""


def corruption(frozen: Frozen, *, copies: PositiveInt = 6, **mlp: Any) -> ProbeResult:
    """Fit the probe ``mlp`` twice, and count its errors on each corrupted copy of the test images.

    Double metric paper, Table 3 and App. D.1: with standard augmentation, which here is none, and with AugMix
    (Hendrycks et al. 2020). With AugMix each training image has ``copies`` augmented versions, whose features are
    computed once; epoch e shows version e mod copies.

    Args:
        copies: versions of each training image, with AugMix.

    Returns:
        ``corruption_error;augmentation=augmix;corruption=fog;severity=3`` and so on; and with ``corruption=none`` on
        clean test images.
    """
    corrupted = [split for split in frozen.splits if WAY.fullmatch(split)]
    if not corrupted:
        raise HypersphereError(
            "probe corruption: target: needs a dataset with corrupted test images (tiny_imagenet_c)"
        )
    values: dict[str, float] = {}
    images = frozen.images(TRAIN)
    augmixed = torch.stack([frozen.encode(augmix_of(images, copy)) for copy in range(copies)])
    banks = {"standard": frozen.features(TRAIN), "augmix": augmixed}
    for augmentation, bank in banks.items():
        fitted = fit_mlp(bank, frozen.labels(TRAIN), frozen.classes(), **mlp)
        for split in (TEST, *corrupted):
            name, _, severity = split.rpartition("-")
            way: dict[str, Scalar] = {"corruption": name or CLEAN}
            if name:
                way["severity"] = int(severity)
            scores = fitted.scores(frozen.features(split))
            error = 100 - top_k(scores, frozen.labels(split), 1)
            values[reading("corruption_error", augmentation=augmentation, **way)] = error
    return ProbeResult(values, n=len(frozen.labels(TEST)))


def augmix_of(images: UInt8[np.ndarray, "n h w 3"], copy: int) -> Float[Tensor, "n 3 h w"]:
    """One version of each image by AugMix with its published settings: three chains of up to three operations.

    Operations that overlap with the benchmark's corruptions (brightness, contrast, colour, sharpness) are left out, as
    its authors do. torchvision draws from torch's generator, which is seeded anew for each image, so that an image's
    version depends on its place and ``copy`` alone.
    """
    if images.nbytes > KEPT:
        return to_float(_mixed(images, copy))
    return to_float(_kept(images.tobytes(), images.shape, copy))


@lru_cache(maxsize=16)
def _kept(pixels: bytes, shape: tuple[int, ...], copy: int) -> UInt8[Tensor, "n h w 3"]:
    return _mixed(np.frombuffer(pixels, np.uint8).reshape(shape), copy)


def _mixed(images: UInt8[np.ndarray, "n h w 3"], copy: int) -> UInt8[Tensor, "n h w 3"]:
    from torchvision.transforms.v2 import AugMix  # here, because its import takes a second

    mix = AugMix(severity=3, mixture_width=3, chain_depth=-1, alpha=1.0, all_ops=False)
    versions = []
    with torch.random.fork_rng(devices=[]):
        for place in range(len(images)):
            # of the CPU alone
            torch.default_generator.manual_seed(prng.torch_seed(0, "augmix", copy, place))
            image = torch.from_numpy(np.array(images[place])).permute(2, 0, 1)
            versions.append(mix(image).permute(1, 2, 0))
    return torch.stack(versions)
