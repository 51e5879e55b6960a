"""From a run to its model: initial weights, keyed by seed and tensor; and its loss."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torchvision.models import VisionTransformer

from hypersphere import prng
from hypersphere.encoders.vit import vit
from hypersphere.objectives.alignment import alignment
from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.nt_xent import nt_xent
from hypersphere.objectives.positive_scaling import positive_scaling
from hypersphere.objectives.tuplet import tuplet
from hypersphere.training.build import build_method, initialise, loss_of

from .conftest import MakeRun

ENCODERS: dict[str, dict[str, Any]] = {
    "lab_streams": {"backbone": "resnet8", "width": 2},
    "resnet": {"depth": 18, "stem": "max_pool"},
    "convnet": {"width": 2},
    "resnet8": {"width": 2},
    "vit": {"image_size": 8, "patch": 4, "depth": 2, "width": 12, "heads": 3},
}
# Tensors of a transformer that are zero at first, and no draw; all of a residual network's are drawn but batch norm's.
ZERO = ("class_token", "conv_proj.bias", "in_proj_bias", "out_proj.bias")
GENERALISED = {"name": "generalised_info_nce", "negatives": "both_views"}
SCALED = {"name": "positive_scaling", "temperature": 0.25, "s": 3}


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoders_weights_are_a_function_of_the_seed_alone(make_run: MakeRun, name: str) -> None:
    """Of every tensor that is drawn at all, whatever torch's own generator says; another seed draws all anew."""
    methods, encoder = [], {"name": name} | ENCODERS[name]
    for torch_seed, seed in ((1, 0), (2, 0), (1, 1)):
        torch.manual_seed(torch_seed)
        methods.append(build_method(make_run(encoder=encoder, seed=seed)))
    a, b, other = (dict(method.named_parameters()) for method in methods)
    assert all(torch.equal(a[tensor], b[tensor]) for tensor in a)
    kept = {tensor for tensor in a if torch.equal(a[tensor], other[tensor])}
    norms = {name for name, one in methods[0].named_modules() if isinstance(one, nn.BatchNorm2d | nn.LayerNorm)}
    of_norms = {f"{norm}.{part}" for norm in norms for part in ("weight", "bias")}
    assert {tensor for tensor in kept if not tensor.endswith(ZERO)} == of_norms
    assert all((a[tensor] == (tensor in of_norms and tensor.endswith("weight"))).all() for tensor in kept)


def test_a_tensors_key_is_its_name(make_run: MakeRun) -> None:
    """Drawn apart, by hand: every published run's initial weights hang on these keys and rules, whatever else is in the
    model. So a test of variants or methods with one seed is paired: they share all that they have in common.

    He et al. 2015, fan-out: normal of std sqrt(2 / (out · k · k)). torch's Linear: uniform in ± 1/sqrt(in).
    """
    parts = {"encoder": vit(**ENCODERS["vit"]), "stem": nn.Conv2d(2, 4, 3), "head": nn.Sequential(nn.Linear(9, 5))}
    model = nn.ModuleDict(parts)
    initialise(model, seed=7)
    layer = "encoder.encoder.layers.encoder_layer_1"
    normal = {"stem.weight": (2 / 36) ** 0.5, "encoder.encoder.pos_embedding": 0.02, f"{layer}.mlp.3.bias": 1e-6}
    uniform = {
        "head.0.weight": 1 / 3,
        "head.0.bias": 1 / 3,
        "stem.bias": 18**-0.5,
        f"{layer}.self_attention.in_proj_weight": (6 / 48) ** 0.5,
        f"{layer}.mlp.3.weight": (6 / 60) ** 0.5,
    }
    truncated = {"encoder.conv_proj.weight": 48**-0.5}
    for name in (*normal, *uniform, *truncated):
        generator = torch.Generator().manual_seed(prng.torch_seed(7, "initial", name))
        blank = torch.empty(model.get_parameter(name).shape)
        if name in normal:
            drawn = blank.normal_(0, normal[name], generator=generator)
        elif name in truncated:
            drawn = nn.init.trunc_normal_(blank, std=truncated[name], generator=generator)
        else:
            drawn = blank.uniform_(-uniform[name], uniform[name], generator=generator)
        torch.testing.assert_close(model.get_parameter(name).detach(), drawn, atol=0, rtol=1e-6)
    of_run = build_method(make_run("simsiam", encoder={"name": "vit"} | ENCODERS["vit"], seed=7)).state_dict()
    assert all(torch.equal(of_run[name], value) for name, value in model.state_dict().items() if "encoder" in name)


def test_a_transformer_starts_as_torchvisions() -> None:
    """The deviation of every tensor beside that of torchvision's own constructor; a general rule alone would fail."""
    model = vit(image_size=16, patch=4, depth=2, width=48, heads=4)
    initialise(model, seed=0)
    torch.manual_seed(0)
    published = dict(VisionTransformer(16, 4, 2, 4, 48, 192).named_parameters())
    names = [name for name, _ in model.named_parameters()]
    assert names == [name for name in published if not name.startswith("heads.")]
    for name in names:
        ours, theirs = model.get_parameter(name).detach(), published[name].detach()
        few = 4 / theirs.numel() ** 0.5
        assert ours.square().mean().sqrt().item() == pytest.approx(theirs.square().mean().sqrt().item(), rel=few), name


def to_logits(cosines: Tensor, targets: Tensor) -> Tensor:
    return positive_scaling(cosines, targets, temperature=0.25, s=3)


LABELS = torch.tensor([0, 0, 1, 1, 2, 2])
LOSSES: dict[str, tuple[dict[str, Any], Callable[[Tensor, Tensor], Tensor]]] = {
    "objective": ({}, partial(nt_xent, temperature=0.5)),
    "its map to logits": (
        {"objective": GENERALISED, "logits": SCALED},
        lambda a, b: generalised_info_nce(a, b, to_logits, negatives="both_views"),
    ),
    "a regulariser, added": (
        {"regulariser": {"name": "distance_polarization", "weight": 2.0}},
        lambda a, b: nt_xent(a, b, temperature=0.5) + distance_polarization(a, b, weight=2.0),
    ),
    "labels, for who asks for them": (
        {"objective": {"name": "tuplet"}, "regulariser": {"name": "alignment", "weight": 2}},
        lambda a, b: tuplet(a, b, LABELS) + alignment(a, b, weight=2),
    ),
}


@pytest.mark.parametrize("case", LOSSES)
def test_the_loss_is_the_sum_of_the_runs_components(make_run: MakeRun, case: str) -> None:
    changes, by_hand = LOSSES[case]
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(6, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    assert loss_of(make_run(**changes))(a, b, labels=LABELS, queue=None) == by_hand(a, b)
