"""Losses, maps to logits, gradient transforms and initialisations: one small pure function per equation.

None of them knows of devices, queues, gathering or configuration. ``from hypersphere.objectives import nt_xent`` needs
torch and numpy alone.

Arguments mean the same everywhere, and a function lists only what it adds or reads otherwise. ``z_a`` and ``z_b`` are
embeddings of two views of n images, not normalised: row i of one is the positive of row i of the other; so are the
predictions ``p`` with their targets ``z``, and the queries ``q`` with their keys ``k``. ``index`` numbers each row's
image in a ``bank``, which has every image's embedding when it was last seen, a constant. ``temperature`` is t, in units
of cosine. ``cosines``, cos theta, are those of n anchors with their m candidates; ``targets``, p, are 1 for an anchor's
positive and 0 for its negatives.

Unless a function says otherwise, a loss is the mean over its anchors, which are all 2n embeddings where it treats the
views alike, and else the n rows of its first argument; logarithms of probabilities are in nats. A map to logits returns
them in nats. All but ``margin_logits`` change gradients alone: their values are those of ``cosine_logits`` bit for bit.

Numerics are the same, too: every log-sum-exp subtracts its maximum, and a zero embedding counts as cosine 0.
"""

# `import x as x` says to a type checker that the package offers x.
from hypersphere.objectives.alignment import alignment as alignment
from hypersphere.objectives.alignment_uniformity import alignment_uniformity as alignment_uniformity
from hypersphere.objectives.attenuation_type_i import attenuation_type_i as attenuation_type_i
from hypersphere.objectives.attenuation_type_ii import attenuation_type_ii as attenuation_type_ii
from hypersphere.objectives.cosine_logits import cosine_logits as cosine_logits
from hypersphere.objectives.cross_entropy import cross_entropy as cross_entropy
from hypersphere.objectives.curvature import curvature as curvature
from hypersphere.objectives.cut_initialisation import cut_initialisation as cut_initialisation
from hypersphere.objectives.debiased import debiased as debiased
from hypersphere.objectives.decoupled import decoupled as decoupled
from hypersphere.objectives.decoupled_one_direction import (
    decoupled_one_direction as decoupled_one_direction,
)
from hypersphere.objectives.distance_polarization import (
    distance_polarization as distance_polarization,
)
from hypersphere.objectives.double_metric import double_metric as double_metric
from hypersphere.objectives.generalised_info_nce import generalised_info_nce as generalised_info_nce
from hypersphere.objectives.grad_scale import grad_scale as grad_scale
from hypersphere.objectives.hard_contrastive import hard_contrastive as hard_contrastive
from hypersphere.objectives.hard_negative import hard_negative as hard_negative
from hypersphere.objectives.info_nce import info_nce as info_nce
from hypersphere.objectives.margin_logits import margin_logits as margin_logits
from hypersphere.objectives.matched_uniformity import matched_uniformity as matched_uniformity
from hypersphere.objectives.momentum_contrast import momentum_contrast as momentum_contrast
from hypersphere.objectives.multiview_coding import multiview_coding as multiview_coding
from hypersphere.objectives.n_pair import n_pair as n_pair
from hypersphere.objectives.nce import nce as nce
from hypersphere.objectives.nce_memory_bank import nce_memory_bank as nce_memory_bank
from hypersphere.objectives.negative_cosine import negative_cosine as negative_cosine
from hypersphere.objectives.nonparametric_softmax import (
    nonparametric_softmax as nonparametric_softmax,
)
from hypersphere.objectives.normalised_squared_error import (
    normalised_squared_error as normalised_squared_error,
)
from hypersphere.objectives.nt_xent import nt_xent as nt_xent
from hypersphere.objectives.pair_contrastive import pair_contrastive as pair_contrastive
from hypersphere.objectives.positive_scaling import positive_scaling as positive_scaling
from hypersphere.objectives.ratio_scaling import ratio_scaling as ratio_scaling
from hypersphere.objectives.self_distillation import self_distillation as self_distillation
from hypersphere.objectives.swapped_prediction import swapped_prediction as swapped_prediction
from hypersphere.objectives.triplet import triplet as triplet
from hypersphere.objectives.tuplet import tuplet as tuplet
from hypersphere.objectives.uniformity import uniformity as uniformity
