"""Which tensors of other people's files become an encoder's, and what is said of files that do not fit."""

import os
import pickle
import re
from argparse import Namespace
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torchvision.models.resnet import BasicBlock

from hypersphere.certificate.foreign_weights import fit, read
from hypersphere.errors import HypersphereError

from ...fixtures import Names, Refused


def small() -> nn.Sequential:
    """A narrow ResNet of two stages, whose parts and names are those of torchvision's."""
    parts: dict[str, nn.Module] = {
        "conv1": nn.Conv2d(3, 4, kernel_size=7, stride=2, padding=3, bias=False),
        "bn1": nn.BatchNorm2d(4),
        "relu": nn.ReLU(),
        "maxpool": nn.MaxPool2d(3, stride=2, padding=1),
        "layer1": nn.Sequential(BasicBlock(4, 4)),
        "layer2": nn.Sequential(BasicBlock(4, 4)),
        "avgpool": nn.AdaptiveAvgPool2d(1),
        "fc": nn.Linear(4, 10),
    }
    return nn.Sequential(OrderedDict(parts))


def headless(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    network = small()
    network.fc = nn.Identity()
    return network


def weights(seed: int = 1) -> dict[str, Tensor]:
    """A trained network's: as drawn, with running statistics that are not the initial ones."""
    torch.manual_seed(seed)
    state = small().state_dict()
    return {
        name: tensor + 0.5 if tensor.is_floating_point() else tensor + 7
        for name, tensor in state.items()
    }


def after(prefix: str, state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}{name}": tensor for name, tensor in state.items()}


def numbered(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The state as ``nn.Sequential(*children)`` names it: the library's own answer."""
    network = small()
    network.load_state_dict(state)
    return dict(nn.Sequential(*[*network.children()][:-1]).state_dict())


OWN, OTHER = weights(1), weights(2)
BACKBONE = {name: tensor for name, tensor in OWN.items() if not name.startswith("fc.")}
SAVED: dict[str, tuple[Any, str, tuple[str, ...]]] = {
    "torchvision's state_dict": (OWN, "", ("fc",)),
    "Lightning's checkpoint of solo-learn": (
        {
            "epoch": 3,
            "state_dict": {
                **after("backbone.", BACKBONE),
                **after("momentum_backbone.", weights(2)),
                "projector.0.weight": torch.zeros(2, 2),
            },
        },
        "backbone.",
        ("momentum_backbone", "projector"),
    ),
    "MoCo's": (
        {
            "arch": "resnet18",
            "state_dict": {
                **after("module.encoder_q.", OWN),
                **after("module.encoder_k.", OTHER),
                "module.queue": torch.zeros(4, 4),
            },
            "optimizer": {"state": {}, "param_groups": []},
        },
        "module.encoder_q.",
        ("module.encoder_q.fc", "module.encoder_k", "module.queue"),
    ),
    "DINO's": (
        {
            "student": after("module.backbone.", OTHER),
            "teacher": after("backbone.", BACKBONE) | {"head.mlp.0.weight": torch.zeros(2)},
            "args": Namespace(arch="resnet18"),
        },
        "backbone.",
        ("head",),
    ),
    "lightly's": ({"state_dict": after("backbone.", numbered(OWN))}, "backbone.", ()),
    "timm's, wrapped twice": ({"model": {"state_dict": BACKBONE}}, "", ()),
}
"""By who saves such a file: what it holds, the prefix of the encoder's names, and what is left over."""


@pytest.mark.parametrize("name", SAVED)
def test_the_encoder_of_a_file_is_found_by_its_names(tmp_path: Path, name: str) -> None:
    """All tensors of the network are those that were saved; the control is its own initial state."""
    saved, prefix, left_over = SAVED[name]
    torch.save(saved, tmp_path / "saved.pt")
    network = headless()
    before = network.state_dict()["conv1.weight"].clone()
    found = fit(network, read(tmp_path / "saved.pt").tensors, tmp_path / "saved.pt")
    assert (found.prefix, found.left_over) == (prefix, left_over)
    assert found.numbered == (name == "lightly's")
    assert network.state_dict().keys() == BACKBONE.keys()
    assert all(torch.equal(one, BACKBONE[key]) for key, one in network.state_dict().items())
    assert not torch.equal(network.state_dict()["conv1.weight"], before)


def test_a_file_of_safetensors_is_known_by_its_content_and_half_precision_is_widened(
    tmp_path: Path,
) -> None:
    path = tmp_path / "weights.bin"
    half = {name: one.half() if one.is_floating_point() else one for name, one in BACKBONE.items()}
    save_file(half, path)
    network = headless()
    fit(network, read(path).tensors, path)
    conv = network.state_dict()["conv1.weight"]
    assert conv.dtype == torch.float32
    assert torch.equal(conv, BACKBONE["conv1.weight"].half().float())


def test_of_two_networks_that_fit_the_first_is_taken_unless_a_prefix_chooses(
    tmp_path: Path, refused: Refused
) -> None:
    both = {**after("online.", BACKBONE), **after("target.", weights(2))}
    path = tmp_path / "byol.pt"
    network = headless()
    found = fit(network, both, path)
    assert (found.prefix, found.others) == ("online.", ("target.",))
    found = fit(network, both, path, prefix="target.")
    assert found.prefix == "target."
    assert torch.equal(network.state_dict()["conv1.weight"], weights(2)["conv1.weight"])
    with refused(path, "--prefix"):
        fit(network, both, path, prefix="teacher.")


class Runs:
    """A pickle of it would run a command when it is opened without care."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.mkdir, ("ran",)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80",
        b"epoch,loss\n1,2.0\n",
        b"PK\x03\x04 no archive",
        b"\x08\0\0\0\0\0\0\0{broken}",
        pickle.dumps(Runs()),
        pickle.dumps({"state_dict": Runs()}),
    ],
)
def test_what_is_no_file_of_weights_is_a_sentence_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused, content: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "broken.pt"
    path.write_bytes(content)
    with refused(path):
        read(path)
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize(
    ("saved", "place"),
    [
        ([1, 2], ()),
        (torch.zeros(3), ()),
        ({"epoch": 1, "optimizer": {"lr": 0.1}}, ()),
        ({}, ()),
        ({"state_dict": {}}, ()),
        (Runs(), ()),
        ({"conv1.weight": torch.tensor([1.0, torch.nan])}, ("conv1.weight",)),
    ],
)
def test_a_file_of_something_else_names_what_it_holds(
    tmp_path: Path, refused: Refused, saved: Any, place: tuple[str, ...]
) -> None:
    path = tmp_path / "saved.pt"
    torch.save(saved, path)
    with refused(path, *place):
        read(path)
    with refused(tmp_path / "gone.pt"):
        read(tmp_path / "gone.pt")
    with refused(tmp_path):
        read(tmp_path)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (
            {**BACKBONE, "conv1.weight": torch.zeros(4, 3, 3, 3)},
            "conv1.weight is [4, 3, 3, 3], not [4, 3, 7, 7]",
        ),
        (
            {name: one for name, one in BACKBONE.items() if name != "bn1.weight"},
            "bn1.weight is missing",
        ),
        (
            {**BACKBONE, "layer1.1.conv1.weight": torch.zeros(4, 4, 3, 3)},
            "the network has no layer1.1.conv1.weight",
        ),
        (
            {name: one for name, one in BACKBONE.items() if "layer2" not in name},
            "and 7 differences more",
        ),
        ({"words": torch.zeros(2)}, "it has words; the network has conv1.weight"),
    ],
)
def test_weights_that_do_not_fit_name_the_first_that_differ(
    tmp_path: Path, names: Names, state: dict[str, Tensor], said: str
) -> None:
    """A stage has ten tensors without its counters: three are named. The network stays as it was."""
    network, path = headless(), tmp_path / "saved.pt"
    before = {name: one.clone() for name, one in network.state_dict().items()}
    with pytest.raises(HypersphereError, match=re.escape(said)) as caught:
        fit(network, state, path)
    names(caught.value, path)
    assert all(torch.equal(one, before[name]) for name, one in network.state_dict().items())


def test_old_files_without_counters_of_batch_norm_fit(tmp_path: Path) -> None:
    old = {name: one for name, one in BACKBONE.items() if "num_batches" not in name}
    fit(headless(), old, tmp_path / "old.pt")
