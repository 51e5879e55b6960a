"""What the tests of the methods share: a small encoder, parts, batches, and looks into a method."""

from typing import Any

import torch
from torch import Tensor, nn

from hypersphere.methods.base import Batch, Method, Objective, Parts


class Flat(nn.Module):
    """An encoder with batch norm: a linear map of the pixels of images of 2 x 2."""

    def __init__(self) -> None:
        super().__init__()
        self.feature_dim = 6
        self.linear = nn.Linear(12, 6)
        self.norm = nn.BatchNorm1d(6)

    def forward(self, images: Tensor) -> Tensor:
        return self.norm(self.linear(images.flatten(1)))


class Streams(nn.Module):
    """Stands in for an encoder of two streams: linear maps of an image's first channel, and of its other two."""

    def __init__(self) -> None:
        super().__init__()
        self.stream_dim, self.feature_dim = 5, 10
        self.first, self.rest = nn.Linear(4, 5), nn.Linear(8, 5)

    def forward(self, images: Tensor) -> Tensor:
        return torch.cat(
            [self.first(images[:, 0].flatten(1)), self.rest(images[:, 1:].flatten(1))], dim=1
        )


def nothing(*given: Tensor) -> Tensor:
    """An objective that is not called."""
    raise AssertionError


def make_parts(objective: Objective, **changes: Any) -> Parts:
    """An encoder and what goes with it; the encoder's weights, and the next module's, are always the same."""
    torch.manual_seed(0)
    return Parts(Flat(), objective, lambda z: z)._replace(**changes)


def make_batch(n: int = 5, views: int = 2, seed: int = 0, side: int = 2) -> Batch:
    """Views of ``n`` images, places 0 … n-1 and labels of three classes."""
    pixels = torch.rand(views, n, 3, side, side, generator=torch.Generator().manual_seed(seed))
    return Batch(pixels, torch.arange(n), torch.arange(n) % 3)


def described(head: nn.Module) -> str:
    """Layer by layer: ``6-7`` is a linear map, ``6-7+`` with a bias, ``bn`` a batch norm, ``bn*`` one that scales."""

    def describe(layer: nn.Module) -> str:
        if isinstance(layer, nn.Linear):
            return f"{layer.in_features}-{layer.out_features}" + "+" * (layer.bias is not None)
        if isinstance(layer, nn.BatchNorm1d):
            return "bn" + "*" * layer.affine
        return type(layer).__name__

    return " ".join(
        describe(layer)
        for layer in (head.children() if isinstance(head, nn.Sequential) else [head])
    )


def trained(method: Method) -> list[nn.Parameter]:
    return [parameter for parameter in method.parameters() if parameter.requires_grad]


def gradients(method: Method, loss: Tensor) -> list[Tensor]:
    """By every trained parameter; the first is that of the encoder's weight."""
    return list(torch.autograd.grad(loss, trained(method), retain_graph=True))


def step(
    method: Method, *batches: Batch, done: tuple[float, float] = (0.5, 0.5), rate: float = 0.1
) -> None:
    """Gradient descent on the sum over the passes of one step, and what follows it."""
    losses = [method(batch).loss for batch in batches]
    moves = gradients(method, torch.stack(losses).sum())
    with torch.no_grad():
        for parameter, move in zip(trained(method), moves, strict=True):
            parameter.sub_(rate * move)
    method.after_step(*done)


def queries(method: Method, images: Tensor) -> Tensor:
    """What the projector makes of features."""
    return method.get_submodule("projector")(method.encoder(images))


def given(method: Method, *batches: Batch) -> list[list[Tensor]]:
    """What the objective is given, argument by argument, in each of these passes of one step."""
    seen, objective = [], method.objective

    def recording(*pair: Tensor, **named: Tensor) -> Tensor:
        seen.append([tensor.detach().clone() for tensor in (*pair, *named.values())])
        return objective(*pair, **named)

    method.objective = recording
    for batch in batches:
        method(batch)
    method.objective = objective
    return seen


def batches_seen(module: nn.Module) -> list[int]:
    """How many batches each of a module's batch norms has normalised."""
    return [
        int(count) for name, count in module.named_buffers() if name.endswith("num_batches_tracked")
    ]


def normed(x: Tensor) -> Tensor:
    """What a fresh batch norm in training mode makes of rows that it sees together (Ioffe & Szegedy 2015, Alg. 1)."""
    return (x - x.mean(0)) / (x.var(0, unbiased=False) + 1e-5).sqrt()
