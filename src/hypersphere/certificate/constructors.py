"""Networks by the names that other libraries give them, without their classifiers and with weights drawn from a seed.

A name is ``LIBRARY:MODEL``, or the dotted path of a function or class of your own, which is imported from the current
folder too. Another library is imported when one of its models is asked for.
"""

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from hypersphere.config import registry
from hypersphere.config.validation import check_name, not_one_of, validate
from hypersphere.errors import HypersphereError
from hypersphere.wording import in_one_line

Stem = Literal["cifar", "max_pool", "imagenet"]
OPTION = "--model"
DEPTHS: Mapping[str, Literal[18, 50]] = {"resnet18": 18, "resnet50": 50}
"""The ResNets whose stem can be chosen."""
STEMS: Mapping[str, tuple[Stem, ...]] = {
    "torchvision": ("cifar", "max_pool", "imagenet"),
    "solo": ("cifar",),
}
"""The stems to choose from, by library."""
HEADS = ("fc", "classifier", "heads", "head")
"""Where torchvision's models have their classifier, whose last linear layer is taken away."""
LONGEST = 160
"""Characters of another program's complaint that a sentence repeats."""


def build(name: str, arguments: Mapping[str, Any], stem: Stem | None, seed: int = 0) -> nn.Module:
    """A network in evaluation mode and without gradients, on the CPU; its weights are drawn from ``seed``.

    Args:
        name: ``torchvision:resnet18``, ``timm:NAME``, ``lightly:resnet-18``, ``solo:resnet18``, ``hypersphere:NAME`` or
            ``my.module.build``.
        arguments: of the constructor.
        stem: of a ResNet, as in ``encoders.resnet``; None: as the library has it.

    Raises:
        HypersphereError: the library, model or function does not exist, or refuses its arguments.
    """
    library, colon, model = name.partition(":")
    if stem is not None and (model not in DEPTHS or stem not in STEMS.get(library, ())):
        fitting = " and ".join(f"{one} ({', '.join(stems)})" for one, stems in STEMS.items())
        names = " and ".join(DEPTHS)
        raise HypersphereError(f"--stem: is for {names} of {fitting} (given: {stem} of {name})")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            if colon and library in LIBRARIES:
                network = LIBRARIES[library](model, dict(arguments), stem)
            else:
                network = _own(name, arguments)
        except HypersphereError:
            raise
        except ModuleNotFoundError as error:
            raise HypersphereError(f"{OPTION}: {name}: {error.name} is not installed") from None
        # a constructor of somebody else may raise anything
        except Exception as error:
            raise HypersphereError(
                f"{OPTION}: {name}: cannot be built ({first_words(error)})"
            ) from None
    return network.eval().requires_grad_(False)


def first_words(error: Exception) -> str:
    """The beginning of another program's complaint, in one line."""
    return in_one_line(error)[:LONGEST] or type(error).__name__


def _torchvision(model: str, arguments: dict[str, Any], stem: Stem | None) -> nn.Module:
    """A model of torchvision without the last linear layer of its classifier."""
    from torchvision import models

    check_name(model, models.list_models(module=models), f"{OPTION}: torchvision")
    if stem is not None:
        from hypersphere.encoders.resnet import resnet

        return resnet(depth=DEPTHS[model], stem=stem, **arguments)
    network: nn.Module = models.get_model(model, weights=None, **arguments)
    linear = [
        name
        for name, layer in network.named_modules()
        if name.partition(".")[0] in HEADS and isinstance(layer, nn.Linear)
    ]
    if not linear:
        raise HypersphereError(
            f"{OPTION}: torchvision:{model}: its classifier is not linear; give a function of your own"
        )
    above, _, last = linear[-1].rpartition(".")
    setattr(network.get_submodule(above), last, nn.Identity())
    return network


def _solo(model: str, arguments: dict[str, Any], stem: Stem | None) -> nn.Module:
    """torchvision's ResNet as solo-learn trains it: its stem for CIFAR pads by two pixels, and not by one."""
    network = _torchvision(model, arguments, stem)
    if stem == "cifar":
        network.get_submodule("conv1").padding = (2, 2)  # type: ignore[assignment]
    return network


def _timm(model: str, arguments: dict[str, Any], stem: Stem | None) -> nn.Module:
    """A model of timm, whose ``num_classes=0`` leaves pooled features."""
    timm = importlib.import_module("timm")
    check_name(model, timm.list_models(), f"{OPTION}: timm")
    network: nn.Module = timm.create_model(model, pretrained=False, num_classes=0, **arguments)
    return network


def _lightly(model: str, arguments: dict[str, Any], stem: Stem | None) -> nn.Module:
    """lightly's ResNet for 32 x 32 images as its guides train it: its layers, with a mean over places as the last.

    The ReLU after the first batch norm is not a layer there, so that no such encoder has it.
    """
    models = importlib.import_module("lightly.models")
    network = models.ResNetGenerator(model, **arguments)
    *parts, _ = network.children()
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1))


def _hypersphere(model: str, arguments: dict[str, Any], stem: Stem | None) -> nn.Module:
    """An encoder of ours."""
    check_name(model, registry.names("encoders"), f"{OPTION}: hypersphere")
    schema = registry.schema("encoders", model)
    parameters = validate(schema, arguments, f"{OPTION}: hypersphere:{model}")
    network: nn.Module = registry.load("encoders", model)(**parameters.model_dump())
    return network


LIBRARIES: Mapping[str, Callable[[str, dict[str, Any], Stem | None], nn.Module]] = {
    "torchvision": _torchvision,
    "timm": _timm,
    "lightly": _lightly,
    "solo": _solo,
    "hypersphere": _hypersphere,
}


def _own(path: str, arguments: Mapping[str, Any]) -> nn.Module:
    """What a function or class of one's own returns, by its dotted path."""
    module, dot, name = path.replace(":", ".").rpartition(".")
    if not dot:
        libraries = ", ".join(f"{library}:" for library in LIBRARIES)
        raise HypersphereError(
            f"{OPTION}: must begin with {libraries} or be a dotted path, as my.module.build "
            f"(given: '{path}')"
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    owner = importlib.import_module(module)
    if not hasattr(owner, name):
        raise HypersphereError(f"{OPTION}: {module}: {not_one_of(name, _functions(owner))}")
    network = getattr(owner, name)(**arguments)
    if not isinstance(network, nn.Module):
        raise HypersphereError(
            f"{OPTION}: {path}: must return a torch module (given: {type(network).__name__})"
        )
    return network


def _functions(module: Any) -> list[str]:
    """What a module has to call, in alphabetical order."""
    return sorted(
        name for name, one in vars(module).items() if callable(one) and not name.startswith("_")
    )
