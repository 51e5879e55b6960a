"""Losses that a well-kept library has too: the same values and gradients on drawn embeddings."""

from functools import partial
from typing import Any

import pytest
import torch
from lightly.loss import DCLLoss, DINOLoss, NegativeCosineSimilarity, SwaVLoss
from lightly.loss import NTXentLoss as LightlyNTXent
from lightly.loss.hypersphere_loss import HypersphereLoss
from lightly.loss.swav_loss import sinkhorn
from pytorch_metric_learning.distances import DotProductSimilarity, LpDistance
from pytorch_metric_learning.losses import (
    NPairsLoss,
    NTXentLoss,
    SelfSupervisedLoss,
    TripletMarginLoss,
)
from pytorch_metric_learning.reducers import MeanReducer

from hypersphere import objectives
from hypersphere.objectives.swapped_prediction import codes

from .shared import Loss, balanced, draw, scores, value_and_gradients

NUMBERS = torch.arange(5)
OTHERS = (~torch.eye(5, dtype=torch.bool)).nonzero(as_tuple=True)
"""Ordered pairs of different images."""
RAW: dict[str, Any] = {"normalize_embeddings": False}


def one_batch(theirs: Any) -> Loss:
    """Pytorch-metric-learning's losses of one batch: the views after each other, the image's number as label."""
    return lambda a, b: theirs(torch.cat([a, b]), NUMBERS.repeat(2))


def against(theirs: Any) -> Loss:
    """With the other view as reference. The same labels object, given twice, would mean the same batch: hence a clone.

    It would then drop the diagonal, which is the positives here.
    """
    return lambda a, b: theirs(a, NUMBERS, ref_emb=b, ref_labels=NUMBERS.clone())


def nce_pairs(negatives: str) -> Loss:
    """Eq. 1's pairs, as lists of indices into both views in one batch."""
    i, j = OTHERS
    chosen = {"same_view": (i, j), "other_view": (i, j + 5)}
    anchor, other = chosen.get(negatives, (torch.cat([i, i]), torch.cat([j, j + 5])))
    indices = NUMBERS, NUMBERS + 5, anchor, other
    return lambda a, b: NTXentLoss(temperature=0.3)(torch.cat([a, b]), indices_tuple=indices)


PAIRS: dict[str, tuple[Loss, Loss]] = {
    **{
        f"nt_xent {t}, {name}": (partial(objectives.nt_xent, temperature=t), theirs)
        for t in (0.1, 2.0)
        for name, theirs in {
            "lightly": LightlyNTXent(t, memory_bank_size=0),
            "one batch": one_batch(NTXentLoss(t)),
            "self-supervised": SelfSupervisedLoss(NTXentLoss(t)),
        }.items()
    },
    **{
        f"alignment {power}": (
            partial(objectives.alignment, power=power),
            HypersphereLoss(lam=0.0, alpha=power),
        )
        for power in (1.0, 2.0, 3.0)
    },
    **{
        # theirs is alignment + lam · uniformity, and its t defaults to 1, ours to 2
        f"uniformity {t}": (
            partial(objectives.uniformity, t=t),
            lambda a, b, t=t: (
                HypersphereLoss(t=t, lam=1.0)(a, b) - HypersphereLoss(t=t, lam=0.0)(a, b)
            ),
        )
        for t in (0.5, 10.0)
    },
    "alignment and uniformity": (
        partial(objectives.alignment_uniformity, power=1.0, t=2.0, uniform_weight=0.5),
        HypersphereLoss(t=2.0, lam=0.5, alpha=1.0),
    ),
    **{
        f"decoupled {t}": (partial(objectives.decoupled, temperature=t), DCLLoss(temperature=t))
        for t in (0.1, 0.5)
    },
    "negative cosine": (objectives.negative_cosine, NegativeCosineSimilarity()),
    "multiview coding": (
        partial(objectives.multiview_coding, temperature=0.3),
        lambda a, b: (
            sum(against(NTXentLoss(temperature=0.3))(x, y) for x, y in ((a, b), (b, a))) / 2
        ),
    ),
    **{
        f"nce, {negatives}": (
            partial(objectives.nce, temperature=0.3, negatives=negatives),
            nce_pairs(negatives),
        )
        for negatives in ("same_view", "other_view", "both_views")
    },
    "n-pair": (objectives.n_pair, one_batch(NPairsLoss(distance=DotProductSimilarity(**RAW)))),
    # by default theirs normalises, takes d and not d², and averages over violating triplets only
    "triplets": (
        partial(objectives.triplet, margin=6.0),
        against(
            TripletMarginLoss(
                margin=6.0, distance=LpDistance(power=2, **RAW), reducer=MeanReducer()
            )
        ),
    ),
    "swapped prediction": (  # two crops of high resolution and no queue; the defaults are the same
        lambda a, b: objectives.swapped_prediction(a / 10, b / 10),
        lambda a, b: SwaVLoss()([a / 10, b / 10], []).squeeze(),
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_a_library_has_the_same_loss(pair: str) -> None:
    ours, theirs = PAIRS[pair]
    z = draw(5, 3, scale=1 if "n-pair" in pair else 3)
    torch.testing.assert_close(value_and_gradients(ours, *z), value_and_gradients(theirs, *z))


def test_momentum_contrast_agrees_with_lightly() -> None:
    """NTXentLoss keeps the queue itself, in float32, and scores against it before the batch's keys enter."""
    theirs = LightlyNTXent(temperature=0.2, memory_bank_size=(9, 4))
    queue, z = theirs.memory_bank.bank.clone(), draw(5, 4, dtype=torch.float32)
    torch.testing.assert_close(objectives.momentum_contrast(*z, queue, temperature=0.2), theirs(*z))


def test_self_distillation_agrees_with_lightly() -> None:
    """DINOLoss with two crops is the mean over both directions; its centre is renewed after the loss."""
    (student, teacher), centre = (
        draw(5, 4, dtype=torch.float32, scale=1),
        draw(1, 4, seed=1, dtype=torch.float32)[0][0],
    )
    theirs = DINOLoss(output_dim=4, teacher_temp=0.2, student_temp=0.5)
    theirs.center = centre.view(1, 1, 4).clone()
    teachers, students = [teacher, teacher.flip(0)], [student, student.roll(1, dims=0)]
    expected = theirs(teachers, students)
    ours = partial(
        objectives.self_distillation,
        centre=centre,
        student_temperature=0.5,
        teacher_temperature=0.2,
    )
    torch.testing.assert_close(
        (ours(students[1], teachers[0]) + ours(students[0], teachers[1])) / 2, expected
    )


@pytest.mark.parametrize(("n", "k"), [(1, 2), (4, 4), (7, 3)])
@pytest.mark.parametrize("iterations", [1, 3, 10])
def test_codes_have_scaled_columns_and_rows(n: int, k: int, iterations: int) -> None:
    """Lightly's, too, which is in exponentials, and starts with a constant that cancels."""
    given = scores(n, k)[0]
    expected = torch.tensor(balanced(given.tolist(), 0.05, iterations), dtype=torch.float64)
    torch.testing.assert_close(codes(given, 0.05, iterations), expected)
    torch.testing.assert_close(codes(given, 0.05, iterations), sinkhorn(given, iterations, 0.05))
