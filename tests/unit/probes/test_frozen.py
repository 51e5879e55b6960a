"""What a probe may look at, by hand; and what every probe must do."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from hypersphere.config import registry
from hypersphere.config.measures import MEASURES
from hypersphere.config.recipe import Views
from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.datasets.store import Named, PreparedSplit
from hypersphere.encoders.resnet8 import resnet8
from hypersphere.errors import NotFiniteError
from hypersphere.methods.heads import mlp
from hypersphere.probes import frozen as frozen_module
from hypersphere.probes.frozen import Frozen, Pixels

from .conftest import cloud

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Data:
    """Stands in for a prepared dataset: three splits, two arrays of labels, two attributes."""

    split_names = ("other", "test", "train")

    def split(self, name: str) -> PreparedSplit:
        random = np.random.default_rng(len(name))
        n = {"train": 80, "test": 30, "other": 5}[name]
        labels = {"class": random.integers(0, 10, n), "coarse": random.integers(0, 2, n)}
        images = random.integers(0, 256, (n, 12, 12, 3), dtype=np.uint8)
        images.flags.writeable = False  # as if memory-mapped
        attributes = {"easy": labels["class"] > 4}
        if name == "other":
            attributes["conflicting"] = np.arange(n) < 2
        return PreparedSplit(images, Named(labels, "labels"), Named(attributes, "attribute"), np.arange(n))

    def classes(self, label: str = "class") -> int:
        return {"class": 10, "coarse": 2}[label]

    def class_names(self, label: str = "class") -> tuple[str, ...]:
        return tuple(f"{label} {number}" for number in range(self.classes(label)))


@pytest.fixture
def data() -> Any:
    return Data()


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
def frozen(data: Any, encoder: nn.Module, head: nn.Module) -> Frozen:
    return Frozen(encoder, head, data, CPU)


def test_features_are_the_encoders_of_plain_images(
    data: Any, encoder: nn.Module, head: nn.Module, frozen: Frozen
) -> None:
    """By hand: bytes / 255, channels first, evaluation batch norm, one image at a time."""
    for split, i in (("train", 0), ("train", 79), ("test", 5), ("other", 4)):
        image = torch.tensor(data.split(split).images[i].tolist()).permute(2, 0, 1)[None] / 255
        features = encoder(image)
        torch.testing.assert_close(frozen.features(split)[i], features[0].detach(), atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(frozen.embeddings(split)[i], head(features)[0].detach(), atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(frozen.encode(image), features.detach())
        torch.testing.assert_close(frozen.embed(image), head(features).detach())
    assert not head.training
    assert frozen.splits == ("other", "test", "train")


def test_nothing_is_computed_twice_and_nothing_before_it_is_asked_for(
    data: Any, encoder: nn.Module, head: nn.Module
) -> None:
    seen = {encoder: 0, head: 0}
    for part in seen:
        part.register_forward_hook(lambda part, given, _: seen.update({part: seen[part] + len(given[0])}))
    frozen = Frozen(encoder, head, data, CPU)
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


OTHER_DATA = ("corruption", "cross_validation", "random_score", "score", "sentence_controls", "sentence_distances")
PROBES = [name for name in registry.names("probes") if name not in OTHER_DATA]
"""All but those that need corrupted images, sentences or an agent."""
OF_TRAINING = ("extreme_norms", "norm_buckets", "opposite_halves")


@pytest.fixture
def run() -> Any:
    objective = SimpleNamespace(name="nt_xent", parameters={"temperature": 0.5})
    return SimpleNamespace(branches=(Views(), Views()), objective=objective, logits=None)


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_gives_all_its_measures(
    data: Any, encoder: nn.Module, head: nn.Module, run: Any, name: str
) -> None:
    """By keyed draws alone, and it leaves the encoder as it was; NaN is as it is written."""
    quick = {"mlp": {"epochs": 2}, "gradcam": {"epochs": 2}, "local_features": {"images": 30}}.get(name, {})
    quick |= {"k": 20} if "k" in registry.schema("probes", name).model_fields else {}
    probe, both = registry.load("probes", name), nn.ModuleList([encoder, head])
    before = copy.deepcopy(both.state_dict())
    torch.manual_seed(1)
    found = probe(Frozen(encoder, head, data, CPU, run=run), **quick)
    torch.manual_seed(2)
    again = probe(Frozen(encoder, head, data, CPU, run=run), **quick)
    assert str(found.values) == str(again.values)
    assert all(torch.equal(value, before[part]) for part, value in both.state_dict().items())
    assert not encoder.training
    measures = tuple(dict.fromkeys(key.partition(";")[0] for key in found.values))
    assert measures == registry.read_constant("probes", name, "MEASURES", ())
    accuracies = [value for key, value in found.values.items() if MEASURES[key.partition(";")[0]].unit == "%"]
    assert all(0 <= value <= 100 for value in accuracies if not math.isnan(value))
    own_and_foreign = 2 * 30
    assert found.n == (80 if name in OF_TRAINING else own_and_foreign if name == "norm_ood" else 30)


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
    assert probe(data).values == pytest.approx({measures[0]: 100 * hits[0], measures[1]: 100 * hits[4]})
    assert hits[0] + 0.05 < hits[4] < 0.995


def test_a_copy_is_the_network_up_to_the_layer_and_leaves_it_alone(
    data: Any, encoder: nn.Module, head: nn.Module
) -> None:
    image = torch.from_numpy(np.array(data.split("test").images[:4])).permute(0, 3, 1, 2) / 255
    for layer in ("backbone", "embeddings"):
        frozen = Frozen(encoder, head, data, CPU, layer)
        copied = frozen.copy()
        torch.testing.assert_close(copied(image), frozen.features("test")[:4], atol=1e-5, rtol=1e-4)
        before = copy.deepcopy(encoder.state_dict())
        copied.train()(image)
        assert not encoder.training
        assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())


def test_what_is_not_there_is_a_sentence(data: Any, encoder: nn.Module, refused: Any) -> None:
    frozen = Frozen(Pixels(), None, data, CPU)
    for ask in (
        lambda: frozen.embeddings("test"),
        lambda: frozen.embed(torch.zeros(1, 3, 12, 12)),
        lambda: Frozen(encoder, None, data, CPU, "embeddings").copy(),
        lambda: frozen.run,
        lambda: frozen.labels("test", "fine"),
    ):
        with refused():
            ask()


class Spoils(nn.Module):
    """A head that gives some rows a value that is no number."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x[::10, 1] = self.value
        return x


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_features_that_are_no_numbers_are_a_sentence(data: Any, run: Any, value: float, refused: Any) -> None:
    """A probe would predict class 0 for them."""
    spoilt = nn.Sequential(Pixels(), Spoils(value))
    for name in set(PROBES) - {"local_features"}:  # which asks an encoder for a part by its name
        with pytest.raises(NotFiniteError):
            registry.load("probes", name)(Frozen(spoilt, Pixels(), data, CPU, run=run))
    above = Frozen(Pixels(), Spoils(value), data, CPU)
    above.features("test")
    for ask in (
        lambda: Frozen(spoilt, None, data, CPU).features("test"),
        lambda: above.embeddings("train"),
        lambda: above.embed(torch.zeros(30, 3, 12, 12)),
    ):
        with refused(NotFiniteError):
            ask()


def test_the_protocol_chooses_the_layer_and_home_is_where_it_was_trained(
    data: Any, encoder: nn.Module, head: nn.Module
) -> None:
    own, frozen = Frozen(encoder, head, data, CPU), Frozen(encoder, head, data, CPU, "embeddings")
    assert torch.equal(frozen.features("test"), frozen.embeddings("test"))
    assert torch.equal(frozen.features("test", "backbone"), own.features("test"))
    assert frozen.features("test").shape == (30, 3)
    assert frozen.features("test", "backbone").shape == (30, 8)
    assert own.home is own
    assert Frozen(encoder, head, data, CPU, home=lambda: own).home is own


def test_features_do_not_depend_on_the_block_and_one_can_train_on_them(
    data: Any, encoder: nn.Module, head: nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are computed in inference mode, whose tensors no gradient may pass."""
    whole = Frozen(encoder, head, data, CPU)
    expected = whole.features("train"), whole.embeddings("train")
    monkeypatch.setattr(frozen_module, "BLOCK", 7)
    parts = Frozen(encoder, head, data, CPU)
    for found, before in zip((parts.features("train"), parts.embeddings("train")), expected, strict=True):
        torch.testing.assert_close(found, before, atol=1e-6, rtol=1e-5)
        assert not found.requires_grad
        weight = torch.zeros(found.shape[1], requires_grad=True)
        (found @ weight).sum().backward()
        assert weight.grad is not None


def test_images_labels_and_attributes_by_name(data: Any, encoder: nn.Module) -> None:
    frozen, split = Frozen(encoder, None, data, CPU), data.split("test")
    assert frozen.images("test").tolist() == split.images.tolist()
    assert frozen.labels("test").tolist() == split.labels["class"].tolist()
    assert frozen.labels("test", "coarse").tolist() == split.labels["coarse"].tolist()
    found = frozen.attribute("test", "easy")
    assert found is not None
    assert found.tolist() == split.attributes["easy"].tolist()
    assert frozen.attribute("test", "hard") is None
    assert frozen.class_names("coarse") == ("coarse 0", "coarse 1")
    assert (frozen.classes(), frozen.classes("coarse")) == (10, 2)
    assert frozen.labels("test").dtype == torch.int64
    pixels = torch.tensor(split.images.tolist()).permute(0, 3, 1, 2).reshape(30, -1) / 255
    torch.testing.assert_close(Frozen(Pixels(), None, data, CPU).features("test"), pixels)


MULTIDIGITS = {"name": "multidigits", "scans": "digits", "side": 8, "canvas": 16, "train": 60, "test": 30}


DIGITS = {"name": "digits", "train_per_class": 6, "test_per_class": 3}


@pytest.mark.parametrize(
    ("source", "fitted_on"),
    [(MULTIDIGITS | {"count": 2}, "probe"), (MULTIDIGITS | {"second_side": 8}, "train"), (DIGITS, "train")],
    ids=["several digits", "two sizes", "digits"],
)
def test_probes_are_fitted_on_a_sets_own_images_for_them_or_on_its_training_images(
    source: dict[str, object], fitted_on: str, tmp_path: Path
) -> None:
    """And tested on its test images."""
    folder = store.prepare(Dataset.model_validate({"name": "any", "source": source}), tmp_path / "data", None)
    plain = store.open(folder)
    opened = Frozen(Pixels(), None, plain, CPU)
    for name in opened.splits:
        expected = plain.split("test" if name == "test" else fitted_on)
        np.testing.assert_array_equal(opened.split(name).images, expected.images)
        np.testing.assert_array_equal(opened.split(name).labels["class"], expected.labels["class"])
    assert {"test", "train"} <= {*opened.splits}
    if fitted_on == "probe":
        assert not np.array_equal(plain.split("train").images, plain.split("probe").images)
