"""The Vision Transformer: its published size, and the paper's equations written out."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from hypersphere.encoders.vit import vit

from .test_encoders import count, randomise


def tiny() -> nn.Module:
    return vit(image_size=8, patch=4, depth=2, width=12, heads=3)


def test_vit_s_16_has_its_published_size() -> None:
    """22,050,664 with a classifier of 384 x 1000 + 1000 (DeiT-S; Touvron et al. 2021, Table 1: 22M)."""
    with torch.device("meta"):
        model = vit(image_size=224, patch=16)
    assert count(model) == 22_050_664 - 385_000
    assert model.feature_dim == 384
    assert {m.num_heads for m in model.modules() if isinstance(m, nn.MultiheadAttention)} == {6}


def norm(x: Tensor, p: dict[str, Tensor], name: str) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return (
        centred / (centred.square().mean(-1, keepdim=True) + 1e-6).sqrt() * p[f"{name}.weight"]
        + p[f"{name}.bias"]
    )


def attention(x: Tensor, p: dict[str, Tensor], name: str, heads: int) -> Tensor:
    """Equations 5-8: softmax(q k' / sqrt(d/heads)) v for every head, then one matrix over all heads."""
    qkv = x @ p[f"{name}.in_proj_weight"].T + p[f"{name}.in_proj_bias"]
    q, k, v = (part.unflatten(-1, (heads, -1)) for part in qkv.chunk(3, dim=-1))
    scores = torch.einsum("nqhd,nkhd->nhqk", q, k) / math.sqrt(q.shape[-1])
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    mixed = torch.einsum("nhqk,nkhd->nqhd", weights, v).flatten(-2)
    return mixed @ p[f"{name}.out_proj.weight"].T + p[f"{name}.out_proj.bias"]


def mlp(x: Tensor, p: dict[str, Tensor], name: str) -> Tensor:
    hidden = x @ p[f"{name}.0.weight"].T + p[f"{name}.0.bias"]
    hidden = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
    return hidden @ p[f"{name}.3.weight"].T + p[f"{name}.3.bias"]


def by_hand(images: Tensor, p: dict[str, Tensor], patch: int, depth: int, heads: int) -> Tensor:
    """Dosovitskiy et al. 2021, Equations 1-4; patches row by row."""
    patches = (
        images.unfold(2, patch, patch)
        .unfold(3, patch, patch)
        .permute(0, 2, 3, 1, 4, 5)
        .flatten(3)
        .flatten(1, 2)
    )
    tokens = patches @ p["conv_proj.weight"].flatten(1).T + p["conv_proj.bias"]
    token = p["class_token"].expand(len(images), -1, -1)
    x = torch.cat([token, tokens], dim=1) + p["encoder.pos_embedding"]
    for i in range(depth):
        name = f"encoder.layers.encoder_layer_{i}"
        x = x + attention(norm(x, p, f"{name}.ln_1"), p, f"{name}.self_attention", heads)
        x = x + mlp(norm(x, p, f"{name}.ln_2"), p, f"{name}.mlp")
    return norm(x[:, 0], p, "encoder.ln")


@pytest.mark.parametrize("mode", ["training", "evaluation"])
def test_vit_is_the_papers_equations(mode: str) -> None:
    """Both modes: torch takes another path through attention where no gradient is asked for."""
    model = randomise(tiny()).train(mode == "training")
    x = torch.rand(3, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    expected = by_hand(x, model.state_dict(), patch=4, depth=2, heads=3)
    with torch.set_grad_enabled(mode == "training"):
        found = model(x).detach()
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
    assert not torch.allclose(
        found, by_hand(x, model.state_dict(), patch=4, depth=2, heads=2), atol=1e-3
    )


@pytest.mark.parametrize(
    "changes", [{"patch": 3}, {"patch": 16}, {"heads": 5}], ids=["3", "16", "heads"]
)
def test_vit_says_what_does_not_divide(changes: dict[str, int], refused: Any) -> None:
    with refused("encoder", "vit"):
        vit(**{"image_size": 8, "patch": 4, "depth": 1, "width": 12, "heads": 3} | changes)


@pytest.mark.parametrize(("height", "width"), [(12, 12), (8, 12), (12, 8), (4, 4)])
def test_vit_refuses_images_of_another_size(height: int, width: int, refused: Any) -> None:
    with refused("encoder", "vit"):
        tiny()(torch.rand(1, 3, height, width))
