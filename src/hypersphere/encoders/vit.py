"""torchvision's Vision Transformer, small by default."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torchvision.models.vision_transformer import MLPBlock, VisionTransformer

from hypersphere.arguments import PositiveInt
from hypersphere.errors import HypersphereError


class ViT(VisionTransformer):
    """Maps square images [n, 3, h, h] to the class token after the last norm, [n, feature_dim]."""

    def __init__(self, image_size: int, patch: int, depth: int, width: int, heads: int) -> None:
        super().__init__(image_size, patch, depth, heads, width, mlp_dim=4 * width, num_classes=1)
        self.heads = nn.Identity()
        self.feature_dim = width

    def forward(self, images: Float[Tensor, "n 3 h h"]) -> Float[Tensor, "n d"]:
        """Features of the images."""
        height, width = images.shape[-2:]
        if (height, width) != (self.image_size, self.image_size):
            raise HypersphereError(
                f"encoder: vit: image_size is {self.image_size}, but images are {height} x {width}"
            )
        return super().forward(images)

    def draw_initial(self, generator: Callable[[str], torch.Generator]) -> None:
        """Draw the initial weights from the same distributions as torchvision's VisionTransformer.

        Patch projection: normal of std 1/sqrt(fan-in), cut at ±2. Position embedding: normal of std 0.02. Queries, keys
        and values: Xavier uniform over their stacked matrix [3d, d]. The MLP: Xavier uniform, biases normal of std
        1e-6. Class token and all other biases: zero. The attention's output matrix keeps torch's rule for linear
        layers. Dosovitskiy et al.'s code uses Xavier for each of the four matrices of attention (from memory).
        """
        projection = self.conv_proj
        deviation = projection.weight[0].numel() ** -0.5
        draw = generator("conv_proj.weight")
        nn.init.trunc_normal_(projection.weight, std=deviation, generator=draw)
        draw = generator("encoder.pos_embedding")
        nn.init.normal_(self.encoder.pos_embedding, std=0.02, generator=draw)
        nn.init.zeros_(projection.bias)
        nn.init.zeros_(self.class_token)
        for name, module in self.named_modules():
            above = self.get_submodule(name.rpartition(".")[0])
            if isinstance(module, nn.MultiheadAttention):
                draw = generator(f"{name}.in_proj_weight")
                nn.init.xavier_uniform_(module.in_proj_weight, generator=draw)
                nn.init.zeros_(module.in_proj_bias)
                nn.init.zeros_(module.out_proj.bias)
            elif isinstance(module, nn.Linear) and isinstance(above, MLPBlock):
                draw = generator(f"{name}.weight")
                nn.init.xavier_uniform_(module.weight, generator=draw)
                draw = generator(f"{name}.bias")
                nn.init.normal_(module.bias, std=1e-6, generator=draw)


def vit(
    *,
    image_size: PositiveInt,
    patch: PositiveInt,
    depth: PositiveInt = 12,
    width: PositiveInt = 384,
    heads: PositiveInt = 6,
) -> nn.Module:
    """A pre-norm transformer over square patches (Dosovitskiy et al. 2021, Eq. 1-4), without a classifier.

    The defaults are ViT-S (Touvron et al. 2021, Table 1, from memory). The MLP is four times as wide as the tokens;
    there is no dropout. ``feature_dim`` is ``width``.

    Args:
        image_size: side of the images in pixels; no other size is accepted.
        patch: side of a patch in pixels, a divisor of ``image_size``.
        depth: number of layers.
        width: length of a token.
        heads: attention heads per layer, a divisor of ``width``.
    """
    if image_size % patch:
        raise HypersphereError(
            f"encoder: vit: patch must divide image_size {image_size} (given: {patch})"
        )
    if width % heads:
        raise HypersphereError(f"encoder: vit: heads must divide width {width} (given: {heads})")
    return ViT(image_size, patch, depth, width, heads)
