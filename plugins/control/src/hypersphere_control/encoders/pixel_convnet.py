"""The convolutions by which agents see: CURL's, without its map to a short vector."""

from collections import OrderedDict
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere.arguments import PositiveInt
from hypersphere.errors import HypersphereError

KIND = "control"
"""The kind of runs that it is for; without this constant, images."""


class PixelConvnet(nn.Module):
    """Maps stacks of frames [n, 3 · frames, size, size], from 0 to 1, to all places of all filters [n, feature_dim]."""

    def __init__(self, frames: int, size: int, filters: int, layers: int) -> None:
        super().__init__()
        self.frames, self.size = frames, size
        side = (size - 3) // 2 + 1 - 2 * (layers - 1)
        if side < 1:
            raise HypersphereError(
                f"pixel_convnet: size: {size} pixels are too few for {layers} layers"
            )
        widths = [3 * frames, *[filters] * layers]
        self.layers = nn.Sequential(
            OrderedDict(
                (
                    f"layer{i + 1}",
                    nn.Conv2d(widths[i], widths[i + 1], kernel_size=3, stride=2 if i == 0 else 1),
                )
                for i in range(layers)
            )
        )
        self.feature_dim = filters * side**2

    def draw_initial(self, generator: Callable[[str], torch.Generator]) -> None:
        """Delta-orthogonal (Xiao et al. 2018), as in CURL's code: the middle weights orthogonal, the others zero."""
        for name, layer in self.layers.named_children():
            assert isinstance(layer, nn.Conv2d)
            assert layer.bias is not None
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)
            middle = layer.kernel_size[0] // 2
            drawn = torch.empty(layer.weight.shape[:2])
            gain = nn.init.calculate_gain("relu")
            nn.init.orthogonal_(drawn, gain, generator=generator(f"layers.{name}.weight"))
            layer.weight[:, :, middle, middle] = drawn

    def forward(self, stacks: Float[Tensor, "n c s s"]) -> Float[Tensor, "n d"]:
        """ReLU after each layer."""
        for layer in self.layers:
            stacks = layer(stacks).relu()
        return stacks.flatten(1)


def pixel_convnet(
    *,
    frames: PositiveInt = 3,
    size: PositiveInt = 84,
    filters: PositiveInt = 32,
    layers: PositiveInt = 4,
) -> nn.Module:
    """Convolutions of 3 x 3, the first with a stride of 2, without padding (Laskin et al. 2020, Table 3; from memory).

    Args:
        frames: in an observation, the newest last.
        size: side in pixels of the crop that it sees.
        filters: of each layer.
        layers: how many.

    The module maps [n, 3 · frames, size, size] to [n, feature_dim].
    """
    return PixelConvnet(frames, size, filters, layers)
