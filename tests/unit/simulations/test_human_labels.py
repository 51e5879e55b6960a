"""Human labels counted: small sets by hand, and the real files against what their authors publish."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy

from hypersphere.datasets.reading.human import HumanLabels, human
from hypersphere.simulations.human_labels import compute as module
from hypersphere.simulations.human_labels.compute import answers, human_labels, table


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


def values(found: pd.DataFrame, panel: str) -> dict[str, float]:
    part = found[found["panel"] == panel]
    return dict(zip(part["series"], part["value"], strict=True))


def held(of: HumanLabels) -> dict[str, tuple[float, float]]:
    return {
        answer.id.removeprefix("norms.human_labels."): (answer.arms["held"][0], answer.arms["places"][0])
        for answer in answers(of)
    }


def test_small_sets_by_hand() -> None:
    found = table(labels())
    of_ten = {"aggregate": 50, "random 1": 50, "random 2": 75, "random 3": 25, "worst": 75}
    errors = {f"CIFAR-10N {name}": rate for name, rate in of_ten.items()}
    assert values(found, "errors") == {**errors, "CIFAR-100N coarse": 50, "CIFAR-100N fine": 75}
    numbers = values(found, "numbers")
    highest = entropy([26, 13, 13])
    assert (numbers["entropy highest"], numbers["entropy mean"]) == pytest.approx((highest, highest / 2))
    assert [numbers[f"people {name}"] for name in ("mean", "least", "most")] == [51, 50, 52]
    assert numbers["three different"] == 1
    people, bars = found[found["panel"] == "people"], found[found["panel"] == "entropy"]
    assert people[["x", "value"]].to_numpy().tolist() == [[50, 50], [52, 50]]
    filled = bars[bars["value"] > 0][["series", "x", "value"]].to_numpy().tolist()
    assert filled == [["unanimous", 0, 50], ["not unanimous", 1, 50]]  # 1.04 nat lies in the bin from 1.0


def test_n49_a_consensus_of_three_and_the_label_of_one() -> None:
    """A label with fewer votes than another is no consensus; a coarse label that lacks the fine one is another's."""
    assert held(labels()) == {"people": (1, 1), "consensus": (4, 8), "consensus.n49": (8, 8)}
    assert [answer.reading for answer in answers(labels())] == ["as printed", "as printed", "N49"]
    assert held(labels(cifar10n_aggre_label=[1, 3, 5, 9]))["consensus.n49"] == (7, 8)
    assert held(labels(cifar10n_aggre_label=[1, 2, 5, 4]))["consensus.n49"] == (7, 8)
    assert held(labels(cifar100n_noisy_coarse_label=[1, 1, 1, 0]))["consensus.n49"] == (7, 8)


@pytest.mark.parametrize(("votes_cast", "expected"), [(44, 0), (46, 1), (54, 1), (56, 0)])
def test_about_50_is_50_in_tens(votes_cast: int, expected: int) -> None:
    counts = np.zeros((2, 10), dtype=np.int64)
    counts[:, 3] = votes_cast
    assert held(labels(cifar10h_counts=counts.tolist()))["people"] == (expected, 1)


@pytest.mark.parametrize("root", [None, "elsewhere"])
def test_without_a_data_root_the_labels_are_fetched(root: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Mock(return_value=labels())
    monkeypatch.setattr(module, "human", reader)
    config = SimpleNamespace(downloads=Path("raw"), settings=SimpleNamespace(data_root=root))
    context: Any = SimpleNamespace(config=config)
    assert list(human_labels(context).tables) == ["human_labels"]
    reader.assert_called_once_with(Path("raw"), download=root is None)


@pytest.fixture(scope="module")
def real(unpacked: Callable[[str], Path]) -> HumanLabels:
    return human(unpacked("human"), download=False)


@pytest.mark.shared_data
def test_real_labels_are_as_their_authors_describe_them(real: HumanLabels) -> None:
    """Noise rates of Wei et al., in percent; about 50 people by Peterson et al. The worst is wrong where one was."""
    rates = [round(rate, 2) for rate in values(table(real), "errors").values()]
    assert rates == [9.01, 17.23, 18.12, 17.64, 40.21, 26.4, 40.2]
    numbers = values(table(real), "numbers")
    assert (numbers["images"], numbers["people least"], numbers["people most"]) == (10_000, 47, 63)
    assert numbers["people mean"] == pytest.approx(51.1)
    wrong = (module.training_labels(real) != real.cifar10n_clean_label).any(axis=0)
    np.testing.assert_array_equal(real.cifar10n_worse_label != real.cifar10n_clean_label, wrong)


@pytest.mark.shared_data
def test_real_answers_and_panels(real: HumanLabels) -> None:
    """Shares of images sum to all; the vote of three is the aggregate everywhere, by counting in another way."""
    assert held(real) == {"people": (1, 1), "consensus": (50_000, 100_000), "consensus.n49": (100_000, 100_000)}
    found = table(real)
    for panel in ("people", "entropy"):
        assert found.loc[found["panel"] == panel, "value"].sum() == pytest.approx(100)
    given = module.training_labels(real)
    pairs = [(given[i] == given[j], given[i]) for i, j in ((0, 1), (0, 2), (1, 2))]
    for agree, label in pairs:
        np.testing.assert_array_equal(real.cifar10n_aggre_label[agree], label[agree])
    none = ~np.any([agree for agree, _ in pairs], axis=0)
    assert none.sum() == values(found, "numbers")["three different"] == 3041
    assert (given[:, none] == real.cifar10n_aggre_label[none]).any(axis=0).all()
