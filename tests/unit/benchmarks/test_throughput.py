"""benchmarks/throughput.py and throughput_steps.py: what is compared is the same work, and ratios are paired."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import nn

from hypersphere.config.recipe import Views
from hypersphere.objectives.nt_xent import nt_xent
from hypersphere.training import build


def needs_lightly(steps: ModuleType) -> None:
    if steps.LIGHTLY is None:
        pytest.skip("lightly is not installed")


# The same work


def test_lightlys_model_is_ours(steps: ModuleType, tiny: tuple) -> None:
    """Tensor by tensor in one order, so that ours can be put into theirs; then both give the same embeddings."""
    needs_lightly(steps)
    run = steps.run_of(tiny, steps.PLAIN)
    ours, theirs = steps.our_model(run, torch.device("cpu"))[0], steps.LightlyModel(run)
    weights = {"encoder": ours.encoder.state_dict(), "head": ours.projector.state_dict()}
    theirs.encoder.load_state_dict(weights["encoder"])
    names = theirs.head.state_dict().keys()
    theirs.head.load_state_dict(dict(zip(names, weights["head"].values(), strict=True)))
    images = torch.rand(5, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    theirs = theirs.to(memory_format=torch.channels_last).train()
    torch.testing.assert_close(ours.projector(ours.encoder(images)), theirs(images), rtol=1e-5, atol=1e-6)


def test_both_losses_agree(steps: ModuleType) -> None:
    """lightly's NTXentLoss; the control is another temperature."""
    needs_lightly(steps)
    z_a, z_b = torch.randn(2, 7, 5, generator=torch.Generator().manual_seed(0))
    theirs = steps.NTXentLoss(temperature=steps.TEMPERATURE)(z_a, z_b)
    torch.testing.assert_close(nt_xent(z_a, z_b, temperature=steps.TEMPERATURE), theirs)
    assert (nt_xent(z_a, z_b, temperature=2 * steps.TEMPERATURE) - theirs).abs() > 0.01


def test_both_transforms_have_the_same_strengths(steps: ModuleType, tiny: tuple) -> None:
    needs_lightly(steps)
    for settings in (steps.PLAIN, steps.BLURRED):
        views = Views.model_validate(settings)
        both = steps.lightly_loader(tiny, settings).dataset.transform.transforms
        assert len(both) == 2
        named = {type(one).__name__: one for one in both[0].transform.transforms}
        (jitter,) = named["RandomApply"].transforms
        assert named["RandomResizedCrop"].scale == views.crop_scale
        assert named["RandomHorizontalFlip"].p == views.flip
        assert named["RandomApply"].p == views.jitter_probability
        for name in ("brightness", "contrast", "saturation"):
            strength = getattr(views, name)
            assert getattr(jitter, name) == pytest.approx((1 - strength, 1 + strength))
        assert jitter.hue == pytest.approx((-views.hue, views.hue))
        assert named["RandomGrayscale"].p == views.grayscale
        assert named["GaussianBlur"].prob == views.blur
        assert tuple(named["GaussianBlur"].sigmas) == views.blur_sigma
        assert named["RandomVerticalFlip"].p == 0
        assert "Normalize" not in named


@pytest.mark.parametrize("name", ["our_step", "lightly_step", "floor_step"])
def test_every_step_trains_one_encoder_on_two_views_of_the_batch(
    steps: ModuleType, tiny: tuple, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen from the encoder: what it is given, whether its memory is channels last, and that gradients reach it."""
    if name == "lightly_step":
        needs_lightly(steps)
    built: list[nn.Module] = []
    seen: list[tuple[int, ...]] = []
    gradients: list[float] = []
    make = build.build_encoder

    def build_encoder(run: object) -> nn.Module:
        encoder = make(run)
        encoder.register_forward_pre_hook(lambda _, given: seen.append(tuple(given[0].shape)))
        encoder.conv1.weight.register_hook(lambda gradient: gradients.append(gradient.abs().sum().item()))
        built.append(encoder)
        return encoder

    for module in (build, steps):
        monkeypatch.setattr(module, "build_encoder", build_encoder)
    getattr(steps, name)(tiny, torch.device("cpu"))()
    (encoder,) = built
    assert seen == [(6, 3, 8, 8)] * 2
    assert encoder.training
    assert encoder.layer1.conv1.weight.is_contiguous(memory_format=torch.channels_last)
    assert max(gradients) > 0


def test_our_views_are_two_of_each_image(steps: ModuleType, tiny: tuple) -> None:
    views = steps.our_views(tiny, steps.BLURRED, torch.device("cpu"))()
    assert views.shape == (2, 6, 3, 8, 8)
    if steps.LIGHTLY:
        theirs, _ = next(iter(steps.lightly_loader(tiny, steps.BLURRED)))
        assert [one.shape for one in theirs] == [views[0].shape] * 2


# What is made of the seconds


def test_a_ratio_is_the_median_of_the_repeats_ratios(throughput: ModuleType, tiny: tuple) -> None:
    """By hand: 6 images in a median of 2 s; 4/1, 4/2, 9/3, and 1/1, 2/2, 3/2."""
    seconds = {"ours": [1.0, 2.0, 3.0], "lightly": [4.0, 4.0, 9.0], "floor": [1.0, 2.0, 2.0]}
    measured = throughput.summarise(tiny, {name: np.array(values) for name, values in seconds.items()})
    assert measured.images_per_second == 3.0
    assert measured.faster == pytest.approx((3.0, 2.5, 3.5))
    assert measured.floor == pytest.approx((1.0, 1.0, 1.25))


@pytest.mark.parametrize("given", ["--device cuda", "--repeats 0", "--threads two"])
def test_what_cannot_be_measured_is_said(
    throughput: ModuleType,
    given: str,
    approve: Callable[[object], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr("sys.argv", ["throughput.py", *given.split()])
    with pytest.raises(SystemExit):
        throughput.main()
    approve(capsys.readouterr().err.splitlines()[-1])
