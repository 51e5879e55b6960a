"""Initial weights, each tensor from its own generator.

The key is (seed, "initial", tensor name), so two runs with one seed start with equal values in every tensor that both
have. This is what makes a paired test paired.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol, runtime_checkable

import torch
from torch import nn

from hypersphere import prng


@runtime_checkable
class DrawsItself(Protocol):
    """A module with its own initialisation, applied after the general one for convolutions and linear layers."""

    def draw_initial(self, generator: Callable[[str], torch.Generator]) -> None:
        """Redraw tensors in place that the general rules do not set or set differently.

        ``generator`` maps a tensor's name within this module to its generator.
        """


@torch.no_grad()
def initialise(model: nn.Module, seed: int) -> None:
    """Redraw the weights of ``model`` in place, on the CPU.

    Convolutions are drawn as in torchvision's ResNet (He et al. 2015, fan-out), linear layers and biases as in torch
    (uniform within 1/sqrt(fan-in)). Batch norm keeps scale 1 and shift 0, or scale 0 where the encoder set it; layer
    norm keeps scale 1 and shift 0. Modules with a method ``draw_initial`` then draw their own.
    """
    for name, module in model.named_modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            _draw(module, partial(_generator, seed, name))
    for name, module in model.named_modules():  # a second loop, because a module is listed before its layers
        if isinstance(module, DrawsItself):
            module.draw_initial(partial(_generator, seed, name))


def _generator(seed: int, module: str, tensor: str) -> torch.Generator:
    return torch.Generator().manual_seed(prng.torch_seed(seed, "initial", f"{module}.{tensor}"))


def _draw(layer: nn.Conv2d | nn.Linear, generator: Callable[[str], torch.Generator]) -> None:
    bound = layer.weight[0].numel() ** -0.5
    if isinstance(layer, nn.Conv2d):
        nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu", generator=generator("weight"))
    else:
        nn.init.uniform_(layer.weight, -bound, bound, generator=generator("weight"))
    if layer.bias is not None:
        nn.init.uniform_(layer.bias, -bound, bound, generator=generator("bias"))
