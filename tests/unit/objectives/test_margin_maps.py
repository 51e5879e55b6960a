"""What all maps of the margins paper from cosines to logits have in common: which values they leave alone, and whose
weights are whose. Their numerics are in the table of every objective."""

from functools import partial

import pytest
import torch

from hypersphere.config import registry
from hypersphere.objectives.pairs import Negatives

from .shared import Map, cosine_gradient, cosines_and_targets

CASES = {
    "cosine": ("cosine_logits", {}),
    "both margins": ("margin_logits", {"angular": 0.5, "subtractive": 0.4}),
    "monotone margin": ("margin_logits", {"angular": 0.5, "beyond_pi": "monotone"}),
    "positive": ("positive_scaling", {"s": 20.0}),
    "curvature": ("curvature", {"c": 0.7, "s": 20.0}),
    "curvature, steep": ("curvature", {"c": 1 / 3}),
    "curvature, pseudo-code's curve": ("curvature", {"c": 2.5, "curve": "algorithm_3"}),
    "algorithm 3": ("curvature_as_printed", {"c": 0.7, "s": 20.0}),
    "ratio": ("ratio_scaling", {"angular": 1.6}),
    "ratio, past pi": ("ratio_scaling", {"angular": 3.1}),
    "ratio, row": ("ratio_scaling", {"angular": 3.1, "scope": "row"}),
    "type I": ("attenuation_type_i", {"alpha": 1.0}),
    "type I, off": ("attenuation_type_i", {"alpha": 0.0}),
    "type II": ("attenuation_type_ii", {"alpha": 1.0}),
    "type II, off": ("attenuation_type_ii", {"alpha": 0.0}),
}
CHANGING_VALUES = {"margin_logits", "curvature_as_printed"}
NEGATIVES: list[Negatives] = ["both_views", "other_view", "none"]
every_map = pytest.mark.parametrize("case", CASES)


def build(case: str, temperature: float) -> Map:
    name, parameters = CASES[case]
    values = registry.schema("logits", name)(temperature=temperature, **parameters).model_dump()
    return partial(registry.load("logits", name), **values)


def test_every_map_of_the_paper_is_here() -> None:
    names = {name for name, _ in CASES.values()}
    assert names <= set(registry.names("logits"))
    assert len(names) == 8


@every_map
def test_values_are_those_of_plain_logits_bit_for_bit_unless_margins_are_the_point(case: str) -> None:
    """App. E: the modifications leave logits alone; margins and Algorithm 3 as printed do not."""
    cosines, targets = cosines_and_targets()
    found, plain = build(case, 0.07)(cosines, targets), cosines / 0.07
    assert found.shape == plain.shape
    assert torch.equal(found, plain) == (CASES[case][0] not in CHANGING_VALUES)
    assert torch.equal(found[targets == 0], plain[targets == 0])  # negatives' values are never touched


@every_map
def test_order_of_anchors_and_candidates_does_not_matter(case: str) -> None:
    cosines, targets = cosines_and_targets()
    rows, columns = torch.tensor([4, 2, 0, 1, 3]), torch.tensor([2, 0, 3, 1])
    to_logits = build(case, 0.25)
    whole = cosine_gradient(to_logits, cosines, targets)
    moved = cosine_gradient(to_logits, cosines[rows][:, columns], targets[rows][:, columns])
    torch.testing.assert_close(moved, whole[rows][:, columns])
    alone = cosine_gradient(to_logits, cosines[:1], targets[:1])  # an anchor's weights are its own
    torch.testing.assert_close(alone, whole[:1])


@every_map
def test_gradient_of_the_weights_is_stopped(case: str) -> None:
    """The gradient is linear in what comes from above: the map's own Jacobian is diagonal in a row of logits."""
    cosines, targets = cosines_and_targets(2, 3)
    jacobian = torch.autograd.functional.jacobian(lambda c: build(case, 0.25)(c, targets), cosines)
    off = jacobian.reshape(6, 6) - torch.diag(jacobian.reshape(6, 6).diagonal())
    assert off.abs().max() == 0
