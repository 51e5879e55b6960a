"""Initial weights, each tensor from a generator of its own.

Keys are (seed, "initial", tensor name), so two runs with one seed share every tensor that they have in common, whatever
else either has: that is what makes a paired test paired.
"""

import torch
from torch import nn

from hypersphere import keyed


@torch.no_grad()
def initialise(model: nn.Module, seed: int) -> None:
    """Redraw the convolutions and linear layers of ``model``, on the CPU, in place.

    Convolutions as torchvision's ResNet does (He et al. 2015, fan-out), linear layers and biases as torch does
    (uniform within 1/sqrt(fan-in)). Batch norm keeps scale 1 and shift 0, or scale 0 where the encoder asked for it.
    """
    for name, module in model.named_modules():
        if isinstance(module, nn.Conv2d):
            generator = torch.Generator().manual_seed(keyed.torch_seed(seed, "initial", f"{name}.weight"))
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu", generator=generator)
        elif isinstance(module, nn.Linear):
            bound = module.in_features**-0.5
            for part in ("weight", "bias"):
                parameter = getattr(module, part)
                if parameter is not None:
                    generator = torch.Generator().manual_seed(keyed.torch_seed(seed, "initial", f"{name}.{part}"))
                    nn.init.uniform_(parameter, -bound, bound, generator=generator)
