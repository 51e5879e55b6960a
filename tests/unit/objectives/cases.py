"""Every objective and every map to logits in the settings that the contract tests try, and how to build one.

A new loss needs a line in ``OBJECTIVES``, a new map to logits one in ``LOGITS``, and a tensor that no other loss takes
one in ``hypersphere.testing.TENSORS``.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import torch
import yaml
from torch import Tensor

from hypersphere import testing
from hypersphere.config import registry

from .shared import draw


class Setting(NamedTuple):
    """Parameters of a loss, and what is particular about it."""

    parameters: str
    """In YAML."""
    keeps: str = "turn norms swap"
    """Changes of the embeddings, out of ``CHANGES``, that leave the value as it is; every other must change it."""
    scale: float = 3
    """Size of the coordinates that are drawn; a smaller one where products of embeddings are exponentiated."""
    differentiates: str = "all"
    """The batches whose gradient is that of the value: ``all``, ``first``, or ``none``, where the loss holds a part of
    itself constant."""


ONE_WAY = "turn norms"
UNPAIRED = "turn norms swap order_one turn_one"
SCORES = "shift"

OBJECTIVES: dict[str, list[Setting]] = {
    "alignment": [
        Setting("{}"),
        Setting("{power: 1, weight: 0.5}"),
        Setting("{power: 3}"),
        Setting("{power: 0.5}"),
    ],
    "alignment_uniformity": [
        Setting("{}"),
        Setting("{power: 1.5, t: 3, align_weight: 0.4, uniform_weight: 0.7}"),
    ],
    "cross_entropy": [Setting("{}", keeps=SCORES)],
    "debiased": [Setting(f"{{temperature: 0.5, tau_plus: {prior}}}") for prior in (0, 0.1, 0.5)],
    "decoupled": [Setting("{temperature: 0.5}")],
    "decoupled_one_direction": [Setting("{temperature: 0.5}", keeps=ONE_WAY)],
    "distance_polarization": [
        Setting("{weight: 1}", keeps=UNPAIRED),
        Setting(
            "{weight: 0.1, lower: 0, reduction: sum, among: both_views}",
            keeps="turn norms swap order_one",
        ),
        Setting(
            "{weight: 1, among: first_view}",
            keeps="turn norms order_one turn_one",
            differentiates="first",
        ),
    ],
    "double_metric": [
        Setting(f"{{temperature: 0.5, alpha: 1, beta: 0.5, sign: {sign}}}")
        for sign in ("printed", "contrastive")
    ],
    "generalised_info_nce": [
        Setting("{negatives: both_views}"),
        Setting("{negatives: other_view, beta: 0.7}", keeps=ONE_WAY),
        Setting("{negatives: none, beta: 0}"),
    ],
    "hard_contrastive": [Setting("{temperature: 0.5, share: 0.3}")],
    "hard_negative": [
        Setting(f"{{temperature: 0.5, tau_plus: {prior}, concentration: {beta}}}")
        for prior, beta in ((0.1, 1), (0, 0.5), (0.5, 2))
    ],
    "info_nce": [Setting("{temperature: 0.5}"), Setting("{temperature: 0.5, include_self: false}")],
    "matched_uniformity": [
        Setting("{weight: 1}", keeps=UNPAIRED, differentiates="none"),
        Setting("{weight: 0.1, reduction: sum, t: 4}", keeps=UNPAIRED, differentiates="none"),
    ],
    "momentum_contrast": [Setting("{temperature: 0.5}", keeps=ONE_WAY)],
    "multiview_coding": [Setting("{temperature: 0.5}")],
    "n_pair": [Setting("{}", keeps="turn", scale=1)],
    "nce": [
        Setting(parameters, keeps=ONE_WAY)
        for parameters in (
            "{}",
            "{temperature: 0.5, negatives: other_view}",
            "{negatives: both_views}",
        )
    ],
    "nce_memory_bank": [
        Setting("{temperature: 0.5}", keeps=ONE_WAY, differentiates="none"),
        Setting("{temperature: 0.5, proximal: 1}", keeps=ONE_WAY, differentiates="none"),
    ],
    "negative_cosine": [Setting("{}")],
    "nonparametric_softmax": [
        Setting("{temperature: 0.5}", keeps=ONE_WAY),
        Setting("{temperature: 0.5, proximal: 1}", keeps=ONE_WAY),
        Setting("{temperature: 0.5, denominator: batch}", keeps=ONE_WAY),
    ],
    "normalised_squared_error": [Setting("{}")],
    "nt_xent": [
        Setting("{temperature: 0.5}"),
        Setting("{temperature: 10, normalise: false}", keeps="turn swap"),
    ],
    "pair_contrastive": [Setting("{margin: 6}", keeps="turn swap")],
    "self_distillation": [
        Setting(
            "{student_temperature: 0.5, teacher_temperature: 0.2}",
            keeps=SCORES,
            scale=1,
            differentiates="first",
        )
    ],
    "swapped_prediction": [Setting("{}", keeps="swap shift", scale=0.3, differentiates="none")],
    "triplet": [
        Setting("{margin: 6}", keeps="turn"),
        Setting("{margin: 6, hinge: false}", keeps="turn swap shift"),
    ],
    "tuplet": [Setting("{}", keeps=ONE_WAY), Setting("{normalise: false}", keeps="turn", scale=1)],
    "uniformity": [Setting("{}", keeps=UNPAIRED), Setting("{t: 4, weight: 0.5}", keeps=UNPAIRED)],
}

LOGITS: dict[str, list[str]] = {
    "attenuation_type_i": ["{temperature: 0.5, alpha: 1}", "{temperature: 0.5, alpha: 0}"],
    "attenuation_type_ii": ["{temperature: 0.5, alpha: 1}", "{temperature: 0.5, alpha: 0.5}"],
    "cosine_logits": ["{temperature: 0.5}"],
    "curvature": [
        "{temperature: 0.5, c: 2, curve: algorithm_3}",
        "{temperature: 0.5, c: 0.7, s: 20}",
        "{temperature: 0.5, c: 0.33}",
    ],
    "margin_logits": [
        "{temperature: 0.5, angular: 0.3, subtractive: 0.2}",
        "{temperature: 0.5, angular: 0.5, beyond_pi: monotone}",
        "{temperature: 0.5, angular: 3.1, subtractive: 0.8, beyond_pi: monotone}",
    ],
    "positive_scaling": ["{temperature: 0.5, s: 3}", "{temperature: 0.5, s: 20}"],
    "ratio_scaling": [
        "{temperature: 0.5, angular: 0.3}",
        "{temperature: 0.5, angular: 3.1, scope: row}",
    ],
}
"""Settings of each map to logits, in YAML; each is a case of a loss that takes one, in its first setting. In its other
settings it takes the first of each."""


class Case(NamedTuple):
    """One loss, with one map to logits if it takes one, in one setting."""

    objective: str
    setting: Setting | None
    logits: str | None = None
    logits_setting: str | None = None

    def __str__(self) -> str:
        parameters = self.setting.parameters if self.setting else None
        return " ".join(
            part for part in (self.objective, parameters, self.logits, self.logits_setting) if part
        )

    @property
    def batches(self) -> list[str]:
        """The arguments that are trained."""
        return testing.batches_of(self.objective)


def cases() -> Iterator[Case]:
    """All that the registry finds; None stands for a setting that the tables do not have."""
    for name in registry.names("objectives"):
        for count, setting in enumerate(OBJECTIVES.get(name, [None])):
            if registry.TO_LOGITS not in registry.tensors("objectives", name):
                yield Case(name, setting)
                continue
            for logits in registry.names("logits"):
                settings = LOGITS.get(logits, [None])
                for logits_setting in settings if count == 0 else settings[:1]:
                    yield Case(name, setting, logits, logits_setting)


def parameters_of(case: Case, logits: bool = False) -> dict[str, Any]:
    """The parameters that a case sets, of its loss or of its map to logits."""
    setting = case.logits_setting if logits else case.setting and case.setting.parameters
    if setting is None:
        pytest.fail(
            f"{case} is in no test of every objective: add its settings, as YAML, to the tables of {__file__}"
        )
    return dict(yaml.safe_load(setting))


def build(case: Case, t: float | None = None) -> testing.Loss:
    """The loss with its parameters; with ``t``, all its temperatures are that. It takes batches and other tensors."""
    parameters, logits = parameters_of(case), None
    if case.logits is not None:
        logits = {"name": case.logits, **parameters_of(case, logits=True)} | (
            {"temperature": t} if t else {}
        )
    if t:
        names = registry.schema("objectives", case.objective).model_fields
        parameters |= {
            name: t for name in names if name.endswith("temperature") or name == "epsilon"
        }
        # uniformity's t is the inverse of a temperature
        parameters |= {"t": 1 / t} if "t" in names else {}
    return testing.objective(case.objective, parameters, logits)


def drawn(
    case: Case, n: int, d: int, dtype: torch.dtype = torch.float64
) -> tuple[list[Tensor], dict[str, Tensor]]:
    """The loss's batches, n rows each, and its other tensors; the numbers are the same in every dtype."""
    batches, more = (
        draw(n, d, seed=seed, dtype=dtype, scale=case.setting.scale) for seed in (0, 7)
    )
    return [*batches[: len(case.batches)]], testing.others(case.objective, *more)
