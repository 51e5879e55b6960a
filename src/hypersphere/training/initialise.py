"""Initial weights, each tensor from a generator of its own.

Keys are (seed, "initial", tensor name), so two runs with one seed share every tensor that they have in common, whatever
else either has: that is what makes a paired test paired.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol, runtime_checkable

import torch
from torch import nn

from hypersphere import keyed


@runtime_checkable
class DrawsItself(Protocol):
    """A module with rules of its own, which come after those for convolutions and linear layers."""

    def draw_initial(self, generator: Callable[[str], torch.Generator]) -> None:
        """Draw, in place, what the general rules leave or get wrong; ``generator`` takes a tensor's name in here."""


@torch.no_grad()
def initialise(model: nn.Module, seed: int) -> None:
    """Redraw the weights of ``model``, on the CPU, in place.

    Convolutions as torchvision's ResNet does (He et al. 2015, fan-out), linear layers and biases as torch does
    (uniform within 1/sqrt(fan-in)). Batch norm keeps scale 1 and shift 0, or scale 0 where the encoder asked for it;
    layer norm keeps scale 1 and shift 0. A module with a method ``draw_initial`` then draws the rest by it.
    """
    for name, module in model.named_modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            _draw(module, partial(_generator, seed, name))
    for name, module in model.named_modules():  # once more, for a module comes before the layers it is made of
        if isinstance(module, DrawsItself):
            module.draw_initial(partial(_generator, seed, name))


def _generator(seed: int, module: str, tensor: str) -> torch.Generator:
    return torch.Generator().manual_seed(keyed.torch_seed(seed, "initial", f"{module}.{tensor}"))


def _draw(layer: nn.Conv2d | nn.Linear, generator: Callable[[str], torch.Generator]) -> None:
    bound = layer.weight[0].numel() ** -0.5
    if isinstance(layer, nn.Conv2d):
        nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu", generator=generator("weight"))
    else:
        nn.init.uniform_(layer.weight, -bound, bound, generator=generator("weight"))
    if layer.bias is not None:
        nn.init.uniform_(layer.bias, -bound, bound, generator=generator("bias"))
