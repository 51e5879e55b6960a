"""Networks of other libraries by name: without their classifiers, and as their own libraries compute features."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torchvision
from lightly.models import ResNetGenerator
from torch import Tensor, nn

from hypersphere.certificate import constructors
from hypersphere.certificate.constructors import build
from hypersphere.errors import HypersphereError

from ...fixtures import Refused

IMAGES = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def features(network: nn.Module) -> Tensor:
    with torch.inference_mode():
        return network(IMAGES).flatten(1)


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v3_small", "shufflenet_v2_x0_5"])
def test_torchvision_s_features_are_what_its_classifier_sees(name: str) -> None:
    """The input of the last linear layer of the library's own network, caught by a hook."""
    network = build(f"torchvision:{name}", {}, None, seed=3)
    torch.manual_seed(3)
    whole = torchvision.models.get_model(name, weights=None).eval()
    seen: list[Tensor] = []
    last = [layer for layer in whole.modules() if isinstance(layer, nn.Linear)][-1]
    last.register_forward_pre_hook(lambda module, given: seen.append(given[0]))
    features(whole)
    assert torch.equal(features(network), seen[0])
    assert not network.training
    assert not any(parameter.requires_grad for parameter in network.parameters())


def test_every_classifier_of_torchvision_is_taken_away_or_refused_in_a_sentence() -> None:
    """Of one model of each family, on no device where it allows that. Heads that only training uses may stay (aux)."""
    families = {"torchvision.models.regnet": "regnet_x_400mf"}
    for name in torchvision.models.list_models(module=torchvision.models):
        families.setdefault(torchvision.models.get_model_builder(name).__module__, name)
    assert len(families) > 15
    without = set()
    for name in families.values():
        slow = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
        try:
            with torch.device("cpu" if name.startswith("regnet") else "meta"):
                network = build(f"torchvision:{name}", slow, None)
        except HypersphereError as error:
            assert "its classifier is not linear" in str(error)  # noqa: PT017
            without.add(name)
            continue
        for part, layer in network.named_modules():
            if isinstance(layer, nn.Linear) and not part.lower().startswith("aux"):
                assert layer.out_features != 1000, (name, part)
    assert without == {"squeezenet1_0"}


def test_lightly_s_network_is_the_sequence_of_its_layers_as_its_guides_train_it() -> None:
    """No ReLU follows the first batch norm there: it is not among the children. The control has it."""
    network = build("lightly:resnet-9", {"width": 0.125}, None, seed=2)
    torch.manual_seed(2)
    whole: Any = ResNetGenerator("resnet-9", 0.125).eval()
    whole.linear = nn.Identity()
    with torch.inference_mode():
        x = whole.bn1(whole.conv1(IMAGES))
        for layer in (whole.layer1, whole.layer2, whole.layer3, whole.layer4):
            x = layer(x)
    assert torch.equal(features(network), x.mean(dim=(2, 3)))
    assert not torch.equal(features(network), features(whole))


def test_solo_s_stem_pads_by_two_and_torchvision_s_by_one() -> None:
    """solo-learn's methods/base.py: a 3 x 3 convolution with padding 2, and no max-pooling, for CIFAR."""
    padded, ours = (
        build(f"{library}:resnet18", {}, "cifar") for library in ("solo", "torchvision")
    )
    for network, padding in ((padded, 2), (ours, 1)):
        conv: Any = network.get_submodule("conv1")
        assert (conv.kernel_size, conv.stride, conv.padding) == ((3, 3), (1, 1), (padding,) * 2)
        assert isinstance(network.get_submodule("maxpool"), nn.Identity)
    whole: Any = build("solo:resnet18", {}, None).get_submodule("conv1")
    assert (whole.kernel_size, whole.padding) == ((7, 7), (3, 3))


class Timm(SimpleNamespace):
    """Stands for timm, which is not among the libraries of the tests: what is asked of it, as its guide says."""

    def list_models(self) -> list[str]:
        return ["vit_tiny_patch16_224"]

    def create_model(self, name: str, **given: Any) -> nn.Module:
        self.asked = {"name": name, **given}
        return nn.Flatten()


def test_timm_is_asked_for_pooled_features_without_published_weights(
    monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    monkeypatch.setitem(sys.modules, "timm", timm := Timm())  # type: ignore[arg-type]
    build("timm:vit_tiny_patch16_224", {"img_size": 32}, None)
    assert timm.asked == {
        "name": "vit_tiny_patch16_224",
        "pretrained": False,
        "num_classes": 0,
        "img_size": 32,
    }
    with refused("--model", "timm"):
        build("timm:vit_tiny", {}, None)


@pytest.mark.skipif(importlib.util.find_spec("timm") is None, reason="timm is not installed")
def test_timm_s_features_are_those_of_its_own_network() -> None:
    import timm

    network = build("timm:resnet10t", {}, None, seed=1)
    torch.manual_seed(1)
    whole = timm.create_model("resnet10t", num_classes=0).eval()
    assert torch.equal(features(network), features(whole))


OWN = """
from torch import nn

def narrow(width=2):
    return nn.Sequential(nn.Conv2d(3, width, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())

def broken():
    raise ZeroDivisionError("no width")

number = 3

def text():
    return "a network"
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of one's own in the current folder."""
    (tmp_path / "own_networks.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_networks", raising=False)


def test_a_dotted_path_is_a_function_of_one_s_own(own: None) -> None:
    for path in ("own_networks.narrow", "own_networks:narrow"):
        assert features(build(path, {"width": 5}, None)).shape == (2, 5)


def test_weights_depend_on_the_seed_alone_and_no_other_draw_moves() -> None:
    """The control: another seed."""
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    one, same, other = (
        features(build("hypersphere:resnet8", {"width": 4}, None, seed)) for seed in (5, 5, 6)
    )
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("name", "arguments", "stem", "place"),
    [
        ("torchvision:resnt18", {}, None, ("--model", "torchvision")),
        ("torchvision:resnet18", {"wdith": 3}, None, ("--model", "torchvision:resnet18")),
        ("torchvision:vit_b_16", {}, "cifar", ("--stem",)),
        ("solo:resnet18", {}, "max_pool", ("--stem",)),
        ("own_networks.narrow", {}, "cifar", ("--stem",)),
        ("hypersphere:resnet9", {}, None, ("--model", "hypersphere")),
        ("hypersphere:resnet8", {"width": -1}, None, ("--model", "hypersphere:resnet8", "width")),
        ("lightly:resnet-3", {}, None, ("--model", "lightly:resnet-3")),
        ("resnet18", {}, None, ("--model",)),
        ("no_such_module.build", {}, None, ("--model", "no_such_module.build")),
        ("own_networks.narow", {}, None, ("--model", "own_networks")),
        ("own_networks.broken", {}, None, ("--model", "own_networks.broken")),
        ("own_networks.number", {}, None, ("--model", "own_networks.number")),
        ("own_networks.text", {}, None, ("--model", "own_networks.text")),
    ],
)
def test_what_cannot_be_built_is_a_sentence(
    own: None,
    refused: Refused,
    name: str,
    arguments: dict[str, Any],
    stem: constructors.Stem | None,
    place: tuple[str, ...],
) -> None:
    with refused(*place):
        build(name, arguments, stem)


def test_a_library_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    monkeypatch.setitem(sys.modules, "timm", None)
    with refused("--model", "timm:resnet18"):
        build("timm:resnet18", {}, None)
