"""Training on neighbouring sentences: the loss of each step, resuming to the same bytes, and what is refused; and the
recurrent encoder, against a plain loop over words, and what every encoder promises."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from hypersphere.config.run import Run
from hypersphere.methods.base import Batch
from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.n_pair import n_pair
from hypersphere.training.build import build_method, initialise
from hypersphere.training.checkpoint import Progress
from hypersphere.training.frozen import load_frozen
from hypersphere_text.encoders.gru import GRU, gru
from hypersphere_text.methods.quick_thoughts import QuickThoughts
from hypersphere_text.trainers.text import pretrain
from tests.broken_off import KilledError, contents, execution, failing
from tests.layers import merge

pytestmark = pytest.mark.heavy

RUN: dict[str, Any] = {
    "kind": "text",
    "dataset": {"name": "pairs", "source": {"name": "sentences", "corpus": "chapters"}},
    "views": {},
    "method": {"name": "quick_thoughts"},
    "objective": {"name": "n_pair"},
    "encoder": {"name": "gru", "vocabulary": 12, "words": 5, "hidden": 6},
    "optimiser": {"name": "adam", "learning_rate": 0.3, "weight_decay": 0},
    "schedule": {"epochs": 3, "warmup": 0, "shape": "constant"},
    "batch": {"size": 8, "micro": 4},
    "seed": 0,
}
HARD = {"name": "hard_negative", "temperature": 0.5, "tau_plus": 0.1, "concentration": 1}
POLARIZED = {"name": "distance_polarization", "weight": 0.5, "lower": 0.1, "upper": 0.5}


def make(**changes: Any) -> Run:
    return Run.model_validate(merge(RUN, changes))


RANDOM = np.random.default_rng(0)
TOKENS = RANDOM.integers(1, 12, (19, 2, 5)).astype(np.int32)
"""Nineteen pairs: two batches of eight, and three left over."""
TOKENS[:, :, 3:][RANDOM.random((19, 2, 2)) < 0.4] = 0


def execute(run: Run, folder: Path, tokens: np.ndarray = TOKENS, **changes: Any) -> Progress:
    """Pretrain on these tokens, as if a dataset had been prepared of them."""
    data: Any = SimpleNamespace(split=lambda name: SimpleNamespace(images=tokens))
    return pretrain(run, data, execution(run, **changes), folder)


def test_killed_and_resumed_gives_the_same_bytes(tmp_path: Path) -> None:
    """The loop is that of images, whose tests stop it at every step and alter every part of its state."""
    run = make(regulariser=POLARIZED)
    assert execute(run, tmp_path / "whole").starts == [0]
    with pytest.raises(KilledError), failing(KilledError(), 4):
        execute(run, tmp_path / "broken")
    outcome = execute(run, tmp_path / "broken")
    assert (outcome.status, outcome.epochs, outcome.starts) == ("finished", 3, [0, 4])
    assert contents(tmp_path / "broken") == contents(tmp_path / "whole")
    # encoder, heads, history, and both files of two snapshots
    assert len(contents(tmp_path / "whole")) == 7


@pytest.mark.parametrize("regulariser", [None, POLARIZED])
def test_the_loss_is_of_a_sentence_and_the_next_ones(regulariser: dict[str, Any] | None) -> None:
    method = build_method(make(regulariser=regulariser))
    assert isinstance(method, QuickThoughts)
    views = torch.from_numpy(TOKENS[:6]).transpose(0, 1)
    output = method(Batch(views, torch.arange(6), torch.zeros(6, dtype=torch.int64)))
    f, g = method.encoder.first(views[0]).detach(), method.encoder.second(views[1]).detach()
    expected = n_pair(f, g) + (
        distance_polarization(f, g, weight=0.5, lower=0.1, upper=0.5) if regulariser else 0
    )
    torch.testing.assert_close(output.loss, expected)
    assert torch.equal(output.embeddings, torch.cat([f, g]))
    assert not torch.allclose(f, method.encoder.second(views[0]))  # two encoders, not one
    output.loss.backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in method.encoder.parameters())


@pytest.mark.trained
@pytest.mark.parametrize("objective", [{"name": "n_pair"}, HARD], ids=["n_pair", "hard_negative"])
def test_the_loss_falls_on_pairs_that_can_be_told_apart(
    tmp_path: Path, objective: dict[str, Any]
) -> None:
    first = np.arange(2, 10, dtype=np.int32)
    # word w is followed by 11 - w
    tokens = np.tile(np.stack([first, first[::-1]], axis=1)[:, :, None], (1, 1, 3))
    run = make(objective=objective, schedule={"epochs": 30}, batch={"size": 8, "micro": 8})
    execute(run, tmp_path, tokens, save_every=3600.0)
    rows = [line.split(",") for line in (tmp_path / "history.csv").read_text().splitlines()]
    assert rows[0] == ["epoch", "loss", "norm", "learning_rate"]
    assert float(rows[-1][1]) < float(rows[1][1]) - 0.2


def test_the_frozen_encoder_joins_both(tmp_path: Path) -> None:
    run = make()
    execute(run, tmp_path)
    encoder, head = load_frozen(run, tmp_path, 3)
    given = torch.from_numpy(TOKENS[:4])
    found = head(encoder(given))
    assert found.shape == (4, 2 * encoder.feature_dim) == (4, 24)
    torch.testing.assert_close(found[:, :6], encoder.first(given[:, 0]))
    torch.testing.assert_close(found[:, 18:], encoder.second(given[:, 1]))
    assert set(load_file(tmp_path / "encoder.safetensors")) == set(encoder.state_dict())


CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "fewer than a batch": lambda tokens: tokens[:7],
    "no pairs": lambda tokens: tokens[:, :1],
    "unknown words": lambda tokens: tokens + 1,
}


@pytest.mark.parametrize("change", CHANGES)
def test_other_data_are_refused(tmp_path: Path, change: str, refused: Any) -> None:
    dataset = [] if change == "fewer than a batch" else ["dataset pairs"]
    with refused("run quick_thoughts-default-pairs-s0-…", *dataset):
        execute(make(), tmp_path, CHANGES[change](TOKENS))


# The encoder

SENTENCES = torch.tensor(
    [[2, 5, 3, 0, 0], [4, 0, 0, 0, 0], [6, 6, 1, 2, 3], [0, 0, 0, 0, 0]], dtype=torch.int32
)


def make_gru(seed: int = 0) -> GRU:
    model = gru(vocabulary=7, words=3, hidden=4)
    assert isinstance(model, GRU)
    initialise(model, seed)
    return model


def by_loop(model: GRU, sentence: Tensor) -> Tensor:
    """Cho et al. 2014 as torch's documentation states it, word by word; h is the last state."""
    w_i, w_h, b_i, b_h = (
        getattr(model.gru, f"{name}_l0")
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    h = torch.zeros(4)
    for token in sentence[sentence != 0].tolist() or [0]:
        i, s = w_i @ model.words.weight[token] + b_i, w_h @ h + b_h
        reset, update = torch.sigmoid(i[:4] + s[:4]), torch.sigmoid(i[4:8] + s[4:8])
        h = (1 - update) * torch.tanh(i[8:] + reset * s[8:]) + update * h
    return h


@torch.no_grad()
def test_it_is_the_state_after_the_last_word() -> None:
    model = make_gru()
    found = model(SENTENCES)
    assert found.shape == (4, model.feature_dim) == (4, 4)
    for row, sentence in zip(found, SENTENCES, strict=True):
        torch.testing.assert_close(row, by_loop(model, sentence))


def test_initial_weights_are_a_function_of_the_seed() -> None:
    torch.manual_seed(1)
    first = make_gru().state_dict()
    torch.manual_seed(2)
    second, other = make_gru().state_dict(), make_gru(seed=1).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first)
    assert (first["words.weight"][0] == 0).all()
    assert first["words.weight"].abs().max() <= 0.1
    assert first["gru.weight_hh_l0"].abs().max() <= 0.5


def test_padding_gets_no_gradient() -> None:
    model = make_gru()
    model(SENTENCES[:3]).square().sum().backward()
    gradient = model.words.weight.grad
    assert gradient is not None
    assert (gradient[0] == 0).all()
    assert (gradient[1:] != 0).any(dim=1).all()
