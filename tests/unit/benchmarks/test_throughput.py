"""benchmarks/throughput.py: what is compared is the same work, ratios are paired, and the page says them."""

import importlib
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import nn

from hypersphere.config.recipe import Views
from hypersphere.objectives.nt_xent import nt_xent
from hypersphere.training import build

CPU = torch.device("cpu")


@pytest.fixture
def bench() -> ModuleType:
    pytest.importorskip("lightly")  # which takes seconds
    return importlib.import_module("benchmarks.throughput")


@pytest.fixture
def tiny(bench: ModuleType) -> tuple:
    return bench.Case("tiny", {"name": "resnet8", "width": 4}, 8, 6)


def test_lightlys_model_and_loss_are_ours(bench: ModuleType, tiny: tuple) -> None:
    """Tensor by tensor in one order, so that ours can be put into theirs; then both give the same embeddings."""
    run, ours, _, _ = bench.our_parts(tiny, CPU)
    theirs = bench.lightly_model(run)
    theirs.encoder.load_state_dict(ours.encoder.state_dict())
    names = theirs.head.state_dict().keys()
    theirs.head.load_state_dict(dict(zip(names, ours.projector.state_dict().values(), strict=True)))
    images = torch.rand(5, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    theirs = theirs.to(memory_format=torch.channels_last).train()
    z_a, z_b = ours.projector(ours.encoder(images)), theirs(images)
    torch.testing.assert_close(z_a, z_b, rtol=1e-5, atol=1e-6)
    loss = bench.NTXentLoss(temperature=bench.TEMPERATURE)(z_a, z_b.flip(0))
    torch.testing.assert_close(nt_xent(z_a, z_b.flip(0), temperature=bench.TEMPERATURE), loss)
    # the control
    assert (nt_xent(z_a, z_b.flip(0), temperature=2 * bench.TEMPERATURE) - loss).abs() > 0.01


@pytest.mark.parametrize("kind", ["PLAIN", "BLURRED"])
def test_both_transforms_have_the_same_strengths(
    bench: ModuleType, tiny: tuple, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []
    make = bench.SimCLRTransform
    monkeypatch.setattr(
        bench, "SimCLRTransform", lambda *size, **how: built.append(make(*size, **how)) or built[0]
    )
    settings = getattr(bench, kind)
    views, loader = Views.model_validate(settings), bench.lightly_loader(tiny, settings)
    ours, theirs = bench.our_views(tiny, settings, CPU)(), next(iter(loader))
    assert [one.shape for one in theirs] == [ours[0].shape] * 2 == [(6, 3, 8, 8)] * 2
    both = built[0].transforms
    assert len(both) == 2
    named = {type(one).__name__: one for one in both[0].transform.transforms}
    (jitter,) = named["RandomApply"].transforms
    for name in ("brightness", "contrast", "saturation"):
        assert getattr(jitter, name) == pytest.approx(
            (1 - getattr(views, name), 1 + getattr(views, name))
        )
    assert jitter.hue == pytest.approx((-views.hue, views.hue))
    assert named["RandomResizedCrop"].scale == views.crop_scale
    chances = [named[name].p for name in ("RandomHorizontalFlip", "RandomApply", "RandomGrayscale")]
    assert chances == [views.flip, views.jitter_probability, views.grayscale]
    assert (named["GaussianBlur"].prob, tuple(named["GaussianBlur"].sigmas)) == (
        views.blur,
        views.blur_sigma,
    )
    assert named["RandomVerticalFlip"].p == 0
    assert "Normalize" not in named


@pytest.mark.parametrize("name", ["our_step", "lightly_step", "floor_step"])
def test_every_step_trains_one_encoder_on_two_views_of_the_batch(
    bench: ModuleType, tiny: tuple, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen from the encoder: what it is given, whether its memory is channels last, and that gradients reach it."""
    built: list[nn.Module] = []
    seen: list[tuple[int, ...]] = []
    gradients: list[float] = []
    make = build.build_encoder

    def build_encoder(run: object) -> nn.Module:
        encoder = make(run)
        encoder.register_forward_pre_hook(lambda _, given: seen.append(tuple(given[0].shape)))
        encoder.conv1.weight.register_hook(
            lambda gradient: gradients.append(gradient.abs().sum().item())
        )
        built.append(encoder)
        return encoder

    for module in (build, bench):
        monkeypatch.setattr(module, "build_encoder", build_encoder)
    getattr(bench, name)(tiny, CPU)()
    (encoder,) = built
    assert seen == [(6, 3, 8, 8)] * 2
    assert encoder.training
    assert encoder.layer1.conv1.weight.is_contiguous(memory_format=torch.channels_last)
    assert max(gradients) > 0


def test_ratios_are_of_the_repeats_and_the_page_has_them(
    bench: ModuleType, tiny: tuple, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: 6 images in a median of 2 s; 4/1, 4/2, 9/3."""
    seconds = {"ours": np.array([1.0, 2.0, 3.0]), "lightly": np.array([4.0, 4.0, 9.0])}
    assert bench.rate(6, seconds["ours"]) == "3"
    assert bench.ratio(seconds, "lightly", "ours") == "3.00 (2.50–3.50)"
    assert bench.ratio(seconds, "ours", "half") == "not measured"
    for name in ("SMALL", "NAMED", "GROWING"):
        monkeypatch.setattr(bench, name, tiny if name == "SMALL" else [tiny])
    page = bench.page(bench.Clock(CPU, 1, 2))
    rows = [line.count("|") for line in page.splitlines() if line.startswith("|")]
    assert sorted({*rows}) == [4, 8]  # no row has a cell more or less than one of the tables
    assert page.count("| tiny | 8 px | 6 |") == 3
