"""Human labels counted: small sets by hand, and the real files against what their authors publish."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.stats import entropy

from hypersphere.datasets.reading.human import HumanLabels, human
from hypersphere.exact.study import Context
from papers.embedding_norms.studies.human_labels import compute as module
from papers.embedding_norms.studies.human_labels.compute import counts
from tests.unit.exact.shared import held


def labels(**changed: Any) -> HumanLabels:
    """Two test images with 50 and 52 votes; four training images; of CIFAR-100, classes 0 and 1 in 0, 2 in 1."""
    small: dict[str, Any] = {
        "cifar10h_counts": [[50, 0, 0] + [0] * 7, [26, 13, 13] + [0] * 7],
        "cifar10n_clean_label": [1, 2, 3, 4],
        "cifar10n_aggre_label": [1, 2, 5, 9],
        "cifar10n_worse_label": [1, 3, 5, 9],
        "cifar10n_random_label1": [1, 2, 5, 7],
        "cifar10n_random_label2": [1, 3, 5, 8],
        "cifar10n_random_label3": [1, 2, 3, 9],
        "cifar100n_clean_label": [0, 1, 2, 2],
        "cifar100n_noisy_label": [1, 2, 2, 0],
        "cifar100n_clean_coarse_label": [0, 0, 1, 1],
        "cifar100n_noisy_coarse_label": [0, 1, 1, 0],
    }
    return HumanLabels(**{name: np.array(value) for name, value in {**small, **changed}.items()})


def told(of: HumanLabels) -> dict[str, tuple[int, int]]:
    return held(counts(of), "norms.human_labels.")


def test_small_sets_by_hand() -> None:
    highest = entropy([26, 13, 13])
    people = {"mean": 51, "least": 50, "most": 52}
    table = counts(labels()).tables["human_labels"]
    assert table.set_index(["labels", "quantity"])["value"].to_dict() == {
        ("CIFAR-10H", "test images"): 2,
        **{("CIFAR-10H", f"people per image, {name}"): number for name, number in people.items()},
        ("CIFAR-10H", "number of people not 50 in tens"): 0,
        ("CIFAR-10H", "all gave one label"): 50,
        ("CIFAR-10H", "entropy, mean"): pytest.approx(highest / 2),
        ("CIFAR-10H", "entropy, highest"): pytest.approx(highest),
        ("CIFAR-10N", "three different labels"): 1,
        ("CIFAR-10N", "aggregate in error"): 50,
        ("CIFAR-10N", "first person in error"): 50,
        ("CIFAR-10N", "second person in error"): 75,
        ("CIFAR-10N", "third person in error"): 25,
        ("CIFAR-10N", "worst of the three in error"): 75,
        ("CIFAR-100N", "coarse label in error"): 50,
        ("CIFAR-100N", "fine label in error"): 75,
    }


def test_n49_a_consensus_of_three_and_the_label_of_one() -> None:
    """A label with fewer votes than another is no consensus; a coarse label that lacks the fine one is another's."""
    assert told(labels()) == {"people": (1, 1), "consensus": (4, 8), "consensus.n49": (8, 8)}
    assert [answer.reading for answer in counts(labels()).answers] == [
        "as printed",
        "as printed",
        "N49",
    ]
    assert told(labels(cifar10n_aggre_label=[1, 3, 5, 9]))["consensus.n49"] == (7, 8)
    assert told(labels(cifar10n_aggre_label=[1, 2, 5, 4]))["consensus.n49"] == (7, 8)
    assert told(labels(cifar100n_noisy_coarse_label=[1, 1, 1, 0]))["consensus.n49"] == (7, 8)


@pytest.mark.parametrize(("votes_cast", "expected"), [(44, 0), (46, 1), (54, 1), (56, 0)])
def test_about_50_is_50_in_tens(votes_cast: int, expected: int) -> None:
    people = np.zeros((2, 10), dtype=np.int64)
    people[:, 3] = votes_cast
    assert told(labels(cifar10h_counts=people))["people"] == (expected, 1)


@pytest.mark.parametrize("root", [None, "elsewhere"])
def test_without_a_data_root_the_labels_are_fetched(
    root: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Mock(return_value=labels())
    monkeypatch.setattr(module, "human", reader)
    config = SimpleNamespace(downloads=Path("raw"), settings=SimpleNamespace(data_root=root))
    assert list(module.human_labels(Context(config, "embedding_norms")).tables) == ["human_labels"]
    reader.assert_called_once_with(Path("raw"), download=root is None)


@pytest.mark.shared_data
def test_real_labels_are_as_their_authors_describe_them_and_the_aggregate_is_the_vote(
    unpacked: Callable[[str], Path],
) -> None:
    """Noise rates of Wei et al., in percent; about 50 people by Peterson et al. The worst is wrong where one was. The
    vote of three is the aggregate everywhere, by counting in another way."""
    real = human(unpacked("human"), download=False)
    each = np.stack([getattr(real, f"cifar10n_random_label{person}") for person in (1, 2, 3)])
    numbers = counts(real).tables["human_labels"].set_index("quantity")["value"].to_dict()
    errors = [
        round(value, 2) for quantity, value in numbers.items() if quantity.endswith("in error")
    ]
    assert errors == [9.01, 17.23, 18.12, 17.64, 40.21, 26.4, 40.2]
    people = [numbers[f"people per image, {name}"] for name in ("mean", "least", "most")]
    assert (numbers["test images"], *people) == (10_000, pytest.approx(51.1), 47, 63)
    assert numbers["number of people not 50 in tens"] == 266
    assert round(numbers["all gave one label"], 1) == 43.9
    wrong = (each != real.cifar10n_clean_label).any(axis=0)
    np.testing.assert_array_equal(real.cifar10n_worse_label != real.cifar10n_clean_label, wrong)
    assert told(real) == {
        "people": (1, 1),
        "consensus": (50_000, 100_000),
        "consensus.n49": (100_000, 100_000),
    }
    pairs = [(each[i] == each[j], each[i]) for i, j in ((0, 1), (0, 2), (1, 2))]
    for agree, label in pairs:
        np.testing.assert_array_equal(real.cifar10n_aggre_label[agree], label[agree])
    none = ~np.any([agree for agree, _ in pairs], axis=0)
    assert none.sum() == numbers["three different labels"] == 3041
    assert (each[:, none] == real.cifar10n_aggre_label[none]).any(axis=0).all()
