"""torchvision's ResNets: sizes against published counts, stems against their closed form."""

import pytest
import torch
import torchvision
from torch import nn

from hypersphere.encoders.resnet import resnet

from .conftest import randomise

# Parameters as torchvision's documentation prints them, its 1000-way classifier, the 7x7 stem, and the 3x3 one.
PUBLISHED = {18: 11_689_512, 50: 25_557_032}
FEATURES = {18: 512, 50: 2048}
STEM = {"imagenet": 3 * 7 * 7 * 64, "cifar": 3 * 3 * 3 * 64, "max_pool": 3 * 3 * 3 * 64}
DIVISOR = {"cifar": 1, "max_pool": 2, "imagenet": 4}
"""By how much a stem divides the sides, before the stages divide them by 1, 2, 4 and 8."""


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("stem", ["cifar", "max_pool", "imagenet"])
@pytest.mark.parametrize("depth", [18, 50])
def test_resnet_size_and_features(depth: int, stem: str) -> None:
    classifier = (FEATURES[depth] + 1) * 1000
    with torch.device("meta"):
        model = resnet(depth=depth, stem=stem)  # type: ignore[arg-type]
        assert model.eval()(torch.rand(2, 3, 32, 32)).shape == (2, FEATURES[depth])
    assert count(model) == PUBLISHED[depth] - classifier - STEM["imagenet"] + STEM[stem]
    assert model.feature_dim == FEATURES[depth]


@pytest.mark.parametrize("side", [32, 64, 96, 224])
@pytest.mark.parametrize("stem", ["cifar", "max_pool", "imagenet"])
def test_resnet_stem_decides_the_resolution(stem: str, side: int) -> None:
    """The CIFAR stem keeps every pixel (SimCLR, App. B.9), max-pooling halves, the ImageNet one divides by four."""
    with torch.device("meta"):
        model = resnet(depth=18, stem=stem).eval()  # type: ignore[arg-type]
        seen: list[int] = []
        for stage in ("layer1", "layer2", "layer3", "layer4"):
            model.get_submodule(stage).register_forward_hook(lambda module, x, output: seen.append(output.shape[-1]))
        model(torch.rand(1, 3, side, side))
    assert seen == [side // DIVISOR[stem] // stage for stage in (1, 2, 4, 8)]


def test_the_imagenet_stem_is_torchvisions_network() -> None:
    """The same function under the same names, but for the classifier."""
    published = torchvision.models.resnet18()
    published.fc = nn.Identity()
    model = resnet(depth=18, stem="imagenet")
    model.load_state_dict(randomise(published).state_dict())
    x = torch.rand(2, 3, 40, 40)
    torch.testing.assert_close(model.eval()(x), published(x))
    published.maxpool = nn.Identity()
    assert not torch.allclose(model(x), published(x))


@pytest.mark.parametrize("stem", ["cifar", "max_pool"])
def test_small_stems_by_hand(stem: str) -> None:
    """conv(3x3, stride 1, padding 1), norm, ReLU, and max over 3x3 every second pixel if the stem keeps it."""
    model = resnet(depth=18, stem=stem).eval()  # type: ignore[arg-type]
    x = torch.rand(1, 3, 9, 9)
    expected = torch.conv2d(x, model.get_parameter("conv1.weight"), padding=1).relu() / (1 + 1e-5) ** 0.5
    if stem == "max_pool":
        padded = nn.functional.pad(expected, (1, 1, 1, 1), value=-torch.inf)
        expected = padded.unfold(2, 3, 2).unfold(3, 3, 2).amax(dim=(-1, -2))
    seen: list[torch.Tensor] = []
    model.get_submodule("layer1").register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0].clone()))
    model(x)
    torch.testing.assert_close(seen[0], expected)


@pytest.mark.parametrize(("depth", "last", "blocks"), [(18, "bn2", 8), (50, "bn3", 16)])
def test_zero_init_residual(depth: int, last: str, blocks: int) -> None:
    for zero, value in ((True, 0.0), (False, 1.0)):
        model = resnet(depth=depth, stem="cifar", zero_init_residual=zero)  # type: ignore[arg-type]
        scales = [
            p for name, p in model.named_parameters() if name.startswith("layer") and name.endswith(f"{last}.weight")
        ]
        assert len(scales) == blocks
        assert all((scale == value).all() for scale in scales)
        assert (model.get_parameter("bn1.weight") == 1).all()
