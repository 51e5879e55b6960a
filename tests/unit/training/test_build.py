"""From a run to its model: initial weights, keyed by seed and tensor; its loss; and a trained run's encoder and head,
saved bit for bit, read back or refused in a sentence."""

import copy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torchvision.models import VisionTransformer

from hypersphere import prng
from hypersphere.config.plan import Plan
from hypersphere.config.recipe import Views
from hypersphere.encoders.vit import vit
from hypersphere.methods.base import Batch, Method
from hypersphere.objectives.alignment import alignment
from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.nt_xent import nt_xent
from hypersphere.objectives.positive_scaling import positive_scaling
from hypersphere.objectives.tuplet import tuplet
from hypersphere.training import loop
from hypersphere.training.build import build_encoder, build_method, initialise, loss_of
from hypersphere.training.frozen import load_frozen

from ...of_images import METHODS
from ..encoders.test_encoders import ENCODERS
from .conftest import execute, make_run, of_method

# Tensors of a transformer that are zero at first, and no draw; all of a residual network's are drawn but batch norm's.
ZERO = ("class_token", "conv_proj.bias", "in_proj_bias", "out_proj.bias")
GENERALISED = {"name": "generalised_info_nce", "negatives": "both_views"}
SCALED = {"name": "positive_scaling", "temperature": 0.25, "s": 3}


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoders_weights_are_a_function_of_the_seed_alone(name: str) -> None:
    """Of every tensor that is drawn at all, whatever torch's own generator says; another seed draws all anew."""
    methods, encoder = [], {"name": name} | ENCODERS[name]
    for torch_seed, seed in ((1, 0), (2, 0), (1, 1)):
        torch.manual_seed(torch_seed)
        methods.append(build_method(make_run(encoder=encoder, seed=seed)))
    a, b, other = (dict(method.named_parameters()) for method in methods)
    assert all(torch.equal(a[tensor], b[tensor]) for tensor in a)
    kept = {tensor for tensor in a if torch.equal(a[tensor], other[tensor])}
    norms = {
        name
        for name, one in methods[0].named_modules()
        if isinstance(one, nn.BatchNorm2d | nn.LayerNorm)
    }
    of_norms = {f"{norm}.{part}" for norm in norms for part in ("weight", "bias")}
    assert {tensor for tensor in kept if not tensor.endswith(ZERO)} == of_norms
    assert all(
        (a[tensor] == (tensor in of_norms and tensor.endswith("weight"))).all() for tensor in kept
    )


PIXELS_OF = {"mean": [0.5, 0.25, 0.75], "std": [0.5, 0.25, 2.0]}


@pytest.mark.parametrize("name", [name for name in METHODS if name != "cmc"])
def test_every_encoder_of_a_method_sees_normalised_pixels(methods_plan: Plan, name: str) -> None:
    """Online and target alike: as without normalisation on pixels that are normalised by hand, to the last bit. Names
    and numbers of the weights are the same."""
    mean, std = (torch.tensor(PIXELS_OF[part])[:, None, None] for part in ("mean", "std"))
    run, _ = of_method(methods_plan, name)
    views_of = Views.model_validate({"normalisation": PIXELS_OF})
    plain = build_method(run, 8, 4).train()
    normalising = build_method(run.model_copy(update={"views": views_of}), 8, 4)
    assert plain.state_dict().keys() == normalising.state_dict().keys()
    views, places = torch.rand(len(run.branches), 8, 3, 8, 8), torch.arange(8)
    expected = plain(Batch((views - mean) / std, places, places % 4))
    found = normalising.train()(Batch(views, places, places % 4))
    assert torch.equal(found.embeddings, expected.embeddings)
    assert torch.equal(found.loss, expected.loss)
    other = build_method(run, 8, 4).train()(Batch(views, places, places % 4))
    assert not torch.equal(other.embeddings, expected.embeddings)


def test_mean_and_deviation_move_with_an_encoder_and_are_no_weights_of_it() -> None:
    run = make_run(views={"normalisation": PIXELS_OF})
    encoder = build_encoder(run).double()
    assert encoder.pixel_mean.dtype == torch.float64
    assert not {"pixel_mean", "pixel_std"} & encoder.state_dict().keys()


def test_a_tensors_key_is_its_name() -> None:
    """Drawn apart, by hand: every published run's initial weights hang on these keys and rules, whatever else is in the
    model. So a test of variants or methods with one seed is paired: they share all that they have in common.

    He et al. 2015, fan-out: normal of std sqrt(2 / (out · k · k)). torch's Linear: uniform in ± 1/sqrt(in).
    """
    parts = {
        "encoder": vit(**ENCODERS["vit"]),
        "stem": nn.Conv2d(2, 4, 3),
        "head": nn.Sequential(nn.Linear(9, 5)),
    }
    model = nn.ModuleDict(parts)
    initialise(model, seed=7)
    layer = "encoder.encoder.layers.encoder_layer_1"
    normal = {
        "stem.weight": (2 / 36) ** 0.5,
        "encoder.encoder.pos_embedding": 0.02,
        f"{layer}.mlp.3.bias": 1e-6,
    }
    uniform = {
        "head.0.weight": 1 / 3,
        "head.0.bias": 1 / 3,
        "stem.bias": 18**-0.5,
        f"{layer}.self_attention.in_proj_weight": (6 / 48) ** 0.5,
        f"{layer}.mlp.3.weight": (6 / 60) ** 0.5,
    }
    fills: dict[str, Callable[..., Tensor]] = {
        **{name: partial(nn.init.normal_, std=std) for name, std in normal.items()},
        **{name: partial(nn.init.uniform_, a=-end, b=end) for name, end in uniform.items()},
        "encoder.conv_proj.weight": partial(nn.init.trunc_normal_, std=192**-0.5),
    }
    for name, fill in fills.items():
        generator = torch.Generator().manual_seed(prng.torch_seed(7, "initial", name))
        drawn = fill(torch.empty(model.get_parameter(name).shape), generator=generator)
        torch.testing.assert_close(model.get_parameter(name).detach(), drawn, atol=0, rtol=1e-6)
    of_run = build_method(
        make_run("simsiam", encoder={"name": "vit"} | ENCODERS["vit"], seed=7)
    ).state_dict()
    assert all(
        torch.equal(of_run[name], value)
        for name, value in model.state_dict().items()
        if "encoder" in name
    )


LABELS = torch.tensor([0, 0, 1, 1, 2, 2])
LOSSES: dict[str, tuple[dict[str, Any], Callable[[Tensor, Tensor], Tensor]]] = {
    "objective": ({}, partial(nt_xent, temperature=0.5)),
    "its map to logits": (
        {"objective": GENERALISED, "logits": SCALED},
        partial(
            generalised_info_nce,
            to_logits=partial(positive_scaling, temperature=0.25, s=3),
            negatives="both_views",
        ),
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
def test_the_loss_is_the_sum_of_the_runs_components(case: str) -> None:
    changes, by_hand = LOSSES[case]
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(6, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    assert loss_of(make_run(**changes))(a, b, labels=LABELS, queue=None) == by_hand(a, b)


# Weights on disk


@pytest.mark.parametrize("name", METHODS)
def test_encoder_and_head_come_back_as_they_were_at_an_epoch(
    methods_plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """To the bit, where memory is laid out alike, in eval mode and without gradients; the last are the run's own.

    They are compared with the method itself as it was at each epoch's end, not by way of any file.
    """
    (run, images), seen, found = (
        of_method(methods_plan, name),
        dict[int, Method](),
        dict[int, Tensor](),
    )
    pictures, snapshot = torch.tensor(images[0][:5]).permute(0, 3, 1, 2) / 255, loop._snapshot

    def copying(method: Method, *arguments: Any) -> None:
        *_, progress = arguments
        seen[progress.epochs] = (
            copy.deepcopy(method).eval().to(memory_format=torch.contiguous_format)
        )  # type: ignore[call-overload]
        snapshot(method, *arguments)

    monkeypatch.setattr(loop, "_snapshot", copying)
    execute(run, images, tmp_path)
    for epoch in (0, 2, 4):
        encoder, head = load_frozen(run, tmp_path, epoch)
        found[epoch] = head(encoder(pictures))
        assert torch.equal(found[epoch], seen[epoch].head(seen[epoch].encoder(pictures)))
        assert not found[epoch].requires_grad
        assert not any(part.training for module in (encoder, head) for part in module.modules())
    assert not torch.equal(found[0], found[2])
    assert not torch.equal(found[2], found[4])
    assert name != "supervised" or found[0].shape[1] == 10
    assert name != "instance_discrimination" or len(seen[0].get_buffer("bank")) == len(images[0])


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
        assert ours.square().mean().sqrt().item() == pytest.approx(
            theirs.square().mean().sqrt().item(), rel=few
        ), name
