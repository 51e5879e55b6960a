"""SimSiam's wiring: a predictor on one side, a stop-gradient on the other."""

import torch
import torch.nn.functional as F

from hypersphere.methods.simsiam import simsiam
from hypersphere.objectives.negative_cosine import negative_cosine

from .shared import gradients, make_batch, make_parts


def test_it_is_algorithm_1() -> None:
    """Chen & He 2021, Alg. 1: L = D(p1, z2)/2 + D(p2, z1)/2, z without a graph; with one the gradient is another."""
    method = simsiam(make_parts(negative_cosine), hidden=7, dim=4, bottleneck=3)
    z = [method.get_submodule("projector")(method.encoder(view)) for view in make_batch().views]
    p = [method.get_submodule("predictor")(part) for part in z]
    stopped, free = (
        -F.cosine_similarity(p[0], t[1]).mean() / 2 - F.cosine_similarity(p[1], t[0]).mean() / 2
        for t in ([part.detach() for part in z], z)
    )
    output = method(make_batch())
    torch.testing.assert_close(output.loss, stopped)
    torch.testing.assert_close(output.embeddings, torch.cat(p).detach())
    ours = gradients(method, output.loss)
    other = torch.autograd.grad(free, method.encoder.get_parameter("linear.weight"), retain_graph=True)[0]
    for mine, expected in zip(ours, gradients(method, stopped), strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-6, rtol=1e-4)
    assert (ours[0] - other).abs().max() > 1e-4
