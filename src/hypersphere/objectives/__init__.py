"""Losses, maps to logits, gradient transforms and initialisations: one small pure function per equation.

None of them knows of devices, queues, gathering or configuration. ``from hypersphere.objectives import nt_xent`` needs
torch and numpy alone.
"""

from hypersphere.objectives.alignment import alignment
from hypersphere.objectives.alignment_uniformity import alignment_uniformity
from hypersphere.objectives.attenuation_type_i import attenuation_type_i
from hypersphere.objectives.attenuation_type_ii import attenuation_type_ii
from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.cross_entropy import cross_entropy
from hypersphere.objectives.curvature import curvature
from hypersphere.objectives.curvature_as_printed import curvature_as_printed
from hypersphere.objectives.cut_initialisation import cut_initialisation
from hypersphere.objectives.debiased import debiased
from hypersphere.objectives.decoupled import decoupled
from hypersphere.objectives.decoupled_one_direction import decoupled_one_direction
from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.double_metric import double_metric
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.grad_scale import grad_scale
from hypersphere.objectives.hard_contrastive import hard_contrastive
from hypersphere.objectives.hard_negative import hard_negative
from hypersphere.objectives.info_nce import info_nce
from hypersphere.objectives.margin_logits import margin_logits
from hypersphere.objectives.matched_uniformity import matched_uniformity
from hypersphere.objectives.momentum_contrast import momentum_contrast
from hypersphere.objectives.multiview_coding import multiview_coding
from hypersphere.objectives.n_pair import n_pair
from hypersphere.objectives.nce import nce
from hypersphere.objectives.nce_memory_bank import nce_memory_bank
from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.nonparametric_softmax import nonparametric_softmax
from hypersphere.objectives.normalised_squared_error import normalised_squared_error
from hypersphere.objectives.nt_xent import nt_xent
from hypersphere.objectives.pair_contrastive import pair_contrastive
from hypersphere.objectives.positive_scaling import positive_scaling
from hypersphere.objectives.ratio_scaling import ratio_scaling
from hypersphere.objectives.self_distillation import self_distillation
from hypersphere.objectives.supervised_contrastive import supervised_contrastive
from hypersphere.objectives.swapped_prediction import swapped_prediction
from hypersphere.objectives.triplet import triplet
from hypersphere.objectives.tuplet import tuplet
from hypersphere.objectives.uniformity import uniformity

__all__ = [
    "alignment",
    "alignment_uniformity",
    "attenuation_type_i",
    "attenuation_type_ii",
    "cosine_logits",
    "cross_entropy",
    "curvature",
    "curvature_as_printed",
    "cut_initialisation",
    "debiased",
    "decoupled",
    "decoupled_one_direction",
    "distance_polarization",
    "double_metric",
    "generalised_info_nce",
    "grad_scale",
    "hard_contrastive",
    "hard_negative",
    "info_nce",
    "margin_logits",
    "matched_uniformity",
    "momentum_contrast",
    "multiview_coding",
    "n_pair",
    "nce",
    "nce_memory_bank",
    "negative_cosine",
    "nonparametric_softmax",
    "normalised_squared_error",
    "nt_xent",
    "pair_contrastive",
    "positive_scaling",
    "ratio_scaling",
    "self_distillation",
    "supervised_contrastive",
    "swapped_prediction",
    "triplet",
    "tuplet",
    "uniformity",
]
