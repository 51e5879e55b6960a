"""Whether norms of embeddings tell right votes from wrong ones, beyond contrast, brightness, edges and class."""

import math
from collections.abc import Mapping

import numpy as np
import torch
from jaxtyping import Bool, Float, UInt8
from scipy.ndimage import correlate1d
from threadpoolctl import threadpool_limits

from hypersphere import prng
from hypersphere.arguments import PositiveInt
from hypersphere.augmentations.ops import gray, to_float
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.errors import NotFiniteError
from hypersphere.probes.frozen import BLOCK, Frozen
from hypersphere.probes.knn import vote
from hypersphere.probes.result import ProbeResult

MEASURES = (
    "norm_gain",
    "norm_gain_over_vote",
    "norm_coefficient",
    "norm_auroc",
    "vote_auroc",
    "contrast_auroc",
    "brightness_auroc",
    "edge_auroc",
    "covariates_auroc",
)
AT_MOST_THE_BANK = "k"
LEFT_FREE = 10.0
"""Inverse of the L2 penalty on standardised columns: a coefficient's prior has a standard deviation of about 3. It
keeps classes without a single right vote finite, and is nothing beside thousands of images."""
DEGREE = 3
"""The degree of the polynomial in all covariates. With straight lines alone, a norm that is a bent function of contrast
would seem to add something."""

FOLDS = 5

PerImage = Float[np.ndarray, "n"]


def norm_confidence(frozen: Frozen, *, k: PositiveInt = 200) -> ProbeResult:
    """Norms as confidence (norms paper, Sec. 5), with simple properties of images as the rival explanation.

    A weighted kNN vote (see ``knn``) of features of the protocol's layer classifies each test image. Its own confidence
    is the largest class's share of all votes. Norms are of embeddings. Whether a vote is right is then explained by
    logistic regression on a cubic polynomial, with all products, of contrast, brightness and edge density, and on the
    image's true class; with and without the logarithm of the norm, and with and without the vote's own confidence in
    the polynomial. Areas under the ROC curve (AUROC) are of images that a regression was not fitted on: the mean over
    five folds, which are drawn by a fixed key and have equal shares of right votes.

    Returns:
        In percent, 50 being chance: ``norm_auroc``, ``vote_auroc``, ``contrast_auroc``, ``brightness_auroc`` and
        ``edge_auroc``, each of one quantity, nothing being fitted; ``covariates_auroc`` of the regression without norm
        and vote. In points, 0 being nothing: ``norm_gain`` by adding the norm to it, and ``norm_gain_over_vote`` by
        adding the norm to it and the vote. ``norm_coefficient``: log-odds for one standard deviation of log-norm, in
        the regression without the vote, on all images. NaN where all votes are right or all wrong; regressions are NaN
        where there are fewer of either than folds.

    Raises:
        NotFiniteError: an embedding is zero, so that its norm has no logarithm.
    """
    norms = lengths(frozen, TEST)
    zero = int((norms == 0).sum())
    if zero:
        raise NotFiniteError(
            f"the embeddings of {zero} of {len(norms)} test images are zero, and have no log-norm"
        )
    bank, labels = frozen.features(TRAIN), frozen.labels(TRAIN)
    votes = vote(bank, frozen.features(TEST), labels, frozen.classes(), k).cpu().numpy()
    confidence = share(votes)
    # of equal votes the lower class wins, as in `knn`
    truth = frozen.labels(TEST).cpu().numpy()
    right = np.equal(votes.argmax(axis=1), truth)
    looks = appearance(frozen.images(TEST))
    alone = {"norm": norms, "vote": confidence, **looks}
    values = {f"{name}_auroc": auroc(right, quantity) for name, quantity in alone.items()}
    # numpy's own threads, on which the rounding depends
    with threadpool_limits(torch.get_num_threads(), "blas"):
        values |= explained(right, norms, looks, confidence, np.eye(frozen.classes())[truth])
    return ProbeResult({measure: values[measure] for measure in MEASURES}, n=len(truth))


def lengths(frozen: Frozen, split: str) -> PerImage:
    """Euclidean norms of the embeddings of a split, in float64."""
    return frozen.embeddings(split).double().norm(dim=1).cpu().numpy()


def share(votes: Float[np.ndarray, "n c"]) -> PerImage:
    """The largest class's share of all votes for an image: from 1 / c to 1."""
    return votes.max(axis=1) / votes.sum(axis=1)


def appearance(images: UInt8[np.ndarray, "n h w 3"]) -> dict[str, PerImage]:
    """Contrast, brightness and edge density of each image.

    Of luminance (``gray``) from 0 to 1: its standard deviation and mean over pixels, and the mean length of its
    gradient per pixel by Sobel's operator; pixels at the border are repeated beyond it.
    """
    contrast, brightness, edge = [], [], []
    for first in range(0, len(images), BLOCK):
        block = torch.from_numpy(np.array(images[first : first + BLOCK]))
        light = gray(to_float(block).double())[:, 0].numpy()
        contrast.append(light.std(axis=(1, 2)))
        brightness.append(light.mean(axis=(1, 2)))
        slopes = np.hypot(_slope(light, 1, 2), _slope(light, 2, 1))
        edge.append(slopes.mean(axis=(1, 2)))
    return {
        "contrast": np.concatenate(contrast),
        "brightness": np.concatenate(brightness),
        "edge": np.concatenate(edge),
    }


def _slope(
    light: Float[np.ndarray, "n h w"], along: int, across: int
) -> Float[np.ndarray, "n h w"]:
    """Sobel's operator along an axis: scipy's own would mix images."""
    smooth = correlate1d(light, [0.25, 0.5, 0.25], across, mode="nearest")
    return np.asarray(correlate1d(smooth, [-0.5, 0.0, 0.5], along, mode="nearest"))


def auroc(positive: Bool[np.ndarray, "n"], by: PerImage) -> float:
    """Area under the ROC curve, percent: pairs whose positive one has more, ties counting half; NaN without a pair."""
    from sklearn.metrics import roc_auc_score  # here, because its import takes a second

    if not 0 < positive.sum() < len(positive):
        return math.nan
    return 100 * float(roc_auc_score(positive, by))


def explained(
    right: Bool[np.ndarray, "n"],
    norms: PerImage,
    looks: Mapping[str, PerImage],
    confidence: PerImage,
    classes: Float[np.ndarray, "n c"],
) -> dict[str, float]:
    """The regressions of ``norm_confidence``: ``covariates_auroc``, both gains, and ``norm_coefficient``."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    if min(right.sum(), (~right).sum()) < FOLDS:
        return {
            "covariates_auroc": math.nan,
            "norm_gain": math.nan,
            "norm_gain_over_vote": math.nan,
            "norm_coefficient": math.nan,
        }
    # Standardised over all images: no column sees what is right.
    polynomial = PolynomialFeatures(DEGREE, include_bias=False)
    cubic = make_pipeline(StandardScaler(), polynomial, StandardScaler())

    def of_covariates(*quantities: PerImage) -> Float[np.ndarray, "n d"]:
        return np.hstack([cubic.fit_transform(np.stack(quantities, axis=1)), classes])

    norm = StandardScaler().fit_transform(np.log(norms)[:, None])
    plain = of_covariates(*looks.values())
    voted = of_covariates(*looks.values(), confidence)
    with_norm = np.hstack([plain, norm])
    # Newton's method, without any draw
    model = LogisticRegression(C=LEFT_FREE, solver="newton-cholesky", tol=1e-8)
    order = prng.permutation(len(right), 0, "norm confidence", "folds")

    def validated(columns: Float[np.ndarray, "n d"]) -> float:
        areas = cross_val_score(
            model,
            columns[order],
            right[order],
            cv=StratifiedKFold(FOLDS),
            scoring="roc_auc",
            error_score="raise",
        )
        return float(np.mean(100 * areas))

    covariates = validated(plain)
    return {
        "covariates_auroc": covariates,
        "norm_gain": validated(with_norm) - covariates,
        "norm_gain_over_vote": validated(np.hstack([voted, norm])) - validated(voted),
        "norm_coefficient": float(model.fit(with_norm, right).coef_[0, -1]),
    }
