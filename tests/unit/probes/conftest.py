"""What a probe sees in these tests: features and labels made up here, with no encoder behind them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor, nn

from hypersphere.probes import result


@dataclass(frozen=True)
class Given:
    """Stands in for ``Frozen``: one layer, labels called ``class``."""

    bank: Tensor
    bank_labels: Tensor
    queries: Tensor
    query_labels: Tensor
    number: int

    splits = ("test", "train")

    def features(self, split: str, layer: str | None = None) -> Tensor:
        return {"train": self.bank, "test": self.queries}[split]

    def labels(self, split: str, name: str = "class") -> Tensor:
        return {"train": self.bank_labels, "test": self.query_labels}[split]

    def classes(self, name: str = "class") -> int:
        return self.number

    def attribute(self, split: str, name: str) -> None:
        """Nothing is biased here."""

    def but(self, **changes: Tensor) -> "Given":
        return replace(self, **changes)

    def mapped(self, function: Callable[[Tensor], Tensor]) -> "Given":
        return self.but(bank=function(self.bank), queries=function(self.queries))


class Spoils(nn.Module):
    """A part of a network that gives some rows a value that is no number."""

    def __init__(self, value: float = torch.nan) -> None:
        super().__init__()
        self.value = value

    def forward(self, x: Tensor) -> Tensor:
        x = x.clone()
        x[::10, 1] = self.value
        return x


def floats(pixels: np.ndarray) -> Tensor:
    """Of a network's inputs: channels first, from 0 to 1."""
    return torch.from_numpy(pixels).permute(0, 3, 1, 2) / 255


def cloud(
    n: int = 300, m: int = 500, d: int = 8, classes: int = 4, dtype: torch.dtype = torch.float64
) -> Any:
    """Overlapping Gaussian classes, off centre, columns of very different scale."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(classes, d))
    scales = np.geomspace(0.1, 10, d)

    def draw(count: int) -> tuple[Tensor, Tensor]:
        labels = random.integers(0, classes, count)
        points = (centres[labels] + random.normal(size=(count, d)) + 0.5) * scales
        return torch.from_numpy(points).to(dtype), torch.from_numpy(labels)

    return Given(*draw(n), *draw(m), classes)


def neighbours(bank: Tensor, labels: Tensor, k: int, temperature: float) -> KNeighborsClassifier:
    """scikit-learn's. Cosine distance is 1 - similarity, so exp(similarity / t) is exp((1 - distance) / t)."""
    model = KNeighborsClassifier(
        k, metric="cosine", algorithm="brute", weights=lambda d: np.exp((1 - d) / temperature)
    )
    return model.fit(bank.double().numpy(), labels.numpy())


@pytest.fixture
def scores(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Tensor]:
    """``scores(probe, given, …)``: what the probe gives each class of each test image before it is counted."""

    def call(probe: Callable[..., object], frozen: Given, **parameters: object) -> Any:
        top_k = Mock(wraps=result.top_k)
        with monkeypatch.context() as patch:
            patch.setattr(result, "top_k", top_k)
            probe(frozen, **parameters)
        return top_k.call_args_list[0].args[0]

    return call
