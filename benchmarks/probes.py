"""Time probes, on synthetic features, beside other implementations of the same thing.

Each repetition times both sides one after the other; a ratio above 1 says how many times faster ours is.
"""

import argparse
import json
import os
from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from hypersphere.datasets.types import CLASS, TRAIN
from hypersphere.probes.knn import directions, knn
from hypersphere.probes.linear import fit_logistic, standardise
from hypersphere.probes.linear_sgd import linear_sgd
from hypersphere.training.determinism import make_deterministic

PENALTY, ITERATIONS = 1e-3, 20
"""The same number of L-BFGS iterations on both sides: the time of a fit is a matter of where one stops."""


class Features(NamedTuple):
    """What a probe asks of a ``Frozen``: features of a training and of a test set."""

    bank: Float[Tensor, "n d"]
    queries: Float[Tensor, "m d"]
    bank_labels: Int[Tensor, "n"]
    query_labels: Int[Tensor, "m"]

    def features(self, split: str) -> Tensor:
        """Of one split."""
        return self.bank if split == TRAIN else self.queries

    def labels(self, split: str, name: str = CLASS) -> Tensor:
        """Of one split."""
        return self.bank_labels if split == TRAIN else self.query_labels

    def attribute(self, split: str, name: str) -> None:
        """No split has any."""

    def classes(self, name: str = CLASS) -> int:
        """Their number."""
        return 10


@cache
def features(images: int, dimensions: int, queries: int) -> Any:
    """Ten normal clusters, cut at 0 like the features of a ResNet, in float32; the same in every call."""
    draws = torch.Generator().manual_seed(0)
    centres = torch.randn(10, dimensions, generator=draws)
    labels = torch.randint(10, (images + queries,), generator=draws)
    found = (
        0.2 * centres[labels] + torch.randn(images + queries, dimensions, generator=draws)
    ).relu()
    return Features(*found.split([images, queries]), *labels.split([images, queries]))


def bare_neighbours(data: Features) -> Tensor:
    """The floor of kNN: matrix product and topk in blocks, no votes."""
    bank, queries = directions(data.bank), directions(data.queries)
    return torch.cat(
        [
            (block @ bank.T).float().topk(200, dim=1)[1]
            for block in queries.split(2**24 // len(bank))
        ]
    )


def their_neighbours(data: Features) -> np.ndarray:
    """scikit-learn's brute force in float32."""
    model = KNeighborsClassifier(200, algorithm="brute", metric="cosine", n_jobs=1)
    found: np.ndarray = model.fit(data.bank.numpy(), data.bank_labels.numpy()).predict(
        data.queries.numpy()
    )
    return found


def their_regression(data: Features) -> np.ndarray:
    """scikit-learn's L-BFGS on the same standardised features in float64."""
    bank, queries = (part.numpy() for part in standardise(data.bank, data.queries))
    model = LogisticRegression(C=1 / (PENALTY * len(bank)), tol=0, max_iter=ITERATIONS)
    found: np.ndarray = model.fit(bank, data.bank_labels.numpy()).predict(queries)
    return found


def by_loader(data: Features) -> nn.Module:
    """SGD as it is usually written: a DataLoader, a module and torch's optimiser."""
    loader = DataLoader(TensorDataset(data.bank, data.bank_labels), batch_size=256, shuffle=True)
    layer = nn.Linear(data.bank.shape[1], data.classes())
    optimiser = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    for _ in range(2):
        for images, labels in loader:
            loss = F.cross_entropy(layer(images), labels)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return layer


def compare(ours: Callable[[], Any], theirs: Callable[[], Any], repetitions: int) -> dict[str, Any]:
    """Median, least and largest ratio of their time to ours, and the seconds of both."""
    seconds = np.empty((repetitions, 2))
    for row in seconds:
        for side, call in enumerate((ours, theirs)):
            begun = perf_counter()
            call()
            row[side] = perf_counter() - begun
    ratios = seconds[:, 1] / seconds[:, 0]
    found = {
        "ratio": np.quantile(ratios, (0.5, 0, 1)),
        "ours_s": seconds[:, 0],
        "theirs_s": seconds[:, 1],
    }
    return {name: values.round(2).tolist() for name, values in found.items()}


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--repetitions", type=int, default=3, help="of each comparison (default: 3)"
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="of torch, and of BLAS and OpenMP (default: 1)"
    )
    parser.add_argument(
        "--images", type=int, default=50_000, help="to fit probes on (default: 50000)"
    )
    given = parser.parse_args()
    make_deterministic(given.threads)
    data = features(given.images, 512, 2_000)
    few = data._replace(queries=data.queries[:500], query_labels=data.query_labels[:500])
    sides: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "knn, bare matmul and topk": (lambda: knn(data), lambda: bare_neighbours(data)),
        "knn, scikit-learn": (lambda: knn(few), lambda: their_neighbours(few)),
        "linear, scikit-learn": (
            lambda: fit_logistic(
                standardise(data.bank, data.bank)[0], data.bank_labels, 10, PENALTY, ITERATIONS
            ),
            lambda: their_regression(data),
        ),
        "linear_sgd, DataLoader": (lambda: linear_sgd(data), lambda: by_loader(data)),
    }
    with threadpool_limits(given.threads):
        linear_sgd(features(512, 8, 8))  # what is imported on first use
        found = {name: compare(*pair, given.repetitions) for name, pair in sides.items()}
    print(
        json.dumps({"probes": found, "threads": given.threads, "cores": os.cpu_count()}, indent=1)
    )


if __name__ == "__main__":
    main()
