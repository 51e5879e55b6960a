"""Pairs of views, and the probes of them: against loops, and where the answer is known."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from hypersphere.augmentations.draws import draw
from hypersphere.augmentations.ops import make_views
from hypersphere.config.recipe import Views
from hypersphere.objectives.geometry import effective_rank
from hypersphere.probes import contrastive as contrastive_module
from hypersphere.probes import view_pairs as module
from hypersphere.probes.alignment_uniformity import alignment_uniformity
from hypersphere.probes.contrastive import contrastive
from hypersphere.probes.distances import distance, distances
from hypersphere.probes.geometry import geometry
from hypersphere.probes.opposite_halves import opposite_halves
from hypersphere.probes.view_pairs import chosen, view_pairs

from ..objectives.shared import dot, normed

STILL = Views(crop_scale=(1.0, 1.0), flip=0.0, jitter_probability=0.0, grayscale=0.0)
"""Views that differ from the image only by rounding: the whole image, cut to its most common shape."""


def colours(images: Tensor) -> Tensor:
    """Mean colours, centred: embeddings in three dimensions."""
    return images.mean(dim=(2, 3)) - 0.5


def world(
    n: int, embed: Callable[[Tensor], Tensor], views: Views | None = None, **loss: Any
) -> Any:
    """Stands in for ``Frozen``: images, an embedding that is a function of the mean colour, and a run."""
    pixels = np.random.default_rng(0).integers(0, 256, (n, 6, 6, 3), dtype=np.uint8)
    objective = SimpleNamespace(name="nt_xent", parameters={"temperature": 0.5, **loss})
    return SimpleNamespace(
        device=torch.device("cpu"),
        encoder=nn.Linear(1, 1),
        embed=embed,
        images=lambda split: pixels,
        run=SimpleNamespace(branches=(views or Views(),) * 2, objective=objective, logits=None),
    )


def unit(rows: Tensor) -> list[list[float]]:
    return [normed(row) for row in rows.tolist()]


def test_rows_are_two_views_of_the_chosen_images_whatever_the_block_or_the_methods_views(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Worked out here one image at a time."""
    frozen = world(20, colours)
    first, second, places = view_pairs(frozen, most=8)
    draws = draw((Views(), Views()), 20, 6, 0, 0)
    assert len(places) == 8
    for row, place in enumerate(places.tolist()):
        image = torch.from_numpy(frozen.images("test")[place : place + 1])
        a, b = make_views(image, draws.take(torch.tensor([place])), (Views(), Views()))
        torch.testing.assert_close(first[row], colours(a)[0], atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(second[row], colours(b)[0], atol=1e-6, rtol=1e-5)
    assert not torch.equal(first, second)
    frozen.run.branches = frozen.run.branches[:1]
    monkeypatch.setattr(module, "BLOCK", 3)
    torch.testing.assert_close(view_pairs(frozen, most=8)[:2], (first, second))


@pytest.mark.parametrize(("images", "most", "kept"), [(5, 9, 5), (9, 9, 9), (50, 9, 9)])
def test_chosen_images(images: int, most: int, kept: int) -> None:
    places = chosen(images, most)
    assert len(np.unique(places)) == kept
    assert places.tolist() == sorted(places.tolist()) == chosen(images, most).tolist()
    assert set(places) <= set(range(images))


# Each probe against a loop over the pairs


def test_alignment_and_uniformity_are_loops_over_pairs() -> None:
    frozen = world(9, colours)
    found, (a, b) = alignment_uniformity(frozen), map(unit, view_pairs(frozen)[:2])
    assert found.values["alignment"] == pytest.approx(
        sum(math.dist(u, v) ** 2 for u, v in zip(a, b, strict=True)) / 9
    )
    logs = []
    for side in (a, b):
        potentials = [
            math.exp(-2 * math.dist(u, v) ** 2) for i, u in enumerate(side) for v in side[:i]
        ]
        logs.append(math.log(sum(potentials) / len(potentials)))
    assert found.values["uniformity"] == pytest.approx(sum(logs) / 2)
    assert found.n == 9


@pytest.mark.parametrize("normalise", [True, False])
def test_the_contrastive_task_is_a_loop(normalise: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contrastive_module, "BLOCK", 5)
    frozen = world(8, colours, temperature=0.3, normalise=normalise)
    rows = torch.cat(view_pairs(frozen)[:2]).double()
    z = unit(rows) if normalise else rows.tolist()
    hits, entropies = [], []
    for i, anchor in enumerate(z):
        logits = {j: dot(anchor, other) / 0.3 for j, other in enumerate(z) if j != i}
        hits.append(max(logits, key=logits.__getitem__) == (i + 8) % 16)
        total = sum(map(math.exp, logits.values()))
        entropies.append(
            -sum(math.exp(v) / total * math.log(math.exp(v) / total) for v in logits.values())
        )
    found = contrastive(frozen)
    assert found.values["contrastive_top1"] == pytest.approx(100 * sum(hits) / 16)
    assert found.values["entropy"] == pytest.approx(sum(entropies) / 16)
    assert found.n == 8


def test_distances_are_those_of_a_loop() -> None:
    frozen = world(12, colours)
    found, (a, b, places) = distances(frozen), view_pairs(frozen)
    assert list(found.table.columns) == ["pairs", "image", "distance"]
    assert found.n == 12
    first, second = unit(a), unit(b)
    for sort, rows in found.table.groupby("pairs"):
        assert rows["image"].tolist() == places.tolist()
        assert found.values[f"distance;pairs={sort}"] == pytest.approx(rows["distance"].mean())
        for i, ours in enumerate(rows["distance"]):
            partners = [second[j] for j in range(12) if (j == i) == (sort == "positive")]
            assert min(abs(ours - (1 - dot(first[i], one)) / 2) for one in partners) < 1e-6


def test_opposite_halves_are_a_loop_over_the_runs_own_views() -> None:
    frozen = world(60, colours)
    first, second, _ = view_pairs(frozen, "train")
    obtuse = sum(dot(u, v) < 0 for u, v in zip(first.tolist(), second.tolist(), strict=True))
    assert 0 < obtuse < 60
    assert opposite_halves(frozen).values == {"opposite_halves": pytest.approx(100 * obtuse / 60)}


# Where the answer is known


def orthogonal(images: Tensor) -> Tensor:
    return 2 * torch.eye(len(images), dtype=images.dtype)


def constant(images: Tensor, length: float = 1.0) -> Tensor:
    return torch.full((len(images), 3), length)


KNOWN: dict[str, tuple[Callable[..., Any], Callable[[Tensor], Tensor], dict[str, float]]] = {
    "aligned": (alignment_uniformity, constant, {"alignment": 0, "uniformity": 0}),
    "aligned, tiny": (
        alignment_uniformity,
        lambda x: constant(x, 1e-15),
        {"alignment": 0, "uniformity": 0},
    ),
    "aligned, huge": (
        alignment_uniformity,
        lambda x: constant(x, 1e15),
        {"alignment": 0, "uniformity": 0},
    ),
    "squared distances of 2": (
        alignment_uniformity,
        orthogonal,
        {"alignment": 0, "uniformity": -4},
    ),
    "a tie is a miss": (contrastive, constant, {"entropy": math.log(13), "contrastive_top1": 0}),
    "told apart": (contrastive, orthogonal, {"entropy": 0, "contrastive_top1": 100}),
    "all near": (distances, constant, {"distance;pairs=positive": 0, "distance;pairs=negative": 0}),
    "each a negative": (
        distances,
        orthogonal,
        {"distance;pairs=positive": 0, "distance;pairs=negative": 0.5},
    ),
    "one half": (opposite_halves, constant, {"opposite_halves": 0}),
    "no half": (opposite_halves, lambda x: constant(x, 0.0), {"opposite_halves": 0}),
    "rank of six": (geometry, orthogonal, {"positive_cosine": 1, "norm": 2, "effective_rank": 6}),
}
"""Of seven images whose two views are alike; seven orthogonal vectors of one length, centred, have a rank of six."""


@pytest.mark.parametrize("name", KNOWN)
def test_where_the_answer_is_known(name: str) -> None:
    probe, embed, expected = KNOWN[name]
    found = probe(world(7, embed, STILL, temperature=1e-3)).values
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-9)


def test_a_contrastive_task_needs_a_temperature_and_another_image(refused: Any) -> None:
    """The second as whatever asks for pairs."""
    frozen = world(6, colours)
    del frozen.run.objective.parameters["temperature"]
    with refused("probe contrastive", "objective"):
        contrastive(frozen)
    for probe in (contrastive, alignment_uniformity, distances):
        with refused("probe"):
            probe(world(1, colours))


def test_equal_opposite_and_zero_vectors() -> None:
    a = torch.tensor([[2.0, 0.0], [1e-20, 0.0], [1.0, 1.0], [0.0, 0.0]])
    b = torch.tensor([[3.0, 0.0], [-5.0, 0.0], [-2.0, 2.0], [1.0, 0.0]])
    assert distance(a, b).tolist() == pytest.approx([0.0, 1.0, 0.5, 0.5], abs=1e-15)


@pytest.mark.parametrize(
    ("singular", "expected"),
    [
        ([3.0], 1.0),
        # the entropy of equal shares is the logarithm of their number (Roy & Vetterli 2007)
        ([3.0, 3.0], 2.0),
        ([3.0] * 5, 5.0),
        ([3.0, 1.0], 4 / 3**0.75),  # shares 3/4 and 1/4: exp(-(3/4 log 3/4 + 1/4 log 1/4))
        ([0.0], 0.0),
    ],
)
def test_the_effective_rank_is_that_of_the_singular_values(
    singular: list[float], expected: float
) -> None:
    matrix = torch.zeros(8, 6, dtype=torch.float64)
    matrix[: len(singular), : len(singular)] = torch.diag(
        torch.tensor(singular, dtype=torch.float64)
    )
    assert effective_rank(matrix) == pytest.approx(expected)


def test_weights_count_and_normalisations_and_biases_do_not() -> None:
    network = nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1), nn.Linear(1, 1))
    for parameter, value in zip(
        network.parameters(), (3.0, 100.0, 100.0, 100.0, 4.0, 100.0), strict=True
    ):
        nn.init.constant_(parameter, value)
    frozen = world(2, colours)
    frozen.encoder = network
    assert geometry(frozen).values["weight_norm"] == pytest.approx(5.0)
