"""What stands between the encoder and the embeddings: every method says it, and it is what forward reports."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from hypersphere.config import registry
from hypersphere.methods.base import Batch, Method, chain
from hypersphere.training.build import build_method

from ...of_images import METHODS
from .shared import make_run

CLASSES = 3
COMPONENTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "byol": ({"hidden": 8, "dim": 4}, {"name": "normalised_squared_error"}),
    "cmc": ({"dim": 4}, {"name": "multiview_coding", "temperature": 0.5}),
    "dino": (
        {"hidden": 8, "bottleneck": 4, "prototypes": 5},
        {"name": "self_distillation", "student_temperature": 0.1, "teacher_temperature": 0.04},
    ),
    "instance_discrimination": ({"dim": 4}, {"name": "nonparametric_softmax", "temperature": 0.1}),
    "mocov2": ({"hidden": 8, "dim": 4, "queue": 6}, {"name": "momentum_contrast", "temperature": 0.2}),
    "mocov3": ({"hidden": 8, "dim": 4}, {"name": "info_nce", "temperature": 0.2}),
    "simclr": ({"hidden": 8, "dim": 4, "batch_norm": True}, {"name": "nt_xent", "temperature": 0.5}),
    "simsiam": ({"hidden": 8, "dim": 4, "bottleneck": 2}, {"name": "negative_cosine"}),
    "supervised": ({}, {"name": "cross_entropy"}),
    "swav": ({"hidden": 8, "dim": 4, "prototypes": 5}, {"name": "swapped_prediction"}),
}
"""By the name of each method, its parameters and an objective that it can be trained with."""
NETWORKS = {
    "byol": {"projector", "predictor"},
    "cmc": {"lightness", "colour"},
    "mocov3": {"projector", "predictor"},
    "simsiam": {"projector", "predictor"},
    "supervised": {"classifier"},
}
"""Of which a head is made, where that is not the projector alone: from what the papers apply their losses to."""
every = pytest.mark.parametrize("name", METHODS)


def build(name: str) -> Method:
    """Of six images and three classes."""
    parameters, objective = COMPONENTS[name]
    encoder = {"name": "lab_streams", "backbone": "resnet8", "width": 2} if name == "cmc" else {"name": "resnet8"}
    run = make_run({"name": name, **parameters}, objective, encoder={"width": 2} | encoder)
    return build_method(run, images=6, classes=CLASSES)


def batch_for(name: str, seed: int = 0) -> Batch:
    count = registry.read_constant("methods", name, "VIEWS", 2)
    views = torch.rand(count, 6, 3, 8, 8, generator=torch.Generator().manual_seed(seed))
    return Batch(views, torch.arange(6), torch.arange(6) % CLASSES)


def trained(name: str) -> Method:
    """In eval mode, after some batches, so that the statistics of its batch norms are not those that they began with.

    What the passes remembered joins the memory, as after a step.
    """
    method = build(name).train()
    with torch.no_grad():
        for seed in range(1, 4):
            method(batch_for(name, seed))
            method.after_step(0.5, 0.5)
    return method.eval()


@every
def test_head_of_encoder_is_what_forward_reports_for_a_view(name: str) -> None:
    """MoCo v2 reports the first view alone, the queries; CMC an image's two streams one below the other."""
    method, batch = trained(name), batch_for(name)
    with torch.no_grad():
        reported = method(batch).embeddings
        seen = [method.head(method.encoder(view)) for view in batch.views]
    if name == "cmc":
        seen = list(seen[0].chunk(2, dim=1))
    expected = torch.cat(seen[:1] if name == "mocov2" else seen)
    torch.testing.assert_close(reported, expected, atol=1e-6, rtol=1e-5)
    assert expected.std(dim=0).min() > 1e-5  # the control: another image has another embedding


@every
def test_an_image_has_one_row(name: str) -> None:
    method = trained(name)
    dim = {"cmc": 8, "supervised": CLASSES}.get(name, 4)
    assert method.head(torch.rand(5, int(method.encoder.feature_dim))).shape == (5, dim)  # type: ignore[arg-type]


@every
def test_a_head_has_the_method_s_own_tensors_and_gives_none_a_second_name(name: str) -> None:
    method = build(name)
    before, modes = list(method.state_dict()), [module.training for module in method.modules()]
    head: dict[str, Tensor] = dict(method.head.state_dict())
    assert list(method.state_dict()) == before
    assert [module.training for module in method.modules()] == modes
    assert {key.partition(".")[0] for key in head} == NETWORKS.get(name, {"projector"})
    own = method.state_dict()
    assert all(own[key].data_ptr() == tensor.data_ptr() for key, tensor in head.items())
    wanted = tuple(f"{network}." for network in NETWORKS.get(name, {"projector"}))
    assert head.keys() == {key for key in before if key.startswith(wanted)}


def test_every_method_is_looked_at() -> None:
    assert set(METHODS) == COMPONENTS.keys()


def test_a_chain_is_its_modules_in_turn_under_their_names() -> None:
    a, b = nn.Linear(3, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 2))
    both, x = chain(first=a, second=b), torch.randn(4, 3)
    assert torch.equal(both(x), b(a(x)))
    assert list(both.state_dict()) == ["first.weight", "first.bias", "second.1.weight", "second.1.bias"]
    assert both.get_submodule("first") is a
