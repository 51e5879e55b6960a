"""The maps of the margins paper from cosines to logits: their values, the weights of their gradients, their limits."""

import math
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import yaml
from torch import Tensor

from hypersphere.config import registry
from hypersphere.objectives.attenuation_type_i import attenuation_type_i
from hypersphere.objectives.attenuation_type_ii import attenuation_type_ii
from hypersphere.objectives.cosine_logits import cosine_logits
from hypersphere.objectives.curvature import curvature, gamma
from hypersphere.objectives.decoupled import decoupled
from hypersphere.objectives.decoupled_one_direction import decoupled_one_direction
from hypersphere.objectives.generalised_info_nce import generalised_info_nce, info_nce_of_logits
from hypersphere.objectives.margin_logits import margin_logits
from hypersphere.objectives.ratio_scaling import ratio_scaling

from . import oracles
from .cases import LOGITS
from .oracles import bend
from .shared import Map, cosine_gradient, cosines_and_targets, draw, softmax, value_and_gradients

MAPS = [(name, setting) for name, settings in LOGITS.items() for setting in settings]


def build(name: str, setting: str, temperature: float) -> tuple[Map, dict[str, Any]]:
    """A map of the table, at another temperature; and its parameters."""
    given = yaml.safe_load(setting) | {"temperature": temperature}
    values = registry.schema("logits", name)(**given).model_dump()
    return partial(registry.load("logits", name), **values), given


@pytest.mark.parametrize(("name", "setting"), [pair for pair in MAPS if pair[0] in oracles.WEIGHTS])
@pytest.mark.parametrize("beta", [0.3, 1.0])
def test_gradients_carry_the_weight_of_the_equation(name: str, setting: str, beta: float) -> None:
    """Eq. 8 to 13: a cosine gets w_j·(beta·q_j - p_j)/t. The maps that change values are judged by gradcheck, or
    below."""
    (to_logits, given), (cosines, targets) = build(name, setting, 0.25), cosines_and_targets()
    expected = []
    for row, p in zip(cosines.tolist(), targets.int().tolist(), strict=True):
        q = softmax([c / 0.25 for c in row])
        weights = [oracles.WEIGHTS[name](row, p, j, **given) for j in range(len(p))]
        expected.append(
            [w * (beta * q_j - p_j) / 0.25 for w, q_j, p_j in zip(weights, q, p, strict=True)]
        )
    found = cosine_gradient(to_logits, cosines, targets, beta)
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize(("name", "setting"), MAPS)
def test_values_are_those_of_the_equations_and_of_plain_logits_bit_for_bit_but_for_margins(
    name: str, setting: str
) -> None:
    """App. E: the modifications leave logits alone; margins and Algorithm 3 as printed do not. Against Eq. 2 and 4 in
    Python floats; 40 anchors reach past pi."""
    (to_logits, given), (cosines, targets) = build(name, setting, 0.07), cosines_and_targets(40)
    found, plain = to_logits(cosines, targets), cosines / 0.07
    rows = zip(cosines.tolist(), targets.tolist(), strict=True)
    expected = [
        [oracles.LOGITS[name](c, p, **given) for c, p in zip(*row, strict=True)] for row in rows
    ]
    torch.testing.assert_close(
        found, torch.tensor(expected, dtype=torch.float64), rtol=1e-12, atol=1e-12
    )
    assert torch.equal(found, plain) == (name != "margin_logits")
    # negatives' values are never touched
    assert torch.equal(found[targets == 0], plain[targets == 0])


def curvature_as_printed(
    cosines: Tensor, targets: Tensor, *, temperature: float, c: float, s: float
) -> Tensor:
    """Alg. 3 to the letter, with 1/pi in its last line where every other algorithm has 1 (erratum M3)."""
    logits = cosines / temperature
    stopped = logits.detach()
    scales = s * gamma(cosines.detach().arccos() / math.pi, c, "algorithm_3")
    return (1 - targets) * logits + targets * ((1 / math.pi - scales) * stopped + scales * logits)


def test_the_misprint_changes_the_negatives_too_and_vanishes_without_them() -> None:
    """Against the same curve with its value kept: App. E says that only gradients are modified."""
    cosines, targets = cosines_and_targets()
    printed = partial(curvature_as_printed, temperature=0.25, c=0.7, s=20.0)
    meant = partial(curvature, temperature=0.25, c=0.7, s=20.0, curve="algorithm_3")
    difference = (
        cosine_gradient(printed, cosines, targets) - cosine_gradient(meant, cosines, targets)
    ).abs()
    assert difference[targets == 0].max() > 0.1
    assert difference[targets == 1].max() > 0.1
    ones = torch.ones_like(targets[:, :1])
    alone = [
        cosine_gradient(to_logits, cosines[:, :1], ones, beta=0) for to_logits in (printed, meant)
    ]
    torch.testing.assert_close(alone[0], alone[1])


def test_the_two_scopes_differ_in_the_negatives_only() -> None:
    """Erratum M4: on the row it weights an anchor's loss, on the positives it is an s that depends on the data."""
    cosines, targets = cosines_and_targets()
    plain = cosine_gradient(partial(cosine_logits, temperature=0.25), cosines, targets)
    row, positives = (cosine_gradient(partial(ratio_scaling, temperature=0.25, angular=1.6, scope=s), cosines, targets)
                      for s in ("row", "positives"))  # fmt: skip
    torch.testing.assert_close(row[targets == 1], positives[targets == 1])
    assert torch.equal(positives[targets == 0], plain[targets == 0])
    assert (row - positives)[targets == 0].abs().max() > 0.1
    torch.testing.assert_close(
        row.sum(dim=1), torch.zeros(5, dtype=torch.float64), atol=1e-12, rtol=0
    )
    assert positives.sum(dim=1).abs().min() > 1e-3  # control: no longer the gradient of a softmax


@pytest.mark.parametrize(("theta", "expected"), [(0.3, 2183), (2.5, 0.001824)])
def test_near_pi_the_ratio_is_almost_exp_of_twice_the_cosine(theta: float, expected: float) -> None:
    """Erratum M10, worked by hand without negatives: exp((cos(theta) - cos(theta + 3.1))/0.25)."""
    cosine, one = (
        torch.tensor([[theta]], dtype=torch.float64).cos(),
        torch.ones(1, 1, dtype=torch.float64),
    )
    found = (
        -cosine_gradient(
            partial(ratio_scaling, temperature=0.25, angular=3.1), cosine, one, beta=0
        ).item()
        * 0.25
    )
    assert found == pytest.approx(
        math.exp((math.cos(theta) - math.cos(theta + 3.1)) / 0.25), rel=1e-9
    )
    assert found == pytest.approx(expected, rel=2e-3)


CURVES = ["equation_10", "algorithm_3"]


@pytest.mark.parametrize(("c", "equation", "algorithm"), [
    (0.7, 0.506, 0.663), (0.5, 0.25, 0.563), (2.5, 0.987, 0.891), (5.0, 1.000, 0.944), (1.0, 0.75, 0.75),
])  # fmt: skip
def test_the_two_curves_differ_except_at_1(c: float, equation: float, algorithm: float) -> None:
    """Erratum M1: at theta = 45 degrees, worked with a calculator."""
    x = torch.tensor(0.25, dtype=torch.float64)
    for curve, expected in zip(CURVES, (equation, algorithm), strict=True):
        assert gamma(x, c, curve).item() == pytest.approx(expected, abs=5e-4)
        assert gamma(x, c, curve).item() == pytest.approx(bend(0.25, c, curve), rel=1e-12)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("c", [1e-3, 1 / 3, 0.7, 1.0, 2.5, 5.0, 1e3])
def test_curves_fall_from_1_to_0_convex_below_c_1_and_concave_above(c: float, curve: str) -> None:
    y = gamma(torch.linspace(0, 1, 101, dtype=torch.float64), c, curve)
    assert y[0] == 1
    assert y[-1] == 0
    assert (y.diff() <= 0).all()
    bend = y.diff().diff()
    assert (bend >= -1e-12).all() if c <= 1 else (bend <= 1e-12).all()


@pytest.mark.parametrize("c", [1 / 3, 2.5])
def test_equation_10_is_its_own_inverse_and_algorithm_3_is_not(c: float) -> None:
    """x^c + y^c = 1 is symmetric in x and y."""
    x = torch.linspace(0.05, 0.95, 19, dtype=torch.float64)
    twice = {curve: gamma(gamma(x, c, curve), c, curve) for curve in CURVES}
    torch.testing.assert_close(twice["equation_10"], x)
    assert (twice["algorithm_3"] - x).abs().max() > 0.05


def test_byol_takes_the_curve_with_targets_all_ones() -> None:
    """App. E; by hand: anchor i pulls along -(k - cos·q)/(||q||·t·n), times the curve at its own angle."""
    z_a, z_b = draw(6, 4)
    byol = partial(generalised_info_nce, z_b=z_b, negatives="none", beta=0)
    loss, found = value_and_gradients(
        partial(byol, to_logits=partial(curvature, temperature=0.25, c=2.5)), z_a
    )
    q, k = F.normalize(z_a, dim=1), F.normalize(z_b, dim=1)
    for i in range(6):
        cosine = math.fsum((q[i] * k[i]).tolist())
        pull = bend(math.acos(cosine) / math.pi, 2.5, "equation_10") / (
            z_a[i].norm().item() * 0.25 * 6
        )
        torch.testing.assert_close(found[i], -pull * (k[i] - cosine * q[i]))
    assert loss == byol(z_a, to_logits=partial(cosine_logits, temperature=0.25))


def type_i(alpha: float, t: float = 0.25) -> partial[torch.Tensor]:
    return partial(attenuation_type_i, temperature=t, alpha=alpha)


def test_alpha_0_is_plain_where_the_pseudo_code_divides_0_by_0_or_multiplies_it_by_infinity() -> (
    None
):
    """Erratum M5."""
    cosines, targets = cosines_and_targets()
    plain = cosine_gradient(partial(cosine_logits, temperature=0.25), cosines, targets)
    for attenuated in (attenuation_type_i, attenuation_type_ii):
        found = [
            cosine_gradient(partial(attenuated, temperature=0.25, alpha=a), cosines, targets)
            for a in (0.0, 0.5)
        ]
        torch.testing.assert_close(found[0], plain, rtol=1e-14, atol=0)
        assert (found[1] - plain).abs().max() > 1e-2
    logits = cosines / 0.25
    q = logits.softmax(dim=1)
    # Alg. 5's line, on the same batch
    assert (targets / (targets - 0.0 * q)).sum(dim=1).isnan().all()
    torch.testing.assert_close(
        (targets / (targets - 0.5 * q)).sum(dim=1), (1 / (1 - 0.5 * (q * targets).sum(dim=1)))
    )
    scales = 1 / (targets - 0.0 * q)  # Alg. 6's lines
    printed = (1 - targets) * logits + targets * ((1 - scales) * logits + scales * logits)
    assert printed[targets == 0].isnan().all()


@pytest.mark.parametrize("negatives", ["both_views", "other_view"])
@pytest.mark.parametrize("t", [0.1, 0.25, 2.0])
def test_type_i_at_alpha_1_has_the_gradient_of_the_decoupled_loss(negatives: str, t: float) -> None:
    """Erratum M14; the values differ, and at alpha = 0.9 so do the gradients."""
    loss = decoupled if negatives == "both_views" else decoupled_one_direction
    value, wanted = value_and_gradients(partial(loss, temperature=t), *draw(5, 3))
    (ours, found), (_, other) = (
        value_and_gradients(
            partial(generalised_info_nce, to_logits=type_i(alpha, t), negatives=negatives),
            *draw(5, 3),
        )
        for alpha in (1.0, 0.9)
    )
    torch.testing.assert_close(found, wanted)
    assert abs(ours - value) > 1e-3
    assert (other - wanted).abs().max() > 1e-4


ALPHAS = {0.2: 0.551, 0.4: 0.798, 0.6: 0.909, 0.7: 0.939, 0.8: 0.959, 0.072: 0.25}


@pytest.mark.parametrize("m2", ALPHAS)
def test_type_i_is_a_subtractive_margin_alone(m2: float) -> None:
    """Sec. 5.5 at m1 = 0 (erratum M13): the same gradients, other values; not so with an angular margin."""
    alpha = 1 - math.exp(-m2 / 0.25)
    assert alpha == pytest.approx(ALPHAS[m2], abs=6e-4)
    cosines, targets = cosines_and_targets()
    margin = partial(margin_logits, temperature=0.25, subtractive=m2)
    found = cosine_gradient(type_i(alpha), cosines, targets)
    torch.testing.assert_close(found, cosine_gradient(margin, cosines, targets))
    values = [
        info_nce_of_logits(to_logits(cosines, targets), targets, 1)
        for to_logits in (type_i(alpha), margin)
    ]
    assert abs(values[0] - values[1]) > 1e-2
    with_angle = partial(margin_logits, temperature=0.25, subtractive=m2, angular=0.3)
    assert (found - cosine_gradient(with_angle, cosines, targets)).abs().max() > 1e-2


BEYOND = ["printed", "monotone"]


@pytest.mark.parametrize("beyond", BEYOND)
def test_soft_targets_take_their_share_of_the_margins(beyond: str) -> None:
    """Eq. 4 is written for any p."""
    found = margin_logits(
        torch.tensor([[0.3]], dtype=torch.float64), torch.tensor([[0.4]], dtype=torch.float64),
        temperature=0.5, angular=0.5, subtractive=0.2, beyond_pi=beyond,
    )  # fmt: skip
    assert found.item() == pytest.approx(
        oracles.margin_logits(0.3, 0.4, 0.5, 0.5, 0.2, beyond), abs=1e-12
    )


def slope(theta: float, beyond: str) -> float:
    """d logit / d theta over -sin(theta): the multiplier of Theorem 4.1."""
    angle = torch.tensor([[theta]], dtype=torch.float64, requires_grad=True)
    logit = margin_logits(
        angle.cos(), torch.ones(1, 1).double(), temperature=1.0, angular=0.5, beyond_pi=beyond
    )
    (found,) = torch.autograd.grad(logit.sum(), angle)
    return found.item() / -math.sin(theta)


def test_past_pi_the_printed_margin_pushes_positives_away() -> None:
    """Erratum M10, by hand: sin(3.5)/sin(3.0) = -2.49; the guard's slope is that of the cosine, 1."""
    assert slope(3.0, "printed") == pytest.approx(math.sin(3.5) / math.sin(3.0), rel=1e-9)
    assert slope(3.0, "printed") == pytest.approx(-2.49, abs=0.005)
    assert slope(3.0, "monotone") == pytest.approx(1, rel=1e-9)
    # 3.1 is not past pi
    assert slope(2.6, "printed") == pytest.approx(slope(2.6, "monotone"), rel=1e-12)
    assert slope(2.6, "printed") > 0


@pytest.mark.parametrize(
    ("m1", "guarded"), [(0.1, True), (0.5, True), (1.6, True), (2.3, True), (2.4, False)]
)
def test_monotone_falls_with_the_angle_and_printed_does_not(m1: float, guarded: bool) -> None:
    """By hand: at theta = pi - m1 the guard jumps from -1 to -(cos m1 + m1·sin m1), upwards past m1 = 2.331."""
    assert (math.cos(m1) + m1 * math.sin(m1) > 1) == guarded
    cosines = torch.linspace(0, math.pi, 1001, dtype=torch.float64).cos()[:, None]
    steps = {}
    for beyond in BEYOND:
        logits = margin_logits(
            cosines, torch.ones_like(cosines), temperature=1.0, angular=m1, beyond_pi=beyond
        )
        steps[beyond] = logits.diff(dim=0).max().item()
    assert (steps["monotone"] < 0) == guarded
    assert steps["printed"] > 0


@pytest.mark.parametrize(("name", "theirs", "ours"), [
    ("ArcFaceLoss", {"margin": math.degrees(0.5)}, {"angular": 0.5, "beyond_pi": "monotone"}),
    ("CosFaceLoss", {"margin": 0.35}, {"subtractive": 0.35}),
])  # fmt: skip
def test_margins_agree_with_pytorch_metric_learning(
    name: str, theirs: dict[str, Any], ours: dict[str, Any]
) -> None:
    """2.9.0: class vectors are our other view, class i is image i, scale is 1/t, ArcFace's margin is in degrees."""
    from pytorch_metric_learning import losses

    z_a, z_b = draw(8, 3)
    z_b[0] = -z_a[0]  # a positive past pi
    loss = getattr(losses, name)(num_classes=8, embedding_size=3, scale=4, **theirs)
    loss.W.data = z_b.T.clone()
    found = generalised_info_nce(
        z_a, z_b, partial(margin_logits, temperature=0.25, **ours), negatives="other_view"
    )
    torch.testing.assert_close(found, loss(z_a, torch.arange(8)))
    if "beyond_pi" in ours:  # control: the printed rule is another loss
        printed = partial(margin_logits, temperature=0.25, angular=0.5)
        assert abs(generalised_info_nce(z_a, z_b, printed, negatives="other_view") - found) > 1e-3
