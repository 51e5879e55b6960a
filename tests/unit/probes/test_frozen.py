"""What a probe may look at, by hand; what every probe must do; and percentages against loops."""

import copy
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from hypersphere.config import registry
from hypersphere.config.measures import MEASURES
from hypersphere.config.recipe import Views
from hypersphere.datasets.store import Named, PreparedSplit
from hypersphere.encoders.resnet8 import resnet8
from hypersphere.errors import NotFiniteError
from hypersphere.methods.heads import mlp
from hypersphere.probes import frozen as frozen_module
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import scored, top_k

from .conftest import Spoils, cloud, floats

CPU = torch.device("cpu")


class Data:
    """Stands in for a prepared dataset: three splits, two arrays of labels, two attributes."""

    split_names = ("other", "test", "train")

    def split(self, name: str) -> PreparedSplit:
        random = np.random.default_rng(len(name))
        n = {"train": 80, "test": 30, "other": 5, "probe": 7}[name]
        labels = {"class": random.integers(0, 10, n), "coarse": random.integers(0, 2, n)}
        images = random.integers(0, 256, (n, 12, 12, 3), dtype=np.uint8)
        images.flags.writeable = False  # as if memory-mapped
        attributes = {"easy": labels["class"] > 4}
        if name == "other":
            attributes["conflicting"] = np.arange(n) < 2
        return PreparedSplit(
            images, Named(labels, "labels"), Named(attributes, "attribute"), np.arange(n)
        )

    def class_names(self, label: str = "class") -> tuple[str, ...]:
        return tuple(f"{label} {number}" for number in range({"class": 10, "coarse": 2}[label]))


DATA: Any = Data()
OBJECTIVE = SimpleNamespace(name="nt_xent", parameters={"temperature": 0.5})
RUN: Any = SimpleNamespace(branches=(Views(), Views()), objective=OBJECTIVE, logits=None)


@pytest.fixture
def encoder() -> nn.Module:
    torch.manual_seed(0)
    model = resnet8(width=2)
    model.train()(torch.rand(8, 3, 12, 12))  # running statistics of their own
    return model


@pytest.fixture
def head() -> nn.Module:
    torch.manual_seed(1)
    model = mlp([8, 7, 3], batch_norm=True)
    model.train()(torch.rand(8, 8))
    return model


@pytest.fixture
def frozen(encoder: nn.Module, head: nn.Module) -> Frozen:
    return Frozen(encoder, head, DATA, CPU)


def test_features_are_the_encoders_of_plain_images(
    encoder: nn.Module, head: nn.Module, frozen: Frozen
) -> None:
    """By hand: bytes / 255, channels first, evaluation batch norm, one image at a time."""
    for split, i in (("train", 0), ("train", 79), ("test", 5), ("other", 4)):
        image = torch.tensor(DATA.split(split).images[i].tolist()).permute(2, 0, 1)[None] / 255
        features = encoder(image)
        torch.testing.assert_close(
            frozen.features(split)[i], features[0].detach(), atol=1e-5, rtol=1e-4
        )
        torch.testing.assert_close(
            frozen.embeddings(split)[i], head(features)[0].detach(), atol=1e-5, rtol=1e-4
        )
        torch.testing.assert_close(frozen.encode(image), features.detach())
        torch.testing.assert_close(frozen.embed(image), head(features).detach())
    assert not head.training
    assert frozen.splits == ("other", "test", "train")


def test_nothing_is_computed_twice_and_nothing_before_it_is_asked_for(
    encoder: nn.Module, head: nn.Module
) -> None:
    seen = {encoder: 0, head: 0}
    for part in seen:
        part.register_forward_hook(
            lambda part, given, _: seen.update({part: seen[part] + len(given[0])})
        )
    frozen = Frozen(encoder, head, DATA, CPU)
    assert [*seen.values()] == [0, 0]
    for _ in range(2):
        frozen.features("test")
        assert [*seen.values()] == [30, 0]
    for _ in range(2):
        frozen.embeddings("test")
        frozen.features("test")
        assert [*seen.values()] == [30, 30]
    frozen.embeddings("train")
    assert [*seen.values()] == [110, 110]


OTHER_DATA = (
    "corruption",
    "cross_validation",
    "random_score",
    "score",
    "sentence_controls",
    "sentence_distances",
)
PROBES = [name for name in registry.names("probes") if name not in OTHER_DATA]
"""All but those that need corrupted images, sentences or an agent."""
OF_TRAINING = ("extreme_norms", "norm_buckets", "opposite_halves")


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_gives_all_its_measures(encoder: nn.Module, head: nn.Module, name: str) -> None:
    """By keyed draws alone, and it leaves the encoder as it was; NaN is as it is written."""
    quick = {"mlp": {"epochs": 2}, "gradcam": {"epochs": 2}}.get(name, {})
    quick |= {"k": 20} if "k" in registry.schema("probes", name).model_fields else {}
    probe, both = registry.load("probes", name), nn.ModuleList([encoder, head])
    before = copy.deepcopy(both.state_dict())
    torch.manual_seed(1)
    found = probe(Frozen(encoder, head, DATA, CPU, run=RUN), **quick)
    torch.manual_seed(2)
    again = probe(Frozen(encoder, head, DATA, CPU, run=RUN), **quick)
    assert str(found.values) == str(again.values)
    assert all(torch.equal(value, before[part]) for part, value in both.state_dict().items())
    assert not encoder.training
    measures = tuple(dict.fromkeys(key.partition(";")[0] for key in found.values))
    assert measures == registry.read_constant("probes", name, "MEASURES", ())
    accuracies = [
        value for key, value in found.values.items() if MEASURES[key.partition(";")[0]].unit == "%"
    ]
    assert all(0 <= value <= 100 for value in accuracies if not math.isnan(value))
    own_and_foreign = 2 * 30
    numbers = dict.fromkeys(OF_TRAINING, 80) | {"norm_ood": own_and_foreign, "local_features": 8}
    assert found.n == numbers.get(name, 30)


@pytest.mark.parametrize("name", ["knn", "linear", "linear_sgd", "mlp"])
def test_of_one_class_all_is_right(name: str) -> None:
    quick = {"mlp": {"hidden": 4, "epochs": 1}}.get(name, {})
    found = registry.load("probes", name)(cloud(classes=1, dtype=torch.float32), **quick)
    assert set(found.values.values()) == {100}


@pytest.mark.parametrize("name", ["knn", "linear", "linear_sgd"])
def test_the_first_and_the_five_likeliest_classes_are_those_of_the_scores(
    scores: Callable[..., Tensor], name: str
) -> None:
    data = cloud(n=600, classes=12, dtype=torch.float32)
    probe = registry.load("probes", name)
    ranked = scores(probe, data).argsort(dim=1, descending=True)
    hits = (ranked == data.query_labels[:, None]).double().mean(dim=0).cumsum(dim=0).tolist()
    measures = registry.read_constant("probes", name, "MEASURES", ())
    assert probe(data).values == pytest.approx(
        {measures[0]: 100 * hits[0], measures[1]: 100 * hits[4]}
    )
    assert hits[0] + 0.05 < hits[4] < 0.995


def test_the_protocol_chooses_the_layer_up_to_which_a_copy_goes_and_home_is_where_it_was_trained(
    encoder: nn.Module, head: nn.Module, frozen: Frozen
) -> None:
    """What is done to a copy leaves the encoder alone."""
    image = floats(np.array(DATA.split("test").images[:4]))
    for layer, expected in (
        ("backbone", frozen.features("test")),
        ("embeddings", frozen.embeddings("test")),
    ):
        asked = Frozen(encoder, head, DATA, CPU, layer, home=lambda: frozen)
        assert torch.equal(asked.features("test"), expected)
        assert torch.equal(asked.features("test", "backbone"), frozen.features("test"))
        assert frozen.home is asked.home is frozen
        copied = asked.copy()
        torch.testing.assert_close(copied(image), expected[:4], atol=1e-5, rtol=1e-4)
        before = copy.deepcopy(encoder.state_dict())
        copied.train()(image)
        assert not encoder.training
        assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_features_that_are_no_numbers_are_a_sentence(value: float, refused: Any) -> None:
    """A probe would predict class 0 for them."""
    spoilt = nn.Sequential(nn.Flatten(), Spoils(value))
    for name in set(PROBES) - {"local_features"}:  # which asks an encoder for a part by its name
        with pytest.raises(NotFiniteError):
            registry.load("probes", name)(Frozen(spoilt, nn.Flatten(), DATA, CPU, run=RUN))
    above = Frozen(nn.Flatten(), Spoils(value), DATA, CPU)
    above.features("test")
    with refused("the features of 3 of 30 images of split test", kind=NotFiniteError):
        Frozen(spoilt, nn.Identity(), DATA, CPU).features("test")
    with refused("the embeddings of 8 of 80 images of split train", kind=NotFiniteError):
        above.embeddings("train")
    with refused("the embeddings of 3 of 30 images of split given", kind=NotFiniteError):
        above.embed(torch.zeros(30, 3, 12, 12))


def test_features_do_not_depend_on_the_block_and_one_can_train_on_them(
    encoder: nn.Module, head: nn.Module, frozen: Frozen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are computed in inference mode, whose tensors no gradient may pass."""
    expected = frozen.features("train"), frozen.embeddings("train")
    monkeypatch.setattr(frozen_module, "BLOCK", 7)
    parts = Frozen(encoder, head, DATA, CPU)
    for found, before in zip(
        (parts.features("train"), parts.embeddings("train")), expected, strict=True
    ):
        torch.testing.assert_close(found, before, atol=1e-6, rtol=1e-5)
        assert not found.requires_grad
        weight = torch.zeros(found.shape[1], requires_grad=True)
        (found @ weight).sum().backward()
        assert weight.grad is not None


def test_images_labels_and_attributes_by_name(encoder: nn.Module, refused: Any) -> None:
    frozen, split = Frozen(encoder, nn.Identity(), DATA, CPU), DATA.split("test")
    assert frozen.images("test").tolist() == split.images.tolist()
    assert frozen.labels("test").tolist() == split.labels["class"].tolist()
    assert frozen.labels("test", "coarse").tolist() == split.labels["coarse"].tolist()
    assert frozen.attribute("test", "easy").tolist() == split.attributes["easy"].tolist()
    assert frozen.attribute("test", "hard") is None
    with refused("labels 'fine'"):
        frozen.labels("test", "fine")
    assert frozen.class_names("coarse") == ("coarse 0", "coarse 1")
    assert (frozen.classes(), frozen.classes("coarse")) == (10, 2)
    assert frozen.labels("test").dtype == torch.int64
    pixels = torch.tensor(split.images.tolist()).permute(0, 3, 1, 2).reshape(30, -1) / 255
    torch.testing.assert_close(
        Frozen(nn.Flatten(), nn.Identity(), DATA, CPU).features("test"), pixels
    )


def test_probes_are_fitted_on_a_sets_own_images_for_them() -> None:
    """And tested on its test images. Other sets have none, and are fitted on their training images, as above."""
    data: Any = Data()
    data.split_names = (*Data.split_names, "probe")
    frozen = Frozen(nn.Flatten(), nn.Identity(), data, CPU)
    for name, of in (("train", "probe"), ("test", "test")):
        np.testing.assert_array_equal(frozen.images(name), data.split(of).images)
        assert frozen.labels(name).tolist() == data.split(of).labels["class"].tolist()


# What it gives: percentages


def by_loop(scores: np.ndarray, truth: np.ndarray, k: int) -> float:
    """Classes sorted by falling score, then by number; is the true one among the first k?"""
    hits = 0
    for row, label in zip(scores, truth, strict=True):
        hits += label in sorted(range(len(row)), key=lambda c: (-row[c], c))[:k]
    return 100 * hits / len(truth)


@pytest.mark.parametrize("k", [1, 2, 5, 7, 9])
@pytest.mark.parametrize("levels", [3, 10**6])
def test_top_k_is_a_loop(k: int, levels: int) -> None:
    """Three levels over seven classes: most rows have ties."""
    random = np.random.default_rng(k)
    scores, truth = random.integers(0, levels, (200, 7)).astype(float), random.integers(0, 7, 200)
    assert top_k(torch.from_numpy(scores), torch.from_numpy(truth), k) == pytest.approx(
        by_loop(scores, truth, k)
    )


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_scores_that_are_no_numbers_are_a_sentence(bad: float, refused: Any) -> None:
    """Compared with NaN, no class is ahead of any other: every image would count as right."""
    scores = torch.tensor([[0.0, 1.0], [bad, 0.0], [1.0, 0.0]])
    with refused("the probe's scores of 1 of 3 test images", kind=NotFiniteError):
        top_k(scores, torch.tensor([0, 0, 0]), 1)


@pytest.mark.parametrize("share", [None, 0.0, 0.3, 1.0])
def test_shares_are_those_of_a_loop_and_a_part_without_images_has_no_accuracy(
    share: float | None,
) -> None:
    random = np.random.default_rng(0)
    # most rows have ties
    truth, scores = random.integers(0, 7, 50), random.integers(0, 3, (50, 7)).astype(float)
    bias = None if share is None else random.random(50) < share
    given: Any = SimpleNamespace(
        labels=lambda split: torch.from_numpy(truth), attribute=lambda split, name: bias
    )
    found = scored(given, torch.from_numpy(scores), ("first", "second"))
    expected = {measure: by_loop(scores, truth, k) for measure, k in (("first", 1), ("second", 5))}
    counts = {}
    for name, members in () if bias is None else (("aligned", ~bias), ("conflicting", bias)):
        for measure, k in (("first", 1), ("second", 5)) if members.any() else ():
            key = f"{measure};bias={name}"
            expected[key], counts[key] = by_loop(scores[members], truth[members], k), members.sum()
    assert found.values == pytest.approx(expected)
    assert found.counts == counts
    assert found.n == 50
