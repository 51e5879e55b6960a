"""Latent classes: the batched loss against Eq. 1 written out, training against a plain torch loop, measurements against
brute force."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from hypersphere import prng
from papers.embedding_norms.studies.latent_classes import compute as study
from papers.embedding_norms.studies.latent_classes.compute import Setting

pytestmark = pytest.mark.heavy


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """75 points in a class, so that of 300 points 44 are left out of each epoch; two batches; five epochs."""
    monkeypatch.setattr(study, "PER_CLASS", 75)
    monkeypatch.setattr(study, "EPOCHS", 5)


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def equation_1(z: Tensor, positive: Tensor) -> Tensor:
    """Norms paper, Eq. 1, a term at a time; an anchor that is its own positive has none."""
    terms = []
    for i, j in enumerate(positive.tolist()):
        if i != j:
            cosine = [z[i] @ z[k] / (z[i].norm() * z[k].norm()) for k in range(len(z))]
            terms.append(-cosine[j] + sum(cosine[k].exp() for k in range(len(z)) if k != i).log())
    return sum(terms) / len(terms)


def test_loss_is_that_of_equation_1() -> None:
    """Any positives, one shared by two anchors, and an anchor without; of two models, added."""
    positive = torch.tensor([[1, 0, 0, 3, 5, 6, 4], [2, 3, 4, 5, 6, 0, 1]])
    x, matrix = random(2, 7, 4, seed=1), random(2, 4, 64, seed=2)
    network = study.Network(*(parameter.double() for parameter in study.initial([0, 1], 1, 11)))
    expected = sum(equation_1(*each) for each in zip(network(x, matrix), positive, strict=True))
    torch.testing.assert_close(
        study.loss(network, x, matrix, positive), expected, atol=1e-14, rtol=1e-10
    )


def test_positives() -> None:
    """The numbers are worked out by hand. A point alone in its class is its own positive."""
    labels = torch.tensor([[2, 0, 2, 1, 0, 2], [0, 0, 0, 0, 0, 0]])
    assert study.positives(labels).tolist() == [[2, 4, 5, 3, 1, 0], [1, 2, 3, 4, 5, 0]]


def test_points_and_their_frequencies() -> None:
    """The noise's length as erratum N8 has it; the same draw in both readings. Classes are 8 : 4 : 2 : 1 of 15."""
    found = study.observe([3], study.SETTINGS, 4, 11, "training")
    torch.testing.assert_close(found.latent.norm(dim=2), torch.ones(5, 4000), atol=1e-6, rtol=0)
    assert found.labels[0].bincount().tolist() == [1000] * 4
    # unit(c + s e) has about 1/sqrt(1 + s² (d-1)) of c, to first order in 1/d: 0.707 and 0.953.
    for reading, expected in ((0, 1 / math.sqrt(2)), (1, 1 / math.sqrt(1.1))):
        means = torch.stack(
            [found.latent[reading, found.labels[reading] == c].mean(dim=0) for c in range(4)]
        )
        assert means.norm(dim=1).tolist() == pytest.approx([expected] * 4, abs=0.03)
    assert (found.matrix == found.matrix[0]).all()
    assert found.matrix.std().item() == pytest.approx(10, abs=1)
    spread = [
        (found.latent[i, :1000] - found.latent[i, :1000].mean(dim=0)).flatten() for i in (0, 1)
    ]
    assert F.cosine_similarity(*spread, dim=0) > 0.8
    shares = [8 / 15, 4 / 15, 2 / 15, 1 / 15]
    assert study.class_probabilities(4).tolist() == pytest.approx(shares)
    assert (found.labels[2:] == found.labels[2]).all()
    for count, p in zip(found.labels[2].bincount().tolist(), shares, strict=True):
        assert abs(count - 4000 * p) < 5 * math.sqrt(4000 * p * (1 - p))


@pytest.mark.trained
@pytest.mark.usefixtures("small")
def test_training_is_that_of_a_plain_loop() -> None:
    """The last of four models, from its seed's order, by torch's own layers, optimiser and autograd."""
    settings = [Setting(0.1, balanced=True), Setting(0.3, balanced=False)]
    points = study.observe([5, 6], settings, 4, 11, "training")
    network = study.initial([5, 6], 2, 11)
    first, second = torch.nn.Linear(64, 64), torch.nn.Linear(64, 11)
    for layer, weight, bias in ((first, network.w1, network.b1), (second, network.w2, network.b2)):
        layer.weight.data, layer.bias.data = weight[3].T.clone(), bias[3, 0].clone()
        assert 0.9 / 8 < weight.abs().max() <= 1 / 8
    model = torch.nn.Sequential(first, torch.nn.ReLU(), second)
    norms = study.train(network, points, [5, 6])

    x, labels = points.latent[3] @ points.matrix[3], points.labels[3]
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(prng.torch_seed(6, "latent_classes", "order", 300))
    for _ in range(5):
        order = torch.randperm(300, generator=generator)
        for batch in (order[:128], order[128:256]):
            optimiser.zero_grad()
            z = F.normalize(model(x[batch]), dim=1)
            logits = (z @ z.T).masked_fill(torch.eye(128, dtype=torch.bool), -math.inf)
            F.cross_entropy(logits, study.positives(labels[batch])).backward()
            optimiser.step()
    torch.testing.assert_close(network.w1[3].T, first.weight, atol=1e-5, rtol=1e-3)
    torch.testing.assert_close(network.b2[3, 0], second.bias, atol=1e-5, rtol=1e-3)
    expected = [model(x)[labels == c].norm(dim=1).mean().item() for c in range(4)]
    assert norms[3, -1].tolist() == pytest.approx(expected, rel=1e-4)
    assert norms.shape == (4, 2, 4)


def test_neighbour_distance() -> None:
    """Against all cosines, sorted: the tenth from the nearest other point, whatever the norms."""
    z = random(50, 4, seed=2) * torch.linspace(0.1, 9, 50, dtype=torch.float64)[:, None]
    u = z / z.norm(dim=1, keepdim=True)
    expected = (1 - u @ u.T).sort(dim=1).values[:, 10]
    assert study.neighbour_distance(z) == pytest.approx(expected.numpy(), abs=1e-12)


def test_quarters_and_ranks() -> None:
    """The numbers are worked out by hand, and by 1 - 6 sum(d²) / (n (n² - 1))."""
    norm, distance = np.array([[1.0, 2, 3, 4, 5, 6, 7, 8]]), np.array([[8.0, 7, 5, 6, 4, 3, 1, 2]])
    assert study.quarter_means(norm, distance).tolist() == [[7.5, 5.5, 3.5, 1.5]]
    by_hand = 1 - 6 * (49 + 25 + 4 + 4 + 1 + 9 + 36 + 36) / 504
    assert study.rank_correlations(norm, distance)[0] == pytest.approx(-by_hand)


@pytest.mark.usefixtures("small")
def test_bytes_do_not_depend_on_the_seeds_computed_together() -> None:
    whole = study.simulate([0, 1, 2])
    for part in ([0], [1], [2], [0, 1], [1, 2]):
        alone = study.simulate(part)
        for name, values in whole.items():
            assert alone[name].tobytes() == values[part].tobytes(), (name, part)
    assert len({whole["norm"][seed].tobytes() for seed in range(3)}) == 3


@pytest.mark.usefixtures("small")
def test_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arms are what their claims say, checked on the tables and by the simulation's own arrays."""
    monkeypatch.setattr(study, "SEEDS", range(2))
    tables, answers = study.latent_classes(None)
    found = study.simulate(range(2))
    arms = {answer.id: answer.arms for answer in answers}
    assert len(arms) == len(answers) == 3 * 3 + 3 * 4 + 2
    last = found["class_norm"][:, :, -1]
    second, third = (last[:, 3, label].tolist() for label in (1, 2))
    assert arms["norms.fig2c.class2_class3.n8"] == {"variant": second, "baseline": third}
    assert arms["norms.fig2c.growth.n8_unit"]["baseline"] == pytest.approx(
        found["class_norm"][:, 4, 0].mean(axis=1)
    )
    assert arms["norms.fig2c.gain.n8"]["baseline"] == pytest.approx(last[:, 3, 3] - last[:, 1, 3])
    assert arms["norms.fig2c.gain"]["variant"] == pytest.approx(last[:, 2, 0] - last[:, 0, 0])
    dense = found["norm"][0, 1][found["distance"][0, 1].argsort()[:75]].mean()
    assert arms["norms.fig2b.dense.n8"]["variant"][0] == pytest.approx(dense)
    ends = (
        tables["fig2c"].query("panel == 'standard deviation 0.1'").groupby("label")["value"].last()
    )
    # of each seed, then over seeds
    apart = [last[:, 3, c].mean() - last[:, 3].mean() for c in range(4)]
    assert ends.tolist() == pytest.approx(apart)
    points = tables["figS2"].query("kind == 'point' and space == 'latent'")[["x", "y", "z"]]
    assert len(points) == 2 * 150
    assert np.linalg.norm(points, axis=1) == pytest.approx(np.ones(300), abs=1e-6)
