"""What every method promises: its head, keyed draws, where gradients go, what an optimiser moves, one state."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch

from hypersphere.config import registry
from hypersphere.config.recipe import Optimiser
from hypersphere.methods.base import Batch, Method
from hypersphere.training import optimisation
from hypersphere.training.build import build_method

from ...of_images import METHODS
from ..training.conftest import make_run
from .shared import Streams, batches_seen, described, make_batch, make_parts, nothing

CLASSES = 3
COMPONENTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "byol": ({"hidden": 8, "dim": 4}, {"name": "normalised_squared_error"}),
    "cmc": ({"dim": 4}, {"name": "multiview_coding", "temperature": 0.5}),
    "dino": (
        {"hidden": 8, "bottleneck": 4, "prototypes": 5},
        {"name": "self_distillation", "student_temperature": 0.1, "teacher_temperature": 0.04},
    ),
    "instance_discrimination": ({"dim": 4}, {"name": "nonparametric_softmax", "temperature": 0.1}),
    "mocov2": (
        {"hidden": 8, "dim": 4, "queue": 6},
        {"name": "momentum_contrast", "temperature": 0.2},
    ),
    "mocov3": ({"hidden": 8, "dim": 4}, {"name": "info_nce", "temperature": 0.2}),
    "simclr": ({"hidden": 8, "dim": 4}, {"name": "nt_xent", "temperature": 0.5}),
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


def build(name: str, momentum: float | None = None, **changes: Any) -> Method:
    """Of six images and three classes."""
    parameters, objective = COMPONENTS[name]
    parameters = parameters if momentum is None else parameters | {"momentum": momentum}
    encoder = {"name": "lab_streams", "backbone": "resnet8", "width": 2} if name == "cmc" else {}
    run = make_run(
        method={"name": name, **parameters}, objective=objective, encoder=encoder, **changes
    )
    return build_method(run, images=6, classes=CLASSES)


def batch_for(name: str, seed: int = 0) -> Batch:
    return make_batch(6, registry.read_constant("methods", name, "VIEWS", 2), seed, side=8)


def trained(name: str) -> Method:
    """In eval mode, after some batches, so that its batch norms have other statistics than at the beginning."""
    method = build(name).train()
    with torch.no_grad():
        for seed in range(1, 4):
            method(batch_for(name, seed))
            method.after_step(0.5, 0.5)
    return method.eval()


CLA: dict[str, Any] = {
    "hidden": 8,
    "dim": 8,
    "layers": 3,
    "bottleneck": True,
    "last_batch_norm": True,
}
HEADS: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    # Grill et al. 2020, Sec. 3.3; the authors' code; Projector and Predictor of CLA/training/models.py
    ("byol", {}, {"projector": "6-8 bn* ReLU 8-4+", "predictor": "4-8 bn* ReLU 8-4+"}),
    ("byol", {"bias": False}, {"projector": "6-8 bn* ReLU 8-4", "predictor": "4-8 bn* ReLU 8-4"}),
    (
        "byol",
        CLA,
        {"projector": "6-8 bn* ReLU 8-8 bn* ReLU 8-8 bn*", "predictor": "8-2 bn* ReLU 2-8+"},
    ),
    ("cmc", {}, {"lightness": "5-4+", "colour": "5-4+"}),
    ("cmc", {"hidden": 8}, {"lightness": "5-8+ ReLU 8-4+", "colour": "5-8+ ReLU 8-4+"}),
    # Caron et al. 2021, Sec. 3.1, from memory
    ("dino", {}, {"projector": "6-8+ GELU 8-8+ GELU 8-4+"}),
    ("dino", {"batch_norm": True, "layers": 2}, {"projector": "6-8 bn* GELU 8-4+"}),
    ("instance_discrimination", {}, {"projector": "6-4+"}),
    # Chen et al. 2020b; MoCo v1 had a linear map
    ("mocov2", {}, {"projector": "6-8+ ReLU 8-4+"}),
    ("mocov2", {"layers": 1}, {"projector": "6-4+"}),
    ("mocov2", {"layers": 3, "batch_norm": True}, {"projector": "6-8 bn* ReLU 8-8 bn* ReLU 8-4+"}),
    # the authors' code: three layers behind a ViT, two in the predictor, no bias, batch norm to the end of both
    (
        "mocov3",
        {},
        {"projector": "6-8 bn* ReLU 8-8 bn* ReLU 8-4 bn", "predictor": "4-8 bn* ReLU 8-4 bn"},
    ),
    (
        "mocov3",
        {"layers": 2, "predictor_layers": 3},
        {"predictor": "4-8 bn* ReLU 8-8 bn* ReLU 8-4 bn"},
    ),
    (
        "mocov3",
        {"layers": 2, "batch_norm": False},
        {"projector": "6-8 ReLU 8-4 bn", "predictor": "4-8 ReLU 8-4 bn"},
    ),
    (
        "mocov3",
        {"layers": 2, "last_batch_norm": False, "bias": True},
        {"projector": "6-8 bn* ReLU 8-4+", "predictor": "4-8 bn* ReLU 8-4+"},
    ),
    # Chen et al. 2020, Sec. 4.2
    ("simclr", {}, {"projector": "6-8+ ReLU 8-4+"}),
    ("simclr", {"layers": 1, "batch_norm": True, "bias": False}, {"projector": "6-4"}),
    ("simclr", {"layers": 3, "bias": False}, {"projector": "6-8 ReLU 8-8 ReLU 8-4"}),
    ("simclr", {"batch_norm": True}, {"projector": "6-8 bn* ReLU 8-4+"}),
    ("simclr", {"last_batch_norm": True}, {"projector": "6-8+ ReLU 8-4 bn"}),
    # Chen and He 2021, Sec. 3; App. D, on CIFAR; Projector of CLA/training/models.py
    (
        "simsiam",
        {},
        {"projector": "6-8 bn* ReLU 8-8 bn* ReLU 8-4 bn", "predictor": "4-2 bn* ReLU 2-4+"},
    ),
    ("simsiam", {"layers": 2}, {"projector": "6-8 bn* ReLU 8-4 bn"}),
    ("simsiam", {"layers": 2, "last_batch_norm": "affine"}, {"projector": "6-8 bn* ReLU 8-4 bn*"}),
    ("supervised", {}, {"classifier": "6-10+"}),
    # Caron et al. 2020, from memory
    ("swav", {}, {"projector": "6-8 bn* ReLU 8-4+", "prototypes": "4-5"}),
    ("swav", {"layers": 3, "batch_norm": False}, {"projector": "6-8+ ReLU 8-8+ ReLU 8-4+"}),
]


@pytest.mark.parametrize(("name", "options", "expected"), HEADS)
def test_heads_are_the_papers(name: str, options: dict[str, Any], expected: dict[str, str]) -> None:
    """As they draw them; a bias before a batch norm does nothing and is left out."""
    parts = make_parts(
        nothing, images=9, classes=10, **({"encoder": Streams()} if name == "cmc" else {})
    )
    made = registry.load("methods", name)(parts, **COMPONENTS[name][0] | options)
    assert {part: described(made.get_submodule(part)) for part in expected} == expected


@pytest.mark.heavy
@every
def test_head_of_encoder_is_what_forward_reports_for_a_view(name: str) -> None:
    """MoCo v2 reports the first view alone, the queries; CMC an image's two streams one below the other."""
    method, batch = trained(name), batch_for(name)
    with torch.no_grad():
        reported = method(batch).embeddings
        seen = [method.head(method.encoder(view)) for view in batch.views]
    assert seen[0].shape == (6, {"cmc": 8, "supervised": CLASSES}.get(name, 4))
    if name == "cmc":
        seen = list(seen[0].chunk(2, dim=1))
    expected = torch.cat(seen[:1] if name == "mocov2" else seen)
    torch.testing.assert_close(reported, expected, atol=1e-6, rtol=1e-5)
    assert expected.std(dim=0).min() > 1e-5  # the control: another image has another embedding


@every
def test_a_head_has_the_method_s_own_tensors_and_gives_none_a_second_name(name: str) -> None:
    method = build(name)
    before = list(method.state_dict())
    head, own = method.head.state_dict(), method.state_dict()
    assert list(own) == before
    assert head.keys() == {
        key for key in own if key.partition(".")[0] in NETWORKS.get(name, {"projector"})
    }
    assert all(own[key].data_ptr() == tensor.data_ptr() for key, tensor in head.items())
    filled = [tensor.data_ptr() for tensor in own.values() if tensor.numel()]
    assert len({*filled}) == len(filled)  # nor has any other


SYMMETRIC = {"byol", "dino", "mocov3", "simclr", "simsiam", "swav"}
"""Methods of two views for which either may be the first; MoCo v2 has queries of the first and keys of the second."""


@every
def test_it_is_built_and_computes_by_keyed_draws_alone(name: str) -> None:
    """Whatever torch's and numpy's own generators say, and without moving them."""
    torch.manual_seed(1)
    one = build(name)
    torch.manual_seed(2)
    two = build(name)
    before = torch.get_rng_state(), pickle.dumps(np.random.get_state())
    outputs = [method(batch_for(name)) for method in (one, two)]
    one.after_step(0.5, 0.5)
    assert all(torch.equal(a, b) for a, b in zip(*outputs, strict=True))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert pickle.dumps(np.random.get_state()) == before[1]


@pytest.mark.parametrize(
    ("name", "memory"), [("mocov2", "queue"), ("instance_discrimination", "bank")]
)
def test_its_memory_begins_with_keyed_unit_vectors(name: str, memory: str) -> None:
    """Six of them: a key for each place of the queue, a vector for each image."""
    parts = make_parts(nothing, seed=3)
    assert torch.equal(build(name, seed=3).get_buffer(memory), parts.unit_vectors(6, 4, memory))


@every
def test_what_is_trained_and_nothing_else_gets_a_gradient_and_is_held_by_an_optimiser(
    name: str,
) -> None:
    """Its embeddings, too, are out of the graph. A target begins as a copy, under the same names. Of what an optimiser
    holds SimSiam's predictor alone keeps its rate."""
    method = build(name).train()
    state = method.state_dict()
    copied = [key for key in state if key.startswith("target.")]
    assert all(torch.equal(state[key], state[key.removeprefix("target.")]) for key in copied)
    optimiser = optimisation.build(
        method, Optimiser.model_validate({"learning_rate": 1.0, "weight_decay": 1e-4})
    )
    held = {id(parameter) for group in optimiser.param_groups for parameter in group["params"]}
    assert held == {id(p) for key, p in method.named_parameters() if not key.startswith("target.")}
    constant = {
        id(p) for group in optimiser.param_groups if group["constant"] for p in group["params"]
    }
    assert constant == (
        {id(p) for p in method.get_submodule("predictor").parameters()}
        if name == "simsiam"
        else set()
    )
    output = method(batch_for(name))
    # each view has batch statistics of its own
    assert set(batches_seen(method)) == {2 if name in SYMMETRIC else 1}
    assert not output.embeddings.requires_grad
    output.loss.backward()
    for key, parameter in method.named_parameters():
        assert parameter.requires_grad != key.startswith("target."), key
        assert (parameter.grad is not None) == parameter.requires_grad, key
        assert parameter.grad is None or parameter.grad.isfinite().all(), key
    assert next(method.parameters()).grad.abs().max() > 0  # type: ignore[union-attr]


@every
def test_the_gradient_transform_scales_the_encoders_gradient_and_no_value(name: str) -> None:
    """In float64, to which the whole method moves. Of DINO and SwAV the prototypes' gradient stays what it was."""
    found = {}
    for factor in (1, 2):
        method = build(name).double().train()
        assert {t.dtype for t in method.state_dict().values() if t.is_floating_point()} == {
            torch.float64
        }
        method.gradient = lambda z, factor=factor: factor * z - (factor - 1) * z.detach()
        batch = batch_for(name)
        loss = method(batch._replace(views=batch.views.double())).loss
        loss.backward()
        found[factor] = (
            loss,
            {key: p.grad for key, p in method.named_parameters() if p.grad is not None},
        )
    torch.testing.assert_close(found[1][0], found[2][0])
    for key, gradient in found[1][1].items():
        factor = 1 if key.startswith("prototypes") else 2
        torch.testing.assert_close(found[2][1][key], factor * gradient, atol=1e-12, rtol=1e-9)


@every
def test_embeddings_of_zero_are_finite(name: str) -> None:
    method = build(name).train()
    with torch.no_grad():
        for key, parameter in method.named_parameters():
            if not key.removeprefix("target.").startswith(("encoder.", "prototypes.")):
                parameter.zero_()
    loss = method(batch_for(name)).loss
    loss.backward()
    method.after_step(0.5, 0.5)
    assert loss.isfinite()
    assert all(p.grad.isfinite().all() for p in method.parameters() if p.grad is not None)
    assert all(tensor.isfinite().all() for tensor in method.state_dict().values())


@every
def test_a_cut_reaches_every_weight(name: str) -> None:
    """Norms paper, Sec. 6 (erratum N44): targets too. SwAV's prototypes have length 1 before the first step."""
    plain, cut = build(name), build(name, initialisation={"name": "cut_initialisation", "c": 3})
    for (key, whole), third in zip(plain.named_parameters(), cut.parameters(), strict=True):
        if (name, key) == ("swav", "prototypes.weight"):
            torch.testing.assert_close(third.norm(dim=1), torch.ones(5))
            torch.testing.assert_close(third, whole)
        else:
            assert torch.equal(third, whole / 3), key


@pytest.mark.heavy
@every
def test_which_views_it_takes(name: str) -> None:
    """One, or two of which either may be the first; another pairing of images is another loss."""
    batch, count = batch_for(name), registry.read_constant("methods", name, "VIEWS", 2)
    assert (count == 1) == (name in ("cmc", "instance_discrimination", "supervised"))
    if count == 1:
        with pytest.raises(ValueError, match="too many values"):  # Python's own sentence
            build(name)(batch._replace(views=batch.views.repeat(2, 1, 1, 1, 1)))
        return
    method = trained(name).train()
    given = batch.views, batch.views.flip(0), torch.stack([batch.views[0], batch.views[1].flip(0)])
    losses = [copy.deepcopy(method)(batch._replace(views=views)).loss.item() for views in given]
    assert (losses[1] == pytest.approx(losses[0], abs=1e-5)) == (name in SYMMETRIC)
    assert losses[2] != pytest.approx(losses[0], abs=1e-5)
