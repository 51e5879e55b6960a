"""Wiring: heads as the papers draw them, losses as by hand, stop-gradients where they belong."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hypersphere.methods.base import Method
from hypersphere.methods.heads import mlp
from hypersphere.methods.simclr import simclr
from hypersphere.methods.simsiam import simsiam
from hypersphere.objectives.grad_scale import grad_scale
from hypersphere.objectives.negative_cosine import negative_cosine
from hypersphere.objectives.nt_xent import nt_xent


class Flat(nn.Module):
    """An encoder with batch norm: a linear map of the pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.feature_dim = 6
        self.linear = nn.Linear(12, 6)
        self.norm = nn.BatchNorm1d(6)

    def forward(self, images: Tensor) -> Tensor:
        return self.norm(self.linear(images.flatten(1)))


@pytest.fixture
def views() -> Tensor:
    return torch.rand(2, 5, 3, 2, 2, generator=torch.Generator().manual_seed(0))


def make_simclr(gradient: Callable[[Tensor], Tensor] = lambda z: z) -> Method:
    torch.manual_seed(0)
    return simclr(Flat(), lambda a, b: nt_xent(a, b, temperature=0.5), gradient, hidden=7, dim=4)


def make_simsiam(gradient: Callable[[Tensor], Tensor] = lambda z: z) -> Method:
    torch.manual_seed(0)
    return simsiam(Flat(), negative_cosine, gradient, hidden=7, dim=4, bottleneck=3)


def layers(head: nn.Module) -> list[str]:
    return [type(layer).__name__ for layer in head.children()]


def test_mlp_without_batch_norm() -> None:
    head = mlp([6, 7, 4], batch_norm=False)
    assert layers(head) == ["Linear", "ReLU", "Linear"]
    assert [(p.in_features, p.out_features, p.bias is not None) for p in head if isinstance(p, nn.Linear)] == [
        (6, 7, True),
        (7, 4, True),
    ]


@pytest.mark.parametrize("last", [True, False])
def test_mlp_with_batch_norm(last: bool) -> None:
    head = mlp([6, 7, 7, 4], batch_norm=True, last_batch_norm=last)
    expected = ["Linear", "BatchNorm1d", "ReLU"] * 2 + ["Linear"] + ["BatchNorm1d"] * last
    assert layers(head) == expected
    assert [p.bias is not None for p in head if isinstance(p, nn.Linear)] == [False, False, not last]
    norms = [p for p in head if isinstance(p, nn.BatchNorm1d)]
    assert [norm.affine for norm in norms] == [True, True, False][: len(norms)]


def test_heads_are_the_papers() -> None:
    """SimCLR Sec. 4.2: two layers. SimSiam Sec. 3: projector of three, BN to the end; predictor of two, BN inside."""
    contrastive, siamese = make_simclr(), make_simsiam()
    assert layers(contrastive.get_submodule("projector")) == ["Linear", "ReLU", "Linear"]
    block = ["Linear", "BatchNorm1d", "ReLU"]
    assert layers(siamese.get_submodule("projector")) == [*block, *block, "Linear", "BatchNorm1d"]
    assert layers(siamese.get_submodule("predictor")) == [*block, "Linear"]
    shapes = [tuple(p.shape) for p in siamese.parameters() if p.ndim == 2]
    assert shapes == [(6, 12), (7, 6), (7, 7), (4, 7), (3, 4), (4, 3)]


def test_simclr_is_its_objective_of_its_projections(views: Tensor) -> None:
    method = make_simclr()
    z = [method.get_submodule("projector")(method.encoder(view)) for view in views]
    output = method(views)
    torch.testing.assert_close(output.loss, nt_xent(z[0], z[1], temperature=0.5))
    torch.testing.assert_close(output.embeddings, torch.cat(z).detach())
    assert not output.embeddings.requires_grad


def test_simsiam_is_algorithm_1(views: Tensor) -> None:
    """Chen & He 2021, Alg. 1: L = D(p1, z2)/2 + D(p2, z1)/2."""
    method = make_simsiam()
    z = [method.get_submodule("projector")(method.encoder(view)) for view in views]
    p = [method.get_submodule("predictor")(part) for part in z]
    output = method(views)
    expected = -F.cosine_similarity(p[0], z[1]).mean() / 2 - F.cosine_similarity(p[1], z[0]).mean() / 2
    torch.testing.assert_close(output.loss, expected)
    torch.testing.assert_close(output.embeddings, torch.cat(p).detach())


def gradients(method: Method, loss: Tensor) -> list[Tensor]:
    return list(torch.autograd.grad(loss, list(method.parameters())))


def test_simsiam_stops_the_gradient_at_its_targets(views: Tensor) -> None:
    """By hand: targets computed without a graph; without the stop the gradient is another."""
    method = make_simsiam()
    ours = gradients(method, method(views).loss)

    def by_hand(stop: bool) -> list[Tensor]:
        z = [method.get_submodule("projector")(method.encoder(view)) for view in views]
        p = [method.get_submodule("predictor")(part) for part in z]
        t = [torch.tensor(part.tolist()) if stop else part for part in z]
        return gradients(method, (negative_cosine(p[0], t[1]) + negative_cosine(p[1], t[0])) / 2)

    for mine, expected in zip(ours, by_hand(stop=True), strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-6, rtol=1e-4)
    encoder = 0  # the first parameter is the encoder's weight
    assert (ours[encoder] - by_hand(stop=False)[encoder]).abs().max() > 1e-4


def test_simclr_lets_the_gradient_through_both_views(views: Tensor) -> None:
    """Control for the test above: stopping either side changes SimCLR's gradient."""
    method = make_simclr()
    ours = gradients(method, method(views).loss)
    z = [method.get_submodule("projector")(method.encoder(view)) for view in views]
    stopped = gradients(method, nt_xent(z[0], z[1].detach(), temperature=0.5))
    assert (ours[0] - stopped[0]).abs().max() > 1e-4


@pytest.mark.parametrize("make", [make_simclr, make_simsiam])
def test_each_view_has_its_own_batch_statistics(make: Callable[[], Method], views: Tensor) -> None:
    method = make()
    method(views)
    norms = [module for module in method.modules() if isinstance(module, nn.BatchNorm1d)]
    assert [int(norm.num_batches_tracked) for norm in norms] == [2] * len(norms)


@pytest.mark.parametrize("make", [make_simclr, make_simsiam])
def test_the_gradient_transform_acts_on_embeddings_and_not_on_values(
    make: Callable[..., Method], views: Tensor
) -> None:
    plain, scaled = make(), make(lambda z: grad_scale(z, power=1))
    assert torch.equal(plain(views).loss, scaled(views).loss)
    a, b = gradients(plain, plain(views).loss), gradients(scaled, scaled(views).loss)
    assert (a[0] - b[0]).abs().max() > 1e-4


@pytest.mark.parametrize("make", [make_simclr, make_simsiam])
def test_swapping_the_views_does_not_change_the_loss(make: Callable[[], Method], views: Tensor) -> None:
    method = make()
    torch.testing.assert_close(method(views).loss, method(views.flip(0)).loss)


def test_only_the_predictors_rate_is_constant() -> None:
    assert list(make_simclr().constant_rate()) == []
    method = make_simsiam()
    predictor = {id(parameter) for parameter in method.get_submodule("predictor").parameters()}
    assert {id(parameter) for parameter in method.constant_rate()} == predictor
    assert len(predictor) == 5  # two weights, one bias, batch norm's scale and shift
